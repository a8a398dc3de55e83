import { since } from "../../base/release-rows.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, int32, microTime, string } from "../../schema/types.ts";
import { nonNegative, positive } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { qualifiedNameFaults } from "../../base/names.ts";
import type { FieldReport } from "../../schema/faults.ts";

/** The strategy that the reference implements. */
export const oldestEmulationVersion = "OldestEmulationVersion";

/** Requires a known strategy, or the name of another one with its domain. The path has `strategy` twice, as in the reference. */
export function checkStrategy(strategy: string, report: FieldReport): void {
  const at = report.at("strategy");
  if (!strategy.includes("/")) {
    if (strategy !== oldestEmulationVersion) at.notSupported(strategy, [oldestEmulationVersion]);
    return;
  }
  for (const message of qualifiedNameFaults(strategy)) at.invalid(strategy, message);
}

const LeaseSpec = struct(
  "LeaseSpec",
  "The holder of a lease and its duration.",
  {
    holderIdentity: field(1, string, "Identity of the current holder.").nullable(),
    leaseDurationSeconds: field(2, int32, "Seconds after the last renewal at which the lease expires.")
      .nullable()
      .check(positive),
    acquireTime: field(3, microTime, "Time at which the current holder acquired the lease.").nullable(),
    renewTime: field(4, microTime, "Time at which the current holder last renewed the lease.").nullable(),
    leaseTransitions: field(5, int32, "Number of changes of the holder.").nullable().check(nonNegative),
  },
  {
    check({ strategy = "", preferredHolder = "" }, report) {
      if (preferredHolder === "" || strategy !== "") return;
      report.at("preferredHolder").forbidden("may only be specified if `strategy` is defined");
    },
    later: () => ({
      strategy: since(
        "1.31",
        field(6, string, "Strategy for choosing the holder, for coordinated leader election.")
          .nullable()
          .knownValues(oldestEmulationVersion)
          .check(checkStrategy)
          .gated("CoordinatedLeaderElection"),
      ),
      preferredHolder: since(
        "1.31",
        field(7, string, "Identity of the preferred holder, to which the current holder should yield.")
          .nullable()
          .gated("CoordinatedLeaderElection"),
      ),
    }),
  },
);

export const Lease = kind({
  name: "Lease",
  resource: "leases",
  singular: "lease",
  scope: "Namespaced",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  createOnUpdate: true,
  doc: "A lock with an expiry time that one holder has at a time.",
  effect: { acts: "one of a server says that it lives; another one says which server runs the controllers" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the lease.").emitEmpty(),
    spec: field(2, LeaseSpec, "The holder of the lease and its duration.").emitEmpty(),
  },
  columns: [
    nameColumn,
    {
      name: "Holder",
      type: "string",
      doc: "Identity of the current holder.",
      cell: ({ spec }) => spec?.holderIdentity ?? "",
    },
    ageColumn,
  ],
});
export type Lease = ObjectFor<typeof Lease>;
