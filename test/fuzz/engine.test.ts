import { expect, it } from "vitest";
import { cpuStopwatch } from "../support/cpu-time.ts";
import { Dice } from "../support/dice.ts";
import { fastGrowthOf } from "./engine/growth.ts";
import { minimize } from "./engine/minimize.ts";
import { mutate } from "./engine/mutate.ts";
import { search } from "./engine/search.ts";
import { textOf, type Target } from "./target.ts";

/** A decoder with a failure behind four conditions, each of which a single mutation fulfills only by chance. */
const nested: Target = {
  name: "nested",
  files: ["test/fuzz/engine.test.ts"],
  seeds: ["start"],
  dictionary: ["one", "two", "three"],
  run(bytes) {
    const text = textOf(bytes);
    if (!text.includes("one")) return;
    if (!text.includes("two")) return;
    if (!text.includes("three")) return;
    if (text.length % 2 === 0) throw new TypeError("not a documented error");
  },
};

const within = (executions: number) => (count: number) => count < executions;

it("the search keeps inputs that execute new code, finds a failure behind them, and minimizes it", async () => {
  const report = await search(nested, { seed: 3, corpus: [], maxFailures: 1, goOn: within(60_000) });
  expect(report.failures).toHaveLength(1);
  const [{ input, error } = { input: Buffer.alloc(0), error: undefined }] = report.failures;
  expect(error).toBeInstanceOf(TypeError);
  expect(input.length).toBeLessThanOrEqual(20);
  expect(["one", "two", "three"].every((word) => input.includes(word))).toBe(true);
  expect(report.corpus.length).toBeGreaterThan(2);
  expect(report.executions).toBeLessThan(60_000);
});

it("the same seed searches the same inputs", async () => {
  const run = (target: Target["run"]) =>
    search({ ...nested, run: target }, { seed: 5, corpus: [], goOn: within(2000) });
  const spend20ms = () => {
    for (const elapsed = cpuStopwatch(); elapsed() < 20;);
  };
  // A slow machine: measurements of growth run the long inputs more often.
  const two = await run((bytes) => (bytes.length > 20_000 ? spend20ms() : undefined));
  const one = await run(() => undefined);
  expect(one.executions).toBe(two.executions);
  expect(one.corpus).toEqual(two.corpus);
});

it("the growth of processor time is found if it is quadratic, and not if it is linear", async () => {
  const repetition = { input: Buffer.from("ab"), first: [0, 1], second: [0, 1] } as const;
  let work = 0;
  const costing = (steps: (bytes: number) => number) => async (input: Buffer) => {
    for (let left = steps(input.length); left > 0; left--) work ^= left;
    return true;
  };
  const quadratic = costing((bytes) => (bytes * bytes) / 32);
  const linear = costing((bytes) => bytes * 1000);
  const one = { ...repetition, second: repetition.first };
  expect((await fastGrowthOf(quadratic, one))?.ms.at(-1)).toBeGreaterThan(12);
  expect(await fastGrowthOf(linear, one)).toBeUndefined();
  expect(work).not.toBeNaN();
});

it("mutations stay within the size, and reach every one of some forms", () => {
  const dice = new Dice(1);
  const sources = { dictionary: [Buffer.from("token")], other: Buffer.from("other"), maxBytes: 64 };
  const results = Array.from({ length: 5000 }, () => mutate(Buffer.from("abc123"), dice, sources));
  expect(Math.max(...results.map(({ length }) => length))).toBe(64);
  for (const part of ["token", "abcabc", "9007199254740993", "other", "bbbb"]) {
    expect([part, results.some((bytes) => bytes.includes(part))]).toEqual([part, true]);
  }
});

it("minimization removes what a failure doesn't need", async () => {
  const input = Buffer.from(`${"x".repeat(500)}FAIL${"y".repeat(500)}`);
  const smallest = await minimize(input, async (candidate) => candidate.includes("FAIL"));
  expect(smallest.toString()).toBe("FAIL");
});
