import { ValueList } from "./collections.ts";
import type { Evaluation, Step } from "./step.ts";
import type { Macro } from "./syntax.ts";
import { CelList, CelMap, Fault, noOverload, type Value } from "./values.ts";

/** A macro, its parts planned. */
export interface Loop {
  readonly macro: Macro;
  readonly over: Step;
  /** Where the variable's value is put. */
  readonly slot: number;
  readonly test: Step | undefined;
  readonly make: Step | undefined;
}

type Body = (evaluation: Evaluation, list: CelList) => Value;

/**
 * Plans a macro. In the reference a macro is a fold: before each item a condition is evaluated, and after the last one the
 * accumulator is read. What that costs is counted here without doing it.
 */
export function planLoop(loop: Loop): Step {
  const body = bodyOf(loop);
  const { over } = loop;
  return (evaluation) => {
    const range = over(evaluation);
    if (range instanceof Fault) return range;
    if (range instanceof CelList) return body(evaluation, range);
    if (!(range instanceof CelMap)) return noOverload;
    evaluation.meter.work(range.size);
    return body(evaluation, new ValueList(range.keys()));
  };
}

function bodyOf(loop: Loop): Body {
  switch (loop.macro) {
    case "all":
      return deciding(loop, false, 2);
    case "exists":
      return deciding(loop, true, 3);
    case "exists_one":
      return single(loop);
    case "map":
    case "filter":
      return collecting(loop);
  }
}

/** `all` and `exists` end at the first item that decides; faults of others don't count then. */
function deciding({ slot, test }: Loop, decisive: boolean, conditionCost: number): Body {
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.charge(conditionCost + 1);
      slots[slot] = list.get(at);
      const value = test!(evaluation);
      if (value === decisive) {
        // The condition is evaluated once more, to find that the loop is over; the accumulator is read.
        meter.charge(at + 1 < list.size ? conditionCost + 1 : 1);
        return decisive;
      }
      if (value !== !decisive) fault ??= value instanceof Fault ? value : noOverload;
    }
    meter.charge(1);
    return fault ?? !decisive;
  };
}

function single({ slot, test }: Loop): Body {
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    let count = 0;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.work(1);
      slots[slot] = list.get(at);
      const value = test!(evaluation);
      if (value === true) {
        meter.charge(2);
        count++;
      } else if (value !== false) fault ??= value instanceof Fault ? value : noOverload;
    }
    meter.charge(2);
    return fault ?? count === 1;
  };
}

/** `map` and `filter`: each item that is taken costs a list of one item and its joining to the others. */
function collecting({ slot, test, make }: Loop): Body {
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    const values: Value[] = [];
    for (let at = 0; at < list.size; at++) {
      meter.work(1);
      const item = list.get(at);
      slots[slot] = item;
      if (test !== undefined) {
        const value = test(evaluation);
        if (value === false) continue;
        if (value !== true) return value instanceof Fault ? value : noOverload;
      }
      meter.charge(12);
      if (make === undefined) meter.charge(1);
      const made = make === undefined ? item : make(evaluation);
      if (made instanceof Fault) return made;
      values.push(made);
    }
    meter.charge(1);
    return new ValueList(values);
  };
}
