import { compare, equal } from "../values/comparison.ts";
import { declareFunction, type CelFunction, type Run } from "./function-table.ts";
import { chargeTraversal, type Meter } from "../costs/meter.ts";
import { checkedDuration } from "../values/times.ts";
import type { CelType } from "../types/types.ts";
import {
  CelList,
  checkedInt,
  checkedUint,
  Duration,
  Fault,
  noOverload,
  Uint,
  type Value,
} from "../values/values.ts";

const comparable = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const summable = ["int", "uint", "double", "duration"];

/** Returns the first or last index of a value in a list; -1 if it isn't found. */
export function indexInList(list: CelList, target: Value, last: boolean, meter: Meter): Value {
  for (let step = 0; step < list.size; step++) {
    const at = last ? list.size - 1 - step : step;
    if (typeof target === "string") meter.work(target.length >> 6);
    if (equal(list.get(at), target, meter)) return BigInt(at);
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

function sum(list: Value, resultType: CelType): Value {
  if (!(list instanceof CelList)) return noOverload;
  let total: Value = list.size === 0 ? zeroOf(resultType) : list.get(0);
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

/** Returns the minimum or maximum of a list. */
function extreme(name: string, isBetter: (order: number) => boolean): Run {
  return ([list]) => {
    if (!(list instanceof CelList)) return noOverload;
    if (list.size === 0) return new Fault(`${name} called on empty list`);
    let result = list.get(0);
    for (let at = 1; at < list.size; at++) {
      const next = list.get(at);
      const order = compare(next, result);
      if (order === undefined) return noOverload;
      if (isBetter(order)) result = next;
    }
    return result;
  };
}

const throughList: Pick<CelFunction, "charge"> = {
  charge: ([list], meter) => chargeTraversal(list!, meter),
};

/** List functions of the Kubernetes library. */
export const listFunctions: readonly (readonly [string, CelFunction])[] = [
  [
    "isSorted",
    declareFunction(
      comparable.map((type) => `list<${type}>.() -> bool`),
      isSorted,
      throughList,
    ),
  ],
  [
    "sum",
    declareFunction(
      summable.map((type) => `list<${type}>.() -> ${type}`),
      ([list], _, gives) => sum(list!, gives),
      throughList,
    ),
  ],
  [
    "min",
    declareFunction(
      comparable.map((type) => `list<${type}>.() -> ${type}`),
      extreme("min", (order) => order < 0),
      throughList,
    ),
  ],
  [
    "max",
    declareFunction(
      comparable.map((type) => `list<${type}>.() -> ${type}`),
      extreme("max", (order) => order > 0),
      throughList,
    ),
  ],
];
