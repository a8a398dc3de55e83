import { equalities, labelsText } from "../cells.ts";
import { nonNegative } from "../checks/numbers.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { namedWorkloadWarnings } from "./pod/warnings.ts";
import { containerColumns } from "./pod/workload-columns.ts";
import { checkWorkloadTemplate } from "./pod/workload-rules.ts";
import { scaleOf } from "./pod/workload-scale.ts";
import { checkParts, replicaCountParts, replicaCounts } from "./pod/workload-status.ts";
import { PodTemplateSpec } from "./pod/spec.ts";
import { kind, struct } from "./v1.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { type Static, field, int32, list, map, string, time } from "../../schema/types.ts";

const ReplicationControllerSpec = struct(
  "ReplicationControllerSpec",
  "Desired state of a ReplicationController.",
  {
    replicas: field(1, int32, "Desired number of pods. Default: 1.")
      .nullable()
      .unpublishedDefault(1)
      .check(nonNegative),
    selector: field(2, map(string), "Labels of the pods. Default: the labels of the template.")
      .atomic()
      .mustBeGiven(),
    template: field(3, PodTemplateSpec, "Template from which the pods are created.").nullable().mustBeGiven(),
    minReadySeconds: field(
      4,
      int32,
      "Seconds a new pod must be ready before it counts as available. Default: 0.",
    ).check(nonNegative),
  },
);
type ReplicationControllerSpec = Static<typeof ReplicationControllerSpec>;

const ReplicationControllerCondition = struct(
  "ReplicationControllerCondition",
  "A condition of a ReplicationController.",
  {
    type: field(1, string, "Type of the condition, such as ReplicaFailure.")
      .declaredRequired()
      .knownValues("ReplicaFailure"),
    status: field(2, string, "Status of the condition: True, False or Unknown.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
    lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
    reason: field(4, string, "Machine-readable reason in CamelCase."),
    message: field(5, string, "Human-readable details."),
  },
);

const ReplicationControllerStatus = struct(
  "ReplicationControllerStatus",
  "Observed state of a ReplicationController.",
  {
    ...replicaCounts,
    conditions: field(
      6,
      list(ReplicationControllerCondition),
      "Conditions of the object, at most one per type.",
    )
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
    metadata: field(1, ObjectMeta, "Metadata of the ReplicationController.").emitEmpty(),
    spec: field(2, ReplicationControllerSpec, "Desired state of the ReplicationController.").emitEmpty(),
    status: field(3, ReplicationControllerStatus, "Observed state of the ReplicationController.").emitEmpty(),
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
      doc: "Desired number of pods.",
      cell: (controller) => controller.spec?.replicas ?? 0,
    },
    {
      name: "Current",
      type: "integer",
      doc: "Current number of pods.",
      cell: (controller) => controller.status?.replicas ?? 0,
    },
    {
      name: "Ready",
      type: "integer",
      doc: "Number of ready pods.",
      cell: (controller) => controller.status?.readyReplicas ?? 0,
    },
    ageColumn,
    ...containerColumns<Controller>((controller) => controller.spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Labels of the pods.",
      cell: (controller) => labelsText(controller.spec?.selector),
    },
  ],
});
export type ReplicationController = ObjectFor<typeof ReplicationController>;
