import { expect, it, vi } from "vitest";
import { patchedModules } from "../support/patched-modules.ts";
import { branchDefects } from "./planted/branch-defects.ts";
import { clusterDefects, productDefects } from "./planted/defects.ts";
import { transactionDefects, watchDefects } from "./planted/watch-defects.ts";
import { searchDefect } from "./planted/search.ts";
import { effort } from "../support/effort.ts";

// Simulations measure nothing by the machine's clock, but it may be busy.
vi.setConfig({ testTimeout: 300_000 });

const searched = [
  "a subscription resumes after a part of a change of grants",
  "watches of custom resources stay on the former definition",
  "terminating pods are removed by a status write",
  "the age of history is measured by the wall clock",
  "a watch that is cut within a transaction continues without the rest",
  "a transaction is torn: its writes are committed one after the other",
  "half of the records of a transaction have no author",
  "a list in a branch shows later writes of its base",
];

it.each(searched.slice(0, effort(1, searched.length)))("a planted defect is found: %s", async (name) => {
  const defect = [...productDefects, ...watchDefects, ...transactionDefects, ...branchDefects].find(
    (one) => one.name === name,
  )!;
  const { found } = await searchDefect(defect, { firstSeed: 1, maxSeeds: 5, minutes: 12 });
  expect(defect.laws).toContain(found?.law);
});

it("each planted defect applies to the present code", () => {
  for (const { name, patches } of [
    ...productDefects,
    ...watchDefects,
    ...transactionDefects,
    ...branchDefects,
    ...clusterDefects,
  ])
    expect(() => patchedModules(patches), name).not.toThrow();
});

it("a patch whose text doesn't occur is an error", () => {
  const file = "src/storage/time-marks.ts";
  const patch = { file, find: "no such text", replace: "" };
  expect(() => patchedModules([patch])).toThrow("occurs 0 times");
});
