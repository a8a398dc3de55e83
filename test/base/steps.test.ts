import { expect, test } from "vitest";
import { doSteps, runSteps, runStepsPaused, waitFor, type Steps } from "../../src/base/turns/work-pace.ts";

function* sum(...values: readonly (number | Promise<number>)[]): Steps<number> {
  let total = 0;
  for (const value of values) {
    yield;
    total += yield* waitFor(value);
  }
  return total;
}

test("a computation returns its result at once when it yields no promise", () => {
  expect(runSteps(sum(1, 2, 3))).toBe(6);
  expect(doSteps(sum(1, 2, 3))).toBe(6);
});

test("a computation continues with the value of a promise when it yields one", async () => {
  const result = runSteps(sum(1, Promise.resolve(2), 3, Promise.resolve(4)));
  expect(result).toBeInstanceOf(Promise);
  expect(await result).toBe(10);
});

test("a computation can catch the rejection of a promise that it yields", async () => {
  function* careful(): Steps<string> {
    try {
      yield* waitFor(Promise.reject(new Error("no")));
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  }
  expect(await runSteps(careful())).toBe("no");
});

test("a rejected promise fails the computation when it doesn't catch it", async () => {
  await expect(runSteps(sum(Promise.reject(new Error("no"))))).rejects.toThrow("no");
});

test("a computation pauses before each step when it runs with pauses", async () => {
  let pauses = 0;
  expect(await runStepsPaused(sum(1, Promise.resolve(2)), () => void pauses++)).toBe(3);
  expect(pauses).toBe(4);
});

test("a computation without pauses fails when it yields a promise", () => {
  expect(() => doSteps(sum(Promise.resolve(1)))).toThrow("yielded a promise");
});
