import { ValueList } from "../values/collections.ts";
import { equal } from "../values/comparison.ts";
import { declareFunction, type CelFunction, type Run } from "./function-table.ts";
import { sizeOf, type Meter } from "../costs/meter.ts";
import { chargeSorting, sortedList } from "../values/sorting.ts";
import { CelList, Fault, noOverload, type Value } from "../values/values.ts";

/** Cost of a call that creates a list, besides that of its items. */
const creationCost = 11;
/** Meter steps per item. */
const stepsPerItem = 5;
/** Meter steps per list. */
const stepsPerList = 50;
/** Maximum size of `lists.range`. */
const maxRange = 1_000_000n;

function ofList(run: (list: CelList, meter: Meter) => Value): Run {
  return ([list], meter) => (list instanceof CelList ? run(list, meter) : noOverload);
}

function itemsOf(list: CelList, meter: Meter): Value[] {
  meter.work(list.size * stepsPerItem + stepsPerList);
  return Array.from({ length: list.size }, (_, at) => list.get(at));
}

/** Returns a fault; the result counts as one item. */
function failedCreation(message: string, meter: Meter): Fault {
  meter.charge(creationCost + 1);
  return new Fault(message);
}

const slice: Run = ([list, start, end], meter) => {
  if (!(list instanceof CelList) || typeof start !== "bigint" || typeof end !== "bigint") return noOverload;
  const failed = (why: string): Fault => failedCreation(`cannot slice(${start}, ${end}), ${why}`, meter);
  if (start < 0n || end < 0n) return failed("negative indexes not supported");
  if (start > end) return failed("start index must be less than or equal to end index");
  if (end > list.size) return failed(`list is length ${list.size}`);
  meter.charge(Number(end - start) + creationCost);
  return new ValueList(Array.from({ length: Number(end - start) }, (_, at) => list.get(Number(start) + at)));
};

const flatten: Run = ([list, depth = 1n], meter) => {
  if (!(list instanceof CelList) || typeof depth !== "bigint") return noOverload;
  if (depth < 0n) return new Fault("level must be non-negative");
  const items: Value[] = [];
  const collect = (nested: CelList, levels: bigint): void => {
    for (const item of itemsOf(nested, meter)) {
      if (item instanceof CelList && levels > 0n) collect(item, levels - 1n);
      else items.push(item);
    }
  };
  collect(list, depth);
  return new ValueList(items);
};

function distinct(list: CelList, meter: Meter): Value {
  const items: Value[] = [];
  for (const item of itemsOf(list, meter)) {
    meter.work(items.length);
    if (!items.some((one) => equal(item, one, meter))) items.push(item);
  }
  return new ValueList(items);
}

const range: Run = ([size], meter) => {
  if (typeof size !== "bigint") return noOverload;
  if (size < 0n) return failedCreation(`lists.range: size must be non-negative, got ${size}`, meter);
  if (size > maxRange) {
    return failedCreation(`lists.range: size ${size} exceeds maximum allowed (${maxRange})`, meter);
  }
  meter.charge(Number(size) + creationCost);
  return new ValueList(Array.from({ length: Number(size) }, (_, at) => BigInt(at)));
};

const sortable = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"];
const chargedByRun = { charge: () => undefined };
const bySize: Pick<CelFunction, "charge"> = {
  charge: ([list], meter) => meter.charge(sizeOf(list!) + creationCost),
};

/** List functions of later releases. */
export const laterListFunctions: readonly (readonly [string, CelFunction])[] = [
  ["slice", declareFunction(["list<A>.(int, int) -> list<A>"], slice, chargedByRun)],
  [
    "flatten",
    declareFunction(["list<list<A>>.() -> list<A>", "list<dyn>.(int) -> list<dyn>"], flatten, {
      charge([list, depth = 1n], meter) {
        const levels = typeof depth === "bigint" ? Number(depth) : 1;
        meter.charge(sizeOf(list!) * (levels < 0 ? 1 : levels) + creationCost);
      },
    }),
  ],
  [
    "sort",
    declareFunction(
      sortable.map((type) => `list<${type}>.() -> list<${type}>`),
      ([list], meter, resultType) => {
        if (!(list instanceof CelList)) return noOverload;
        // A call that is dispatched by the values costs 1.
        return sortedList(list, list, resultType.is === "dyn" ? "constant" : "quadratic", meter);
      },
      chargedByRun,
    ),
  ],
  [
    "distinct",
    declareFunction(["list<A>.() -> list<A>"], ofList(distinct), {
      charge: ([list], meter) => (list instanceof CelList ? chargeSorting(list, meter) : meter.charge(1)),
    }),
  ],
  [
    "reverse",
    declareFunction(
      ["list<A>.() -> list<A>"],
      ofList((list, meter) => new ValueList(itemsOf(list, meter).toReversed())),
      bySize,
    ),
  ],
  ["lists.range", declareFunction(["(int) -> list<int>"], range, chargedByRun)],
];
