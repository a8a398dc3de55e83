import { promisify } from "node:util";
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from "node:zlib";
import type { MaybePromise } from "../../../base/maybe-promise.ts";

const [packAside, unpackAside] = [promisify(deflateRaw), promisify(inflateRaw)];
/** The fastest level: documents shrink to a tenth with it already. */
const level = 1;
/** Packing this takes about a millisecond; more is packed on another thread, which costs more in total. */
const maxBytesAtOnce = 256 * 1024;

function pack(bytes: Buffer): MaybePromise<Buffer> {
  return bytes.length > maxBytesAtOnce ? packAside(bytes, { level }) : deflateRawSync(bytes, { level });
}

/** @param length of the bytes, not packed. */
function unpack(packed: Buffer, length: number): MaybePromise<Buffer> {
  const options = { chunkSize: Math.max(64, length) };
  return length > maxBytesAtOnce ? unpackAside(packed, options) : inflateRawSync(packed, options);
}

/** Members of a document's map as they are written, small in memory. */
export class PackedMembers {
  private constructor(
    readonly names: readonly string[],
    private readonly lengths: readonly number[],
    private readonly packed: Buffer,
    /** Of all members, not packed. */
    readonly bytes: number,
  ) {}

  static async of(members: readonly (readonly [name: string, bytes: Buffer])[]): Promise<PackedMembers> {
    const whole = Buffer.concat(members.map(([, bytes]) => bytes));
    // A copy: what zlib gives is a part of a larger piece of memory.
    const packed = Buffer.from(await pack(whole));
    const lengths = members.map(([, { length }]) => length);
    return new PackedMembers(
      members.map(([name]) => name),
      lengths,
      packed,
      whole.length,
    );
  }

  /** What it takes in memory, in bytes. */
  get cost(): number {
    return this.packed.length;
  }

  /** The bytes of all members but the omitted ones. */
  bytesWithout(omitted: ReadonlySet<string>): number {
    return this.names.reduce(
      (sum, name, index) => (omitted.has(name) ? sum - this.lengths[index]! : sum),
      this.bytes,
    );
  }

  /** The members one after the other, without the omitted ones. */
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
