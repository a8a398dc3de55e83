import { StatusError } from "../base/status-error.ts";

/** Whether a write failed because another's came before: what it was to change was made, changed or deleted meanwhile. */
export function isRaced(error: unknown): boolean {
  return error instanceof StatusError && ["AlreadyExists", "Conflict", "NotFound"].includes(error.reason);
}

/** Writes for somebody who follows what stands: where another's write came before, that is told, and looked at anew. */
export async function unlessRaced(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isRaced(error)) throw error;
  }
}
