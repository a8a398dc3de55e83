import { decodeStamp, encodeStamp } from "../../../src/storage/stamp.ts";
import { decodeEntry, encodeValue } from "../../../src/storage/etcd/value.ts";
import {
  decodeRangeResponse,
  decodeSpaceAlarm,
  decodeTxnResponse,
  decodeWatchResponse,
} from "../../../src/storage/etcd/messages.ts";
import { revisionOf } from "../../../src/storage/entry.ts";
import {
  assertRecord,
  decodeLogRecord,
  decodeRecord,
  decodeState,
  encodeRecord,
  encodeState,
  isStateSound,
  recordOf,
  writeLogRecord,
} from "../../../src/storage/lmdb/layout.ts";
import { decodeSyncPoint, encodeSyncPoint } from "../../../src/storage/lmdb/syncs/sync-point.ts";
import { StoreDamagedError } from "../../../src/storage/store.ts";
import { attempt, type Target } from "../target.ts";

const draft = {
  header: Buffer.from('["u",{"a":"b"},{},[]]'),
  body: Buffer.from('{"resourceVersion":""}'),
  revisionAt: 20,
};
const { record } = encodeRecord("key", revisionOf(7), draft, undefined);
const logRecord = Buffer.alloc(256);
const logLength = writeLogRecord(logRecord, "update", "key", record);

/** Records of the data file: a record with a right checksum is the one that was written. */
export const recordTarget: Target = {
  name: "record",
  files: ["src/storage/lmdb/layout.ts", "src/storage/lmdb/syncs/sync-point.ts", "src/storage/stamp.ts"],
  seeds: [
    record,
    logRecord.subarray(0, logLength),
    encodeState({ revision: revisionOf(9), floor: revisionOf(1), markTime: 5, batch: 2 }),
    encodeState({ revision: revisionOf(9), floor: revisionOf(1), markTime: 5, batch: 2, unsyncedSince: 4 }),
    encodeSyncPoint({
      isOpen: true,
      isRestored: false,
      identity: Buffer.alloc(16, 1),
      meta: Buffer.alloc(144, 2),
      revision: 9,
      ceiling: 20,
      synced: [3, 4],
    }),
    encodeStamp({ label: "platform", format: 1 } as never),
  ],
  dictionary: ["\0\0\0\0\0\0\0\x07", "\xff\xff\xff\xff"],
  run(bytes) {
    const buffer = Buffer.from(bytes);
    const entry = attempt(() => decodeRecord("key", buffer), RangeError);
    if (entry !== undefined && !recordOf(entry).equals(buffer))
      throw new Error("the record of an entry differs");
    attempt(() => assertRecord("key", buffer), RangeError);
    attempt(() => decodeLogRecord(buffer), RangeError);
    attempt(() => decodeStamp(buffer), StoreDamagedError);
    if (isStateSound(buffer)) decodeState(buffer);
    const point = attempt(() => decodeSyncPoint(buffer), StoreDamagedError);
    if (
      point !== undefined &&
      !encodeSyncPoint(point).equals(encodeSyncPoint(decodeSyncPoint(encodeSyncPoint(point))!))
    )
      throw new Error("a sync point isn't encoded as it was decoded");
  },
};

/** Values in etcd. */
export const etcdValueTarget: Target = {
  name: "etcd-value",
  files: ["src/storage/etcd/value.ts"],
  seeds: [encodeValue(draft)],
  dictionary: ["\x01\x80", "\xff\xff\xff\xff\x7f"],
  run(bytes) {
    const key = { key: Buffer.from("key"), modRevision: 5, version: 1, value: bytes };
    const entry = attempt(() => decodeEntry("key", key), StoreDamagedError);
    if (entry === undefined) return;
    const revised = Buffer.from(entry.body).toString("latin1", entry.revisionAt, entry.revisionAt + 1);
    if (revised !== "5") throw new Error("the revision isn't at its position");
  },
};

/** Messages of etcd. The transport rejects the call for any error, so only endless work and crashes are wrong. */
export const etcdMessageTarget: Target = {
  name: "etcd-message",
  files: ["src/storage/etcd/messages.ts"],
  seeds: [
    Buffer.from("0a0408011807120f0a036b65791807200128012a0376616c1801200118", "hex"),
    Buffer.from("1801220a0a036b65792a0376616c", "hex"),
    Buffer.from("5a0d12090a036b657918072a01611a00", "hex"),
  ],
  dictionary: ["\x12\x03", "\x0a\x01", "\x5a\x02", "\x18\x01"],
  run(bytes) {
    const decoders = [decodeRangeResponse, decodeTxnResponse, decodeWatchResponse, decodeSpaceAlarm];
    for (const decode of decoders) attempt(() => void decode(bytes), Error, RangeError);
  },
};
