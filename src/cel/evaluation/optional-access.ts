import { ValueList } from "../values/collections.ts";
import type { Evaluation, Step } from "./step.ts";
import { CelList, CelMap, Fault, noOverload, Optional, Uint, type Value } from "../values/values.ts";

/** Returns a field that may be absent; the value may be optional itself. */
export function optionalField(value: Value, field: string, plain: string | undefined): Value {
  const operand = value instanceof Optional ? value.value : value;
  if (operand === undefined) return Optional.none;
  if (operand instanceof CelMap) return wrapped(operand.select(field, plain));
  if (operand instanceof CelList) return unsupportedIndex(field);
  return operand instanceof Fault ? operand : Optional.none;
}

/** Returns an item of a list or a value of a map that may be absent. */
export function optionalItem(value: Value, index: Value): Value {
  const operand = value instanceof Optional ? value.value : value;
  if (operand === undefined) return Optional.none;
  if (operand instanceof CelMap) return wrapped(operand.get(index));
  if (!(operand instanceof CelList)) return operand instanceof Fault ? operand : Optional.none;
  const at = index instanceof Uint ? index.value : index;
  if (typeof at !== "bigint" && !(typeof at === "number" && Number.isInteger(at)))
    return unsupportedIndex(at);
  return at < 0 || at >= operand.size ? Optional.none : wrapped(operand.get(Number(at)));
}

function unsupportedIndex(index: Value): Fault {
  if (typeof index === "number") return new Fault(`unsupported index value ${index} in list`);
  return typeof index === "string" ? new Fault("unsupported index type 'string' in list") : noOverload;
}

function wrapped(value: Value | undefined): Value {
  if (value === undefined) return Optional.none;
  return value instanceof Fault ? value : new Optional(value);
}

/**
 * Charges a selection; its last step counts only if the selected value is present.
 *
 * @returns the selected value.
 */
export function chargePresent(selected: Value, cost: number, { meter }: Evaluation): Value {
  meter.charge(selected instanceof Optional && selected.value !== undefined ? cost : cost - 1);
  return selected;
}

/** Returns the value of an optional item of a literal; undefined if it is absent. */
export function presentValue(item: Value): Value | undefined {
  return item instanceof Optional ? item.value : noOverload;
}

/** Cost of a list literal. */
const listCost = 10;
/** Meter steps per item of a list literal. */
const stepsPerItem = 4;

/**
 * Plans a list literal with optional items.
 *
 * @param optional indexes of optional items.
 */
export function optionalList(steps: readonly Step[], optional: ReadonlySet<number>): Step {
  return (evaluation) => {
    const values: Value[] = [];
    evaluation.meter.work(steps.length * stepsPerItem);
    for (const [index, step] of steps.entries()) {
      const item = step(evaluation);
      const value = optional.has(index) && !(item instanceof Fault) ? presentValue(item) : item;
      if (value instanceof Fault) return value;
      if (value !== undefined) values.push(value);
    }
    evaluation.meter.charge(listCost);
    return new ValueList(values);
  };
}
