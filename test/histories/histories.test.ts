import { expect, it } from "vitest";
import { storeDefects } from "../kills/planted.ts";
import { patchedModules } from "../support/patched-modules.ts";
import { checkShortRun, shortRunTimeoutMs } from "./short-run.ts";
import { workerDefects } from "./world/planted.ts";
import { effort } from "../support/effort.ts";

it(
  "a server over an embedded store that is killed and frozen has a history without violations",
  () => checkShortRun({ engine: "lmdb", servers: 1, members: 0, seed: 1 }),
  shortRunTimeoutMs,
);

// Of workers alone the tests of the command line kill each process.
if (effort(false, true)) {
  it(
    "a server with several workers that are killed and frozen has a history without violations",
    () => checkShortRun({ engine: "lmdb", servers: 1, members: 0, seed: 2, workers: 2 }),
    shortRunTimeoutMs,
  );
  it(
    "a server with workers that keeps the history of all resources has a history without violations",
    () => checkShortRun({ engine: "lmdb", servers: 1, members: 0, seed: 2, workers: 2, keepsHistory: true }),
    shortRunTimeoutMs,
  );
}

it("each defect that is planted into the program applies to the present code", () => {
  for (const { name, patches } of [...workerDefects, ...storeDefects])
    expect(() => patchedModules(patches), name).not.toThrow();
});
