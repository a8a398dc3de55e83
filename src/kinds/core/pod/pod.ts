import { since, until } from "../../../base/release-rows.ts";
import type { PodShape } from "./pod-shape.ts";
import type { KindContext } from "../../../schema/context.ts";
import { kind } from "../v1.ts";
import { type ObjectFor } from "../../../schema/kind.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { Eviction } from "../../policy/eviction.ts";
import { Binding } from "../binding.ts";
import { podColumns } from "./columns.ts";
import { checkPod, checkNewPod } from "./pod-rules.ts";
import { checkResize, mergeResize } from "./resize-rules.ts";
import { mergeLabelKeys } from "./match-label-keys.ts";
import { nameWarnings } from "./release-warnings.ts";
import { newPodStatus, writtenStatus } from "./new-status.ts";
import { applySeccompAnnotations } from "./seccomp-annotations.ts";
import {
  fillAllPodResources,
  fillPodResources,
  fillsLater,
  keepPodResources,
  hasPodLevelResources,
} from "./pod-usage.ts";
import { PodSpec } from "./spec.ts";
import { checkPodStatus } from "./status-rules.ts";
import { PodStatus } from "./status.ts";
import { checkAddedContainers, checkPodUpdate } from "./update-rules.ts";
import { templateWarnings } from "./warnings.ts";

const specOf = ({ spec }: { readonly spec?: unknown }) => spec;
const hostNetworkText = ({
  spec,
}: {
  readonly spec?: { readonly hostNetwork?: boolean | undefined } | undefined;
}) => String(spec?.hostNetwork ?? false);

function limitGracePeriod({ spec }: PodShape): void {
  if ((spec?.terminationGracePeriodSeconds ?? 0) < 0) spec!.terminationGracePeriodSeconds = 1;
}

function fillSpec({ spec }: PodShape, context: KindContext): void {
  if (spec === undefined) return;
  spec.enableServiceLinks ??= true;
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    if (resources?.limits !== undefined) resources.requests = { ...resources.limits, ...resources.requests };
  }
  if (hasPodLevelResources(context) && !fillsLater(context)) fillPodResources(spec);
}

function readSeccompAnnotations({ metadata, spec }: PodShape, { vocabulary }: KindContext): void {
  applySeccompAnnotations(metadata.annotations, spec, vocabulary);
}

function prepareNew(copy: PodShape, context: KindContext): void {
  mergeLabelKeys(copy.spec, copy.metadata.labels ?? {}, context);
  if (copy.spec === undefined || !fillsLater(context)) return;
  fillAllPodResources(copy.spec);
  copy.status = newPodStatus(copy, context);
}

export const Pod = kind({
  name: "Pod",
  resource: "pods",
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  scope: "Namespaced",
  returnsDeletedObject: true,
  doc: "Containers that run together on a node.",
  effect: {
    enforced:
      "the authorization mode Node allows the agent of its node to read what the pod refers to; tokens that are bound to a pod end with it",
    acts: "`binding`, `eviction`, `proxy`, `exec`, `attach`, `portforward` and `log` act on it",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the pod.").emitEmpty(),
    spec: field(2, PodSpec, "Desired state of the Pod.").emitEmpty(),
    status: field(3, PodStatus, "Observed state of the Pod.").emitEmpty().unchecked(),
  },
  selectable: {
    "spec.nodeName": (pod) => pod.spec?.nodeName ?? "",
    "spec.restartPolicy": (pod) => pod.spec?.restartPolicy ?? "",
    "spec.schedulerName": (pod) => pod.spec?.schedulerName ?? "",
    "spec.serviceAccountName": (pod) => pod.spec?.serviceAccountName ?? "",
    "status.phase": (pod) => pod.status?.phase ?? "",
    "status.podIP": (pod) => pod.status?.podIP ?? "",
    "status.nominatedNodeName": (pod) => pod.status?.nominatedNodeName ?? "",
    "spec.hostNetwork": since("1.28", hostNetworkText),
  },
  fillDefaults: [since("1.37", limitGracePeriod), fillSpec],
  prepareCreate: [until("1.27", readSeccompAnnotations), prepareNew],
  prepareUpdate(copy, live, context) {
    if (copy.spec !== undefined && live.spec !== undefined && fillsLater(context))
      keepPodResources(copy.spec, live.spec);
  },
  validate: checkPod,
  validateCreate: checkNewPod,
  validateUpdate(pod, live, report, context) {
    if (context.subresource === "status") checkPodStatus(pod, live, report, context);
    if (context.subresource === "ephemeralcontainers") checkAddedContainers(pod, live, report, context);
    if (context.subresource === "resize") checkResize(pod, live, report, context);
    if (context.subresource === "") checkPodUpdate(pod, live, report, context);
  },
  // No warnings for updates: programs update pods often.
  warnings: (pod, context, live) =>
    live === undefined
      ? [
          ...nameWarnings(pod.metadata.name, "pod", context),
          ...templateWarnings(pod.metadata, pod.spec, [], context),
        ]
      : [],
  gracePeriodSeconds(pod, requestedSeconds) {
    const seconds = requestedSeconds ?? pod.spec?.terminationGracePeriodSeconds ?? 0;
    // The pod doesn't run yet, or not any more.
    if ((pod.spec?.nodeName ?? "") === "") return 0;
    if (pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") return 0;
    return seconds < 0 ? 1 : seconds;
  },
  status: {
    initial: newPodStatus,
    keepsMetadata: ["ownerReferences", "deletionTimestamp"],
    write: writtenStatus,
  },
  subresources: {
    attach: { shape: "connect", verbs: ["create", "get"], optionsKind: "PodAttachOptions" },
    binding: { shape: "action", verbs: ["create"], kind: () => Binding },
    ephemeralcontainers: {
      verbs: ["get", "patch", "update"],
      keepsMetadata: "all",
      incrementsGeneration: true,
      merge(copy, written) {
        const { ephemeralContainers: _, ...spec } = copy.spec ?? { containers: [] };
        const containers = written.spec?.ephemeralContainers;
        copy.spec = containers === undefined ? spec : { ...spec, ephemeralContainers: containers };
      },
    },
    eviction: { shape: "action", verbs: ["create"], kind: () => Eviction, olderVersions: ["v1beta1"] },
    exec: { shape: "connect", verbs: ["create", "get"], optionsKind: "PodExecOptions" },
    // In OpenAPI and discovery it has the kind Pod, unlike the other connections.
    log: { shape: "connect", verbs: ["get"], optionsKind: "Pod" },
    portforward: { shape: "connect", verbs: ["create", "get"], optionsKind: "PodPortForwardOptions" },
    proxy: {
      shape: "connect",
      verbs: ["create", "delete", "get", "patch", "update"],
      optionsKind: "PodProxyOptions",
    },
    resize: since("1.33", {
      verbs: ["get", "patch", "update"],
      keepsMetadata: "all",
      incrementsGeneration: true,
      merge: mergeResize,
    }),
  },
  generationOf: since("1.33", specOf),
  columns: podColumns,
  rowConditions(pod) {
    switch (pod.status?.phase) {
      case "Succeeded":
        return [{ type: "Completed", status: "True", reason: "Succeeded", message: "The pod has finished." }];
      case "Failed":
        return [{ type: "Completed", status: "True", reason: "Failed", message: "The pod has failed." }];
      default:
        return [];
    }
  },
});
export type Pod = ObjectFor<typeof Pod>;
