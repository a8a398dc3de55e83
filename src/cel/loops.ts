import { ValueList } from "./collections.ts";
import { loopCosts } from "./loop-costs.ts";
import type { Evaluation, Step } from "./step.ts";
import type { Macro } from "./syntax.ts";
import { CelList, CelMap, Fault, noOverload, type Value } from "./values.ts";

/** A macro with planned parts. */
export interface Loop {
  readonly macro: Macro;
  readonly over: Step;
  /** Slot of the loop variable. */
  readonly slot: number;
  readonly test: Step | undefined;
  readonly make: Step | undefined;
}

/** Meter steps per item; conditions may cost nothing. */
const stepsPerItem = 4;

type Body = (evaluation: Evaluation, list: CelList) => Value;

/**
 * Plans a macro. Charges the cost of the fold in cel-go (see `loop-costs.ts`).
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
      return quantifier(loop, false);
    case "exists":
      return quantifier(loop, true);
    case "exists_one":
      return existsOne(loop);
    case "map":
    case "filter":
      return collector(loop);
  }
}

/** `all` and `exists` stop at the first decisive item; faults of other items are then ignored. */
function quantifier({ slot, test, macro }: Loop, decisive: boolean): Body {
  const { each, end } = loopCosts[macro];
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.charge(each);
      slots[slot] = list.get(at);
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
  return (evaluation, list) => {
    const { meter, slots } = evaluation;
    let count = 0;
    let fault: Fault | undefined;
    for (let at = 0; at < list.size; at++) {
      meter.work(stepsPerItem);
      slots[slot] = list.get(at);
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
