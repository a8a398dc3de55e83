import { eventBytes } from "./entry.ts";
import type { StoreEvent } from "./store.ts";

/** Size of a history portion, in bytes of events. */
const portionBytes = 1024 * 1024;

/** Returns the number of events in the first portion: whole revisions, at least one unless `events` is empty. */
export function portionOf(events: readonly StoreEvent[]): number {
  let bytes = 0;
  for (const [index, event] of events.entries()) {
    bytes += eventBytes(event);
    if (bytes >= portionBytes && events[index + 1]?.revision !== event.revision) return index + 1;
  }
  return events.length;
}
