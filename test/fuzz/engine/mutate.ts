import type { Dice } from "../../support/dice.ts";

/** What mutations take parts from. */
export interface MutationSources {
  readonly dictionary: readonly Buffer[];
  /** Another input of the corpus. */
  readonly other: Buffer;
  /** Largest result, in bytes. */
  readonly maxBytes: number;
}

type Mutation = (bytes: Buffer, dice: Dice, sources: MutationSources) => Buffer;

/** Integers at which decoders tend to change their behavior. */
const boundaries = [0, 1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
const numberTexts = ["0", "-1", "1e999", "9007199254740993", "99999999999999999999", "0x7f", "1.5", "-0"];

/** A range of the input that isn't longer than `longest`; both ends are random. */
function rangeIn(bytes: Buffer, dice: Dice, longest: number): readonly [start: number, end: number] {
  const start = dice.below(bytes.length + 1);
  return [start, Math.min(bytes.length, start + dice.below(longest + 1))];
}

/** Replaces the bytes from `start` to `end`. */
function replaced(bytes: Buffer, start: number, end: number, inserted: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(end)]);
}

const changeByte: Mutation = (bytes, dice) => {
  if (bytes.length === 0) return Buffer.from([dice.below(256)]);
  const changed = Buffer.from(bytes);
  const at = dice.below(bytes.length);
  const kind = dice.below(3);
  if (kind === 0) changed[at]! ^= 1 << dice.below(8);
  else if (kind === 1) changed[at] = dice.below(256);
  else changed[at] = (changed[at]! + dice.below(33) - 16) & 255;
  return changed;
};

const insertBytes: Mutation = (bytes, dice) => {
  const inserted = Buffer.alloc(1 + dice.below(8), dice.below(256));
  if (dice.chance(0.5)) for (let at = 0; at < inserted.length; at++) inserted[at] = dice.below(256);
  const at = dice.below(bytes.length + 1);
  return replaced(bytes, at, at, inserted);
};

const deleteRange: Mutation = (bytes, dice) => {
  const [start, end] = rangeIn(bytes, dice, dice.chance(0.8) ? 8 : bytes.length);
  return replaced(bytes, start, end, Buffer.alloc(0));
};

const insertToken: Mutation = (bytes, dice, { dictionary }) => {
  if (dictionary.length === 0) return insertBytes(bytes, dice, noSources);
  const [start, end] = rangeIn(bytes, dice, dice.chance(0.5) ? 0 : 12);
  return replaced(bytes, start, end, dice.pick(dictionary));
};

const insertNumber: Mutation = (bytes, dice) => {
  const digits = [...bytes.toString("latin1").matchAll(/\d+/g)];
  const text = Buffer.from(dice.chance(0.5) ? dice.pick(numberTexts) : String(dice.pick(boundaries)));
  if (digits.length === 0) return replaced(bytes, 0, 0, text);
  const match = dice.pick(digits);
  return replaced(bytes, match.index, match.index + match[0].length, text);
};

const copyRange: Mutation = (bytes, dice) => {
  const [start, end] = rangeIn(bytes, dice, 64);
  const at = dice.below(bytes.length + 1);
  return replaced(bytes, at, at, bytes.subarray(start, end));
};

const repeatRange: Mutation = (bytes, dice, { maxBytes }) => {
  const [start, end] = rangeIn(bytes, dice, 24);
  if (end === start) return bytes;
  const times = Math.min(2 ** (1 + dice.below(9)), Math.floor(maxBytes / (end - start)));
  return replaced(bytes, start, start, Buffer.alloc((end - start) * times, bytes.subarray(start, end)));
};

/** Repeats one range before, and another range after a part, so that brackets nest. */
const nestRange: Mutation = (bytes, dice, { maxBytes }) => {
  const [start, end] = rangeIn(bytes, dice, 16);
  const close = end + dice.below(bytes.length - end + 1);
  const closeEnd = Math.min(bytes.length, close + 1 + dice.below(4));
  const [open, shut] = [bytes.subarray(start, end), bytes.subarray(close, closeEnd)];
  const times = Math.min(2 ** (1 + dice.below(9)), Math.floor(maxBytes / (open.length + shut.length + 1)));
  const repeat = (part: Buffer) => (part.length === 0 ? part : Buffer.alloc(part.length * times, part));
  const inner = replaced(bytes, close, close, repeat(shut));
  return replaced(inner, start, start, repeat(open));
};

const splice: Mutation = (bytes, dice, { other }) => {
  const [start, end] = rangeIn(other, dice, other.length);
  const [from, to] = rangeIn(bytes, dice, bytes.length);
  return replaced(bytes, from, to, other.subarray(start, end));
};

const swapRanges: Mutation = (bytes, dice) => {
  const [start, end] = rangeIn(bytes, dice, 32);
  const third = end + dice.below(Math.min(32, bytes.length - end) + 1);
  const swapped = Buffer.concat([bytes.subarray(end, third), bytes.subarray(start, end)]);
  return replaced(bytes, start, third, swapped);
};

/** Writes an integer of 1, 2, 4 or 8 bytes in either byte order, as a length field has it. */
const writeLength: Mutation = (bytes, dice) => {
  const width = dice.pick([1, 2, 4, 8]);
  if (bytes.length < width) return bytes;
  const changed = Buffer.from(bytes);
  const at = dice.below(bytes.length - width + 1);
  const value = BigInt(
    dice.pick([...boundaries, bytes.length, bytes.length - at, bytes.length - at - width]),
  );
  const encoded = Buffer.alloc(8);
  if (dice.chance(0.5)) encoded.writeBigUInt64LE(BigInt.asUintN(64, value));
  else encoded.writeBigUInt64BE(BigInt.asUintN(8 * width, value) << BigInt(64 - 8 * width));
  encoded.copy(changed, at, 0, width);
  return changed;
};

/** Replaces a variable-length integer of the protobuf encoding. */
const writeVarint: Mutation = (bytes, dice) => {
  if (bytes.length === 0) return bytes;
  const at = dice.below(bytes.length);
  let end = at;
  while (end < bytes.length - 1 && bytes[end]! >= 0x80) end++;
  let value = BigInt(dice.pick([...boundaries, bytes.length, -1, 2 ** 53]));
  if (value < 0n) value = BigInt.asUintN(64, value);
  const encoded: number[] = [];
  for (; value >= 0x80n; value >>= 7n) encoded.push(Number(value & 0x7fn) | 0x80);
  encoded.push(Number(value));
  return replaced(bytes, at, end + 1, Buffer.from(encoded));
};

const noSources: MutationSources = { dictionary: [], other: Buffer.alloc(0), maxBytes: 0 };

const mutations: readonly Mutation[] = [
  changeByte,
  changeByte,
  insertBytes,
  deleteRange,
  deleteRange,
  insertToken,
  insertToken,
  insertToken,
  insertNumber,
  copyRange,
  repeatRange,
  nestRange,
  splice,
  splice,
  swapRanges,
  writeLength,
  writeVarint,
];

/** Changes an input by one to six random mutations. @returns a new input of at most `maxBytes` bytes. */
export function mutate(bytes: Buffer, dice: Dice, sources: MutationSources): Buffer {
  let result = bytes;
  for (let left = 1 + dice.below(dice.chance(0.7) ? 2 : 6); left > 0; left--) {
    result = dice.pick(mutations)(result, dice, sources).subarray(0, sources.maxBytes);
  }
  return result;
}
