import type { Keyspace } from "../../../src/storage/etcd/keyspace.ts";
import type { SimulatedCluster } from "../etcd/simulated-cluster.ts";

/** The end of the header of an object, which is a JSON array, and the begin of its body. */
const headerEnd = ']{"kind":';

/**
 * Gives the objects in a cluster the form of former releases, and removes the stamp, which these didn't write: headers had no positions of
 * the managed fields. No server may run, because the values are changed in place.
 */
export function toFormerFormat(cluster: SimulatedCluster, keyspace: Keyspace): void {
  const { kvs } = cluster.data.range({ key: keyspace.start, rangeEnd: keyspace.end });
  for (const { value } of kvs) removePositions(Buffer.from(value.buffer, value.byteOffset, value.length));
  cluster.execute((data) => data.txn({ success: [{ remove: { key: keyspace.stamp } }] }));
}

/** Replaces the last member of a header by spaces. */
function removePositions(value: Buffer): void {
  const text = value.toString("latin1");
  const end = text.indexOf(headerEnd);
  if (end < 0 || text[end - 1] !== "]") return;
  const start = text.lastIndexOf(",[", end);
  value.fill(" ", start, end);
}
