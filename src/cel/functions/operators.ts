import { compare, equal } from "../values/comparison.ts";
import { JoinedList } from "../values/collections.ts";
import { mergeItems } from "../values/list-identity.ts";
import { declareFunction, traversal, type CelFunction, type CostRule } from "./function-table.ts";
import { sizeOf, type Meter } from "../costs/meter.ts";
import { checkedDuration, checkedTime } from "../values/times.ts";
import {
  CelList,
  CelMap,
  checkedInt,
  checkedUint,
  Duration,
  Fault,
  noOverload,
  OpaqueValue,
  Timestamp,
  Uint,
  type Value,
} from "../values/values.ts";

const ordered = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];
const numbers = ["int", "uint", "double"];

/** Overloads with equal types. As in Kubernetes, numbers of different types can only be compared if they are dynamic. */
const comparisons = ordered.map((type) => `(${type}, ${type}) -> bool`);

const byShorter: CostRule = (first, second) => traversal(Math.min(first, second));

/** Comparing strings or bytes costs by the shorter one; other values cost 1. */
function comparison(holds: (order: number) => boolean): CelFunction {
  return declareFunction(
    comparisons,
    ([a, b]) => {
      const order = compare(a!, b!);
      return order === undefined ? noOverload : holds(order);
    },
    { cost: byShorter },
  );
}

type Arithmetic = (a: bigint, b: bigint) => bigint;

/** Applies an operator to two numbers of the same type; undefined for other values. */
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

function add(a: Value, b: Value, meter: Meter): Value {
  if (typeof a === "string" && typeof b === "string") return a + b;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.concat([a, b]);
  if (a instanceof CelList && b instanceof CelList) {
    return a.identity === undefined ? new JoinedList(a, b, meter) : mergeItems(a, a.identity, b, meter);
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

function subtract(a: Value, b: Value): Value {
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

/** Returns the item of a list or the value of a map at an index. */
export function indexValue(operand: Value, index: Value): Value {
  if (operand instanceof CelMap) {
    return valueOrMissingKey(operand.get(index), index);
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

/** Returns the value, or a fault for a missing key. */
export function valueOrMissingKey(value: Value | undefined, key: Value): Value {
  return value === undefined ? new Fault(`no such key: ${formatKey(key)}`) : value;
}

function formatKey(key: Value): string {
  if (typeof key === "string") return key.slice(0, 128);
  return key instanceof Uint ? String(key.value) : typeof key === "object" ? "" : String(key);
}

/** Operators by their names in cel-go. */
export const operators: readonly (readonly [string, CelFunction])[] = [
  [
    "_==_",
    declareFunction(["(A, A) -> bool"], ([a, b], meter) => equal(a!, b!, meter), {
      charge([a, b], meter) {
        meter.charge(a instanceof OpaqueValue ? 1 : byShorter(sizeOf(a!), sizeOf(b!)));
      },
    }),
  ],
  [
    "_!=_",
    declareFunction(["(A, A) -> bool"], ([a, b], meter) => !equal(a!, b!, meter), { cost: byShorter }),
  ],
  ["_<_", comparison((order) => order < 0)],
  ["_<=_", comparison((order) => order <= 0)],
  ["_>_", comparison((order) => order > 0)],
  ["_>=_", comparison((order) => order >= 0)],
  [
    "_+_",
    declareFunction(
      sameNumbers([
        "(string, string) -> string",
        "(bytes, bytes) -> bytes",
        "(list<A>, list<A>) -> list<A>",
        "(timestamp, duration) -> timestamp",
        "(duration, timestamp) -> timestamp",
        "(duration, duration) -> duration",
      ]),
      ([a, b], meter) => add(a!, b!, meter),
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
    declareFunction(
      sameNumbers([
        "(timestamp, timestamp) -> duration",
        "(timestamp, duration) -> timestamp",
        "(duration, duration) -> duration",
      ]),
      ([a, b]) => subtract(a!, b!),
    ),
  ],
  [
    "_*_",
    declareFunction(
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
    declareFunction(sameNumbers(), ([a, b]) => {
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
    declareFunction(["(int, int) -> int", "(uint, uint) -> uint"], ([a, b]) => {
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
    declareFunction(["(int) -> int", "(double) -> double"], ([value]) => {
      if (typeof value === "bigint") return checkedInt(-value);
      return typeof value === "number" ? -value : noOverload;
    }),
  ],
  [
    "!_",
    declareFunction(["(bool) -> bool"], ([value]) => (typeof value === "boolean" ? !value : noOverload)),
  ],
  [
    "@in",
    declareFunction(
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
    declareFunction(["(list<A>, int) -> A", "(map<A, B>, A) -> B"], ([operand, index]) =>
      indexValue(operand!, index!),
    ),
  ],
];
