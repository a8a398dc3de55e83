import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Draft } from "../../storage/store.ts";

/** The largest object that is stored, in bytes of its encoded form. */
const maxObjectBytes = 3 * 1024 * 1024;

/** @throws {StatusError} RequestEntityTooLarge; a dry run never reaches the store and calls this itself. */
export function checkSize({ body }: Draft): void {
  if (body.length > maxObjectBytes) throw tooLarge();
}

/**
 * As {@link checkSize}, before an object is worked on that will certainly be too large: what it has now is counted, at the
 * fewest bytes that this can take.
 *
 * @throws {StatusError} RequestEntityTooLarge
 */
export function checkDecodedSize(object: object): void {
  if (bytesLeft(object as JsonValue, maxObjectBytes) < 0) throw tooLarge();
}

/** What of some bytes a value leaves; any negative number when it is larger. */
function bytesLeft(value: JsonValue | undefined, bytes: number): number {
  if (typeof value === "string") return bytes - value.length - quotes;
  if (typeof value !== "object" || value === null) return bytes - 1;
  let left = bytes - brackets;
  if (Array.isArray(value)) {
    for (const item of value) {
      left = bytesLeft(item, left - 1);
      if (left < 0) return left;
    }
    return left + 1;
  }
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) left = bytesLeft(member, left - name.length - quotes - separators);
    if (left < 0) return left;
  }
  return left + 1;
}

/** Bytes around a string, around the items of a list, and behind the name and the value of a member. */
const quotes = 2;
const brackets = 2;
const separators = 2;

function tooLarge(): StatusError {
  return new StatusError("RequestEntityTooLarge", `the object is larger than ${maxObjectBytes} bytes`);
}
