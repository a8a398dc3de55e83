import { signal } from "@preact/signals";

/** The last exception that no part of the console expected; empty if there was none. */
export const bug = signal("");

/** Shows an unexpected exception to the user. */
export function reportBug(error: unknown): void {
  bug.value = error instanceof Error ? error.message : String(error);
}
