import { parseQuantity, QuantityFault, type Quantity } from "../../base/quantity.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** A quantity of zero or more. */
export function nonNegativeQuantity(text: string, place: FieldReport): void {
  const quantity = readQuantity(text, place);
  if (quantity !== undefined && quantity.nanos < 0n)
    place.invalid(text, "must be greater than or equal to 0");
}

/** The quantity, or undefined after saying what is wrong with it. */
export function readQuantity(text: string, place: FieldReport): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (!(error instanceof QuantityFault)) throw error;
    place.invalid(text, error.message);
    return undefined;
  }
}

/** A quantity above zero. */
export function positiveQuantity(text: string, place: FieldReport): void {
  const quantity = readQuantity(text, place);
  if (quantity !== undefined && quantity.nanos <= 0n) place.invalid(text, "must be positive");
}
