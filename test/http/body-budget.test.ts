import { expect, it } from "vitest";
import { StatusError } from "../../src/base/status-error.ts";
import { BodyBudget } from "../../src/http/body-budget.ts";

it("bodies under way beyond the budget are refused with 429, until others are done", () => {
  const budget = new BodyBudget(100);
  budget.take(60);
  budget.take(40);
  const refusal = (): unknown => {
    try {
      budget.take(1);
    } catch (error) {
      return error;
    }
    return undefined;
  };
  expect(refusal()).toBeInstanceOf(StatusError);
  expect(refusal()).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } });
  budget.give(40);
  budget.take(30);
});
