import { StatusError } from "../../base/status-error.ts";

/** Whether a write failed because another write created, changed or deleted the object before it. */
export function isRaced(error: unknown): boolean {
  return error instanceof StatusError && ["AlreadyExists", "Conflict", "NotFound"].includes(error.reason);
}

/**
 * Runs a write of a caller that watches the objects, and ignores a lost race: the caller gets the other write as an event and
 * reconciles again.
 */
export async function unlessRaced(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isRaced(error)) throw error;
  }
}
