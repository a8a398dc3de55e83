import { CelList, CelMap, type Value } from "./values.ts";

/** Thrown when an evaluation has cost what it may; nothing in an expression can catch it. */
export class CostExceeded extends Error {
  override name = "CostExceeded";
  constructor() {
    super("operation cancelled: actual cost limit exceeded");
  }
}

/**
 * Steps that an evaluation may take which the reference's cost doesn't see, such as comparing what lists of lists hold. A step
 * takes some 10 ns.
 */
const maxSteps = 5_000_000;

/** Counts what one evaluation costs, in the reference's units, and ends it at its limit. */
export class Meter {
  private spent = 0;
  private steps = 0;

  constructor(private readonly limit: number) {}

  /** What has been spent so far. */
  get cost(): number {
    return this.spent;
  }

  /** Spends so much; called before the work is done that it is for. */
  charge(cost: number): void {
    this.spent += cost;
    if (this.spent > this.limit) throw new CostExceeded();
  }

  /** Counts work beside the cost; see {@link maxSteps}. */
  work(steps: number): void {
    this.steps += steps;
    if (this.steps > maxSteps) throw new CostExceeded();
  }
}

/** The size of a value as cost is counted by: characters, bytes, items or entries; 1 for all others. */
export function sizeOf(value: Value): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return 1;
}

/** Steps that a function takes with one item of a list, beside reading it: it is made of JSON twice, and compared. */
const stepsPerItem = 10;

/** Spends what going through a value once costs: a tenth for each character and byte, 1 for each other scalar. */
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
