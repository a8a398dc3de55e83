import type { SortedMap } from "../../base/collections/sorted-map.ts";
import type { Entry, Revision } from "../store.ts";

/** The values of a memory store at one revision. It doesn't change, and shares the values with the store. */
export interface MemoryImage {
  readonly revision: Revision;
  /** By key. It must be cloned before it is changed. */
  readonly entries: SortedMap<string, Entry>;
  /** Number of keys, by collection and by partition. */
  readonly counts: ReadonlyMap<string, number>;
}

/** A key with different values in a store and in an image. */
export interface Difference {
  readonly key: string;
  /** The value in the store; undefined if it has none. */
  readonly current: Entry | undefined;
  /** The value in the image; undefined if it has none. */
  readonly desired: Entry | undefined;
}

/** Whether two values of a key have the same bytes, including the revision. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  if (a === b) return true;
  return (
    a.revision === b.revision &&
    Buffer.compare(a.body, b.body) === 0 &&
    Buffer.compare(a.header, b.header) === 0
  );
}
