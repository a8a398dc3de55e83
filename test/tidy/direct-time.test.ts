import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/*
 * Time comes from the clock that is passed in, so that tests and the simulator control it. The files here read the time of the machine,
 * for one of these reasons.
 */
const measuresBlocking = "measures how long the process itself computes; only real time tells";
const waitsForOthers = "waits for another process, a disk or a peer with timers of the machine";
const reportsDuration = "measures a duration for a metric, a log or a trace, and decides nothing by it";

const reasons: Readonly<Record<string, string>> = {
  "src/admission/admission-chain.ts": reportsDuration,
  "src/admission/policies/evaluation.ts": reportsDuration,
  "src/admission/policies/mutation-evaluation.ts": reportsDuration,
  "src/admission/webhooks/webhook-calls.ts": reportsDuration,
  "src/base/time/clock.ts": "is the clock",
  "src/base/turns/yielding.ts": measuresBlocking,
  "src/cli/branches/branch.ts": "times that a user gives as how long ago",
  "src/cli/ready.ts": waitsForOthers,
  "src/cli/terminal/progress.ts": reportsDuration,
  "src/cli/undo/undo.ts": "times that a user gives as how long ago",
  "src/flow/fair-turns.ts": measuresBlocking,
  "src/http/request/context.ts": reportsDuration,
  "src/http/transport/drain.ts": waitsForOthers,
  "src/resources/followers/follower.ts": measuresBlocking,
  "src/server/audit/audit.ts":
    "microseconds within a millisecond of the clock, for the times of audit events",
  "src/server/health/metrics.ts": "reports when the process was started",
  "src/server/library/clients.ts": reportsDuration,
  "src/server/listening/http-service.ts": reportsDuration,
  "src/storage/conformance/retention-cases.ts": waitsForOthers,
  "src/storage/conformance/support.ts": waitsForOthers,
  "src/storage/encryption/kms/kms-client.ts": "deadlines of the gRPC library are by the time of the machine",
  "src/storage/etcd/member.ts": "deadlines of the gRPC library are by the time of the machine",
  "src/storage/lmdb/committer/client.ts": waitsForOthers,
  "src/storage/lmdb/disk-space-guard.ts": waitsForOthers,
  "src/storage/lmdb/environment.ts": waitsForOthers,
  "src/storage/lmdb/lmdb-store.ts": waitsForOthers,
  "src/storage/lmdb/waiting-writes.ts": waitsForOthers,
};

/** Reads of the time of the machine; comments don't count. */
const directTime = /^(?!\s*(?:\*|\/\/|\/\*)).*(?:Date\.now\(|performance\.now\(|new Date\(\)|hrtime)/m;

test("only the listed files read the time of the machine, each for a reason", () => {
  const found = sources.filter((file) => directTime.test(read(file)));
  expect(found).toEqual(Object.keys(reasons));
});
