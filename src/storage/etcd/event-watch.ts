import { revisionOf } from "../entry.ts";
import type { PastSlice } from "../feed.ts";
import { type Revision, RevisionCompactedError, type StoreDamagedError, type StoreEvent } from "../store.ts";
import type { Connection } from "./connection.ts";
import { unlessForeign } from "./foreign-values.ts";
import type { Keyspace } from "./keyspace.ts";
import type { KeyValue, WatchEvent, WatchResponse } from "./messages.ts";
import { decodeEntry } from "./value.ts";

/** Callbacks of a stream of events. */
export interface EventSink {
  /** Events of complete revisions in order, up to revision `upTo`. */
  events(batch: StoreEvent[], upTo: Revision): void;
  /** The store's floor has changed. */
  floor(floor: Revision): void;
  /** A value of a key can't be decoded; its event is skipped, or is a deletion if the previous value could be. */
  skipped(key: string, error: StoreDamagedError): void;
  /** The stream ended: because of a compaction, with its revision, or because of an error. */
  ended(reason: { compacted: Revision } | { error: Error }): void;
}

/** Opens a stream of all events of the store after a revision. No callback follows `ended` or `close`. */
export function watchEvents(
  connection: Connection,
  keyspace: Keyspace,
  after: Revision,
  sink: EventSink,
): { close(): void } {
  const end = (reason: Parameters<EventSink["ended"]>[0]): void => {
    watch.close();
    sink.ended(reason);
  };
  const { start: key, end: rangeEnd } = keyspace;
  const watch = connection.watch(
    { key, rangeEnd, startRevision: after + 1 },
    {
      response(response) {
        if (response.compactRevision > 0) return end({ compacted: revisionOf(response.compactRevision) });
        if (response.canceled)
          return end({ error: new Error(response.cancelReason || "the watch was cancelled") });
        try {
          report(keyspace, response, sink);
        } catch (error) {
          end(error instanceof MissingPrevious ? { compacted: error.revision } : { error: error as Error });
        }
      },
      ended: (error) => sink.ended({ error }),
    },
  );
  return watch;
}

/**
 * An event lacks its previous value: the cluster was compacted before the event was sent, and etcd omits compacted values.
 */
class MissingPrevious extends Error {
  override name = "MissingPrevious";
  constructor(readonly revision: Revision) {
    super(`the value before revision ${revision} is compacted`);
  }
}

/** Converts an event of the cluster to one of the store; undefined if the store has the object neither before nor after it. */
function storeEvent(
  key: string,
  { deleted, kv, previous }: WatchEvent,
  sink: EventSink,
): StoreEvent | undefined {
  const revision = revisionOf(kv.modRevision);
  if (previous === undefined && (deleted || kv.version > 1)) throw new MissingPrevious(revision);
  const decode = (stored: KeyValue) =>
    unlessForeign(
      () => decodeEntry(key, stored),
      (error) => sink.skipped(key, error),
    );
  const entry = deleted ? undefined : decode(kv);
  const before = previous === undefined ? undefined : decode(previous);
  return entry === undefined && before === undefined ? undefined : { key, revision, entry, previous: before };
}

function report(keyspace: Keyspace, response: WatchResponse, sink: EventSink): void {
  const batch: StoreEvent[] = [];
  let upTo = 0;
  for (const event of response.events) {
    const { kv } = event;
    const key = keyspace.inner(kv.key);
    if (key !== undefined) {
      const change = storeEvent(key, event, sink);
      // A skipped write doesn't change the revision of the store.
      if (change === undefined) continue;
      upTo = kv.modRevision;
      batch.push(change);
    } else if (keyspace.floor.equals(kv.key)) sink.floor(floorOf(kv.value));
    else if (keyspace.marker.equals(kv.key)) upTo = kv.modRevision;
  }
  if (upTo > 0) sink.events(batch, revisionOf(upTo));
}

/** Parses the revision in a floor mark. */
export function floorOf(value: Uint8Array | undefined): Revision {
  return revisionOf(value === undefined ? 1 : Number(Buffer.from(value).toString()) || 1);
}

const sliceEvents = 2000;

/**
 * Reads past events under `prefix` above `after`, up to `upTo` or the size of one slice.
 *
 * @throws {RevisionCompactedError} if the cluster no longer has them.
 */
export function readPast(
  connection: Connection,
  keyspace: Keyspace,
  { prefix, after, upTo }: { prefix: string; after: Revision; upTo: Revision },
): Promise<PastSlice> {
  return new Promise((resolve, reject) => {
    const events: StoreEvent[] = [];
    const stream = watchEvents(connection, keyspace, after, {
      events(batch, reached) {
        for (const event of batch) {
          if (event.revision <= upTo && event.key.startsWith(prefix)) events.push(event);
        }
        if (reached < upTo && events.length < sliceEvents) return;
        stream.close();
        resolve({ events, upTo: revisionOf(Math.min(reached, upTo)) });
      },
      floor() {},
      // The live feed reports them.
      skipped() {},
      ended(reason) {
        if ("compacted" in reason) reject(new RevisionCompactedError(after, reason.compacted));
        else reject(connection.storeError(reason.error));
      },
    });
  });
}

/** Returns the compaction revision of the cluster; 1 if nothing was compacted. Doesn't read past events. */
export function readCompactRevision(connection: Connection, keyspace: Keyspace): Promise<Revision> {
  return new Promise((resolve, reject) => {
    // The marker was written at least once: the answer is its first event, or the compaction revision.
    const rangeEnd = Buffer.concat([keyspace.marker, Buffer.from([0])]);
    const watch = connection.watch(
      { key: keyspace.marker, rangeEnd, startRevision: 1 },
      {
        response({ compactRevision, events }) {
          if (compactRevision === 0 && events.length === 0) return;
          watch.close();
          resolve(revisionOf(Math.max(1, compactRevision)));
        },
        ended: (error) => reject(connection.storeError(error)),
      },
    );
  });
}
