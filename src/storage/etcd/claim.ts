import { revisionOf } from "../entry.ts";
import { decodeStamp, encodeStamp, stampToWrite, type RequestedStamp } from "../stamp.ts";
import { type Revision, StoreFullError } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { Keyspace } from "./keyspace.ts";
import type { KeyValue } from "./messages.ts";

/** The first value of the marker; writes replace it by their tokens. */
const mark = Buffer.from("1");

/**
 * Writes the marker and the stamp if they don't exist.
 *
 * @returns the revision of the store.
 * @throws {StoreStampError} if the store has another stamp.
 */
export async function claimKeyspace(
  connection: Connection,
  keyspace: Keyspace,
  requested: RequestedStamp | undefined,
): Promise<Revision> {
  const marker = { put: { key: keyspace.marker, value: mark } };
  const stamp = requested && { put: { key: keyspace.stamp, value: encodeStamp(requested) } };
  const telltales = Array.from(requested?.telltales ?? []);
  const reads = [keyspace.marker, keyspace.stamp, ...telltales.map(([key]) => keyspace.outer(key))];
  const ranges = reads.map((key) => ({ range: { key } }));
  // A cluster without space rejects every transaction that may put, so the store is read first.
  let { results } = await connection.readTogether({ success: ranges });
  if (results[0]!.kvs.length === 0) {
    const answer = await connection.write(
      {
        expect: { key: keyspace.marker, modRevision: 0 },
        success: stamp === undefined ? [marker] : [marker, stamp],
        failure: ranges,
      },
      true,
    );
    if (answer.succeeded) return revisionOf(answer.revision);
    ({ results } = answer);
  }
  const [foundMarker, foundStamp, ...foundTelltales] = results;
  if (requested !== undefined) {
    const labels = telltales.filter((_, i) => foundTelltales[i]!.kvs.length > 0).map(([, label]) => label);
    await claimStamp(connection, keyspace, requested, { stamp: foundStamp!.kvs[0], labels });
  }
  return revisionOf(foundMarker!.kvs[0]!.modRevision);
}

/**
 * Writes the marker again if the cluster is compacted beyond the store's revision, which happens if others write to or compact the cluster
 * while the store is idle. Nothing can be read at that revision, so nothing could be followed, and writes would wait for followers.
 * Without space the store's revision stays as it is until its next write.
 *
 * @param compacted the compaction revision of the cluster.
 * @returns the revision of the store; below `compacted` if the cluster has no space.
 */
export async function passCompaction(
  connection: Connection,
  keyspace: Keyspace,
  compacted: Revision,
): Promise<Revision> {
  const { kvs } = await connection.range({ key: keyspace.marker });
  const modRevision = kvs[0]?.modRevision ?? 0;
  if (modRevision >= compacted) return revisionOf(modRevision);
  const request = {
    expect: { key: keyspace.marker, modRevision },
    success: [{ put: { key: keyspace.marker, value: mark } }],
  };
  try {
    const { succeeded, revision } = await connection.write(request, true);
    // Otherwise another server has just written it.
    return succeeded ? revisionOf(revision) : compacted;
  } catch (error) {
    if (!(error instanceof StoreFullError)) throw error;
    return revisionOf(modRevision);
  }
}

interface ExistingStamp {
  readonly stamp: KeyValue | undefined;
  /** The labels of the telltale keys that exist. */
  readonly labels: readonly string[];
}

/** Writes the stamp of a store that has none or one of an older format, unless another server did so first. */
async function claimStamp(
  connection: Connection,
  keyspace: Keyspace,
  requested: RequestedStamp,
  { stamp, labels }: ExistingStamp,
): Promise<void> {
  const missing = stampToWrite(requested, decodeStamp(stamp?.value), labels);
  if (missing === undefined) return;
  const { succeeded, results } = await connection.write(
    {
      expect: { key: keyspace.stamp, modRevision: stamp?.modRevision ?? 0 },
      success: [{ put: { key: keyspace.stamp, value: encodeStamp(missing) } }],
      failure: [{ range: { key: keyspace.stamp } }],
    },
    true,
  );
  if (!succeeded) await claimStamp(connection, keyspace, requested, { stamp: results[0]!.kvs[0], labels });
}
