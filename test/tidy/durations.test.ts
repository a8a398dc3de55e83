import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/**
 * The files that read the wall clock, by reason. Durations and deadlines in memory are by the monotonic clock: the wall clock can
 * be set forward or back at any moment.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "declares the clocks": ["src/base/time/clock.ts", "src/base/time/manual-clock.ts"],
  "writes times into objects": [
    "src/base/time/timestamps.ts",
    "src/controllers/aggregation/availability.ts",
    "src/controllers/custom-resource-definitions/custom-resource-definitions.ts",
    "src/controllers/event-recorder.ts",
    "src/controllers/workload-hints/workload-hints.ts",
    "src/resources/actions/request-token.ts",
    "src/resources/writes/delete.ts",
    "src/resources/writes/write.ts",
  ],
  "compares with times in stored objects, or writes such times": [
    "src/admission/plugins/resource-quota/namespace-usage.ts",
    "src/authentication/bootstrap-token.ts",
    "src/cli/branches/branch.ts",
    "src/cli/undo/undo.ts",
    "src/controllers/bootstrap/signer.ts",
    "src/controllers/bootstrap/token-cleaner.ts",
    "src/controllers/certificates/approving.ts",
    "src/controllers/certificates/cleaning.ts",
    "src/controllers/event-expiry.ts",
    "src/controllers/identity-lease.ts",
    "src/controllers/resource-quotas.ts",
    "src/controllers/services/service-ranges.ts",
    "src/controllers/storage-migration/storage-version-migrator.ts",
    "src/controllers/ttl-after-finished.ts",
    "src/controllers/workspaces.ts",
    "src/controllers/workload-hints/runners.ts",
    "src/http/encodings/table.ts",
    "src/resources/engine/engine.ts",
    "src/resources/reads/history.ts",
    "src/resources/services/claim-repair.ts",
    "src/server/admission/policies.ts",
    "src/server/explore/explore.ts",
    "src/server/webhooks/webhook-services.ts",
    "src/server/workspaces/workspace-usage.ts",
  ],
  "writes the lease, and notices by both clocks that the machine slept": [
    "src/controllers/leader-election.ts",
  ],
  "compares with times in certificates, or writes such times": [
    "src/authentication/presented-certificate.ts",
    "src/base/certificates/serving-certificates.ts",
    "src/controllers/certificates/signing.ts",
    "src/controllers/cluster-authentication-trust.ts",
    "src/controllers/root-authority.ts",
  ],
  "compares with times in tokens": [
    "src/authentication/console/login-codes.ts",
    "src/authentication/console/session-tokens.ts",
    "src/authentication/oidc/oidc-tokens.ts",
    "src/authentication/service-accounts/bound-claims.ts",
  ],
  "retains revisions by times that survive a restart": [
    "src/cli/backups/scheduled-backups.ts",
    "src/cli/store/compact.ts",
    "src/cli/log.ts",
    "src/storage/lmdb/backup/backup.ts",
    "src/storage/lmdb/backup/restore-point.ts",
    "src/storage/time-marks.ts",
  ],
  "writes times into the audit log and the names of its files": [
    "src/http/audit/auditor.ts",
    "src/http/audit/event.ts",
    "src/http/audit/rotating-file.ts",
  ],
  "reports the time at which the process started": ["src/server/health/metrics.ts"],
  "reports the time of a reload": [
    "src/server/admission/static-manifests.ts",
    "src/server/start/reloaded-file.ts",
  ],
  "reports the time of the last use of a key": ["src/http/metrics/encryption-metrics.ts"],
  "writes times into spans": ["src/base/tracing/trace.ts"],
  "passes deadlines to a library that takes them by the wall clock": [
    "src/storage/encryption/kms/kms-client.ts",
    "src/storage/etcd/member.ts",
  ],
};

const wallClock = /(?:clock|\bDate)\.now\(|new Date\(\)/i;

test("only the listed files read the wall clock", () => {
  const readers = sources.filter((file) => wallClock.test(read(file)));
  expect(readers).toEqual(Object.values(allowed).flat().toSorted());
});
