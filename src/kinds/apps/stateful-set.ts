import { kind, struct } from "./v1.ts";
import { byRelease, since } from "../../base/release-rows.ts";
import { selectorText } from "../cells.ts";
import { annotationMap, labelMap } from "../checks/names.ts";
import { amountOf, countOrPercent, nonNegative } from "../checks/numbers.ts";
import { same } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PersistentVolumeClaim } from "../core/persistent-volume-claim.ts";
import { checkPodAnnotations } from "../core/pod/annotation-rules.ts";
import { PodTemplateSpec } from "../core/pod/spec.ts";
import { workloadWarnings } from "../core/pod/warnings.ts";
import { containerColumns } from "../core/pod/workload-columns.ts";
import {
  checkRunsForGood,
  checkSelected,
  checkUsableSelector,
  checkWorkloadSelector,
  selectedBy,
} from "../core/pod/workload-rules.ts";
import { scaleOf } from "../core/pod/workload-scale.ts";
import { checkCollisions, checkParts } from "../core/pod/workload-status.ts";
import { LabelSelector } from "../meta/label-selector.ts";
import {
  historyWarnings,
  newSetRules,
  checkChangedSet,
  checkFixedMembers,
  type StatefulSetFacts,
} from "./stateful-set-rules.ts";
import type { KindContext } from "../../schema/context.ts";
import type { FieldReport } from "../../schema/faults.ts";
import { type ApiObject, type ObjectFor } from "../../schema/kind.ts";
import { ObjectMeta } from "../../schema/object-meta.ts";
import {
  type Field,
  type Static,
  type StructType,
  field,
  int32,
  int64,
  intOrString,
  list,
  string,
  time,
} from "../../schema/types.ts";

const RollingUpdateStatefulSetStrategy = struct(
  "RollingUpdateStatefulSetStrategy",
  "Parameters of a rolling update of a StatefulSet.",
  {
    partition: field(
      1,
      int32,
      "Lowest ordinal to update; pods with smaller ordinals keep the old revision. Default: 0.",
    ).nullable(),
    maxUnavailable: field(
      2,
      intOrString,
      "Maximum number or percentage of unavailable pods during an update. Default: 1.",
    )
      .nullable()
      .gated("MaxUnavailableStatefulSet"),
  },
);

const StatefulSetUpdateStrategy = struct(
  "StatefulSetUpdateStrategy",
  "Strategy for replacing pods after the template changes.",
  {
    type: field(
      1,
      string,
      "Type of the update: RollingUpdate, or OnDelete to replace only deleted pods. Default: RollingUpdate.",
    ).oneOf("OnDelete", "RollingUpdate"),
    rollingUpdate: field(
      2,
      RollingUpdateStatefulSetStrategy,
      "Parameters of the rolling update; only for the type RollingUpdate.",
    ).nullable(),
  },
  {
    fill(copy, context) {
      if ((copy.type ?? "") === "") {
        copy.type = "RollingUpdate";
        copy.rollingUpdate ??= {};
      }
      if (copy.type !== "RollingUpdate" || copy.rollingUpdate === undefined) return;
      copy.rollingUpdate.partition ??= 0;
      if (context.enabled("MaxUnavailableStatefulSet")) copy.rollingUpdate.maxUnavailable ??= 1;
    },
  },
);

function retention(policy: string, report: FieldReport): void {
  const policies = ["Delete", "Retain"];
  if (!policies.includes(policy)) report.notSupported(policy, policies);
}

const StatefulSetPersistentVolumeClaimRetentionPolicy = struct(
  "StatefulSetPersistentVolumeClaimRetentionPolicy",
  "Retention of the claims created from the claim templates.",
  {
    whenDeleted: field(
      1,
      string,
      "Retention of the claims after the StatefulSet is deleted: Retain or Delete. Default: Retain.",
    )
      .knownValues("Delete", "Retain")
      .unpublishedDefault("Retain")
      .check(retention),
    whenScaled: field(
      2,
      string,
      "Retention of the claims of pods removed by scaling down: Retain or Delete. Default: Retain.",
    )
      .knownValues("Delete", "Retain")
      .unpublishedDefault("Retain")
      .check(retention),
  },
);

const StatefulSetOrdinals = struct("StatefulSetOrdinals", "Numbering of the pods of a StatefulSet.", {
  start: field(1, int32, "Ordinal of the first pod. Default: 0.").emitEmpty().check(nonNegative),
});

function managementPolicy(policy: string, report: FieldReport): void {
  if (policy !== "OrderedReady" && policy !== "Parallel") {
    report.invalid(policy, "must be 'OrderedReady' or 'Parallel'");
  }
}

function checkStrategy(strategy: Static<typeof StatefulSetUpdateStrategy>, report: FieldReport): void {
  const { type, rollingUpdate } = strategy;
  if (type !== "OnDelete" && type !== "RollingUpdate") {
    report.invalid(strategy, "must be 'RollingUpdate' or 'OnDelete'");
  }
  if (rollingUpdate === undefined) return;
  const at = report.at("rollingUpdate");
  if (type === "OnDelete") at.invalid(rollingUpdate, "only allowed for updateStrategy 'RollingUpdate'");
  if (type !== "RollingUpdate") return;
  const { partition, maxUnavailable } = rollingUpdate;
  if (partition !== undefined) nonNegative(partition, at.at("partition"));
  if (maxUnavailable === undefined) return;
  countOrPercent(maxUnavailable, at.at("maxUnavailable"));
  if (amountOf(maxUnavailable) === 0) at.at("maxUnavailable").invalid(maxUnavailable, "cannot be 0");
}

/** Without the static types of its fields, which are not used here. */
const claimTemplate: StructType<Record<never, Field>> = PersistentVolumeClaim.type;

const StatefulSetSpec = struct("StatefulSetSpec", "Desired state of a StatefulSet.", {
  replicas: field(1, int32, "Desired number of pods. Default: 1.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  selector: field(2, LabelSelector, "Label selector of the pods; the template's labels must match it.")
    .required()
    .nullable(),
  template: field(
    3,
    PodTemplateSpec,
    "Template of the pods; each is named after the StatefulSet and its ordinal.",
  )
    .required()
    .unchecked(),
  volumeClaimTemplates: field(
    4,
    list(claimTemplate),
    "Templates of claims to create for each pod; they take precedence over volumes of the same name.",
  )
    .atomic()
    .unchecked(),
  serviceName: field(
    5,
    string,
    "Name of the Service that gives the pods their DNS names; it must exist before the StatefulSet.",
  ).declaredRequired(),
  podManagementPolicy: field(
    6,
    string,
    "OrderedReady starts and stops pods one after the other; Parallel all at once. Default: OrderedReady.",
  )
    .oneOf("OrderedReady", "Parallel")
    .unpublishedDefault("OrderedReady")
    .unchecked()
    .check(managementPolicy),
  updateStrategy: field(
    7,
    StatefulSetUpdateStrategy,
    "Strategy for replacing pods after the template changes.",
  )
    .emitEmpty()
    .unchecked()
    .check(checkStrategy),
  revisionHistoryLimit: field(8, int32, "Number of old revisions to keep. Default: 10.")
    .nullable()
    .unpublishedDefault(10),
  minReadySeconds: field(
    9,
    int32,
    "Seconds a new pod must be ready before it counts as available. Default: 0.",
  ).check(nonNegative),
  persistentVolumeClaimRetentionPolicy: field(
    10,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    "Retention of the claims created from the claim templates.",
  )
    .nullable()
    .gated("StatefulSetAutoDeletePVC"),
  ordinals: field(11, StatefulSetOrdinals, "Numbering of the pods; it starts at 0 by default.")
    .nullable()
    .gated("StatefulSetStartOrdinal"),
});
type StatefulSetSpec = Static<typeof StatefulSetSpec>;

const StatefulSetCondition = struct("StatefulSetCondition", "A condition of a StatefulSet.", {
  type: field(1, string, "Type of the condition.").declaredRequired(),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(3, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(4, string, "Machine-readable reason in CamelCase."),
  message: field(5, string, "Human-readable details."),
});

const StatefulSetStatus = struct("StatefulSetStatus", "Observed state of a StatefulSet.", {
  observedGeneration: field(1, int64, "Latest generation that the controller has observed.").check(
    nonNegative,
  ),
  replicas: field(2, int32, "Number of pods.").declaredRequired().check(nonNegative),
  readyReplicas: field(3, int32, "Number of ready pods.").check(nonNegative),
  currentReplicas: field(4, int32, "Number of pods of the current revision.").check(nonNegative),
  updatedReplicas: field(5, int32, "Number of pods of the update revision.").check(nonNegative),
  currentRevision: field(6, string, "Revision of the pods that are not yet updated."),
  updateRevision: field(7, string, "Revision to which the pods are updated."),
  collisionCount: field(
    9,
    int32,
    "Number of hash collisions of revision names; the controller uses it to create unique names.",
  )
    .nullable()
    .check(nonNegative),
  conditions: field(10, list(StatefulSetCondition), "Conditions of the object, at most one per type.")
    .mapBy("type")
    .patchMerge("type"),
  availableReplicas: field(11, int32, "Number of available pods: ready for at least `minReadySeconds`.")
    .emitEmpty()
    .check(nonNegative),
});
type StatefulSetStatus = Static<typeof StatefulSetStatus>;

interface Numbered extends ApiObject {
  spec?: StatefulSetSpec | undefined;
  status?: StatefulSetStatus | undefined;
}

const counts = [
  ["readyReplicas", "replicas"],
  ["currentReplicas", "replicas"],
  ["updatedReplicas", "replicas"],
  ["availableReplicas", "replicas"],
  ["availableReplicas", "readyReplicas"],
] as const;

/** The rules of pods don't apply: the volumes depend on the claims, as in the reference. */
function checkSpec(spec: StatefulSetSpec | undefined, report: FieldReport, context: KindContext): void {
  const { selector, template } = spec ?? {};
  checkWorkloadSelector(selector, "statefulset", report.at("selector"));
  checkUsableSelector(selector, report.at("selector"));
  const workload = {
    kindName: "StatefulSet",
    template,
    selects: selectedBy(selector, false),
    several: false,
  };
  const at = report.at("template");
  checkSelected(workload, at);
  checkRunsForGood(workload, at);
  labelMap(template?.metadata?.labels ?? {}, at.at("labels"));
  annotationMap(template?.metadata?.annotations ?? {}, at.at("annotations"));
  checkPodAnnotations(template?.metadata?.annotations, template?.spec, at.at("annotations"), context);
}

const changeable = new Set([
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
]);

/** Checks the change of a spec. */
const checkSpecUpdate = byRelease(
  allowing([...changeable]),
  since("1.33", allowing([...changeable, "revisionHistoryLimit"])),
  since("1.37", checkFixedMembers),
);

/** Returns a rule that allows changes of these members only. */
function allowing(names: readonly string[]) {
  const fixed = (spec: object) =>
    Object.fromEntries(Object.entries(spec).filter(([name]) => !names.includes(name)));
  return (now: object, live: object, report: FieldReport): void => {
    if (same(fixed(now), fixed(live))) return;
    report.forbidden(`updates to statefulset spec for fields other than ${names.join(", ")} are forbidden`);
  };
}

export const StatefulSet = kind({
  name: "StatefulSet",
  resource: "statefulsets",
  singular: "statefulset",
  shortNames: ["sts"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Runs pods with stable names and storage of their own.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the StatefulSet.").emitEmpty(),
    spec: field(2, StatefulSetSpec, "Desired state of the StatefulSet.").emitEmpty(),
    status: field(3, StatefulSetStatus, "Observed state of the StatefulSet.").emitEmpty(),
  },
  generationOf: ({ spec }) => spec,
  fillDefaults({ spec }, context) {
    if (spec === undefined) return;
    if (context.enabled("StatefulSetAutoDeletePVC")) {
      spec.persistentVolumeClaimRetentionPolicy ??= { whenDeleted: "Retain", whenScaled: "Retain" };
    }
    for (const claim of (spec.volumeClaimTemplates ?? []) as ApiObject[]) {
      claim.apiVersion = "v1";
      claim.kind = PersistentVolumeClaim.name;
      PersistentVolumeClaim.fillDefaults?.(claim, context);
    }
  },
  validate: ({ spec }, report, context) => checkSpec(spec, report.at("spec"), context),
  validateCreate: newSetRules,
  validateUpdate(set, live, report, context) {
    const spec = report.at("spec");
    checkSpecUpdate(context)(set.spec ?? {}, live.spec ?? {}, spec);
    if (context.subresource !== "status")
      return checkChangedSet(
        (set.spec ?? {}) as StatefulSetFacts,
        (live.spec ?? {}) as StatefulSetFacts,
        spec,
        context,
      );
    checkParts(set.status ?? {}, counts, report.at("status"));
    checkCollisions(set.status ?? {}, live.status ?? {}, report.at("status"));
  },
  warnings: [workloadWarnings, since("1.33", historyWarnings)],
  status: {
    initial: () => ({ replicas: 0, availableReplicas: 0 }),
  },
  subresources: {
    scale: scaleOf<Numbered>(({ spec }) => selectorText(spec?.selector) ?? ""),
  },
  columns: [
    nameColumn,
    {
      name: "Ready",
      type: "string",
      doc: "Number of ready pods out of the desired number.",
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    },
    ageColumn,
    ...containerColumns<Numbered>(({ spec }) => spec?.template),
  ],
});
export type StatefulSet = ObjectFor<typeof StatefulSet>;
