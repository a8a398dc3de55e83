import { ValueList } from "./collections.ts";
import { compare } from "./comparison.ts";
import type { Meter } from "../costs/meter.ts";
import { Fault, type CelList, type Value } from "./values.ts";

const notComparable = new Fault("list elements must be comparable");
const mixedTypes = new Fault("list elements must have the same type");

/** Meter steps per comparison. */
const stepsPerComparison = 8;

/**
 * Sorts a list by keys, which are comparable and of one type.
 *
 * @param keys one for each item.
 * @param charge how the cost grows with the list.
 */
export function sortedList(
  list: CelList,
  keys: CelList,
  charge: "constant" | "quadratic",
  meter: Meter,
): Value {
  const { size } = keys;
  if (charge === "constant") meter.charge(1);
  else chargeSorting(keys, meter);
  if (size === 0) return list;
  if (compare(keys.get(0), keys.get(0)) === undefined) return notComparable;
  meter.work(size * Math.ceil(Math.log2(size + 1)) * stepsPerComparison);
  let isMixed = false;
  const values = Array.from({ length: size }, (_, index) => keys.get(index));
  const indexes = Array.from(values.keys());
  indexes.sort((one, other) => {
    const [first, second] = [values[one]!, values[other]!];
    if (typeof first === "string" || first instanceof Uint8Array) meter.work(first.length >> 4);
    const order = sameClass(first, second) ? compare(first, second) : undefined;
    if (order === undefined) isMixed = true;
    return order ?? 0;
  });
  return isMixed ? mixedTypes : new ValueList(indexes.map((index) => list.get(index)));
}

/** Charges comparisons of all items with each other, as the reference does for sorting and `distinct`. */
export function chargeSorting(list: CelList, meter: Meter): void {
  const first = list.size === 0 ? undefined : list.get(0);
  const factor = typeof first === "string" || first instanceof Uint8Array ? 2.1 : 2;
  meter.charge(Math.floor(list.size * list.size * factor) + 11);
}

function sameClass(a: Value, b: Value): boolean {
  return typeof a === typeof b && a?.constructor === b?.constructor;
}
