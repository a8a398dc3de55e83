import { ValueList } from "./collections.ts";
import { loopCosts } from "./loop-costs.ts";
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

/** Steps for reading one item, as the meter counts them; conditions may cost nothing. */
const stepsPerItem = 4;

type Body = (evaluation: Evaluation, list: CelList) => Value;

/**
 * Plans a macro. What the fold of the reference would cost is counted without doing it (see `loop-costs.ts`).
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
      return deciding(loop, false);
    case "exists":
      return deciding(loop, true);
    case "exists_one":
      return single(loop);
    case "map":
    case "filter":
      return collecting(loop);
  }
}

/** `all` and `exists` end at the first item that decides; faults of others don't count then. */
function deciding({ slot, test, macro }: Loop, decisive: boolean): Body {
  const { each, end } = loopCosts[macro];
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.charge(each);
      slots[slot] = list.get(at);
      const value = test!(evaluation);
      if (value === decisive) {
        // The condition is evaluated once more, to find that the loop is over; the accumulator is read.
        meter.charge(at + 1 < list.size ? each - 1 + end : end);
        return decisive;
      }
      if (value !== !decisive) fault ??= value instanceof Fault ? value : noOverload;
    }
    meter.charge(end);
    return fault ?? !decisive;
  };
}

function single({ slot, test, macro }: Loop): Body {
  const { taken, end } = loopCosts[macro];
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    let count = 0;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.work(stepsPerItem);
      slots[slot] = list.get(at);
      const value = test!(evaluation);
      if (value === true) {
        meter.charge(taken);
        count++;
      } else if (value !== false) fault ??= value instanceof Fault ? value : noOverload;
    }
    meter.charge(end);
    return fault ?? count === 1;
  };
}

/** `map` and `filter`: each item that is taken costs a list of one item and its joining to the others. */
function collecting({ slot, test, make, macro }: Loop): Body {
  const { taken, end } = loopCosts[macro];
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    const values: Value[] = [];
    for (let at = 0; at < list.size; at++) {
      meter.work(stepsPerItem);
      const item = list.get(at);
      slots[slot] = item;
      if (test !== undefined) {
        const value = test(evaluation);
        if (value === false) continue;
        if (value !== true) {
          meter.charge(end);
          return value instanceof Fault ? value : noOverload;
        }
      }
      meter.charge(taken);
      const made = make === undefined ? item : make(evaluation);
      if (made instanceof Fault) {
        meter.charge(end);
        return made;
      }
      values.push(made);
    }
    meter.charge(end);
    return new ValueList(values);
  };
}
