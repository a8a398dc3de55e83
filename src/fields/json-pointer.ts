import { malformedPatch } from "./patch-fault.ts";

/** The unescaped parts of a JSON pointer (RFC 6901); empty for the whole document. */
export type Pointer = readonly string[];

/**
 * Parses a JSON pointer.
 * @throws PatchFault if it is malformed.
 */
export function parsePointer(text: string): Pointer {
  if (text === "") return [];
  if (!text.startsWith("/")) throw malformedPatch(`the path ${quote(text)} doesn't start with a slash`);
  if (!text.includes("~")) return text.slice(1).split("/");
  if (/~(?![01])/.test(text)) throw malformedPatch(`the path ${quote(text)} has a ~ that isn't ~0 or ~1`);
  return text
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether `inner` is a descendant of `outer`. */
export function isBelow(inner: Pointer, outer: Pointer): boolean {
  return inner.length > outer.length && outer.every((part, index) => part === inner[index]);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 256 ? `${text.slice(0, 256)}…` : text);
}
