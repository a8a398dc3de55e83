import { since } from "../../base/release-rows.ts";
import { kind, struct } from "./v1.ts";
import { selectorText } from "../cells.ts";
import { amountOf, countOrAnyPercent, countOrPercent, nonNegative } from "../checks/numbers.ts";
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
import { checkCollisions, checkParts } from "../core/pod/workload-status.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import {
  type Static,
  bool,
  field,
  int32,
  int64,
  intOrString,
  list,
  string,
  time,
} from "../../schema/types.ts";

const RollingUpdateDeployment = struct(
  "RollingUpdateDeployment",
  "Parameters of a rolling update of a Deployment.",
  {
    maxUnavailable: field(
      1,
      intOrString,
      "Maximum number or percentage of unavailable pods during an update. Default: 25%.",
    )
      .nullable()
      .check(countOrPercent),
    maxSurge: field(
      2,
      intOrString,
      "Maximum number or percentage of pods above the desired number during an update. Default: 25%.",
    )
      .nullable()
      .check(countOrAnyPercent),
  },
);

const strategies = ["Recreate", "RollingUpdate"];

const DeploymentStrategy = struct(
  "DeploymentStrategy",
  "Strategy for replacing pods after the template changes.",
  {
    type: field(
      1,
      string,
      "Type of the update: RollingUpdate, or Recreate to stop all old pods first. Default: RollingUpdate.",
    )
      .knownValues("Recreate", "RollingUpdate")
      .unpublishedDefault("RollingUpdate"),
    rollingUpdate: field(
      2,
      RollingUpdateDeployment,
      "Parameters of the rolling update; only for the type RollingUpdate.",
    ).nullable(),
  },
  {
    fill(copy) {
      if (copy.type === "RollingUpdate") {
        copy.rollingUpdate = { maxUnavailable: "25%", maxSurge: "25%", ...copy.rollingUpdate };
      }
    },
    check({ type = "", rollingUpdate }, report) {
      if (!strategies.includes(type)) report.notSupported(type, strategies);
      const at = report.at("rollingUpdate");
      if (type === "Recreate" && rollingUpdate !== undefined) {
        at.forbidden("may not be specified when strategy `type` is 'Recreate'");
      }
      if (type !== "RollingUpdate" || rollingUpdate === undefined) return;
      const { maxUnavailable, maxSurge } = rollingUpdate;
      if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
        at.at("maxUnavailable").invalid(maxUnavailable, "may not be 0 when `maxSurge` is 0");
      }
    },
  },
);

const DeploymentSpec = struct("DeploymentSpec", "Desired state of a Deployment.", {
  replicas: field(1, int32, "Desired number of pods. Default: 1.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  selector: field(
    2,
    LabelSelector,
    "Label selector of the pods and replica sets; the template's labels must match it.",
  )
    .required()
    .nullable(),
  template: field(3, PodTemplateSpec, "Template from which the pods are created.").required(),
  strategy: field(4, DeploymentStrategy, "Strategy for replacing pods after the template changes.")
    .emitEmpty()
    .patchRetainKeys(),
  minReadySeconds: field(
    5,
    int32,
    "Seconds a new pod must be ready before it counts as available. Default: 0.",
  ).check(nonNegative),
  revisionHistoryLimit: field(6, int32, "Number of old replica sets to keep. Default: 10.")
    .nullable()
    .unpublishedDefault(10)
    .check(nonNegative),
  paused: field(7, bool, "Whether rollouts of template changes are paused."),
  progressDeadlineSeconds: field(
    9,
    int32,
    "Seconds without progress after which a rollout counts as failed. Default: 600.",
  )
    .nullable()
    .unpublishedDefault(600)
    .check(nonNegative),
});
type DeploymentSpec = Static<typeof DeploymentSpec>;

const DeploymentCondition = struct("DeploymentCondition", "A condition of a Deployment.", {
  type: field(1, string, "Type of the condition, such as Available or Progressing.")
    .declaredRequired()
    .knownValues("Available", "Progressing", "ReplicaFailure"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  reason: field(4, string, "Machine-readable reason in CamelCase."),
  message: field(5, string, "Human-readable details."),
  lastUpdateTime: field(6, time, "Time of the last update of the condition.").emitEmpty(),
  lastTransitionTime: field(7, time, "Time of the last change of `status`.").emitEmpty(),
});

const DeploymentStatus = struct(
  "DeploymentStatus",
  "Observed state of a Deployment.",
  {
    observedGeneration: field(1, int64, "Latest generation that the controller has observed.").check(
      nonNegative,
    ),
    replicas: field(2, int32, "Number of pods.").check(nonNegative),
    updatedReplicas: field(3, int32, "Number of pods with the current template.").check(nonNegative),
    availableReplicas: field(
      4,
      int32,
      "Number of available pods: ready for at least `minReadySeconds`.",
    ).check(nonNegative),
    unavailableReplicas: field(
      5,
      int32,
      "Number of pods that are still needed for the desired number of available pods.",
    ).check(nonNegative),
    conditions: field(6, list(DeploymentCondition), "Conditions of the object, at most one per type.")
      .mapBy("type")
      .patchMerge("type"),
    readyReplicas: field(7, int32, "Number of ready pods.").check(nonNegative),
    collisionCount: field(
      8,
      int32,
      "Number of hash collisions of ReplicaSet names; the controller uses it to create unique names.",
    )
      .nullable()
      .check(nonNegative),
  },
  {
    later: () => ({
      terminatingReplicas: since(
        "1.33",
        field(9, int32, "Number of terminating pods that have not yet stopped.")
          .nullable()
          .check(nonNegative)
          .gated("DeploymentReplicaSetTerminatingReplicas"),
      ),
    }),
  },
);
type DeploymentStatus = Static<typeof DeploymentStatus>;

interface Deployed extends ApiObject {
  spec?: DeploymentSpec | undefined;
  status?: DeploymentStatus | undefined;
}

const counts = [
  ["updatedReplicas", "replicas"],
  ["readyReplicas", "replicas"],
  ["availableReplicas", "replicas"],
  ["availableReplicas", "readyReplicas"],
] as const;

function checkSpec(spec: DeploymentSpec | undefined, report: FieldReport, context: KindContext): void {
  const { selector, template, replicas = 0, minReadySeconds = 0, progressDeadlineSeconds } = spec ?? {};
  checkWorkloadSelector(selector, "deployment", report.at("selector"));
  checkUsableSelector(selector, report.at("selector"));
  const selects = selectedBy(selector, false);
  // The pods of a Deployment belong to its ReplicaSets.
  const workload = { kindName: "ReplicaSet", template, selects, several: replicas > 1 };
  checkWorkloadTemplate(workload, report.at("template"), context);
  if (progressDeadlineSeconds !== undefined && progressDeadlineSeconds <= minReadySeconds) {
    report
      .at("progressDeadlineSeconds")
      .invalid(progressDeadlineSeconds, "must be greater than minReadySeconds");
  }
}

export const Deployment = kind({
  name: "Deployment",
  resource: "deployments",
  singular: "deployment",
  shortNames: ["deploy"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Runs a number of equal pods and updates them gradually when their template changes.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the deployment.").emitEmpty(),
    spec: field(2, DeploymentSpec, "Desired state of the Deployment.").emitEmpty(),
    status: field(3, DeploymentStatus, "Observed state of the Deployment.").emitEmpty(),
  },
  // Annotations of a Deployment are copied to its ReplicaSets.
  generationOf: ({ spec, metadata }) => [spec, metadata.annotations],
  validate: ({ spec }, report, context) => checkSpec(spec, report.at("spec"), context),
  validateUpdate(deployment, live, report, { subresource }) {
    unchanged(deployment.spec?.selector, live.spec?.selector, report.at("spec", "selector"));
    if (subresource !== "status") return;
    checkParts(deployment.status ?? {}, counts, report.at("status"));
    checkCollisions(deployment.status ?? {}, live.status ?? {}, report.at("status"));
  },
  warnings: namedWorkloadWarnings,
  status: {
    initial: () => ({}),
    keepsMetadata: ["labels"],
  },
  subresources: {
    scale: scaleOf<Deployed>(({ spec }) => selectorText(spec?.selector) ?? ""),
  },
  columns: [
    nameColumn,
    {
      name: "Ready",
      type: "string",
      doc: "Number of ready pods out of the desired number.",
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    },
    // As in the reference, cells are numbers although the columns have the type string.
    {
      name: "Up-to-date",
      type: "string",
      doc: "Number of pods with the current template.",
      cell: ({ status }) => status?.updatedReplicas ?? 0,
    },
    {
      name: "Available",
      type: "string",
      doc: "Number of available pods.",
      cell: ({ status }) => status?.availableReplicas ?? 0,
    },
    ageColumn,
    ...containerColumns<Deployed>(({ spec }) => spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Label selector of the pods.",
      cell: ({ spec }) => selectorText(spec?.selector) ?? "<invalid>",
    },
  ],
});
export type Deployment = ObjectFor<typeof Deployment>;
