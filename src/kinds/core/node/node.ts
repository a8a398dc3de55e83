import { since } from "../../../base/release-rows.ts";
import { kind, struct } from "../v1.ts";
import type { ObjectFor } from "../../../schema/kind.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { bool, field, list, string, type Static, time } from "../../../schema/types.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { NodeConfigSource, NodeStatus } from "./status.ts";
import { checkAddresses, checkAmounts, checkPodRanges, checkSetOnce, unambiguousPodRanges } from "./rules.ts";
import { qualifiedNameFaults } from "../../../base/names.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { labelValue } from "../../checks/names.ts";
import { labelKey } from "../../../vocabulary/names.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";

const Taint = struct(
  "Taint",
  "A property of a node that repels pods without a matching toleration.",
  {
    key: field(1, string, "Key of the taint.").declaredRequired(),
    value: field(2, string, "Value of the taint.").check(labelValue),
    effect: field(
      3,
      string,
      "Effect on pods that do not tolerate the taint: NoSchedule, PreferNoSchedule or NoExecute.",
    )
      .required()
      .oneOf("NoExecute", "NoSchedule", "PreferNoSchedule"),
    timeAdded: field(4, time, "Time at which the taint was added; only for the effect NoExecute.").nullable(),
  },
  {
    check(taint, report) {
      for (const message of qualifiedNameFaults(taint.key)) report.at("key").invalid(taint.key, message);
    },
  },
);
type Taint = Static<typeof Taint>;

/** Requires unique pairs of key and effect. */
function uniqueTaints(taints: readonly Taint[], report: FieldReport): void {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    if (report.full) return;
    const pair = `${taint.effect} ${taint.key}`;
    if (seen.has(pair)) report.at(index).duplicate(taint);
    seen.add(pair);
  }
}

const NodePodPreemptionPolicy = struct("NodePodPreemptionPolicy", "Preemption of pods on a node.", {
  disableResizePreemption: field(
    1,
    list(string),
    "Reasons of pod resizes that do not preempt other pods on the node.",
  ).set(),
});

const NodeSpec = struct(
  "NodeSpec",
  "Desired state of a Node.",
  {
    podCIDR: field(1, string, "Range of pod addresses of the node in CIDR notation."),
    externalID: field(2, string, "Deprecated; not every kubelet sets it."),
    providerID: field(3, string, "Identifier of the machine at its provider, as `<provider>://<id>`."),
    unschedulable: field(4, bool, "Whether new pods are not scheduled to the node; running pods stay."),
    taints: field(5, list(Taint), "Taints of the node, which repel pods without a matching toleration.")
      .atomic()
      .check(uniqueTaints),
    configSource: field(6, NodeConfigSource, "Deprecated: source of the kubelet's configuration.").nullable(),
    podCIDRs: field(
      7,
      list(string),
      "Ranges of pod addresses in CIDR notation, at most one per family; the first equals `podCIDR`.",
    )
      .set()
      .patchMerge()
      .check(checkPodRanges),
  },
  {
    // The older field `podCIDR` has precedence, for clients that know only it.
    fill(spec) {
      const [first] = spec.podCIDRs ?? [];
      if ((spec.podCIDR ?? "") === "") {
        if (first !== undefined) spec.podCIDR = first;
      } else if (first !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR!];
    },
    later: () => ({
      podPreemptionPolicy: since(
        "1.37",
        field(8, NodePodPreemptionPolicy, "Preemption of pods on the node.")
          .nullable()
          .gated("InPlacePodVerticalScalingSchedulerPreemption"),
      ),
    }),
  },
);

export const Node = kind({
  name: "Node",
  resource: "nodes",
  singular: "node",
  shortNames: ["no"],
  scope: "Cluster",
  doc: "A machine that runs pods.",
  effect: {
    acts: "a new one gets the taint of nodes that are not ready (plugin TaintNodesByCondition); `proxy` connects to its agent",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the node.").emitEmpty(),
    spec: field(2, NodeSpec, "Desired state of the Node.").emitEmpty(),
    // As in the reference, only amounts and addresses are validated.
    status: field(3, NodeStatus, "Observed state of the Node.").emitEmpty().unchecked(),
  },
  selectable: { "spec.unschedulable": (node) => String(node.spec?.unschedulable ?? false) },
  // The configuration source is no longer supported; it is kept only if the stored object has one.
  prepareCreate(copy) {
    delete copy.spec?.configSource;
    delete copy.status?.config;
  },
  prepareUpdate(copy, live) {
    if (live.spec?.configSource === undefined) delete copy.spec?.configSource;
  },
  validate(node, report, context) {
    checkAmounts(node.status?.capacity, report.at("status", "capacity"), context);
    checkAmounts(node.status?.allocatable, report.at("status", "allocatable"), context);
  },
  validateCreate(node, report, context) {
    unambiguousPodRanges(node, undefined, report, context);
  },
  validateUpdate(node, live, report, context) {
    checkAddresses(node.status?.addresses ?? [], report.at("status", "addresses"));
    unambiguousPodRanges(node, live, report, context);
    checkSetOnce(node.spec ?? {}, live.spec ?? {}, report.at("spec"), context);
  },
  warnings: (node) =>
    (node.spec?.externalID ?? "") === "" ? [] : ["spec.externalID: this field is deprecated and unused"],
  status: {
    write(written, live) {
      if (live.status?.config === undefined) delete written.status?.config;
      return written.status;
    },
  },
  subresources: {
    proxy: {
      shape: "connect",
      verbs: ["create", "delete", "get", "patch", "update"],
      optionsKind: "NodeProxyOptions",
    },
  },
  columns: [
    nameColumn,
    {
      name: "Status",
      type: "string",
      doc: "Whether the node is ready and accepts new pods.",
      cell: (node) => stateText(node.status?.conditions ?? [], node.spec?.unschedulable === true),
    },
    {
      name: "Roles",
      type: "string",
      doc: "Roles of the node, from its labels.",
      cell: (node, _now, vocabulary) => rolesText(node.metadata.labels, vocabulary),
    },
    ageColumn,
    {
      name: "Version",
      type: "string",
      doc: "Version of the kubelet.",
      cell: (node) => node.status?.nodeInfo?.kubeletVersion ?? "",
    },
    {
      name: "Internal-IP",
      type: "string",
      priority: 1,
      doc: "Internal IP address of the node.",
      cell: (node) => addressOf(node.status?.addresses, "InternalIP"),
    },
    {
      name: "External-IP",
      type: "string",
      priority: 1,
      doc: "External IP address of the node.",
      cell: (node) => addressOf(node.status?.addresses, "ExternalIP"),
    },
    {
      name: "OS-Image",
      type: "string",
      priority: 1,
      doc: "Operating system of the node.",
      cell: (node) => orUnknown(node.status?.nodeInfo?.osImage),
    },
    {
      name: "Kernel-Version",
      type: "string",
      priority: 1,
      doc: "Version of the node's kernel.",
      cell: (node) => orUnknown(node.status?.nodeInfo?.kernelVersion),
    },
    {
      name: "Container-Runtime",
      type: "string",
      priority: 1,
      doc: "Container runtime and its version.",
      cell: (node) => orUnknown(node.status?.nodeInfo?.containerRuntimeVersion),
    },
  ],
});
export type Node = ObjectFor<typeof Node>;

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Returns the status of a node: `Ready,SchedulingDisabled`. */
function stateText(conditions: readonly Condition[], unschedulable: boolean): string {
  const ready = conditions.findLast(({ type }) => type === "Ready");
  const state = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return unschedulable ? `${state},SchedulingDisabled` : state;
}

/** Returns the roles in a node's labels, sorted. */
function rolesText(labels: Readonly<Record<string, string>> | undefined, { domain }: Vocabulary): string {
  const prefix = labelKey(domain, "", "node-role");
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (key.startsWith(prefix)) roles.add(key.slice(prefix.length));
    else if (key === labelKey(domain, "role")) roles.add(value);
  }
  roles.delete("");
  return roles.size === 0 ? "<none>" : [...roles].toSorted().join(",");
}

/** Returns the first address of a type. */
function addressOf(
  addresses: readonly { readonly type: string; readonly address: string }[] | undefined,
  type: string,
): string {
  return addresses?.find((one) => one.type === type)?.address ?? "<none>";
}

/** Returns a value that a node reports, or `<unknown>`. */
function orUnknown(text: string | undefined): string {
  return text === undefined || text === "" ? "<unknown>" : text;
}
