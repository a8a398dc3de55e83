import { since, until } from "../../base/release-rows.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { kind, struct } from "./v1.ts";
import type { ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { field, list, map, quantity, string } from "../../schema/types.ts";
import { dnsLabel, labelMap } from "../checks/names.ts";
import { unchanged, uniqueBy } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { checkAmounts } from "../core/pod/resource-rules.ts";
import { Toleration } from "../core/pod/scheduling.ts";

const Overhead = struct(
  "Overhead",
  "Resources that a pod needs in addition to its containers.",
  {
    podFixed: field(
      1,
      map(quantity),
      "Amount of each resource that every pod needs in addition to its containers.",
    ),
  },
  {
    // As in the reference, faults have the path of a container's limits.
    check: ({ podFixed = {} }, report, context) => checkAmounts(podFixed, report.at("limits"), context),
  },
);

const Scheduling = struct("Scheduling", "Scheduling constraints of a runtime class.", {
  nodeSelector: field(1, map(string), "Labels that nodes must have; merged with the pod's `nodeSelector`.")
    .atomic()
    .check(labelMap),
  tolerations: field(2, list(Toleration), "Tolerations that are added to those of the pod.")
    .atomic()
    .check(uniqueBy((toleration) => JSON.stringify(toleration))),
});

interface WithHandler {
  readonly handler: string;
}

function checkHandler({ handler }: WithHandler, report: FieldReport): void {
  dnsLabel(handler, report.at("handler"));
}

function requireHandler(runtimeClass: WithHandler, report: FieldReport): void {
  if (runtimeClass.handler === "") report.at("handler").required();
  else checkHandler(runtimeClass, report);
}

export const RuntimeClass = kind({
  name: "RuntimeClass",
  resource: "runtimeclasses",
  singular: "runtimeclass",
  scope: "Cluster",
  anyFinalizer: true,
  allowUnconditionalUpdate: false,
  createOnUpdate: true,
  doc: "A container runtime configuration that pods can select.",
  effect: {
    enforced:
      "new pods get the overhead, node selector and tolerations of their class, which must exist (plugin RuntimeClass)",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the class.").emitEmpty(),
    handler: field(
      2,
      string,
      "Name of the runtime configuration on the nodes; immutable.",
    ).declaredRequired(),
    overhead: field(
      3,
      Overhead,
      "Resources that pods of the class need in addition to their containers.",
    ).nullable(),
    scheduling: field(
      4,
      Scheduling,
      "Scheduling constraints for pods of the class; absent for all nodes.",
    ).nullable(),
  },
  validate: [until("1.36", checkHandler), since("1.36", requireHandler)],
  validateUpdate({ handler }, live, report) {
    unchanged(handler, live.handler, report.at("handler"));
  },
  columns: [
    nameColumn,
    {
      name: "Handler",
      type: "string",
      doc: "Name of the runtime configuration on the nodes.",
      cell: ({ handler }) => handler,
    },
    ageColumn,
  ],
});
export type RuntimeClass = ObjectFor<typeof RuntimeClass>;
