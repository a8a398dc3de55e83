import { revisionOf } from "../entry.ts";
import { decodeStamp, encodeStamp, stampToWrite, type RequestedStamp } from "../stamp.ts";
import type { Revision } from "../store.ts";
import type { Connection } from "./connection.ts";
import type { Keyspace } from "./keyspace.ts";
import type { KeyValue } from "./messages.ts";

/** Value of the marker; only its revision is used. */
export const mark = Buffer.from("1");

/**
 * Creates the marker and the stamp unless they exist.
 *
 * @returns the store's latest revision.
 * @throws {StoreStampError} if the store has a different stamp.
 */
export async function claimKeyspace(
  connection: Connection,
  keyspace: Keyspace,
  wanted: RequestedStamp | undefined,
): Promise<Revision> {
  const marker = { put: { key: keyspace.marker, value: mark } };
  const stamp = wanted && { put: { key: keyspace.stamp, value: encodeStamp(wanted) } };
  const telltales = Array.from(wanted?.telltales ?? []);
  const { succeeded, revision, results } = await connection.write(
    {
      expect: { key: keyspace.marker, modRevision: 0 },
      success: stamp === undefined ? [marker] : [marker, stamp],
      failure: [
        { range: { key: keyspace.marker } },
        { range: { key: keyspace.stamp } },
        ...telltales.map(([key]) => ({ range: { key: keyspace.outer(key) } })),
      ],
    },
    true,
  );
  if (succeeded) return revisionOf(revision);
  const [foundMarker, foundStamp, ...foundTelltales] = results;
  if (wanted !== undefined) {
    const labels = telltales.filter((_, i) => foundTelltales[i]!.kvs.length > 0).map(([, label]) => label);
    await claimStamp(connection, keyspace, wanted, { stamp: foundStamp!.kvs[0], labels });
  }
  return revisionOf(foundMarker!.kvs[0]!.modRevision);
}

interface ExistingStamp {
  readonly stamp: KeyValue | undefined;
  /** The labels of the telltale keys that exist. */
  readonly labels: readonly string[];
}

/** Writes the stamp if the store has none or one with a lower format, unless another server writes it first. */
async function claimStamp(
  connection: Connection,
  keyspace: Keyspace,
  wanted: RequestedStamp,
  { stamp, labels }: ExistingStamp,
): Promise<void> {
  const missing = stampToWrite(wanted, decodeStamp(stamp?.value), labels);
  if (missing === undefined) return;
  const { succeeded, results } = await connection.write(
    {
      expect: { key: keyspace.stamp, modRevision: stamp?.modRevision ?? 0 },
      success: [{ put: { key: keyspace.stamp, value: encodeStamp(missing) } }],
      failure: [{ range: { key: keyspace.stamp } }],
    },
    true,
  );
  if (!succeeded) await claimStamp(connection, keyspace, wanted, { stamp: results[0]!.kvs[0], labels });
}
