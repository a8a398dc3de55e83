import { Affinity } from "./affinity.ts";
import { Container } from "./container.ts";
import { EphemeralContainer } from "./ephemeral-container.ts";
import { HostAlias, PodDNSConfig } from "./network.ts";
import { checkRequirements } from "./resource-rules.ts";
import { PodResourceClaim, ResourceRequirements } from "./resources.ts";
import {
  PodOS,
  PodReadinessGate,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from "./scheduling.ts";
import { PodSecurityContext } from "./security.ts";
import { LocalObjectReference } from "../references.ts";
import { dnsLabel, dnsSubdomain, labelMap, qualifiedName } from "../../checks/names.ts";
import { between } from "../../checks/numbers.ts";
import { notEmpty, uniqueBy } from "../../checks/values.ts";
import { hostAliases } from "./network-rules.ts";
import { preemptionPolicy, readinessGates, schedulingGates, uniqueConstraints } from "./scheduling-rules.ts";
import { replacedIn, since, type AddedFields } from "../../../schema/later-fields.ts";
import { struct } from "../v1.ts";
import { Volume } from "../volumes/volume.ts";
import {
  type StaticFields,
  bool,
  field,
  int32,
  int64,
  list,
  map,
  quantity,
  string,
} from "../../../schema/types.ts";

/** Fields of the struct `PodSpec`; its defaults and rules as a whole are in `spec.ts`. */
export const podSpecFields = {
  volumes: field(1, list(Volume), "Volumes that its containers can mount.")
    .mapBy("name")
    .patchMerge("name")
    .patchRetainKeys()
    .check(uniqueBy((volume) => volume.name, "name")),
  containers: field(2, list(Container), "The containers; at least one.")
    .required()
    .mapBy("name")
    .patchMerge("name")
    .check(notEmpty),
  restartPolicy: field(3, string, "When containers that end are started again.")
    .oneOf("Always", "Never", "OnFailure")
    .unpublishedDefault("Always"),
  terminationGracePeriodSeconds: field(4, int64, "Seconds that the pod is given to end well.")
    .nullable()
    .unpublishedDefault(30),
  activeDeadlineSeconds: field(5, int64, "Seconds after its start when the pod is stopped.")
    .nullable()
    .check(between(1, 2 ** 31 - 1)),
  dnsPolicy: field(6, string, "Where the name resolver's settings come from.")
    .oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
    .unpublishedDefault("ClusterFirst"),
  nodeSelector: field(7, map(string), "Labels that a node must have to run the pod.")
    .atomic()
    .check(labelMap),
  serviceAccountName: field(8, string, "Service account under which the pod runs.").check(dnsSubdomain),
  serviceAccount: field(9, string, "Older name of serviceAccountName."),
  nodeName: field(
    10,
    string,
    "Node on which the pod runs; when given at creation, the scheduler isn't asked.",
  ).check(dnsSubdomain),
  hostNetwork: field(11, bool, "Whether the pod uses the node's network."),
  hostPID: field(12, bool, "Whether the pod sees the node's processes."),
  hostIPC: field(13, bool, "Whether the pod uses the node's inter-process communication."),
  securityContext: field(14, PodSecurityContext, "Security settings of the pod.")
    .nullable()
    .unpublishedDefault({}),
  imagePullSecrets: field(15, list(LocalObjectReference), "Secrets with which images are fetched.")
    .mapBy("name")
    .patchMerge("name"),
  hostname: field(16, string, "Host name of the pod; its own name when empty.").check(dnsLabel),
  subdomain: field(
    17,
    string,
    "Makes the full host name <hostname>.<subdomain>.<namespace>.svc.<cluster domain>.",
  ).check(dnsLabel),
  affinity: field(18, Affinity, "Rules about where the pod is placed.").nullable(),
  schedulerName: field(19, string, "Scheduler that places the pod.").unpublishedDefault("default-scheduler"),
  initContainers: field(
    20,
    list(Container),
    "Containers that run one after the other before the others start.",
  )
    .mapBy("name")
    .patchMerge("name"),
  automountServiceAccountToken: field(
    21,
    bool,
    "Whether a token of the service account is mounted.",
  ).nullable(),
  tolerations: field(22, list(Toleration), "Taints that the pod tolerates.").atomic(),
  hostAliases: field(23, list(HostAlias), "Further lines of the pod's hosts file; not with hostNetwork.")
    .mapBy("ip")
    .patchMerge("ip")
    .check(hostAliases),
  priorityClassName: field(24, string, "Class that gives the pod its priority.").check(dnsSubdomain),
  priority: field(25, int32, "The priority itself; filled in from the class.").nullable(),
  dnsConfig: field(
    26,
    PodDNSConfig,
    "Settings of the name resolver, merged with those of the policy.",
  ).nullable(),
  shareProcessNamespace: field(
    27,
    bool,
    "Whether the containers see each other's processes; not with hostPID.",
  ).nullable(),
  readinessGates: field(
    28,
    list(PodReadinessGate),
    "Further conditions that must be true before the pod is ready.",
  )
    .atomic()
    .check(readinessGates),
  runtimeClassName: field(29, string, "Runtime that runs the pod; the default one when absent.")
    .nullable()
    .check(dnsSubdomain),
  enableServiceLinks: field(
    30,
    bool,
    "Whether services are told to the pod in environment variables.",
  ).nullable(),
  preemptionPolicy: field(31, string, "Whether the pod may push out those of lower priority.")
    .nullable()
    .oneOf("Never", "PreemptLowerPriority")
    .unchecked()
    .checkedWhenEmpty()
    .check(preemptionPolicy),
  overhead: field(
    32,
    map(quantity),
    "Resources that the runtime itself needs for the pod; filled in from its class.",
  ),
  topologySpreadConstraints: field(
    33,
    list(TopologySpreadConstraint),
    "How pods are spread; all constraints count.",
  )
    .mapBy("topologyKey", "whenUnsatisfiable")
    .patchMerge("topologyKey")
    .check(uniqueConstraints),
  ephemeralContainers: field(
    34,
    list(EphemeralContainer),
    "Temporary containers; they are added through the subresource only.",
  )
    .mapBy("name")
    .patchMerge("name"),
  setHostnameAsFQDN: field(35, bool, "Whether the host name is the full one.").nullable(),
  os: field(36, PodOS, "Operating system of the pod; some fields are allowed for only one.").nullable(),
  hostUsers: field(37, bool, "False gives the pod a user namespace of its own.")
    .nullable()
    .gated("UserNamespacesStatelessPodsSupport"),
  schedulingGates: field(
    38,
    list(PodSchedulingGate),
    "The pod isn't placed until this list is empty; set at creation, later only shortened.",
  )
    .mapBy("name")
    .patchMerge("name")
    .gated("PodSchedulingReadiness")
    .check(schedulingGates),
  resourceClaims: field(
    39,
    list(PodResourceClaim),
    "Resource claims that must be there before the pod may start.",
  )
    .mapBy("name")
    .patchMerge("name")
    .patchRetainKeys()
    .gated("DynamicResourceAllocation")
    .check(uniqueBy((claim) => claim.name, "name")),
};

const EvictionResponder = struct(
  "EvictionResponder",
  "A controller that answers to requests to evict the pod.",
  {
    name: field(1, string, "Name of the controller, with a domain.").required().check(qualifiedName),
    priority: field(2, int32, "Responders with a higher priority come first.")
      .required()
      .nullable()
      .check(between(0, 100_000)),
  },
);

const PodSchedulingGroup = struct("PodSchedulingGroup", "The group of pods that are placed together.", {
  podGroupName: field(1, string, "Name of the PodGroup.").nullable().check(dnsSubdomain),
});

/** The fields of the spec that later releases add or change. */
export const laterPodSpecFields = {
  hostUsers: replacedIn("1.28", podSpecFields.hostUsers.gated("UserNamespacesSupport")),
  resources: since(
    "1.32",
    field(40, ResourceRequirements, "Resources that the containers need and may use together.")
      .nullable()
      .check(checkRequirements)
      .gated("PodLevelResources"),
  ),
  hostnameOverride: since(
    "1.34",
    field(41, string, "Host name of the pod, instead of hostname and subdomain.")
      .nullable()
      .check(dnsSubdomain)
      .gated("HostnameOverride"),
  ),
  schedulingGroup: since(
    "1.36",
    field(43, PodSchedulingGroup, "The group with which the pod is placed.")
      .nullable()
      .gated("GenericWorkload"),
  ),
  evictionResponders: since(
    "1.37",
    field(44, list(EvictionResponder), "Controllers that answer to requests to evict the pod.")
      .mapBy("name")
      .patchMerge("name")
      .gated("EvictionRequestAPI"),
  ),
};

/** The spec of a pod, for its rules. */
export type PodSpec = StaticFields<typeof podSpecFields & AddedFields<typeof laterPodSpecFields>>;
