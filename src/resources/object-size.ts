import { StatusError } from "../base/status-error.ts";
import type { Draft } from "../storage/store.ts";

/** The largest object that is stored, in bytes of its encoded form. */
const maxObjectBytes = 3 * 1024 * 1024;

/** @throws {StatusError} RequestEntityTooLarge; a dry run never reaches the store and calls this itself. */
export function checkSize({ body }: Draft): void {
  if (body.length <= maxObjectBytes) return;
  throw new StatusError("RequestEntityTooLarge", `the object is larger than ${maxObjectBytes} bytes`);
}
