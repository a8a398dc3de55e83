import type { Entry, StoreEvent } from "../store.ts";
import { hiddenValue, isMarker, shownKey } from "./hidden-keys.ts";

/** The events of the own store of a derived one as events of the derived one. The same event always gives the same object. */
export class ShownEvents {
  private readonly batches = new WeakMap<readonly StoreEvent[], readonly StoreEvent[]>();
  private readonly events = new WeakMap<StoreEvent, StoreEvent>();

  /** Returns the events of a batch, which has whole revisions; undefined if a value that one needs wasn't copied. */
  of(batch: readonly StoreEvent[]): readonly StoreEvent[] | undefined {
    const events = this.batches.get(batch) ?? this.show(batch);
    if (events !== undefined) this.batches.set(batch, events);
    return events;
  }

  private show(batch: readonly StoreEvent[]): readonly StoreEvent[] | undefined {
    if (!batch.some(({ key }) => isMarker(key))) return batch;
    /** The markers of the batch that a create of the same transaction accompanies. */
    const markers = new Map<string, StoreEvent>();
    const idOf = ({ key, revision }: StoreEvent): string => `${revision} ${shownKey(key)}`;
    for (const event of batch) if (isMarker(event.key)) markers.set(idOf(event), event);
    for (const event of batch) {
      const marker = isMarker(event.key) ? undefined : markers.get(idOf(event));
      if (marker === undefined) continue;
      markers.delete(idOf(event));
      if (!this.events.has(event) && !this.keep(event, event.entry, marker)) return undefined;
    }
    const views: StoreEvent[] = [];
    for (const event of batch) {
      if (isMarker(event.key)) {
        if (!markers.has(idOf(event))) continue;
        if (!this.events.has(event) && !this.keep(event, undefined, event)) return undefined;
      }
      views.push(this.events.get(event) ?? event);
    }
    return views;
  }

  /** Remembers the event that an event of the own store is; returns false if the marker has no value. */
  private keep(event: StoreEvent, entry: Entry | undefined, marker: StoreEvent): boolean {
    const previous = hiddenValue(marker.entry!);
    if (previous === undefined) return false;
    this.events.set(event, { key: shownKey(event.key), revision: event.revision, entry, previous });
    return true;
  }
}
