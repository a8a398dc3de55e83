import {
  addAmounts,
  type Amounts,
  formatQuantity,
  quantityOf,
  type Quantity,
} from "../../../base/quantity.ts";

/** Amounts by their names in quotas, such as `pods` or `requests.cpu`. */
export type Usage = Amounts;

export const one = quantityOf(1);
export const zero = quantityOf(0);

/** Returns the amounts by which `usage` is larger than `before`. */
export function increaseOf(usage: Usage, before: Usage): Usage {
  const increase = new Map<string, Quantity>();
  for (const [name, amount] of usage) {
    const more = amount.nanos - (before.get(name)?.nanos ?? 0n);
    if (more > 0n) increase.set(name, { nanos: more, format: amount.format });
  }
  return increase;
}

/** Formats amounts for messages: `cpu=2,pods=1`. */
export function usageText(names: readonly string[], amount: (name: string) => Quantity): string {
  return names.map((name) => `${name}=${formatQuantity(amount(name))}`).join(",");
}

/** The sum of the usage of several objects. */
export class UsageSum {
  private readonly amounts = new Map<string, Quantity>();

  add(usage: Usage): void {
    addAmounts(this.amounts, usage);
  }

  subtract(usage: Usage): void {
    for (const [name, { nanos, format }] of usage) {
      const before = this.amounts.get(name);
      const rest = (before?.nanos ?? 0n) - nanos;
      // Removes unused names, such as those of deleted storage classes.
      if (rest === 0n) this.amounts.delete(name);
      else this.amounts.set(name, { nanos: rest, format: before?.format ?? format });
    }
  }

  of(name: string): Quantity {
    return this.amounts.get(name) ?? zero;
  }
}
