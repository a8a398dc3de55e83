import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "./quantity.ts";

/** Amounts of resources by their names, such as `cpu` or `requests.cpu`. */
export type Amounts = ReadonlyMap<string, Quantity>;

const noAmounts: Amounts = new Map();

/** Parses amounts. @throws QuantityFault */
export function parseAmounts(texts: Readonly<Record<string, string>> | undefined): Amounts {
  if (texts === undefined) return noAmounts;
  return new Map(Object.entries(texts).map(([name, text]) => [name, parseQuantity(text)]));
}

/** Adds the amounts of `from` to `into`. */
export function addAmounts(into: Map<string, Quantity>, from: Amounts): void {
  for (const [name, amount] of from) {
    const before = into.get(name);
    into.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

/** Raises the amounts of `into` to those of `from` if these are larger. */
export function raiseAmounts(into: Map<string, Quantity>, from: Amounts): void {
  for (const [name, amount] of from) {
    const before = into.get(name);
    if (before === undefined || compareQuantities(amount, before) > 0) into.set(name, amount);
  }
}
