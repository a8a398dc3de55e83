import { expect, it, vi } from "vitest";
import { bundle } from "./bundle.ts";
import { productDefects } from "./planted/defects.ts";
import { searchDefect } from "./planted/search.ts";

// Simulations measure nothing by the machine's clock, but it may be busy.
vi.setConfig({ testTimeout: 300_000 });

it.each([
  "terminating pods are removed by a status write",
  "the age of history is measured by the wall clock",
])("a planted defect is found: %s", async (name) => {
  const defect = productDefects.find((one) => one.name === name)!;
  const { found } = await searchDefect(defect, { firstSeed: 1, maxSeeds: 4, minutes: 12 });
  expect(defect.laws).toContain(found?.law);
});

it("a patch whose text doesn't occur is an error", async () => {
  const file = "src/storage/steady-time.ts";
  await expect(bundle("absent", [{ file, find: "no such text", replace: "" }])).rejects.toThrow(
    "occurs 0 times",
  );
});
