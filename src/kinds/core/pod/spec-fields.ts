import { since } from "../../../base/release-rows.ts";
import { Affinity } from "./affinity.ts";
import { Container, laterContainerFields } from "./container.ts";
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
import { replacedIn, type AddedFields, inlinedLater } from "../../../schema/added-fields.ts";
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
  type Static,
  inlined,
} from "../../../schema/types.ts";
import { fillPullPolicy } from "./image-name.ts";

const HostAlias = struct("HostAlias", "An entry of the pod's hosts file.", {
  ip: field(1, string, "IP address of the entry."),
  hostnames: field(2, list(string), "Host names for the address.").atomic(),
});

const PodDNSConfigOption = struct("PodDNSConfigOption", "An option of the DNS resolver.", {
  name: field(1, string, "Name of the option."),
  value: field(2, string, "Value of the option.").nullable(),
});

const PodDNSConfig = struct("PodDNSConfig", "Configuration of the DNS resolver.", {
  nameservers: field(
    1,
    list(string),
    "IP addresses of name servers, added to those of `dnsPolicy`.",
  ).atomic(),
  searches: field(2, list(string), "Search domains for host names, added to those of `dnsPolicy`.").atomic(),
  options: field(
    3,
    list(PodDNSConfigOption),
    "Resolver options; they override those of `dnsPolicy` with the same name.",
  ).atomic(),
});

export const PodIP = struct("PodIP", "An IP address of a pod.", {
  ip: field(1, string, "IPv4 or IPv6 address."),
});

const EphemeralContainerCommon = struct(
  "EphemeralContainerCommon",
  "Fields that ephemeral containers share with other containers.",
  Container.fields,
  { later: () => laterContainerFields },
);

export const EphemeralContainer = struct(
  "EphemeralContainer",
  "A temporary container added to a running pod for debugging; it is never restarted.",
  {
    ...inlined(1, EphemeralContainerCommon),
    targetContainerName: field(2, string, "Name of the container whose process namespace is shared."),
  },
  {
    fill: fillPullPolicy,
    later: () => inlinedLater(1, laterContainerFields),
  },
);
export type EphemeralContainer = Static<typeof EphemeralContainer>;

/** Fields of the struct `PodSpec`; its defaults and rules as a whole are in `spec.ts`. */
export const podSpecFields = {
  volumes: field(1, list(Volume), "Volumes that containers of the pod can mount.")
    .mapBy("name")
    .patchMerge("name")
    .patchRetainKeys()
    .check(uniqueBy((volume) => volume.name, "name")),
  containers: field(2, list(Container), "Containers of the pod; at least one.")
    .required()
    .mapBy("name")
    .patchMerge("name")
    .check(notEmpty),
  restartPolicy: field(
    3,
    string,
    "Restart policy of the containers: Always, OnFailure or Never. Default: Always.",
  )
    .oneOf("Always", "Never", "OnFailure")
    .unpublishedDefault("Always"),
  terminationGracePeriodSeconds: field(
    4,
    int64,
    "Seconds between the stop signal and the forced stop of the containers. Default: 30.",
  )
    .nullable()
    .unpublishedDefault(30),
  activeDeadlineSeconds: field(5, int64, "Seconds after the start at which the pod is terminated as failed.")
    .nullable()
    .check(between(1, 2 ** 31 - 1)),
  dnsPolicy: field(
    6,
    string,
    "Source of the DNS settings: ClusterFirst, ClusterFirstWithHostNet, Default or None. Default: ClusterFirst.",
  )
    .oneOf("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
    .unpublishedDefault("ClusterFirst"),
  nodeSelector: field(7, map(string), "Labels that the node must have.").atomic().check(labelMap),
  serviceAccountName: field(8, string, "Name of the ServiceAccount of the pod.").check(dnsSubdomain),
  serviceAccount: field(9, string, "Deprecated: use `serviceAccountName`."),
  nodeName: field(
    10,
    string,
    "Name of the node that runs the pod; if set on create, the pod is not scheduled.",
  ).check(dnsSubdomain),
  hostNetwork: field(11, bool, "Whether the pod uses the node's network namespace. Default: false."),
  hostPID: field(12, bool, "Whether the pod uses the node's process namespace. Default: false."),
  hostIPC: field(13, bool, "Whether the pod uses the node's IPC namespace. Default: false."),
  securityContext: field(14, PodSecurityContext, "Security settings of the pod.")
    .nullable()
    .unpublishedDefault({}),
  imagePullSecrets: field(15, list(LocalObjectReference), "Secrets with credentials for pulling the images.")
    .mapBy("name")
    .patchMerge("name"),
  hostname: field(16, string, "Host name of the pod. Default: the name of the pod.").check(dnsLabel),
  subdomain: field(
    17,
    string,
    "Subdomain of the FQDN `<hostname>.<subdomain>.<namespace>.svc.<cluster domain>`.",
  ).check(dnsLabel),
  affinity: field(18, Affinity, "Scheduling constraints of the pod.").nullable(),
  schedulerName: field(
    19,
    string,
    "Name of the scheduler of the pod. Default: default-scheduler.",
  ).unpublishedDefault("default-scheduler"),
  initContainers: field(
    20,
    list(Container),
    "Containers that run in sequence before the other containers start.",
  )
    .mapBy("name")
    .patchMerge("name"),
  automountServiceAccountToken: field(
    21,
    bool,
    "Whether to mount a token of the service account.",
  ).nullable(),
  tolerations: field(22, list(Toleration), "Taints that the pod tolerates.").atomic(),
  hostAliases: field(
    23,
    list(HostAlias),
    "Additional entries of the pod's hosts file; not with `hostNetwork`.",
  )
    .mapBy("ip")
    .patchMerge("ip")
    .check(hostAliases),
  priorityClassName: field(24, string, "Name of the PriorityClass of the pod.").check(dnsSubdomain),
  priority: field(25, int32, "Priority of the pod; set from its class on admission.").nullable(),
  dnsConfig: field(26, PodDNSConfig, "DNS settings, merged with those of `dnsPolicy`.").nullable(),
  shareProcessNamespace: field(
    27,
    bool,
    "Whether the containers share a process namespace; not with `hostPID`. Default: false.",
  ).nullable(),
  readinessGates: field(
    28,
    list(PodReadinessGate),
    "Additional conditions that must be true for the pod to be ready.",
  )
    .atomic()
    .check(readinessGates),
  runtimeClassName: field(29, string, "Name of the RuntimeClass; absent for the default runtime.")
    .nullable()
    .check(dnsSubdomain),
  enableServiceLinks: field(
    30,
    bool,
    "Whether to set environment variables with the addresses of Services. Default: true.",
  ).nullable(),
  preemptionPolicy: field(
    31,
    string,
    "Whether the pod can preempt pods of lower priority: PreemptLowerPriority or Never.",
  )
    .nullable()
    .oneOf("Never", "PreemptLowerPriority")
    .unchecked()
    .checkedWhenEmpty()
    .check(preemptionPolicy),
  overhead: field(
    32,
    map(quantity),
    "Resources that the runtime needs for the pod; set from the RuntimeClass on admission.",
  ),
  topologySpreadConstraints: field(
    33,
    list(TopologySpreadConstraint),
    "Spreading of pods over topology domains; all constraints apply.",
  )
    .mapBy("topologyKey", "whenUnsatisfiable")
    .patchMerge("topologyKey")
    .check(uniqueConstraints),
  ephemeralContainers: field(
    34,
    list(EphemeralContainer),
    "Temporary containers for debugging; only added through the subresource `ephemeralcontainers`.",
  )
    .mapBy("name")
    .patchMerge("name"),
  setHostnameAsFQDN: field(35, bool, "Whether the host name is the FQDN. Default: false.").nullable(),
  os: field(
    36,
    PodOS,
    "Operating system of the pod; some fields are only valid for Linux or only for Windows.",
  ).nullable(),
  hostUsers: field(
    37,
    bool,
    "Whether the pod uses the node's user namespace; false creates a new one. Default: true.",
  )
    .nullable()
    .gated("UserNamespacesStatelessPodsSupport"),
  schedulingGates: field(
    38,
    list(PodSchedulingGate),
    "Gates that block scheduling; they are set on create and can only be removed later.",
  )
    .mapBy("name")
    .patchMerge("name")
    .gated("PodSchedulingReadiness")
    .check(schedulingGates),
  resourceClaims: field(
    39,
    list(PodResourceClaim),
    "Resource claims that must be allocated before the pod starts.",
  )
    .mapBy("name")
    .patchMerge("name")
    .patchRetainKeys()
    .gated("DynamicResourceAllocation")
    .check(uniqueBy((claim) => claim.name, "name")),
};

const EvictionResponder = struct("EvictionResponder", "A controller that handles requests to evict a pod.", {
  name: field(1, string, "Name of the controller, with a domain prefix.").required().check(qualifiedName),
  priority: field(2, int32, "Priority from 0 to 100000; responders with higher values come first.")
    .required()
    .nullable()
    .check(between(0, 100_000)),
});

const PodSchedulingGroup = struct("PodSchedulingGroup", "The group of pods with which a pod is scheduled.", {
  podGroupName: field(1, string, "Name of the PodGroup.").nullable().check(dnsSubdomain),
});

/** The fields of the spec that later releases add or change. */
export const laterPodSpecFields = {
  hostUsers: replacedIn("1.28", podSpecFields.hostUsers.gated("UserNamespacesSupport")),
  resources: since(
    "1.32",
    field(40, ResourceRequirements, "Resource requests and limits of all containers together.")
      .nullable()
      .check(checkRequirements)
      .gated("PodLevelResources"),
  ),
  hostnameOverride: since(
    "1.34",
    field(41, string, "Host name of the pod, in place of `hostname` and `subdomain`.")
      .nullable()
      .check(dnsSubdomain)
      .gated("HostnameOverride"),
  ),
  schedulingGroup: since(
    "1.36",
    field(43, PodSchedulingGroup, "Group of pods with which the pod is scheduled.")
      .nullable()
      .gated("GenericWorkload"),
  ),
  evictionResponders: since(
    "1.37",
    field(44, list(EvictionResponder), "Controllers that handle requests to evict the pod.")
      .mapBy("name")
      .patchMerge("name")
      .gated("EvictionRequestAPI"),
  ),
};

/** The spec of a pod, for its rules. */
export type PodSpec = StaticFields<typeof podSpecFields & AddedFields<typeof laterPodSpecFields>>;
