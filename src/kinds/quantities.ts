import { formatQuantity, parseQuantity, QuantityFault, type Quantity } from "../base/quantity.ts";

const milli = 1_000_000n;

/** Rounds every amount away from zero to thousandths, the smallest supported unit. Changes the amounts. */
export function roundUpToMilli(amounts: Record<string, string> | null | undefined): void {
  if (amounts === null || amounts === undefined) return;
  for (const [name, text] of Object.entries(amounts)) {
    // Only amounts with these suffixes and fractions can be smaller.
    if (!/[nu.eE-]/.test(text)) continue;
    const quantity = quantityFrom(text);
    if (quantity === undefined || quantity.nanos % milli === 0n) continue;
    const away = quantity.nanos < 0n ? -milli : milli;
    const nanos = quantity.nanos - (quantity.nanos % milli) + away;
    amounts[name] = formatQuantity({ ...quantity, nanos });
  }
}

/** Parses a quantity; undefined if the text isn't one. */
export function quantityFrom(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityFault) return undefined;
    throw error;
  }
}
