/** `npm run bench`: measures each scenario and its physical limit (docs/benchmarks.md). */
import { createServingCertificates } from "../src/base/certificates/serving-certificates.ts";
import { takeLongestTurn } from "./meter.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { legend, printHead, printRow, writeResults } from "./report.ts";
import type { Row } from "./rows.ts";
import type { Bench, Scenario } from "./scenario.ts";
import { admission } from "./scenarios/admission.ts";
import { applies } from "./scenarios/apply.ts";
import { authentication } from "./scenarios/authentication.ts";
import { binary, table } from "./scenarios/binary.ts";
import { bothForms } from "./scenarios/both-forms.ts";
import { capacity } from "./scenarios/capacity.ts";
import { collection } from "./scenarios/collection.ts";
import { definitions } from "./scenarios/definitions.ts";
import { disk } from "./scenarios/disk.ts";
import { customKind } from "./scenarios/custom.ts";
import { fairness } from "./scenarios/fairness.ts";
import { get } from "./scenarios/get.ts";
import { grant } from "./scenarios/grant.ts";
import { informers } from "./scenarios/informers.ts";
import { bulkReview, insight } from "./scenarios/insight.ts";
import { leases } from "./scenarios/leases.ts";
import { library } from "./scenarios/library.ts";
import { list } from "./scenarios/list.ts";
import { memory } from "./scenarios/memory.ts";
import { changedList, deleteCollection } from "./scenarios/prepared.ts";
import { accessReview, rulesReview } from "./scenarios/review.ts";
import { selectiveWatch } from "./scenarios/selective-watch.ts";
import { subscription } from "./scenarios/subscription.ts";
import { selectorList } from "./scenarios/selector-list.ts";
import { selectors } from "./scenarios/selectors.ts";
import { startUp } from "./scenarios/start.ts";
import { views } from "./scenarios/views.ts";
import { watch } from "./scenarios/watch.ts";
import { watchers } from "./scenarios/watchers.ts";
import { policies } from "./scenarios/policies.ts";
import { webhooks } from "./scenarios/webhooks.ts";
import { workers } from "./scenarios/workers.ts";
import {
  createDeployments,
  createObjects,
  leastWrites,
  patchDeployments,
  patchObjects,
  updateObjects,
} from "./scenarios/write.ts";

const scenarios: readonly Scenario[] = [
  get,
  binary,
  table,
  bothForms,
  list,
  changedList,
  selectorList,
  selectors,
  createObjects,
  updateObjects,
  patchObjects,
  createDeployments,
  patchDeployments,
  leastWrites,
  admission,
  applies,
  deleteCollection,
  collection,
  disk,
  watch,
  watchers,
  informers,
  selectiveWatch,
  subscription,
  views,
  authentication,
  accessReview,
  rulesReview,
  insight,
  bulkReview,
  grant,
  webhooks,
  policies,
  customKind,
  definitions,
  fairness,
  leases,
  startUp,
  library,
  memory,
  capacity,
  workers,
];

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: Options | "help";
  let chosen: readonly Scenario[];
  try {
    options = readOptions(args);
    if (options === "help") {
      console.log(`${usage}\nscenarios: ${scenarios.map(({ name }) => name).join(", ")}`);
      return 0;
    }
    chosen = choose(options);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return 2;
  }
  const { serving, caCertificate } = createServingCertificates(["127.0.0.1", "localhost"]);
  const bench: Bench = { options, tls: { cert: serving.certificate, key: serving.key, ca: caCertificate } };
  const rows: Row[] = [];
  let failures = 0;
  printHead();
  for (const scenario of chosen) {
    try {
      await takeLongestTurn();
      for await (const measured of scenario.run(bench)) {
        const row = { ...measured, longestTurnMs: measured.longestTurnMs ?? (await takeLongestTurn()) };
        rows.push(row);
        printRow(row);
      }
    } catch (error) {
      failures++;
      console.error(`${scenario.name} failed: ${(error as Error).stack}`);
    }
  }
  console.log(`${legend}\nwritten: ${writeResults(rows, options)}`);
  return failures === 0 ? 0 : 1;
}

function choose({ only, target }: Options): readonly Scenario[] {
  for (const name of only) {
    if (!scenarios.some((scenario) => scenario.name.startsWith(name))) {
      throw new Error(`--only: there is no scenario ${JSON.stringify(name)}`);
    }
  }
  return scenarios.filter(({ name, remote }) => {
    if (target !== undefined && !remote) return false;
    return only.length === 0 || only.some((start) => name.startsWith(start));
  });
}
