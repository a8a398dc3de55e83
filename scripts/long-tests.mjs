// Runs the long tests that a change touches: of the files since CI_BASE, or since the branch left origin/main, or of the last commit.
// All of them with CI_ALL=1.
import { execFileSync, spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

/**
 * The tests that search at random or take long by nature, and the folders whose changes they guard. What `npm test` has of them guards the
 * same behaviour in short.
 */
export const longTests = [
  {
    tests: ["test/storage/lmdb-crash", "test/kills/", "test/damage/"],
    touchedBy: ["src/storage/", "test/storage/", "test/kills/", "test/damage/"],
    short: "the same files with fewer kills, images and damages, and every third kind of damage",
  },
  {
    tests: [
      "test/storage/lmdb-deferred",
      "test/storage/lmdb-committer",
      "test/storage/kms-cipher",
      "test/storage/encrypted-store",
    ],
    touchedBy: ["src/storage/", "test/storage/"],
    short:
      "the conformance suite once for each engine: memory, LMDB, etcd, PostgreSQL and an encrypted store; the comparison with a model for these configurations, and their own cases",
  },
  {
    tests: [
      "test/histories/",
      "test/storage/cluster-faults.etcd",
      "test/storage/history/",
      "test/storage/derived/",
    ],
    touchedBy: ["src/storage/", "src/resources/", "src/authorization/", "test/histories/"],
    short:
      "a server over an embedded store; the kills of workers in test/cli; the conformance suites of etcd and PostgreSQL; kept history and derived stores in memory and over the embedded store",
  },
  {
    tests: ["test/simulator/"],
    touchedBy: [
      "src/storage/",
      "src/resources/",
      "src/controllers/",
      "src/authorization/",
      "test/simulator/",
    ],
    short: "one of its planted defects, and the replay of two seeds for one minute",
  },
  {
    tests: ["test/lives/"],
    touchedBy: [
      "src/kinds/",
      "src/resources/",
      "src/schema/",
      "src/fields/",
      "src/admission/",
      "test/lives/",
    ],
    short:
      "every change of the recorded lives, and a fixed sample of the requests that change nothing, for both releases",
  },
  {
    tests: ["test/fuzz/"],
    touchedBy: ["src/base/", "src/http/", "src/schema/", "src/fields/", "src/storage/", "test/fuzz/"],
    short:
      "all inputs of the corpus, fewer mutations, and fewer random requests in one vocabulary, without the planted defect",
  },
  {
    tests: [
      "test/api/self-reviews",
      "test/api/views.property",
      "test/authorization/insight.property",
      "test/authorization/rbac-index.property",
      "test/authorization/user-view.property",
      "test/resources/reads/view-watch.property",
    ],
    touchedBy: ["src/authorization/", "src/resources/", "src/http/verbs/"],
    short: "the same files with fewer rounds, and the cases of test/api/views.test.ts and test/authorization",
  },
  {
    tests: ["test/admission/pod-security/verdicts"],
    touchedBy: ["src/admission/", "test/admission/pod-security/"],
    short: "the versions of the policies at which a recorded verdict begins, changes and ends",
  },
  {
    tests: ["test/cel/reference/", "test/cel/time-promise"],
    touchedBy: ["src/cel/", "src/admission/", "test/cel/"],
    short:
      "every tenth case, and the conformance suite; the time of each hostile expression in policies or in rules",
  },
  {
    tests: [
      "test/attacks/custom-resources",
      "test/attacks/definition-churn",
      "test/admission/plugins/quota-exactness",
      "test/library/faults/explore-controllers",
    ],
    touchedBy: [
      "src/admission/",
      "src/controllers/",
      "src/resources/",
      "src/server/explore/",
      "src/storage/",
    ],
    short: "the same files with fewer versions, changes, rounds, kills and schedules",
  },
  {
    tests: ["test/cli/demo", "test/server/data-folder", "test/server/release"],
    touchedBy: ["src/base/", "src/cli/", "src/kinds/", "src/server/", "src/vocabulary/"],
    short:
      "the same files with one vocabulary, one address, and the releases from which on their behaviour differs",
  },
  {
    tests: ["test/cli/workers"],
    touchedBy: ["src/cli/", "src/storage/", "test/cli/"],
    short: "two workers over the embedded store, whose first process is killed once; the conformance suites",
  },
  {
    tests: [
      "test/server/rolling-upgrade.etcd",
      "test/server/leader-crash",
      "test/robustness/store-away.etcd",
    ],
    touchedBy: ["src/storage/", "src/server/", "src/controllers/", "src/http/"],
    short:
      "replicas over etcd and over one folder in test/server, test/controllers/leader-election.test.ts, test/storage/unanswered-writes.test.ts",
  },
  {
    tests: ["test/cli/running-flags/audit-flags"],
    touchedBy: ["src/cli/", "src/http/audit/", "test/cli/"],
    short: "the flags of the log, and those of the webhook that differ; test/audit for the rest",
  },
  {
    tests: ["test/deploy/container"],
    touchedBy: ["deploy/", "package.json", "scripts/build/", "test/deploy/"],
    short: "test/deploy/systemd.test.ts, and the containers as processes in test/deploy/kubernetes.test.ts",
  },
  {
    tests: [
      "test/robustness/fuzz",
      "test/robustness/watchers",
      "test/robustness/hostile-backends",
      "test/robustness/response-memory",
    ],
    touchedBy: ["src/http/", "src/schema/", "src/fields/", "src/base/", "test/robustness/"],
    short: "the same files for a shorter time, with fewer connections and combinations of heads and trailers",
  },
  {
    tests: [
      "test/schema/custom-schemas.property",
      "test/storage/deferred-property",
      "test/cli/conversions.property",
      "test/attacks/aggregated-paths",
      "test/kinds/hostile-texts",
    ],
    touchedBy: [
      "src/aggregation/",
      "src/cli/",
      "src/custom-resources/",
      "src/http/",
      "src/kinds/",
      "src/schema/",
      "src/storage/",
    ],
    short: "the same files with a third of the seeds; each text field beside its other fields only",
  },
  {
    tests: ["test/resources/undo/undo-object.property", "test/resources/branches/merge-object.property"],
    touchedBy: ["src/fields/", "src/resources/undo/", "src/resources/branches/", "test/resources/"],
    short: "the same file with fewer seeds and histories, and all of its planted defects",
  },
  {
    tests: ["test/library/preview-accuracy"],
    touchedBy: [
      "src/http/workspaces/",
      "src/resources/branches/",
      "src/server/workspaces/",
      "src/controllers/",
      "test/library/",
    ],
    short: "`test/library/preview.test.ts`, without a comparison with what happens afterwards",
  },
  {
    tests: ["test/cost-laws/"],
    touchedBy: ["src/kinds/", "src/admission/", "src/schema/", "src/fields/", "test/cost-laws/"],
    short: "every twelfth law",
  },
  {
    tests: ["test/package/"],
    touchedBy: [
      "package.json",
      "package-lock.json",
      "scripts/",
      "src/index.ts",
      "src/kinds/",
      "src/schema/",
      "test/package/",
    ],
    short:
      "the installation of the packed package and its release; npm run typecheck and test/extensions for types",
  },
  {
    tests: ["test/recipes/", "test/examples/"],
    touchedBy: [
      "docs/",
      "README.md",
      "examples/",
      "scripts/new/",
      "src/admission/",
      "src/authentication/",
      "src/cli/",
      "src/index.ts",
      "src/kinds/",
      "src/storage/",
      "test/recipes/",
      "test/examples/",
    ],
    short:
      "the first tour of the README, every sixth command that starts a server, the pages on kubectl and testing, and where recipes add their lines; test/cli has the other commands, test/tidy/code-blocks the pages of all blocks",
  },
  {
    tests: ["test/clients/manifests"],
    touchedBy: ["src/kinds/", "src/schema/", "src/fields/", "src/custom-resources/", "test/clients/"],
    short: "one of the programs; test/clients/kubectl-custom-objects.test.ts for definitions",
  },
  {
    tests: ["test/console/", "test/attacks/proxied-pages"],
    touchedBy: ["console/", "src/http/backends/", "test/console/"],
    short: "the models of the console's pages, and the headers of proxied responses",
  },
];

/**
 * Returns the long tests that a change touches, as filters of the test runner.
 *
 * @param {readonly string[]} changed paths of the changed files, from the root.
 * @returns {string[]}
 */
export function longTestsOf(changed) {
  const touched = longTests.filter(({ touchedBy }) =>
    touchedBy.some((place) => changed.some((file) => file.startsWith(place))),
  );
  return [...new Set(touched.flatMap(({ tests }) => tests))];
}

function changedFiles() {
  const git = (...words) => execFileSync("git", words, { encoding: "utf8" }).trim();
  const base = process.env.CI_BASE ?? branchPoint(git) ?? "HEAD^";
  return git("diff", "--name-only", base, "HEAD").split("\n");
}

/** The commit at which the branch left origin/main; undefined on origin/main itself, or without it. */
function branchPoint(git) {
  try {
    const point = git("merge-base", "HEAD", "origin/main");
    return point === git("rev-parse", "HEAD") ? undefined : point;
  } catch {
    return undefined;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const all = process.env.CI_ALL === "1";
  const tests = all ? [] : longTestsOf(changedFiles());
  if (!all && tests.length === 0) console.log("the change touches no long tests");
  else {
    console.log(`long tests: ${all ? "all" : tests.join(" ")}`);
    const words = ["vitest", "run", "--config", "vitest.long.config.ts", ...tests];
    const { status } = spawnSync("npx", words, { stdio: "inherit" });
    process.exitCode = status ?? 1;
  }
}
