/** Words of the language that are no names of fields as they are. */
const keywords = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const marks: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const plainOf: ReadonlyMap<string, string> = new Map([...marks].map(([plain, escaped]) => [escaped, plain]));

const accessible = /^[a-zA-Z_.\-/][a-zA-Z0-9_.\-/]*$/;

/**
 * The name under which expressions see a field: `a-b` is `a__dash__b`, `namespace` is `__namespace__`. Undefined for one that
 * expressions can't name.
 */
export function escapedFieldName(name: string): string | undefined {
  if (!accessible.test(name)) return undefined;
  if (keywords.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[.\-/]/g, (mark) => marks.get(mark)!);
}

/** The field that an escaped name stands for; undefined for a name that isn't the escaped form of any. */
export function unescapedFieldName(name: string): string | undefined {
  const keyword = /^__([a-z]+)__$/.exec(name)?.[1];
  if (keyword !== undefined && keywords.has(keyword)) return keyword;
  const plain = name.replaceAll(/__(?:underscores|dot|dash|slash)__/g, (mark) => plainOf.get(mark)!);
  return escapedFieldName(plain) === name ? plain : undefined;
}
