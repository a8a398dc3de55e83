import { entryFromDraft, revisionOf } from "../entry.ts";
import { type Draft, type Entry, StoreDamagedError } from "../store.ts";
import type { KeyValue } from "./messages.ts";

/** The first byte of every value. */
const valueVersion = 1;

/**
 * Encodes a draft as an etcd value: version byte, header length and `revisionAt` as varints, header, body. The revision is inserted
 * when the value is read, because only etcd assigns it.
 */
export function encodeValue({ header, body, revisionAt }: Draft): Buffer {
  if (revisionAt < 0 || revisionAt > body.length) {
    throw new RangeError(`revisionAt ${revisionAt} lies outside a body of ${body.length} bytes`);
  }
  const prefix = [valueVersion, ...varint(header.length), ...varint(revisionAt)];
  return Buffer.concat([Buffer.from(prefix), header, body]);
}

/**
 * Decodes an etcd value.
 *
 * @throws {StoreDamagedError} if the value was written by another program, or by a later version of this one.
 */
export function decodeEntry(key: string, { value, modRevision }: KeyValue): Entry {
  if (value[0] !== valueVersion) {
    throw new StoreDamagedError(`the value of ${key} has format version ${value[0]}, not ${valueVersion}`);
  }
  const headerLength = readVarint(value, 1);
  const revisionAt = readVarint(value, headerLength.end);
  const bodyAt = revisionAt.end + headerLength.value;
  const body = value.subarray(bodyAt);
  if (bodyAt > value.length || revisionAt.value > body.length) {
    throw new StoreDamagedError(`the value of ${key} is cut off`);
  }
  const header = value.subarray(revisionAt.end, bodyAt);
  return entryFromDraft(key, revisionOf(modRevision), { header, body, revisionAt: revisionAt.value });
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return bytes;
}

function readVarint(bytes: Uint8Array, offset: number): { value: number; end: number } {
  let value = 0;
  let scale = 1;
  for (let at = offset; ; at++, scale *= 0x80) {
    const byte = bytes[at];
    if (byte === undefined || at - offset > 6) throw new StoreDamagedError("a stored value is cut off");
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, end: at + 1 };
  }
}
