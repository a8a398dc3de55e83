/**
 * Setup file of the tests. The runner counts only code that runs during a test; this counts what hooks run, such as the start of a server, for
 * each test of the file.
 */
import { afterAll, beforeAll, beforeEach, inject } from "vitest";

const runner = globalThis[inject("globalNamespace")];

// The process must not outlive its parent, as one with a server that a test didn't close would.
if (process.listenerCount("disconnect") === 0)
  process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));

if (inject("mode") === "dry-run") {
  const hooks = "hooks";
  const tests = new Set();
  let current;
  let outside;
  Object.defineProperty(runner, "currentTestId", {
    configurable: true,
    get: () => current ?? outside,
    set(id) {
      current = id;
    },
  });
  beforeAll(() => void (outside = hooks));
  // Hooks of the runner set the test before this one, and read the counts after the next one.
  beforeEach(() => void tests.add(current));
  afterAll(() => {
    outside = undefined;
    const perTest = runner.mutantCoverage?.perTest ?? {};
    for (const [mutant, hits] of Object.entries(perTest[hooks] ?? {}))
      for (const test of tests) {
        const counts = (perTest[test] ??= {});
        counts[mutant] = (counts[mutant] ?? 0) + hits;
      }
    delete perTest[hooks];
  });
}
