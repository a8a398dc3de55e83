import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";

const [packAside, unpackAside] = [promisify(deflateRaw), promisify(inflateRaw)];
/** The fastest level; it already reduces documents to about a tenth. */
const level = 1;
/** Compressing this takes about a millisecond; more is compressed on another thread, which takes longer in total. */
const maxBytesAtOnce = 256 * 1024;

function pack(bytes: Buffer): MaybePromise<Buffer> {
  return bytes.length > maxBytesAtOnce ? packAside(bytes, { level }) : deflateRawSync(bytes, { level });
}

/** @param length number of uncompressed bytes. */
function unpack(packed: Buffer, length: number): MaybePromise<Buffer> {
  const options = { chunkSize: Math.max(64, length) };
  return length > maxBytesAtOnce ? unpackAside(packed, options) : inflateRawSync(packed, options);
}

/** Encoded members of a document's map, compressed. */
export class PackedMembers {
  private constructor(
    readonly names: readonly string[],
    private readonly lengths: readonly number[],
    private readonly packed: Buffer,
    /** Total number of uncompressed bytes. */
    readonly bytes: number,
  ) {}

  static async of(members: readonly (readonly [name: string, bytes: Buffer])[]): Promise<PackedMembers> {
    const whole = Buffer.concat(members.map(([, bytes]) => bytes));
    // A copy, because zlib returns a slice of a larger buffer.
    const packed = Buffer.from(await pack(whole));
    const lengths = members.map(([, { length }]) => length);
    return new PackedMembers(
      members.map(([name]) => name),
      lengths,
      packed,
      whole.length,
    );
  }

  /** Memory in bytes. */
  get cost(): number {
    return this.packed.length;
  }

  /** Returns the number of bytes without the omitted members. */
  bytesWithout(omitted: ReadonlySet<string>): number {
    return this.names.reduce(
      (sum, name, index) => (omitted.has(name) ? sum - this.lengths[index]! : sum),
      this.bytes,
    );
  }

  /** Returns the bytes without the omitted members. */
  async without(omitted: ReadonlySet<string>): Promise<Buffer> {
    const whole = await unpack(this.packed, this.bytes);
    if (!this.names.some((name) => omitted.has(name))) return whole;
    const remaining: Buffer[] = [];
    let at = 0;
    for (const [index, name] of this.names.entries()) {
      const end = at + this.lengths[index]!;
      if (!omitted.has(name)) remaining.push(whole.subarray(at, end));
      at = end;
    }
    return Buffer.concat(remaining);
  }
}
