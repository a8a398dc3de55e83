import { kind, struct } from "./v1.ts";
import { selectorCell, selectorText } from "../cells.ts";
import { nonNegative } from "../checks/numbers.ts";
import { unchanged } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PodTemplateSpec } from "../core/pod/template.ts";
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
import { since } from "../../schema/later-fields.ts";
import { type Static, field, int32, list, string, time } from "../../schema/types.ts";

const ReplicaSetSpec = struct("ReplicaSetSpec", "What a replica set should do.", {
  replicas: field(1, int32, "Number of pods that are wanted.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  selector: field(2, LabelSelector, "Selects the pods of the set; the template's labels must match.")
    .required()
    .nullable(),
  template: field(3, PodTemplateSpec, "What its pods are like.").emitEmpty(),
  minReadySeconds: field(4, int32, "Seconds that a new pod must be ready to count as available.").check(
    nonNegative,
  ),
});
type ReplicaSetSpec = Static<typeof ReplicaSetSpec>;

const ReplicaSetCondition = struct("ReplicaSetCondition", "One aspect of a replica set's state.", {
  type: field(1, string, "What the condition is about.").declaredRequired().knownValues("ReplicaFailure"),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(3, time, "When the status last changed.").emitEmpty(),
  reason: field(4, string, "Short reason for programs."),
  message: field(5, string, "Explanation for people."),
});

const ReplicaSetStatus = struct(
  "ReplicaSetStatus",
  "What a replica set is like now.",
  {
    ...replicaCounts,
    conditions: field(6, list(ReplicaSetCondition), "What is known about its state.")
      .mapBy("type")
      .patchMerge("type"),
  },
  {
    later: () => ({
      terminatingReplicas: since(
        "1.33",
        field(7, int32, "Number of its pods that terminate and haven't ended.")
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
    metadata: field(1, ObjectMeta, "Metadata of the set.").emitEmpty(),
    spec: field(2, ReplicaSetSpec, "What the set should do.").emitEmpty(),
    status: field(3, ReplicaSetStatus, "What the set is like now.").emitEmpty(),
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
      doc: "How many pods are wanted.",
      cell: ({ spec }) => spec?.replicas ?? 0,
    },
    {
      name: "Current",
      type: "integer",
      doc: "How many pods there are.",
      cell: ({ status }) => status?.replicas ?? 0,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "How many pods are ready.",
      cell: ({ status }) => status?.readyReplicas ?? 0,
    },
    ageColumn,
    ...containerColumns<Replicated>(({ spec }) => spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Selector of its pods.",
      cell: ({ spec }) => selectorCell(spec?.selector),
    },
  ],
});
export type ReplicaSet = ObjectFor<typeof ReplicaSet>;
