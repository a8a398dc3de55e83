import { revisionOf } from "../entry.ts";
import type { PastSlice } from "../feed.ts";
import { type Revision, RevisionCompactedError, type StoreEvent } from "../store.ts";
import type { Connection, WatchStream } from "./connection.ts";
import type { Keyspace } from "./keyspace.ts";
import { encodeWatchCreateRequest, type WatchEvent, type WatchResponse } from "./messages.ts";
import { decodeEntry } from "./value.ts";

/** What a stream of events reports. */
export interface EventSink {
  /** Whole revisions, in order; `upTo` is the last of them. */
  events(batch: StoreEvent[], upTo: Revision): void;
  /** The floor mark was written. */
  floor(floor: Revision): void;
  /** The stream is over: with the revision before which the past is gone, or because of a failure. */
  ended(reason: { compacted: Revision } | { error: Error }): void;
}

/** Opens a stream of all of the store's events after a revision. Nothing is reported after its `ended`, or `close`. */
export function watchEvents(
  connection: Connection,
  keyspace: Keyspace,
  after: Revision,
  sink: EventSink,
): { close(): void } {
  const stream: WatchStream = connection.watch();
  let over = false;
  const end = (reason: Parameters<EventSink["ended"]>[0] | undefined): void => {
    if (over) return;
    over = true;
    stream.cancel();
    if (reason !== undefined) sink.ended(reason);
  };
  stream.on("data", (response: WatchResponse) => {
    if (over) return;
    if (response.compactRevision > 0) return end({ compacted: revisionOf(response.compactRevision) });
    if (response.canceled)
      return end({ error: new Error(response.cancelReason || "the watch was cancelled") });
    try {
      report(keyspace, response, sink);
    } catch (error) {
      end(error instanceof MissingPrevious ? { compacted: error.revision } : { error: error as Error });
    }
  });
  stream.on("error", (error: Error) => end({ error }));
  stream.on("end", () => end({ error: new Error("the watch's stream ended") }));
  const { start: key, end: rangeEnd } = keyspace;
  stream.write(encodeWatchCreateRequest({ key, rangeEnd, startRevision: after + 1 }));
  return { close: () => end(undefined) };
}

/**
 * An event came without the value before it, though there was one: the cluster was compacted past it before it was
 * sent, and etcd leaves out what it can't read any more.
 */
class MissingPrevious extends Error {
  override name = "MissingPrevious";
  constructor(readonly revision: Revision) {
    super(`the value before revision ${revision} is compacted`);
  }
}

/** The store's event for one of the cluster's. */
function storeEvent(key: string, { deleted, kv, previous }: WatchEvent): StoreEvent {
  const revision = revisionOf(kv.modRevision);
  if (previous === undefined && (deleted || kv.version > 1)) throw new MissingPrevious(revision);
  return {
    key,
    revision,
    entry: deleted ? undefined : decodeEntry(key, kv),
    previous: previous === undefined ? undefined : decodeEntry(key, previous),
  };
}

function report(keyspace: Keyspace, response: WatchResponse, sink: EventSink): void {
  const batch: StoreEvent[] = [];
  let upTo = 0;
  for (const event of response.events) {
    const { kv } = event;
    const key = keyspace.inner(kv.key);
    if (key !== undefined) {
      upTo = kv.modRevision;
      batch.push(storeEvent(key, event));
    } else if (keyspace.floor.equals(kv.key)) sink.floor(floorOf(kv.value));
    else if (keyspace.marker.equals(kv.key)) upTo = kv.modRevision;
  }
  if (upTo > 0) sink.events(batch, revisionOf(upTo));
}

/** The number in a floor mark. */
export function floorOf(value: Uint8Array | undefined): Revision {
  return revisionOf(value === undefined ? 1 : Number(Buffer.from(value).toString()) || 1);
}

const sliceEvents = 2000;

/**
 * Reads a stretch of the past: events under `prefix` above `after`, up to `upTo` or as many as one slice holds.
 *
 * @throws {RevisionCompactedError} the cluster no longer has them.
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
      ended(reason) {
        if ("compacted" in reason) reject(new RevisionCompactedError(after, reason.compacted));
        else reject(connection.storeError(reason.error));
      },
    });
  });
}

/** The revision before which the cluster's past is gone; 1 when it is complete. Never needs to read the past. */
export function readCompactRevision(connection: Connection, keyspace: Keyspace): Promise<Revision> {
  return new Promise((resolve, reject) => {
    const stream = connection.watch();
    const done = (settle: () => void): void => {
      stream.removeAllListeners("data");
      stream.cancel();
      settle();
    };
    stream.on("data", (response: WatchResponse) => {
      if (response.compactRevision > 0) done(() => resolve(revisionOf(response.compactRevision)));
      else if (response.events.length > 0) done(() => resolve(revisionOf(1)));
    });
    stream.on("error", (error: Error) => reject(connection.storeError(error)));
    // The marker was written at least once: either its first event comes, or word that it is gone.
    const rangeEnd = Buffer.concat([keyspace.marker, Buffer.from([0])]);
    stream.write(encodeWatchCreateRequest({ key: keyspace.marker, rangeEnd, startRevision: 1 }));
  });
}
