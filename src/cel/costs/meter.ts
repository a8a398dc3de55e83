import { CelList, CelMap, OpaqueValue, Optional, type Value } from "../values/values.ts";

/** The cost limit of an evaluation is exceeded. Expressions can't catch it. */
export class CostExceeded extends Error {
  override name = "CostExceeded";
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/**
 * Limit of work that the cost of Kubernetes doesn't include, such as comparing nested lists. A step takes about 10 ns.
 */
const maxSteps = 5_000_000;

/** Counts the cost of one evaluation in the units of Kubernetes, and throws {@link CostExceeded} at the limit. */
export class Meter {
  private spent = 0;
  private steps = 0;

  constructor(private readonly limit: number) {}

  /** The cost so far. */
  get cost(): number {
    return this.spent;
  }

  /** Adds to the cost; called before the work. */
  charge(cost: number): void {
    this.spent += cost;
    if (this.spent > this.limit) throw new CostExceeded();
  }

  /** Counts work that isn't part of the cost; see {@link maxSteps}. */
  work(steps: number): void {
    this.steps += steps;
    if (this.steps > maxSteps) throw new CostExceeded();
  }
}

/** Returns the size of a value for the cost: characters, bytes, items or entries; 1 for other values. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof OpaqueValue) return value.size;
  if (value instanceof Optional) return value.value === undefined ? 1 : sizeOf(value.value);
  return 1;
}

/** Meter steps per list item of a function: two conversions from JSON and a comparison. */
const stepsPerItem = 10;

/** Charges the traversal of a value: 0.1 per character and byte, 1 for any other scalar. */
export function chargeTraversal(value: Value, meter: Meter): void {
  meter.work(stepsPerItem);
  if (typeof value === "string" || value instanceof Uint8Array) {
    meter.charge(Math.floor(value.length * 0.1));
  } else if (value instanceof CelList) {
    for (let at = 0; at < value.size; at++) chargeTraversal(value.get(at), meter);
  } else if (value instanceof CelMap) {
    for (const key of value.keys()) {
      chargeTraversal(key, meter);
      chargeTraversal(value.get(key)!, meter);
    }
  } else meter.charge(1);
}
