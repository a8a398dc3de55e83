import { formatQuantity, parseQuantity, QuantityFault, type Quantity } from "../base/quantity.ts";

const milli = 1_000_000n;

/** Rounds every amount away from zero to the thousandth, the finest that is kept. Changes the amounts. */
export function roundUpToMilli(amounts: Record<string, string> | null | undefined): void {
  if (amounts === null || amounts === undefined) return;
  for (const [name, text] of Object.entries(amounts)) {
    // Only these suffixes and fractions can be finer.
    if (!/[nu.eE-]/.test(text)) continue;
    const quantity = quantityFrom(text);
    if (quantity === undefined || quantity.nanos % milli === 0n) continue;
    const away = quantity.nanos < 0n ? -milli : milli;
    const nanos = quantity.nanos - (quantity.nanos % milli) + away;
    amounts[name] = formatQuantity({ ...quantity, nanos });
  }
}

/** The quantity that a text gives; undefined where it gives none. */
export function quantityFrom(text: string): Quantity | undefined {
  try {
    return parseQuantity(text);
  } catch (error) {
    if (error instanceof QuantityFault) return undefined;
    throw error;
  }
}
