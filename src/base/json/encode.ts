import type { JsonValue } from "./value.ts";

/** Encodes a value as compact JSON. Members keep their order; `bigint` is written as an integer. */
export function encodeJson(value: JsonValue): string {
  if (typeof value === "string") return encodeString(value);
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify throws for bigint. Such values are rare, so trying it first is faster on average.
    if (error instanceof TypeError) return encodeExact(value);
    throw error;
  }
}

/** Characters that JSON.stringify may escape: quotes, backslashes, control characters, surrogates. */
const escaped = /["\\\ud800-\udfff]|[^ -\uffff]/;

/** Encodes a string as JSON. Most strings need no escapes, and checking that is faster than JSON.stringify. */
export function encodeString(text: string): string {
  return escaped.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Like {@link encodeJson}, with one member per line and an indentation of two spaces. */
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
    // In code an absent optional member may be undefined.
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${encodeExact(member)}`);
  }
  return `{${members.join(",")}}`;
}
