import { expect, it } from "vitest";
import { fuzzRequests } from "./fuzz-requests.ts";
import { heapGrowth } from "./heap-growth.ts";
import { effort } from "../../support/effort.ts";

const count = effort(60, 400);

it.each(effort(["platform"] as const, ["platform", "kubernetes"] as const))(
  "random requests have valid responses, and nothing is thrown or logged as an error (%s)",
  async (vocabulary) => {
    const seed = Number(process.env["PLINTH_FUZZ_SEED"] ?? "1");
    const report = await fuzzRequests({ seed, vocabulary, goOn: (requests) => requests < count });
    expect(report.defects).toEqual([]);
    expect(report.requests).toBeGreaterThanOrEqual(count);
    const answered = [200, 201, 400, 403, 404, 422].filter((status) => report.statuses.has(status));
    expect(answered).toEqual([200, 201, 400, 403, 404, 422]);
  },
  120_000,
);

it("the growth of the heap is that of the later measurements over the earlier ones, after a warm-up", () => {
  const mebibytes = (...values: readonly number[]) => values.map((value) => value * 2 ** 20);
  expect(heapGrowth(mebibytes(10, 20, 30, 40, 50))).toBe(0);
  expect(heapGrowth(mebibytes(1, 2, 3, 4, 50, 51, 49, 50, 51, 50))).toBeCloseTo(0.02, 1);
  expect(heapGrowth(mebibytes(1, 2, 3, 4, 50, 50, 60, 70, 100, 100))).toBeCloseTo(1);
});
