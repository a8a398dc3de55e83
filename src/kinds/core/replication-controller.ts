import { equalities, labelsText } from "../cells.ts";
import { nonNegative } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { namedWorkloadWarnings } from "./pod/warnings.ts";
import { containerColumns } from "./pod/workload-columns.ts";
import { checkWorkloadTemplate } from "./pod/workload-rules.ts";
import { scaleOf } from "./pod/workload-scale.ts";
import { checkParts, replicaCountParts, replicaCounts } from "./pod/workload-status.ts";
import { PodTemplateSpec } from "./pod/template.ts";
import { kind, struct } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, int32, list, map, string, time } from "../../schema/types.ts";

const ReplicationControllerSpec = struct(
  "ReplicationControllerSpec",
  "What a replication controller should do.",
  {
    replicas: field(1, int32, "Number of pods that are selectorLabels.")
      .nullable()
      .unpublishedDefault(1)
      .check(nonNegative),
    selector: field(2, map(string), "Labels of the pods that are counted; those of the template when empty.")
      .atomic()
      .mustBeGiven(),
    template: field(3, PodTemplateSpec, "What new pods are like.").nullable().mustBeGiven(),
    minReadySeconds: field(4, int32, "Seconds that a new pod must be ready to count as available.").check(
      nonNegative,
    ),
  },
);
type ReplicationControllerSpec = Static<typeof ReplicationControllerSpec>;

const ReplicationControllerCondition = struct(
  "ReplicationControllerCondition",
  "One aspect of a replication controller's state.",
  {
    type: field(1, string, "What the condition is about.").declaredRequired().knownValues("ReplicaFailure"),
    status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "When the status last changed.").emitEmpty(),
    reason: field(4, string, "Short reason for programs."),
    message: field(5, string, "Explanation for people."),
  },
);

const ReplicationControllerStatus = struct(
  "ReplicationControllerStatus",
  "What a replication controller is like now.",
  {
    ...replicaCounts,
    conditions: field(6, list(ReplicationControllerCondition), "What is known about its state.")
      .mapBy("type")
      .patchMerge("type"),
  },
);
type ReplicationControllerStatus = Static<typeof ReplicationControllerStatus>;

interface Controller extends ApiObject {
  spec?: ReplicationControllerSpec | undefined;
  status?: ReplicationControllerStatus | undefined;
}

export const ReplicationController = kind({
  name: "ReplicationController",
  resource: "replicationcontrollers",
  singular: "replicationcontroller",
  shortNames: ["rc"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Keeps a number of equal pods running.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the controller.").emitEmpty(),
    spec: field(2, ReplicationControllerSpec, "What the controller should do.").emitEmpty(),
    status: field(3, ReplicationControllerStatus, "What the controller is like now.").emitEmpty(),
  },
  defaultGarbageCollectionPolicy: "OrphanDependents",
  selectable: { "status.replicas": (controller) => String(controller.status?.replicas ?? 0) },
  generationOf: (controller) => controller.spec,
  fillDefaults({ metadata, spec }) {
    const labels = spec?.template?.metadata?.labels;
    if (spec === undefined || labels === undefined) return;
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  },
  validate({ spec }, report, context) {
    const { selector, template, replicas = 0 } = spec ?? {};
    const selectorLabels = Object.entries(selector ?? {});
    const selects = (labels: Readonly<Record<string, string>>) =>
      selectorLabels.every(([key, value]) => labels[key] === value);
    const several = replicas > 1;
    const templateReport = report.at("spec", "template");
    const workload = { kindName: "ReplicationController", template, selects, several };
    checkWorkloadTemplate(workload, templateReport, context);
  },
  validateUpdate(controller, _live, report, { subresource }) {
    if (subresource !== "status") return;
    checkParts(controller.status ?? {}, replicaCountParts, report.at("status"));
  },
  warnings: namedWorkloadWarnings,
  status: {
    initial: () => ({ replicas: 0 }),
  },
  subresources: {
    scale: scaleOf<Controller>((controller) => equalities(controller.spec?.selector)),
  },
  columns: [
    nameColumn,
    {
      name: "Desired",
      type: "integer",
      doc: "How many pods are selectorLabels.",
      cell: (controller) => controller.spec?.replicas ?? 0,
    },
    {
      name: "Current",
      type: "integer",
      doc: "How many pods there are.",
      cell: (controller) => controller.status?.replicas ?? 0,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "How many pods are ready.",
      cell: (controller) => controller.status?.readyReplicas ?? 0,
    },
    ageColumn,
    ...containerColumns<Controller>((controller) => controller.spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Labels of the pods that are counted.",
      cell: (controller) => labelsText(controller.spec?.selector),
    },
  ],
});
export type ReplicationController = ObjectFor<typeof ReplicationController>;
