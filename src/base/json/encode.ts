import type { JsonValue } from "./value.ts";

/** The JSON text of a value, compact, members in their order; `bigint` is written as the integer that it is. */
export function encodeJson(value: JsonValue): string {
  if (typeof value === "string") return encodeString(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify refuses bigint; values that have one are rare enough to pay for the attempt.
    if (error instanceof TypeError) return encodeExact(value);
    throw error;
  }
}

/** What JSON.stringify writes otherwise than as it is: quotes, backslashes, control characters, parts of surrogate pairs. */
const escaped = /["\\\ud800-\udfff]|[^ -\uffff]/;

/** The JSON text of a string. Most need no escapes, and to see that is faster than JSON.stringify. */
export function encodeString(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** As {@link encodeJson}, with a line for each member and two spaces a level. */
export function encodePretty(value: JsonValue, margin = ""): string {
  if (typeof value !== "object" || value === null) return encodeJson(value);
  const inner = `${margin}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => inner + encodePretty(item, inner))
    : Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => `${inner}${JSON.stringify(name)}: ${encodePretty(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(",\n")}\n${margin}${close}`;
}

function encodeExact(value: JsonValue): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(encodeExact).join(",")}]`;
  const members: string[] = [];
  for (const [name, member] of Object.entries(value)) {
    // An absent optional member may be spelled as undefined in code; JSON has no such thing.
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${encodeExact(member)}`);
  }
  return `{${members.join(",")}}`;
}
