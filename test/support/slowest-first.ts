import path from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./root.ts";

/** Files whose tests wait or compute for the longest time, in order; see `scripts/summary.mjs` for the times of a run. */
const slowest = [
  "test/lives/other-releases.test.ts",
  "test/lives/lives.test.ts",
  "test/cli/workers.test.ts",
  "test/replay/replay.test.ts",
  "test/damage/damage.test.ts",
  "test/histories/broken/broken.test.ts",
  "test/cli/running-flags/audit-flags.test.ts",
  "test/fuzz/requests/requests.test.ts",
  "test/kills/kills.test.ts",
  "test/storage/conformance.postgres.test.ts",
  "test/server/store-faults.test.ts",
  "test/admission/plugins/quota-exactness.test.ts",
];

/** Starts the slowest files first, so that no process works alone at the end of a run, also in the first run of a checkout. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The method of the class, not that of arrays.
    // oxlint-disable-next-line unicorn/no-array-sort
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slowest.indexOf(path.relative(root, moduleId).replaceAll(path.sep, "/"));
      return place < 0 ? slowest.length : place;
    };
    // Files of a project stay together: the order of the projects is that of the runner.
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    return projects.flatMap((name) =>
      sorted.filter(({ project }) => project.name === name).toSorted((a, b) => rank(a) - rank(b)),
    );
  }
}
