import { parseQuantity, QuantityFault, type Quantity } from "../../base/quantity.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** Requires a quantity of zero or more. */
export function nonNegativeQuantity(text: string, report: FieldReport): void {
  const quantity = readQuantity(text, report);
  if (quantity !== undefined && quantity.nanos < 0n)
    report.invalid(text, "must be greater than or equal to 0");
}

/** Parses a quantity. Returns undefined after reporting that it is invalid. */
export function readQuantity(text: string, report: FieldReport): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (!(error instanceof QuantityFault)) throw error;
    report.invalid(text, error.message);
    return undefined;
  }
}

/** Requires a quantity above zero. */
export function positiveQuantity(text: string, report: FieldReport): void {
  const quantity = readQuantity(text, report);
  if (quantity !== undefined && quantity.nanos <= 0n) report.invalid(text, "must be positive");
}
