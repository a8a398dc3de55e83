import { compare, equal } from "../comparison.ts";
import { JoinedList } from "../collections.ts";
import { mergedItems } from "../list-identity.ts";
import { declared, traversal, type CelFunction, type CostRule } from "../function-table.ts";
import type { Meter } from "../meter.ts";
import { checkedDuration, checkedTime } from "../times.ts";
import {
  CelList,
  CelMap,
  checkedInt,
  checkedUint,
  Duration,
  Fault,
  noOverload,
  Timestamp,
  Uint,
  type Value,
} from "../values.ts";

const ordered = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];
const numbers = ["int", "uint", "double"];

/** Values of one type; numbers of different types can be compared where the types are dynamic only, as in the reference. */
const comparisons = ordered.map((type) => `(${type}, ${type}) -> bool`);

const byShorter: CostRule = (first, second) => traversal(Math.min(first, second));

/** Texts and bytes cost by the shorter of them; everything else costs 1, which is what their rule gives for it. */
function comparison(holds: (order: number) => boolean): CelFunction {
  return declared(
    comparisons,
    ([a, b]) => {
      const order = compare(a!, b!);
      return order === undefined ? noOverload : holds(order);
    },
    { cost: byShorter },
  );
}

type Arithmetic = (a: bigint, b: bigint) => bigint;

/** Arithmetic of two numbers of one type; undefined for other values. */
function arithmetic(
  a: Value,
  b: Value,
  whole: Arithmetic,
  real: (a: number, b: number) => number,
): Value | undefined {
  if (typeof a === "bigint" && typeof b === "bigint") return checkedInt(whole(a, b));
  if (typeof a === "number" && typeof b === "number") return real(a, b);
  if (a instanceof Uint && b instanceof Uint) return checkedUint(whole(a.value, b.value));
  return undefined;
}

function sameNumbers(more: readonly string[] = []): string[] {
  return [...numbers.map((type) => `(${type}, ${type}) -> ${type}`), ...more];
}

function added(a: Value, b: Value, meter: Meter): Value {
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.concat([a, b]);
  if (a instanceof CelList && b instanceof CelList) {
    return a.identity === undefined ? new JoinedList(a, b, meter) : mergedItems(a, a.identity, b, meter);
  }
  if (a instanceof Timestamp && b instanceof Duration) return checkedTime(a.nanos + b.nanos, a.offset);
  if (a instanceof Duration && b instanceof Timestamp) return checkedTime(a.nanos + b.nanos, b.offset);
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.nanos + b.nanos);
  return (
    arithmetic(
      a,
      b,
      (x, y) => x + y,
      (x, y) => x + y,
    ) ?? noOverload
  );
}

function subtracted(a: Value, b: Value): Value {
  if (a instanceof Timestamp && b instanceof Timestamp) return checkedDuration(a.nanos - b.nanos);
  if (a instanceof Timestamp && b instanceof Duration) return checkedTime(a.nanos - b.nanos, a.offset);
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.nanos - b.nanos);
  return (
    arithmetic(
      a,
      b,
      (x, y) => x - y,
      (x, y) => x - y,
    ) ?? noOverload
  );
}

function isZero(value: Value): boolean {
  return value === 0n || (value instanceof Uint && value.value === 0n);
}

/** The item of a list, or the value of a map, that an index names. */
export function indexed(operand: Value, index: Value): Value {
  if (operand instanceof CelMap) {
    return orMissing(operand.get(index), index);
  }
  if (operand instanceof CelList) {
    const at = index instanceof Uint ? index.value : index;
    if (typeof at !== "bigint" && !(typeof at === "number" && Number.isInteger(at))) {
      return typeof at === "number" ? new Fault(`unsupported index value ${at}`) : noOverload;
    }
    if (at < 0 || at >= operand.size) return new Fault(`index out of bounds: ${at}`);
    return operand.get(Number(at));
  }
  return noOverload;
}

/** A value, which may be null, or the fault that there is none under a key. */
export function orMissing(value: Value | undefined, key: Value): Value {
  return value === undefined ? new Fault(`no such key: ${shownKey(key)}`) : value;
}

function shownKey(key: Value): string {
  if (typeof key === "string") return key.slice(0, 128);
  return key instanceof Uint ? String(key.value) : typeof key === "object" ? "" : String(key);
}

/** Operators under the names that the reference gives them. */
export const operators: readonly (readonly [string, CelFunction])[] = [
  ["_==_", declared(["(A, A) -> bool"], ([a, b], meter) => equal(a!, b!, meter), { cost: byShorter })],
  ["_!=_", declared(["(A, A) -> bool"], ([a, b], meter) => !equal(a!, b!, meter), { cost: byShorter })],
  ["_<_", comparison((order) => order < 0)],
  ["_<=_", comparison((order) => order <= 0)],
  ["_>_", comparison((order) => order > 0)],
  ["_>=_", comparison((order) => order >= 0)],
  [
    "_+_",
    declared(
      sameNumbers([
        "(string, string) -> string",
        "(bytes, bytes) -> bytes",
        "(list<A>, list<A>) -> list<A>",
        "(timestamp, duration) -> timestamp",
        "(duration, timestamp) -> timestamp",
        "(duration, duration) -> duration",
      ]),
      ([a, b], meter) => added(a!, b!, meter),
      {
        charge([a, b], meter) {
          const joins = typeof a === "string" || a instanceof Uint8Array;
          const sizes =
            joins && b !== null ? a.length + ((b as { length?: number } | undefined)?.length ?? 0) : 0;
          meter.charge(joins ? traversal(sizes) : 1);
        },
      },
    ),
  ],
  [
    "_-_",
    declared(
      sameNumbers([
        "(timestamp, timestamp) -> duration",
        "(timestamp, duration) -> timestamp",
        "(duration, duration) -> duration",
      ]),
      ([a, b]) => subtracted(a!, b!),
    ),
  ],
  [
    "_*_",
    declared(
      sameNumbers(),
      ([a, b]) =>
        arithmetic(
          a!,
          b!,
          (x, y) => x * y,
          (x, y) => x * y,
        ) ?? noOverload,
    ),
  ],
  [
    "_/_",
    declared(sameNumbers(), ([a, b]) => {
      if (isZero(b!) && typeof a !== "number") return new Fault("division by zero");
      return (
        arithmetic(
          a!,
          b!,
          (x, y) => x / y,
          (x, y) => x / y,
        ) ?? noOverload
      );
    }),
  ],
  [
    "_%_",
    declared(["(int, int) -> int", "(uint, uint) -> uint"], ([a, b]) => {
      if (isZero(b!)) return new Fault("modulus by zero");
      if (typeof a === "number") return noOverload;
      return (
        arithmetic(
          a!,
          b!,
          (x, y) => x % y,
          (x, y) => x % y,
        ) ?? noOverload
      );
    }),
  ],
  [
    "-_",
    declared(["(int) -> int", "(double) -> double"], ([value]) => {
      if (typeof value === "bigint") return checkedInt(-value);
      return typeof value === "number" ? -value : noOverload;
    }),
  ],
  ["!_", declared(["(bool) -> bool"], ([value]) => (typeof value === "boolean" ? !value : noOverload))],
  [
    "@in",
    declared(
      ["(A, list<A>) -> bool", "(A, map<A, B>) -> bool"],
      ([value, among], meter) => {
        if (among instanceof CelMap) return among.has(value!);
        if (!(among instanceof CelList)) return noOverload;
        for (let at = 0; at < among.size; at++) {
          if (typeof value === "string") meter.work(value.length >> 6);
          if (equal(among.get(at), value!, meter)) return true;
        }
        return false;
      },
      {
        charge: ([, among], meter) => meter.charge(among instanceof CelList ? among.size : 1),
      },
    ),
  ],
  [
    "_[_]",
    declared(["(list<A>, int) -> A", "(map<A, B>, A) -> B"], ([operand, index]) => indexed(operand!, index!)),
  ],
];
