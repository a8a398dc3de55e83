import { since } from "../../base/release-rows.ts";
import { kind, struct } from "./v1.ts";
import { selectorCell, selectorText } from "../cells.ts";
import { nonNegative } from "../checks/numbers.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PodTemplateSpec } from "../core/pod/spec.ts";
import { namedWorkloadWarnings } from "../core/pod/warnings.ts";
import { containerColumns } from "../core/pod/workload-columns.ts";
import {
  checkUsableSelector,
  checkWorkloadSelector,
  checkWorkloadTemplate,
  selectedBy,
} from "../core/pod/workload-rules.ts";
import { scaleOf } from "../core/pod/workload-scale.ts";
import { checkParts, replicaCountParts, replicaCounts } from "../core/pod/workload-status.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, int32, list, string, time } from "../../schema/types.ts";

const ReplicaSetSpec = struct("ReplicaSetSpec", "Desired state of a ReplicaSet.", {
  replicas: field(1, int32, "Desired number of pods. Default: 1.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  selector: field(2, LabelSelector, "Label selector of the pods; the template's labels must match it.")
    .required()
    .nullable(),
  template: field(3, PodTemplateSpec, "Template from which the pods are created.").emitEmpty(),
  minReadySeconds: field(
    4,
    int32,
    "Seconds a new pod must be ready before it counts as available. Default: 0.",
  ).check(nonNegative),
});
type ReplicaSetSpec = Static<typeof ReplicaSetSpec>;

const ReplicaSetCondition = struct("ReplicaSetCondition", "A condition of a ReplicaSet.", {
  type: field(1, string, "Type of the condition, such as ReplicaFailure.")
    .declaredRequired()
    .knownValues("ReplicaFailure"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(4, string, "Machine-readable reason in CamelCase."),
  message: field(5, string, "Human-readable details."),
});

const ReplicaSetStatus = struct(
  "ReplicaSetStatus",
  "Observed state of a ReplicaSet.",
  {
    ...replicaCounts,
    conditions: field(6, list(ReplicaSetCondition), "Conditions of the object, at most one per type.")
      .mapBy("type")
      .patchMerge("type"),
  },
  {
    later: () => ({
      terminatingReplicas: since(
        "1.33",
        field(7, int32, "Number of terminating pods that have not yet stopped.")
          .nullable()
          .check(nonNegative)
          .gated("DeploymentReplicaSetTerminatingReplicas"),
      ),
    }),
  },
);
type ReplicaSetStatus = Static<typeof ReplicaSetStatus>;

interface Replicated extends ApiObject {
  spec?: ReplicaSetSpec | undefined;
  status?: ReplicaSetStatus | undefined;
}

export const ReplicaSet = kind({
  name: "ReplicaSet",
  resource: "replicasets",
  singular: "replicaset",
  shortNames: ["rs"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Keeps a number of equal pods running.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the ReplicaSet.").emitEmpty(),
    spec: field(2, ReplicaSetSpec, "Desired state of the ReplicaSet.").emitEmpty(),
    status: field(3, ReplicaSetStatus, "Observed state of the ReplicaSet.").emitEmpty(),
  },
  selectable: { "status.replicas": ({ status }) => String(status?.replicas ?? 0) },
  generationOf: ({ spec }) => spec,
  validate({ spec }, report, context) {
    const { selector, template, replicas = 0 } = spec ?? {};
    const specReport = report.at("spec");
    checkWorkloadSelector(selector, "replica set", specReport.at("selector"));
    checkUsableSelector(selector, specReport.at("selector"));
    const workload = {
      kindName: "ReplicaSet",
      template,
      selects: selectedBy(selector, false),
      several: replicas > 1,
    };
    checkWorkloadTemplate(workload, specReport.at("template"), context);
  },
  validateUpdate(set, live, report, { subresource }) {
    unchanged(set.spec?.selector, live.spec?.selector, report.at("spec", "selector"));
    if (subresource === "status") checkParts(set.status ?? {}, replicaCountParts, report.at("status"));
  },
  warnings: namedWorkloadWarnings,
  status: {
    initial: () => ({ replicas: 0 }),
  },
  subresources: {
    scale: scaleOf<Replicated>(({ spec }) => selectorText(spec?.selector) ?? ""),
  },
  columns: [
    nameColumn,
    {
      name: "Desired",
      type: "integer",
      doc: "Desired number of pods.",
      cell: ({ spec }) => spec?.replicas ?? 0,
    },
    {
      name: "Current",
      type: "integer",
      doc: "Current number of pods.",
      cell: ({ status }) => status?.replicas ?? 0,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "Number of ready pods.",
      cell: ({ status }) => status?.readyReplicas ?? 0,
    },
    ageColumn,
    ...containerColumns<Replicated>(({ spec }) => spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of the pods.",
      cell: ({ spec }) => selectorCell(spec?.selector),
    },
  ],
});
export type ReplicaSet = ObjectFor<typeof ReplicaSet>;
