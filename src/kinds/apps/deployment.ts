import { kind, struct } from "./v1.ts";
import { selectorText } from "../cells.ts";
import { amountOf, countOrAnyPercent, countOrPercent, nonNegative } from "../checks/numbers.ts";
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
import { checkCollisions, checkParts } from "../core/pod/workload-status.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import { since } from "../../schema/later-fields.ts";
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
  "Parameters of a rolling update of a deployment.",
  {
    maxUnavailable: field(1, intOrString, "How many pods, or what share of them, may be missing.")
      .nullable()
      .check(countOrPercent),
    maxSurge: field(2, intOrString, "How many pods, or what share of them, may be there in excess.")
      .nullable()
      .check(countOrAnyPercent),
  },
);

const strategies = ["Recreate", "RollingUpdate"];

const DeploymentStrategy = struct(
  "DeploymentStrategy",
  "How pods are replaced by those of a new template.",
  {
    type: field(1, string, "Whether pods are replaced one after the other, or all ended first.")
      .knownValues("Recreate", "RollingUpdate")
      .unpublishedDefault("RollingUpdate"),
    rollingUpdate: field(2, RollingUpdateDeployment, "Settings of a rolling update.").nullable(),
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

const DeploymentSpec = struct("DeploymentSpec", "What a deployment should do.", {
  replicas: field(1, int32, "Number of pods that are wanted.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  selector: field(
    2,
    LabelSelector,
    "Selects the replica sets of the deployment; the template's labels must match.",
  )
    .required()
    .nullable(),
  template: field(3, PodTemplateSpec, "What its pods are like.").required(),
  strategy: field(4, DeploymentStrategy, "How pods are replaced by those of a new template.")
    .emitEmpty()
    .patchRetainKeys(),
  minReadySeconds: field(5, int32, "Seconds that a new pod must be ready to count as available.").check(
    nonNegative,
  ),
  revisionHistoryLimit: field(6, int32, "Number of old replica sets that are kept.")
    .nullable()
    .unpublishedDefault(10)
    .check(nonNegative),
  paused: field(7, bool, "Whether changes of the template are left alone for now."),
  progressDeadlineSeconds: field(
    9,
    int32,
    "Seconds without progress after which the deployment counts as failed.",
  )
    .nullable()
    .unpublishedDefault(600)
    .check(nonNegative),
});
type DeploymentSpec = Static<typeof DeploymentSpec>;

const DeploymentCondition = struct("DeploymentCondition", "One aspect of a deployment's state.", {
  type: field(1, string, "What the condition is about.")
    .declaredRequired()
    .knownValues("Available", "Progressing", "ReplicaFailure"),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  reason: field(4, string, "Short reason for programs."),
  message: field(5, string, "Explanation for people."),
  lastUpdateTime: field(6, time, "When the condition was last written.").emitEmpty(),
  lastTransitionTime: field(7, time, "When the status last changed.").emitEmpty(),
});

const DeploymentStatus = struct(
  "DeploymentStatus",
  "What a deployment is like now.",
  {
    observedGeneration: field(1, int64, "Generation that the controller has seen last.").check(nonNegative),
    replicas: field(2, int32, "Number of its pods.").check(nonNegative),
    updatedReplicas: field(3, int32, "Number of its pods that are made from the new template.").check(
      nonNegative,
    ),
    availableReplicas: field(4, int32, "Number of its pods that have been ready long enough.").check(
      nonNegative,
    ),
    unavailableReplicas: field(5, int32, "Number of pods that are still missing.").check(nonNegative),
    conditions: field(6, list(DeploymentCondition), "What is known about its state.")
      .mapBy("type")
      .patchMerge("type"),
    readyReplicas: field(7, int32, "Number of its pods that are ready.").check(nonNegative),
    collisionCount: field(8, int32, "Counts equal names of replica sets, to find new ones.")
      .nullable()
      .check(nonNegative),
  },
  {
    later: () => ({
      terminatingReplicas: since(
        "1.33",
        field(9, int32, "Number of its pods that terminate and haven't ended.")
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
  doc: "Keeps pods running and replaces them step by step when their template changes.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the deployment.").emitEmpty(),
    spec: field(2, DeploymentSpec, "What the deployment should do.").emitEmpty(),
    status: field(3, DeploymentStatus, "What the deployment is like now.").emitEmpty(),
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
      doc: "How many of the wanted pods are ready.",
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    },
    // As in the reference, cells are numbers although the columns have the type string.
    {
      name: "Up-to-date",
      type: "string",
      doc: "How many pods are made from the new template.",
      cell: ({ status }) => status?.updatedReplicas ?? 0,
    },
    {
      name: "Available",
      type: "string",
      doc: "How many pods have been ready long enough.",
      cell: ({ status }) => status?.availableReplicas ?? 0,
    },
    ageColumn,
    ...containerColumns<Deployed>(({ spec }) => spec?.template),
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Selector of its pods.",
      cell: ({ spec }) => selectorText(spec?.selector) ?? "<invalid>",
    },
  ],
});
export type Deployment = ObjectFor<typeof Deployment>;
