/** Values by key; null removes the key. */
export type Pairs = Readonly<Record<string, string | null>>;

/** Parses `key=value` and `key-`, separated by commas. @returns a message if the text is invalid. */
export function parsePairs(text: string): Pairs | string {
  const pairs: [string, string | null][] = [];
  for (const part of text.split(",").map((one) => one.trim())) {
    if (part === "") continue;
    const mark = part.indexOf("=");
    if (mark > 0) pairs.push([part.slice(0, mark).trim(), part.slice(mark + 1).trim()]);
    else if (mark === -1 && part.length > 1 && part.endsWith("-")) pairs.push([part.slice(0, -1), null]);
    else return `${part} is neither key=value nor key-`;
  }
  return Object.fromEntries(pairs);
}
