import { compare, equal } from "../comparison.ts";
import { declared, type CelFunction, type Run } from "../function-table.ts";
import { chargeTraversal, type Meter } from "../meter.ts";
import { checkedDuration } from "../times.ts";
import type { CelType } from "../types.ts";
import {
  CelList,
  checkedInt,
  checkedUint,
  Duration,
  Fault,
  noOverload,
  Uint,
  type Value,
} from "../values.ts";

const comparable = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const summable = ["int", "uint", "double", "duration"];

/** The place of a value in a list, from the front or the back; -1 for none. */
export function indexInList(list: CelList, wanted: Value, last: boolean, meter: Meter): Value {
  for (let step = 0; step < list.size; step++) {
    const at = last ? list.size - 1 - step : step;
    if (typeof wanted === "string") meter.work(wanted.length >> 6);
    if (equal(list.get(at), wanted, meter)) return BigInt(at);
  }
  return -1n;
}

const isSorted: Run = ([list]) => {
  if (!(list instanceof CelList)) return noOverload;
  let last: Value = list.size === 0 ? null : list.get(0);
  for (let at = 1; at < list.size; at++) {
    const next = list.get(at);
    const order = compare(last, next);
    last = next;
    if (order === undefined) return noOverload;
    if (order > 0) return false;
  }
  return true;
};

function sum(list: Value, gives: CelType): Value {
  if (!(list instanceof CelList)) return noOverload;
  let total: Value = list.size === 0 ? zeroOf(gives) : list.get(0);
  for (let at = 1; at < list.size; at++) {
    total = addedNumbers(total, list.get(at));
    if (total instanceof Fault) return total;
  }
  return total;
}

function addedNumbers(a: Value, b: Value): Value {
  if (typeof a === "bigint" && typeof b === "bigint") return checkedInt(a + b);
  if (typeof a === "number" && typeof b === "number") return a + b;
  if (a instanceof Uint && b instanceof Uint) return checkedUint(a.value + b.value);
  if (a instanceof Duration && b instanceof Duration) return checkedDuration(a.nanos + b.nanos);
  return noOverload;
}

function zeroOf({ is }: CelType): Value {
  switch (is) {
    case "double":
      return 0;
    case "uint":
      return new Uint(0n);
    case "duration":
      return new Duration(0n);
    default:
      return 0n;
  }
}

/** The first value of a list that no other one beats. */
function best(name: string, beats: (order: number) => boolean): Run {
  return ([list]) => {
    if (!(list instanceof CelList)) return noOverload;
    if (list.size === 0) return new Fault(`${name} called on empty list`);
    let found = list.get(0);
    for (let at = 1; at < list.size; at++) {
      const next = list.get(at);
      const order = compare(next, found);
      if (order === undefined) return noOverload;
      if (beats(order)) found = next;
    }
    return found;
  };
}

const throughList: Pick<CelFunction, "charge"> = {
  charge: ([list], meter) => chargeTraversal(list!, meter),
};

/** Functions of lists beyond the standard ones. */
export const listFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "isSorted",
    declared(
      comparable.map((type) => `list<${type}>.() -> bool`),
      isSorted,
      throughList,
    ),
  ],
  [
    "sum",
    declared(
      summable.map((type) => `list<${type}>.() -> ${type}`),
      ([list], _, gives) => sum(list!, gives),
      throughList,
    ),
  ],
  [
    "min",
    declared(
      comparable.map((type) => `list<${type}>.() -> ${type}`),
      best("min", (order) => order < 0),
      throughList,
    ),
  ],
  [
    "max",
    declared(
      comparable.map((type) => `list<${type}>.() -> ${type}`),
      best("max", (order) => order > 0),
      throughList,
    ),
  ],
];
