import { describe, expect, test } from "vitest";
import { SharedBudget } from "../../src/flow/shared-budget.ts";

const user = (caller: string) => ({ caller, exempt: false });
const administrator = { caller: "admin", exempt: true };

/** Takes ones until the budget refuses; gives how many there were. */
function takeAll(budget: SharedBudget, who: { caller: string; exempt: boolean }): number {
  for (let count = 0; ; count++) if (budget.take(who, 1) !== undefined) return count;
}

describe("a shared budget", () => {
  test("gives the first caller half of the unreserved budget, and each further caller half of the rest", () => {
    const budget = new SharedBudget(120, 20);
    expect(["a", "b", "c"].map((name) => takeAll(budget, user(name)))).toEqual([50, 25, 12]);
    expect(budget.take(user("a"), 1)).toBe("caller");
  });

  test("keeps its reserved part for exempt callers", () => {
    const budget = new SharedBudget(120, 20);
    for (let n = 0; n < 50; n++) takeAll(budget, user(`hog-${n}`));
    expect(budget.take(user("late"), 5)).toBe("server");
    expect(takeAll(budget, administrator)).toBeGreaterThanOrEqual(20);
    expect(budget.take(administrator, 1)).toBe("server");
  });

  test("takes nothing when it rejects, and is full again when everything is returned", () => {
    const budget = new SharedBudget(100, 0);
    expect(budget.take(user("a"), 51)).toBe("caller");
    expect(budget.taken).toBe(0);
    expect(budget.take(user("a"), 50)).toBeUndefined();
    budget.give(user("a"), 20);
    budget.give(user("a"), 30);
    expect([budget.taken, takeAll(budget, user("a"))]).toEqual([0, 50]);
  });
});
