import { eventBytes } from "./entry.ts";
import type { Revision, StoreEvent } from "./store.ts";

/** The newest events of a store in revision order, limited in bytes. Subscriptions that start at a recent revision read from it. */
export class EventRing {
  private events: StoreEvent[] = [];
  /** Number of dropped slots at the start of `events`; they are removed when they are half of the array. */
  private dropped = 0;
  private bytes = 0;

  /** @param start the ring has every event after this revision; rises when old events are dropped. */
  constructor(
    private readonly maxBytes: number,
    private start: Revision,
  ) {}

  /** Whether the ring has every event after `revision`. */
  covers(revision: Revision): boolean {
    return revision >= this.start;
  }

  push(event: StoreEvent): void {
    this.events.push(event);
    this.bytes += eventBytes(event);
    while (this.bytes > this.maxBytes && this.dropped < this.events.length) this.dropOldest();
  }

  /** Returns the events after `revision`. The caller must check {@link covers} before. */
  after(revision: Revision): StoreEvent[] {
    let low = this.dropped;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.events[middle]!.revision > revision) high = middle;
      else low = middle + 1;
    }
    return this.events.slice(low);
  }

  /** Clears the ring because events up to `revision` are missing. */
  skipTo(revision: Revision): void {
    this.events = [];
    this.dropped = 0;
    this.bytes = 0;
    this.start = revision;
  }

  private dropOldest(): void {
    const oldest = this.events[this.dropped++]!;
    this.bytes -= eventBytes(oldest);
    this.start = oldest.revision;
    if (this.dropped * 2 > this.events.length + 32) {
      this.events = this.events.slice(this.dropped);
      this.dropped = 0;
    }
  }
}
