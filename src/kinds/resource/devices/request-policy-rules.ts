import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../base/quantity.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { limitedList } from "./list-rules.ts";

interface AmountRange {
  readonly min?: string | null | undefined;
  readonly max?: string | undefined;
  readonly step?: string | undefined;
}

/** How claims may request a part of a capacity. */
export interface RequestPolicy {
  readonly default?: string | null | undefined;
  readonly validValues?: readonly string[] | undefined;
  readonly validRange?: AmountRange | undefined;
}

const maxValidValues = 10;
const wholeNanos = 1_000_000_000n;

/** Requires a default that the allowed amounts include, and amounts that the capacity has. */
export function checkRequestPolicy(capacity: string, policy: RequestPolicy, report: FieldReport): void {
  const { default: amount, validValues = [], validRange } = policy;
  if (validValues.length > 0 && validRange !== undefined) {
    return report.forbidden(
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time',
    );
  }
  const kind = validValues.length > 0 ? "validValues" : validRange === undefined ? undefined : "validRange";
  if (kind === undefined) return;
  if (amount === undefined || amount === null)
    return report.at("default").required(`required when ${kind} is defined`);
  if (validRange === undefined) checkValues(validValues, amount, capacity, report.at("validValues"));
  else checkRange(validRange, amount, capacity, report.at("validRange"));
}

const compare = (a: string, b: string) => compareQuantities(parseQuantity(a), parseQuantity(b));

function checkValues(values: readonly string[], amount: string, capacity: string, report: FieldReport): void {
  const seen = new Set<bigint>();
  limitedList(values, maxValidValues, report, (value, at) => {
    if (compare(value, capacity) > 0) {
      at.invalid(value, `option is larger than capacity value: ${capacity}`);
    }
    const { nanos } = parseQuantity(value);
    if (seen.has(nanos)) at.duplicate(value);
    seen.add(nanos);
  });
  for (const [index, value] of values.slice(1, maxValidValues).entries()) {
    if (compare(values[index]!, value) > 0) {
      report.at(index + 1).invalid(value, "values must be sorted in ascending order");
    }
  }
  if (!seen.has(parseQuantity(amount).nanos)) {
    report.invalid(amount, "default value is not valid according to the requestPolicy");
  }
}

function checkRange(
  { min, max, step }: AmountRange,
  amount: string,
  capacity: string,
  report: FieldReport,
): void {
  if (min === undefined || min === null)
    return report.at("min").required("required when validRange is defined");
  if (compare(min, capacity) > 0)
    report.at("min").invalid(min, `min is larger than capacity value: ${capacity}`);
  if (compare(amount, min) < 0) report.at("default").invalid(amount, `default is less than min: ${min}`);
  if (max !== undefined) {
    if (compare(min, max) > 0) report.at("max").invalid(min, `min is larger than max: ${max}`);
    if (compare(max, capacity) > 0) {
      report.at("max").invalid(max, `max is larger than capacity value: ${capacity}`);
    }
    if (compare(amount, max) > 0) report.at("default").invalid(amount, `default is more than max: ${max}`);
  }
  if (step !== undefined) checkStep(step, { min, max, amount, capacity }, report.at("step"));
}

interface Amounts {
  readonly min: string;
  readonly max: string | undefined;
  readonly amount: string;
  readonly capacity: string;
}

function checkStep(step: string, { min, max, amount, capacity }: Amounts, report: FieldReport): void {
  const [stepQuantity, minQuantity] = [parseQuantity(step), parseQuantity(min)];
  if (stepQuantity.nanos <= 0n) return report.invalid(step, "must be greater than zero");
  const first = addQuantities(minQuantity, stepQuantity);
  if (compareQuantities(first, parseQuantity(capacity)) > 0) {
    report.invalid(step, `one step is larger than capacity value: ${capacity}`);
  }
  for (const value of max === undefined ? [amount] : [amount, max]) {
    const distance = wholeOf(parseQuantity(value)) - wholeOf(minQuantity);
    if (distance % wholeOf(stepQuantity) !== 0n) {
      report.invalid(value, `value is not a multiple of a given step (${step}) from (${min})`);
    }
  }
}

/** Rounds up to a whole number. */
function wholeOf({ nanos }: Quantity): bigint {
  return nanos > 0n ? (nanos + wholeNanos - 1n) / wholeNanos : nanos / wholeNanos;
}
