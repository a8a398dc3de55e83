import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
import { field, int32, microTime, string } from "../../schema/types.ts";
import { nonNegative, positive } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkStrategy, oldestEmulationVersion } from "./lease-strategy.ts";

const LeaseSpec = struct(
  "LeaseSpec",
  "Who holds a lease, and how long.",
  {
    holderIdentity: field(1, string, "Who holds the lease now.").nullable(),
    leaseDurationSeconds: field(2, int32, "Seconds after the last renewal for which others must wait.")
      .nullable()
      .check(positive),
    acquireTime: field(3, microTime, "When the holder got the lease.").nullable(),
    renewTime: field(4, microTime, "When the holder last renewed the lease.").nullable(),
    leaseTransitions: field(5, int32, "How often the holder changed.").nullable().check(nonNegative),
  },
  {
    check({ strategy = "", preferredHolder = "" }, report) {
      if (preferredHolder === "" || strategy !== "") return;
      report.at("preferredHolder").forbidden("may only be specified if `strategy` is defined");
    },
    later: () => ({
      strategy: since(
        "1.31",
        field(6, string, "How the holder is chosen, if the server chooses it.")
          .nullable()
          .knownValues(oldestEmulationVersion)
          .check(checkStrategy)
          .gated("CoordinatedLeaderElection"),
      ),
      preferredHolder: since(
        "1.31",
        field(7, string, "Who should get the lease; the holder releases it then.")
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
  doc: "A claim that one of several programs can hold at a time.",
  effect: { acts: "one of a server says that it lives; another one says which server runs the controllers" },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the lease.").emitEmpty(),
    spec: field(2, LeaseSpec, "Who holds the lease, and how long.").emitEmpty(),
  },
  columns: [
    nameColumn,
    {
      name: "Holder",
      type: "string",
      doc: "Who holds the lease.",
      cell: ({ spec }) => spec?.holderIdentity ?? "",
    },
    ageColumn,
  ],
});
export type Lease = ObjectFor<typeof Lease>;
