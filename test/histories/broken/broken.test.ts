import { describe, expect, test } from "vitest";
import { effort } from "../../support/effort.ts";
import { judge } from "../judge/judge.ts";
import type { History } from "../history.ts";
import type { Engine } from "./engine.ts";
import { recordServers, recordStore } from "./local-run.ts";
import * as reads from "./read-engines.ts";
import * as servers from "./server-engines.ts";
import * as watches from "./watch-engines.ts";
import * as writes from "./write-engines.ts";

/** Broken stores with the law that must report each. */
const stores: readonly (readonly [law: string, engine: () => Engine])[] = [
  ["linearizability", writes.lostWrite],
  ["effects", writes.effectOfRefusedWrite],
  ["linearizability", writes.outdatedPrecondition],
  ["effects", writes.repeatedWrite],
  ["linearizability", writes.replacingCreate],
  ["effects", writes.returningObject],
  ["effects", writes.reusedRevision],
  ["revision order", writes.backwardRevisions],
  ["transactions", writes.tornTransaction],
  ["linearizability", writes.halfTransaction],
  ["leaders", writes.ignoredLeasePrecondition],
  ["linearizability", reads.staleRead],
  ["lists", reads.tornList],
  ["lists", reads.pagesOfTwoRevisions],
  ["lists", reads.missingObject],
  ["lists", reads.deletedObject],
  ["lists", reads.outdatedList],
  ["lists", reads.ignoredExactRevision],
  ["lists", reads.unorderedList],
  ["watches", watches.droppedEvent],
  ["watches", watches.doubledEvent],
  ["watches", watches.reorderedEvents],
  ["watches", watches.wrongType],
  ["watches", watches.wrongLastValue],
  ["effects", watches.inventedEvent],
  ["watches", watches.earlyBookmark],
  ["watches", watches.gapAfterReconnect],
  ["watches", watches.unrepeatedTransaction],
  ["watches", watches.halfOfEvents],
  ["watches", watches.lostAtCompaction],
  ["watches", watches.unfoundedGone],
];

/** Stores that break what servers promise, with the objects that the clients write most. */
const brokenServers = [
  ["watches", watches.unrepeatedTransaction, undefined],
  ["decisions", servers.lateGrant, "bindings"],
  ["decisions", servers.lateRemoval, "bindings"],
  ["quotas", servers.ignoredConditions, "limited"],
  ["allocations", servers.doubleAllocation, "services"],
] as const;

/** Runs until the law reports a violation; a run may be too short for the fault to show. */
async function expectReport(law: string, record: (seed: number) => Promise<History>): Promise<void> {
  const reported = new Set<string>();
  for (let seed = 1; seed <= 6 && !reported.has(law); seed++)
    for (const violation of judge(await record(seed))) reported.add(violation.law);
  expect([...reported]).toContain(law);
}

describe("the judge", () => {
  test("reports nothing when the store is sound", async () => {
    for (const seed of [1, 2]) expect(judge(await recordStore({ seed, requests: 1200 }))).toEqual([]);
  });

  // Most of the time is spent on waiting.
  test.concurrent.each(stores.filter((_, index) => index % effort(2, 1) === 0))(
    "reports a violation of %s when the store is broken by %o",
    async (law, engine) => {
      await expectReport(law, (seed) => recordStore({ seed, requests: 500, engine: engine() }));
    },
  );

  test("reports nothing when the servers are sound", async () => {
    for (const focus of [undefined, "services"] as const)
      expect(judge(await recordServers({ seed: 1, requests: 150, focus }))).toEqual([]);
  });

  test.concurrent.each(brokenServers.slice(effort(2, 0)))(
    "reports a violation of %s when servers are broken by %o",
    async (law, engine, focus) => {
      await expectReport(law, (seed) => recordServers({ seed, requests: 200, engine: engine(), focus }));
    },
  );
});
