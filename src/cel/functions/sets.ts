import { equal } from "../values/comparison.ts";
import { declareFunction, type CelFunction } from "./function-table.ts";
import { chargeTraversal, sizeOf, type Meter } from "../costs/meter.ts";
import { CelList, noOverload, type Value } from "../values/values.ts";

/** Meter steps for comparing two items. */
const stepsPerPair = 2;

function includes(list: CelList, value: Value, meter: Meter): boolean {
  for (let at = 0; at < list.size; at++) {
    meter.work(stepsPerPair + (typeof value === "string" ? value.length >> 6 : 0));
    if (equal(list.get(at), value, meter)) return true;
  }
  return false;
}

/** Whether a list includes all items of another one. */
function includesAll(list: CelList, items: CelList, meter: Meter): boolean {
  for (let at = 0; at < items.size; at++) if (!includes(list, items.get(at), meter)) return false;
  return true;
}

function includesAny(list: CelList, items: CelList, meter: Meter): boolean {
  for (let at = 0; at < list.size; at++) if (includes(items, list.get(at), meter)) return true;
  return false;
}

/** @param factor number of times that all pairs of items may be compared. */
function ofLists(run: (one: CelList, other: CelList, meter: Meter) => boolean, factor: number): CelFunction {
  return declareFunction(
    ["(list<A>, list<A>) -> bool"],
    ([one, other], meter) =>
      one instanceof CelList && other instanceof CelList ? run(one, other, meter) : noOverload,
    { charge: ([one, other], meter) => meter.charge(1 + sizeOf(one!) * sizeOf(other!) * factor) },
  );
}

/** Functions that treat lists as sets. */
export const setFunctions: readonly (readonly [string, CelFunction])[] = [
  ["sets.contains", ofLists(includesAll, 1)],
  ["sets.intersects", ofLists(includesAny, 1)],
  [
    "sets.equivalent",
    ofLists((one, other, meter) => includesAll(one, other, meter) && includesAll(other, one, meter), 2),
  ],
];

/** `includes`: whether a list has an item, or another value equals it. */
export const includesFunction: readonly (readonly [string, CelFunction])[] = [
  [
    "includes",
    declareFunction(
      ["dyn.(dyn) -> bool"],
      ([target, value], meter) =>
        target instanceof CelList ? includes(target, value!, meter) : equal(target!, value!, meter),
      { charge: ([target], meter) => chargeTraversal(target!, meter) },
    ),
  ],
];
