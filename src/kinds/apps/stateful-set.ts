import { kind, struct } from "./v1.ts";
import { isAtLeast } from "../../base/releases.ts";
import { selectorText } from "../cells.ts";
import { annotationMap, labelMap } from "../checks/names.ts";
import { amountOf, countOrPercent, nonNegative } from "../checks/numbers.ts";
import { same } from "../checks/values.ts";
import { ageColumn, nameColumn } from "../columns.ts";
import { PersistentVolumeClaim } from "../core/persistent-volume-claim.ts";
import { checkPodAnnotations } from "../core/pod/annotation-rules.ts";
import { PodTemplateSpec } from "../core/pod/template.ts";
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
  checkChangedSet,
  checkFixedMembers,
  checkNewSet,
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
  "Parameters of a rolling update of a stateful set.",
  {
    partition: field(1, int32, "Only pods with this number or a greater one are replaced.").nullable(),
    maxUnavailable: field(2, intOrString, "How many pods, or what share of them, may be missing.")
      .nullable()
      .gated("MaxUnavailableStatefulSet"),
  },
);

const StatefulSetUpdateStrategy = struct(
  "StatefulSetUpdateStrategy",
  "How pods are replaced by those of a new template.",
  {
    type: field(1, string, "Whether pods are replaced one after the other, or only when deleted.").oneOf(
      "OnDelete",
      "RollingUpdate",
    ),
    rollingUpdate: field(2, RollingUpdateStatefulSetStrategy, "Settings of a rolling update.").nullable(),
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
  "What becomes of claims made from the set's templates.",
  {
    whenDeleted: field(1, string, "What becomes of them when the set is deleted.")
      .knownValues("Delete", "Retain")
      .unpublishedDefault("Retain")
      .check(retention),
    whenScaled: field(2, string, "What becomes of them when pods are given up.")
      .knownValues("Delete", "Retain")
      .unpublishedDefault("Retain")
      .check(retention),
  },
);

const StatefulSetOrdinals = struct("StatefulSetOrdinals", "How the pods of a stateful set are numbered.", {
  start: field(1, int32, "Number of the first pod.").emitEmpty().check(nonNegative),
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

const StatefulSetSpec = struct("StatefulSetSpec", "What a stateful set should do.", {
  replicas: field(1, int32, "Number of pods that are wanted.")
    .nullable()
    .unpublishedDefault(1)
    .check(nonNegative),
  selector: field(2, LabelSelector, "Selects the pods of the set; the template's labels must match.")
    .required()
    .nullable(),
  template: field(3, PodTemplateSpec, "What its pods are like; they are named <set>-<number>.")
    .required()
    .unchecked(),
  volumeClaimTemplates: field(
    4,
    list(claimTemplate),
    "Claims that each pod gets; they go before volumes of the same name.",
  )
    .atomic()
    .unchecked(),
  serviceName: field(
    5,
    string,
    "Service that gives the pods their names in DNS; it must be there before the set.",
  ).declaredRequired(),
  podManagementPolicy: field(6, string, "Whether pods start and end one after the other, or all at once.")
    .oneOf("OrderedReady", "Parallel")
    .unpublishedDefault("OrderedReady")
    .unchecked()
    .check(managementPolicy),
  updateStrategy: field(7, StatefulSetUpdateStrategy, "How pods are replaced by those of a new template.")
    .emitEmpty()
    .unchecked()
    .check(checkStrategy),
  revisionHistoryLimit: field(8, int32, "Number of old revisions that are kept.")
    .nullable()
    .unpublishedDefault(10),
  minReadySeconds: field(9, int32, "Seconds that a new pod must be ready to count as available.").check(
    nonNegative,
  ),
  persistentVolumeClaimRetentionPolicy: field(
    10,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    "What becomes of claims made from the templates.",
  )
    .nullable()
    .gated("StatefulSetAutoDeletePVC"),
  ordinals: field(11, StatefulSetOrdinals, "How the pods are numbered.")
    .nullable()
    .gated("StatefulSetStartOrdinal"),
});
type StatefulSetSpec = Static<typeof StatefulSetSpec>;

const StatefulSetCondition = struct("StatefulSetCondition", "One aspect of a stateful set's state.", {
  type: field(1, string, "What the condition is about.").declaredRequired(),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  lastTransitionTime: field(3, time, "When the status last changed.").emitEmpty(),
  reason: field(4, string, "Short reason for programs."),
  message: field(5, string, "Explanation for people."),
});

const StatefulSetStatus = struct("StatefulSetStatus", "What a stateful set is like now.", {
  observedGeneration: field(1, int64, "Generation that the controller has seen last.").check(nonNegative),
  replicas: field(2, int32, "Number of its pods.").declaredRequired().check(nonNegative),
  readyReplicas: field(3, int32, "Number of its pods that are ready.").check(nonNegative),
  currentReplicas: field(4, int32, "Number of its pods of the current revision.").check(nonNegative),
  updatedReplicas: field(5, int32, "Number of its pods of the new revision.").check(nonNegative),
  currentRevision: field(6, string, "Revision of the pods that aren't replaced yet."),
  updateRevision: field(7, string, "Revision of the pods that are replaced."),
  collisionCount: field(9, int32, "Counts equal names of revisions, to find new ones.")
    .nullable()
    .check(nonNegative),
  conditions: field(10, list(StatefulSetCondition), "What is known about its state.")
    .mapBy("type")
    .patchMerge("type"),
  availableReplicas: field(11, int32, "Number of its pods that have been ready long enough.")
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

function checkSpecUpdate(
  now: StatefulSetSpec | undefined,
  live: StatefulSetSpec | undefined,
  report: FieldReport,
  { release }: Pick<KindContext, "release">,
): void {
  if (isAtLeast(release, "1.37")) return checkFixedMembers(now ?? {}, live ?? {}, report);
  const names = isAtLeast(release, "1.33") ? [...changeable, "revisionHistoryLimit"] : [...changeable];
  const fixed = (spec: object | undefined) =>
    Object.fromEntries(Object.entries(spec ?? {}).filter(([name]) => !names.includes(name)));
  if (same(fixed(now), fixed(live))) return;
  report.forbidden(`updates to statefulset spec for fields other than ${names.join(", ")} are forbidden`);
}

export const StatefulSet = kind({
  name: "StatefulSet",
  resource: "statefulsets",
  singular: "statefulset",
  shortNames: ["sts"],
  categories: ["all"],
  scope: "Namespaced",
  doc: "Runs numbered pods with names and volumes of their own.",
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the set.").emitEmpty(),
    spec: field(2, StatefulSetSpec, "What the set should do.").emitEmpty(),
    status: field(3, StatefulSetStatus, "What the set is like now.").emitEmpty(),
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
  validateCreate({ spec }, report, context) {
    checkNewSet((spec ?? {}) as StatefulSetFacts, report.at("spec"), context);
  },
  validateUpdate(set, live, report, context) {
    const spec = report.at("spec");
    checkSpecUpdate(set.spec, live.spec, spec, context);
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
  warnings: (set, context, live) => [
    ...workloadWarnings(set, context, live),
    ...historyWarnings(set, context),
  ],
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
      doc: "How many of the wanted pods are ready.",
      cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    },
    ageColumn,
    ...containerColumns<Numbered>(({ spec }) => spec?.template),
  ],
});
export type StatefulSet = ObjectFor<typeof StatefulSet>;
