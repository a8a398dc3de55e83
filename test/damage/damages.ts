import type { Dice } from "../support/dice.ts";

/** Changes the bytes of a data file and returns them; an earlier copy of the file is used for writes that were lost. */
export type Damage = (bytes: Buffer, dice: Dice, earlier: Buffer) => Buffer;

/** A kind of damage. */
export interface DamageKind {
  readonly name: string;
  readonly damage: Damage;
}

const pageBytes = 8192;
const sectorBytes = 512;

/** Picks a page; its offset. */
const pageOf = (bytes: Buffer, dice: Dice) => dice.below(bytes.length / pageBytes) * pageBytes;

function noise(pages: number): Damage {
  return (bytes, dice) => {
    for (let count = 0; count < pages; count++) {
      const at = pageOf(bytes, dice);
      for (let offset = 0; offset < pageBytes; offset++) bytes[at + offset] = dice.below(256);
    }
    return bytes;
  };
}

function flip(bytes: Buffer, at: number, bit: number): Buffer {
  bytes[at]! ^= 1 << bit;
  return bytes;
}

const inMeta: Damage = (bytes, dice) =>
  flip(bytes, dice.below(2) * pageBytes + dice.below(168), dice.below(8));
const anywhere: Damage = (bytes, dice) => flip(bytes, dice.below(bytes.length), dice.below(8));
const inHead: Damage = (bytes, dice) => flip(bytes, pageOf(bytes, dice) + dice.below(64), dice.below(8));

const inValue: Damage = (bytes, dice) => {
  const text = `map-${1 + dice.below(9)} map-`;
  let at = 0;
  for (; at >= 0; at = bytes.indexOf(text, at + 1)) if (at > 0) flip(bytes, at, 0);
  return bytes;
};

const sector: Damage = (bytes, dice) => {
  const at = dice.below(bytes.length / sectorBytes) * sectorBytes;
  return bytes.fill(dice.pick([0, 0xff]), at, at + sectorBytes);
};

const manyBits: Damage = (bytes, dice) => {
  for (let count = 2 + dice.below(200); count > 0; count--) anywhere(bytes, dice, bytes);
  return bytes;
};

/** A page that was written to the place of another one. */
const misdirected: Damage = (bytes, dice) => {
  const from = pageOf(bytes, dice);
  bytes.copy(bytes, pageOf(bytes, dice), from, from + pageBytes);
  return bytes;
};

const exchanged: Damage = (bytes, dice) => {
  const [one, other] = [pageOf(bytes, dice), pageOf(bytes, dice)];
  const copy = Buffer.from(bytes.subarray(one, one + pageBytes));
  bytes.copy(bytes, one, other, other + pageBytes);
  copy.copy(bytes, other);
  return bytes;
};

/** Pages that the disk confirmed and didn't write. */
const lost: Damage = (bytes, dice, earlier) => {
  for (let count = 1 + dice.below(4); count > 0; count--) {
    const at = pageOf(earlier, dice);
    earlier.copy(bytes, at, at, at + pageBytes);
  }
  return bytes;
};

/** All kinds of damage, with the number of seeds of each in the test. */
export const damageKinds: readonly (DamageKind & { readonly count: number })[] = [
  { name: "the file is cut to 8,192 bytes", damage: (bytes) => bytes.subarray(0, pageBytes), count: 1 },
  {
    name: "the file is cut within a page",
    damage: (bytes) => bytes.subarray(0, bytes.length - 100),
    count: 1,
  },
  { name: "the file is cut to half", damage: (bytes) => bytes.subarray(0, bytes.length / 2), count: 1 },
  {
    name: "the file is cut anywhere",
    damage: (bytes, dice) => bytes.subarray(0, dice.below(bytes.length)),
    count: 1,
  },
  { name: "20 pages are noise", damage: noise(20), count: 2 },
  { name: "one page is noise", damage: noise(1), count: 3 },
  { name: "a sector has only zeros or ones", damage: sector, count: 3 },
  { name: "a page was written to the place of another", damage: misdirected, count: 3 },
  { name: "two pages are exchanged", damage: exchanged, count: 2 },
  { name: "pages were not written", damage: lost, count: 4 },
  { name: "a bit of a meta page is flipped", damage: inMeta, count: 6 },
  { name: "a bit of the head of a page is flipped", damage: inHead, count: 4 },
  { name: "a bit of a value is flipped", damage: inValue, count: 2 },
  { name: "a bit is flipped anywhere", damage: anywhere, count: 4 },
  { name: "many bits are flipped", damage: manyBits, count: 2 },
];
