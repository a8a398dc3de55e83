import type { Entry, Revision, StoreEvent } from "../store.ts";

/** Approximate memory of an entry beside its bytes. */
const overheadBytes = 300;

/**
 * Entries that were read or written lately, as they are at the position of the feed: the caller passes each event of the log. Limited in
 * bytes; those unused for the longest time are dropped.
 */
export class EntryCache {
  private readonly entries = new Map<string, Entry>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Returns the entry of a key at the position of the feed; undefined if it isn't cached. */
  get(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    this.entries.delete(key);
    this.entries.set(key, entry);
    return entry;
  }

  /**
   * Adds an entry that was read at a revision, unless the feed is ahead of it: then the entry may be outdated.
   *
   * @param position of the feed.
   */
  add(entry: Entry, readAt: Revision, position: Revision): void {
    if (readAt < position) return;
    const cached = this.entries.get(entry.key);
    if (cached !== undefined && cached.revision > entry.revision) return;
    this.set(entry);
  }

  /** Applies an event, in the order of the log. */
  apply({ key, revision, entry }: StoreEvent, isOwn: boolean): void {
    const cached = this.entries.get(key);
    if (cached === undefined && !isOwn) return;
    if (cached !== undefined && cached.revision >= revision) return;
    if (entry === undefined) this.remove(key);
    else this.set(entry);
  }

  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }

  private set(entry: Entry): void {
    this.remove(entry.key);
    const size = sizeOf(entry);
    if (size > this.maxBytes / 4) return;
    this.entries.set(entry.key, entry);
    this.bytes += size;
    for (const key of this.entries.keys()) {
      if (this.bytes <= this.maxBytes) return;
      this.remove(key);
    }
  }

  private remove(key: string): void {
    const entry = this.entries.get(key);
    if (entry === undefined) return;
    this.entries.delete(key);
    this.bytes -= sizeOf(entry);
  }
}

function sizeOf({ key, header, body }: Entry): number {
  return key.length + header.length + body.length + overheadBytes;
}
