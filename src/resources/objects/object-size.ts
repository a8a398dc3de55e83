import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Draft } from "../../storage/store.ts";

/** Maximum size of a stored object, in bytes of its encoded form. */
const maxObjectBytes = 3 * 1024 * 1024;

/** An object is larger than the store accepts (413). */
export class ObjectTooLarge extends StatusError {
  override name = "ObjectTooLarge";

  constructor() {
    super("RequestEntityTooLarge", `the object is larger than ${maxObjectBytes} bytes`);
  }
}

/**
 * Checks the size of a draft. A dry run calls it itself, as it doesn't reach the store.
 *
 * @throws {ObjectTooLarge}
 */
export function checkSize({ body }: Draft): void {
  if (body.length > maxObjectBytes) throw new ObjectTooLarge();
}

/**
 * Rejects a decoded object that is certainly too large, before further work: it computes a lower bound of the encoded size.
 *
 * @throws {ObjectTooLarge}
 */
export function checkDecodedSize(object: object): void {
  if (bytesLeft(object as JsonValue, maxObjectBytes) < 0) throw new ObjectTooLarge();
}

/** Returns `bytes` minus a lower bound of the value's encoded size; negative if the value is larger. */
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

/** Encoded bytes besides the content: of a string, of a list or object, and of a member (colon and comma). */
const quotes = 2;
const brackets = 2;
const separators = 2;
