import { ValueList, ValueMap } from "../values/collections.ts";
import { loopCosts } from "../costs/loop-costs.ts";
import { sortedList } from "../values/sorting.ts";
import type { Evaluation, Step } from "./step.ts";
import type { Macro } from "../syntax/syntax.ts";
import { CelList, CelMap, Fault, noOverload, Uint, type Value } from "../values/values.ts";

/** A macro with planned parts. */
export interface Loop {
  readonly macro: Macro;
  readonly over: Step;
  /** Slot of the loop variable; that of the second variable follows. */
  readonly slot: number;
  readonly hasSecond: boolean;
  readonly test: Step | undefined;
  readonly make: Step | undefined;
}

/** Meter steps per item; conditions may cost nothing. */
const stepsPerItem = 4;
/** Meter steps per entry of a map. */
const stepsPerEntry = 10;

/** @param seconds the values of the second variable, if there is one. */
type Body = (evaluation: Evaluation, list: CelList, seconds: CelList | undefined) => Value;

/**
 * Plans a macro. Charges the cost of the fold in cel-go (see `loop-costs.ts`).
 */
export function planLoop(loop: Loop): Step {
  const body = bodyOf(loop);
  const { over, hasSecond } = loop;
  return (evaluation) => {
    const range = over(evaluation);
    if (range instanceof Fault) return range;
    if (range instanceof CelList) {
      return hasSecond
        ? body(evaluation, new IndexList(range.size), range)
        : body(evaluation, range, undefined);
    }
    if (!(range instanceof CelMap)) return noOverload;
    evaluation.meter.work(range.size);
    const keys = new ValueList(range.keys());
    return body(evaluation, keys, hasSecond ? new MapValues(range, keys) : undefined);
  };
}

/** The indexes of a list. */
class IndexList extends CelList {
  constructor(readonly size: number) {
    super();
  }

  get(index: number): Value {
    return BigInt(index);
  }
}

/** The values of a map in the order of its keys. */
class MapValues extends CelList {
  constructor(
    private readonly map: CelMap,
    private readonly keys: CelList,
  ) {
    super();
  }

  get size(): number {
    return this.keys.size;
  }

  get(index: number): Value {
    return this.map.get(this.keys.get(index))!;
  }
}

function bodyOf(loop: Loop): Body {
  switch (loop.macro) {
    case "all":
      return quantifier(loop, false);
    case "exists":
      return quantifier(loop, true);
    case "exists_one":
      return existsOne(loop);
    case "map":
    case "filter":
      return collector(loop);
    case "transformMap":
    case "transformMapEntry":
      return mapCollector(loop);
    case "sortBy":
      return sorter(loop);
  }
}

/** `all` and `exists` stop at the first decisive item; faults of other items are then ignored. */
function quantifier({ slot, test, macro }: Loop, decisive: boolean): Body {
  const { each, end } = loopCosts[macro];
  return (evaluation, list, seconds) => {
    const { meter, slots } = evaluation;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.charge(each);
      slots[slot] = list.get(at);
      if (seconds !== undefined) slots[slot + 1] = seconds.get(at);
      const value = test!(evaluation);
      if (value === decisive) {
        // The loop condition is evaluated once more, and the accumulator is read.
        meter.charge(at + 1 < list.size ? each - 1 + end : end);
        return decisive;
      }
      if (value !== !decisive) fault ??= value instanceof Fault ? value : noOverload;
    }
    meter.charge(end);
    return fault ?? !decisive;
  };
}

function existsOne({ slot, test, macro }: Loop): Body {
  const { accepted, end } = loopCosts[macro];
  return (evaluation, list, seconds) => {
    const { meter, slots } = evaluation;
    let count = 0;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.work(stepsPerItem);
      slots[slot] = list.get(at);
      if (seconds !== undefined) slots[slot + 1] = seconds.get(at);
      const value = test!(evaluation);
      if (value === true) {
        meter.charge(accepted);
        count++;
      } else if (value !== false) fault ??= value instanceof Fault ? value : noOverload;
    }
    meter.charge(end);
    return fault ?? count === 1;
  };
}

/** `map` and `filter`: each accepted item costs a list of one item and its concatenation with the others. */
function collector({ slot, test, make, macro }: Loop): Body {
  const { accepted, end } = loopCosts[macro];
  return (evaluation, list, seconds) => {
    const { meter, slots } = evaluation;
    const values: Value[] = [];
    for (let at = 0; at < list.size; at++) {
      meter.work(stepsPerItem);
      const item = list.get(at);
      slots[slot] = item;
      if (seconds !== undefined) slots[slot + 1] = seconds.get(at);
      if (test !== undefined) {
        const value = test(evaluation);
        if (value === false) continue;
        if (value !== true) {
          meter.charge(end);
          return value instanceof Fault ? value : noOverload;
        }
      }
      meter.charge(accepted);
      const result = make === undefined ? item : make(evaluation);
      if (result instanceof Fault) {
        meter.charge(end);
        return result;
      }
      values.push(result);
    }
    meter.charge(end);
    return new ValueList(values);
  };
}

/** `transformMap` and `transformMapEntry`: each accepted item inserts one or more entries. */
function mapCollector({ slot, test, make, macro }: Loop): Body {
  const { accepted, end } = loopCosts[macro];
  return (evaluation, list, seconds) => {
    const { meter, slots } = evaluation;
    const map = new ValueMap();
    const insert = (key: Value, value: Value): Fault | undefined => {
      meter.work(stepsPerEntry);
      if (map.has(key)) return new Fault(`insert failed: key ${textOfKey(key)} already exists`);
      return map.set(key, value) ? undefined : new Fault("unsupported key type");
    };
    for (let at = 0; at < list.size; at++) {
      meter.work(stepsPerItem);
      slots[slot] = list.get(at);
      slots[slot + 1] = seconds!.get(at);
      const isAccepted = test === undefined || test(evaluation);
      if (isAccepted === false) continue;
      if (isAccepted !== true) return isAccepted instanceof Fault ? isAccepted : noOverload;
      meter.charge(accepted);
      const result = make!(evaluation);
      const fault = insertResult(result, macro === "transformMap" ? list.get(at) : undefined, insert);
      if (fault !== undefined) {
        meter.charge(end);
        return fault;
      }
    }
    meter.charge(end);
    return map;
  };
}

/** @param key the key of the value; undefined if the value is a map of entries. */
function insertResult(
  result: Value,
  key: Value | undefined,
  insert: (key: Value, value: Value) => Fault | undefined,
): Fault | undefined {
  if (result instanceof Fault) return result;
  if (key !== undefined) return insert(key, result);
  if (!(result instanceof CelMap)) return noOverload;
  for (const one of result.keys()) {
    const fault = insert(one, result.get(one)!);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function textOfKey(key: Value): string {
  return key instanceof Uint ? String(key.value) : typeof key === "object" ? "" : String(key).slice(0, 128);
}

/** `sortBy`: sorts a list by keys that are computed from its items. */
function sorter(loop: Loop): Body {
  const collect = collector(loop);
  return (evaluation, list, seconds) => {
    const keys = collect(evaluation, list, seconds);
    // The reference names the list twice.
    evaluation.meter.charge(2);
    return keys instanceof CelList ? sortedList(list, keys, "quadratic", evaluation.meter) : keys;
  };
}
