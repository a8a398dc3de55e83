import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { roundUpToMilli } from "../../quantities.ts";
import {
  type Static,
  bool,
  field,
  int32,
  int64,
  list,
  map,
  quantity,
  string,
  time,
} from "../../../schema/types.ts";

const ConfigMapNodeConfigSource = struct(
  "ConfigMapNodeConfigSource",
  "Deprecated: a ConfigMap with the kubelet's configuration.",
  {
    namespace: field(1, string, "Namespace of the ConfigMap.").declaredRequired(),
    name: field(2, string, "Name of the ConfigMap.").declaredRequired(),
    uid: field(3, string, "UID of the ConfigMap; not allowed in a node's spec."),
    resourceVersion: field(4, string, "Resource version of the ConfigMap; not allowed in a node's spec."),
    kubeletConfigKey: field(5, string, "Key of the ConfigMap with the configuration.").declaredRequired(),
  },
);

export const NodeConfigSource = struct(
  "NodeConfigSource",
  "Deprecated: source of the kubelet's configuration; exactly one must be set.",
  {
    configMap: field(2, ConfigMapNodeConfigSource, "ConfigMap with the configuration.").nullable(),
  },
);

const NodeConfigStatus = struct("NodeConfigStatus", "Deprecated: status of the kubelet's configuration.", {
  assigned: field(1, NodeConfigSource, "Configuration that the node will use.").nullable(),
  active: field(2, NodeConfigSource, "Configuration that the node currently uses.").nullable(),
  lastKnownGood: field(
    3,
    NodeConfigSource,
    "Configuration that the node uses if the assigned one is invalid.",
  ).nullable(),
  error: field(4, string, "Problem of the assigned configuration."),
});

const NodeCondition = struct("NodeCondition", "A condition of a Node.", {
  type: field(1, string, "Type of the condition, such as Ready or DiskPressure.")
    .declaredRequired()
    .knownValues("DiskPressure", "MemoryPressure", "NetworkUnavailable", "PIDPressure", "Ready"),
  status: field(2, string, "Status of the condition: True, False or Unknown.")
    .declaredRequired()
    .knownValues("False", "True", "Unknown"),
  lastHeartbeatTime: field(3, time, "Time of the last update of the condition.").emitEmpty(),
  lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
  reason: field(5, string, "Machine-readable reason in CamelCase."),
  message: field(6, string, "Human-readable details."),
});

const NodeAddress = struct("NodeAddress", "An address of a node.", {
  type: field(1, string, "Type of the address, such as InternalIP or Hostname.")
    .declaredRequired()
    .knownValues("ExternalDNS", "ExternalIP", "Hostname", "InternalDNS", "InternalIP"),
  address: field(2, string, "IP address or host name.").declaredRequired(),
});

const DaemonEndpoint = struct("DaemonEndpoint", "The port of a daemon on a node.", {
  Port: field(1, int32, "Port number.").declaredRequired(),
});

const NodeDaemonEndpoints = struct("NodeDaemonEndpoints", "Ports of the daemons on a node.", {
  kubeletEndpoint: field(1, DaemonEndpoint, "Port of the kubelet.").emitEmpty(),
});

const NodeSwapStatus = struct("NodeSwapStatus", "Swap space of a node.", {
  capacity: field(1, int64, "Size of the swap space in bytes.").nullable(),
});

const NodeRuntimeHandlerFeatures = struct(
  "NodeRuntimeHandlerFeatures",
  "Features of a container runtime.",
  {
    recursiveReadOnlyMounts: field(
      1,
      bool,
      "Whether the runtime supports recursive read-only mounts.",
    ).nullable(),
  },
  {
    later: () => ({
      userNamespaces: since(
        "1.31",
        field(2, bool, "Whether the runtime supports user namespaces.").nullable(),
      ),
    }),
  },
);

const NodeRuntimeHandler = struct("NodeRuntimeHandler", "A container runtime on a node.", {
  name: field(1, string, "Name of the runtime handler; empty for the default one.").emitEmpty(),
  features: field(2, NodeRuntimeHandlerFeatures, "Features of the runtime.").nullable(),
});

const NodeFeatures = struct("NodeFeatures", "Features of the container runtimes of a node.", {
  supplementalGroupsPolicy: field(
    1,
    bool,
    "Whether the field `supplementalGroupsPolicy` is supported.",
  ).nullable(),
});

const NodeSystemInfo = struct(
  "NodeSystemInfo",
  "Identifiers and software versions of a node.",
  {
    machineID: field(1, string, "Machine ID, such as that of `/etc/machine-id`.").declaredRequired(),
    systemUUID: field(2, string, "System UUID reported by the machine.").declaredRequired(),
    bootID: field(3, string, "Boot ID; it changes with every boot.").declaredRequired(),
    kernelVersion: field(4, string, "Version of the kernel.").declaredRequired(),
    osImage: field(5, string, "Name and version of the operating system image.").declaredRequired(),
    containerRuntimeVersion: field(
      6,
      string,
      "Name and version of the container runtime.",
    ).declaredRequired(),
    kubeletVersion: field(7, string, "Version of the kubelet.").declaredRequired(),
    kubeProxyVersion: field(8, string, "Version of kube-proxy; deprecated.").declaredRequired(),
    operatingSystem: field(9, string, "Operating system, such as `linux`.").declaredRequired(),
    architecture: field(10, string, "Processor architecture, such as `amd64`.").declaredRequired(),
  },
  {
    later: () => ({
      swap: since("1.33", field(11, NodeSwapStatus, "Swap space of the node.").nullable()),
      runningInUserNamespace: since(
        "1.37",
        field(12, bool, "Whether the kubelet runs in a user namespace.")
          .nullable()
          .gated("KubeletInUserNamespace"),
      ),
    }),
  },
);

const ContainerImage = struct("ContainerImage", "A container image on a node.", {
  names: field(1, list(string), "Names of the image.").emitEmpty().atomic(),
  sizeBytes: field(2, int64, "Size of the image in bytes."),
});

const AttachedVolume = struct("AttachedVolume", "A volume attached to a node.", {
  name: field(1, string, "Name of the volume.").declaredRequired(),
  devicePath: field(2, string, "Path of the volume's device on the node.").declaredRequired(),
});

export const NodeStatus = struct(
  "NodeStatus",
  "Observed state of a Node.",
  {
    capacity: field(1, map(quantity), "Total amount of each resource of the node."),
    allocatable: field(2, map(quantity), "Amount of each resource available to pods. Default: `capacity`."),
    phase: field(3, string, "Deprecated; no longer set.").oneOf("Pending", "Running", "Terminated"),
    conditions: field(4, list(NodeCondition), "Conditions of the node, such as Ready.")
      .mapBy("type")
      .patchMerge("type"),
    addresses: field(5, list(NodeAddress), "IP addresses and host names of the node.")
      .mapBy("type")
      .patchMerge("type"),
    daemonEndpoints: field(6, NodeDaemonEndpoints, "Ports of the node's daemons.").emitEmpty(),
    nodeInfo: field(7, NodeSystemInfo, "Identifiers and software versions of the node.").emitEmpty(),
    images: field(8, list(ContainerImage), "Container images on the node.").atomic(),
    volumesInUse: field(
      9,
      list(string),
      "Names of attachable volumes that are mounted on the node.",
    ).atomic(),
    volumesAttached: field(10, list(AttachedVolume), "Volumes attached to the node.").atomic(),
    config: field(11, NodeConfigStatus, "Deprecated: status of the kubelet's configuration.").nullable(),
  },
  {
    fill(status) {
      if (status.capacity !== undefined) status.allocatable ??= { ...status.capacity };
      roundUpToMilli(status.capacity);
      roundUpToMilli(status.allocatable);
    },
    later: () => ({
      runtimeHandlers: since(
        "1.30",
        field(12, list(NodeRuntimeHandler), "Container runtimes of the node.")
          .atomic()
          .gated("RecursiveReadOnlyMounts"),
      ),
      features: since(
        "1.31",
        field(13, NodeFeatures, "Features of the container runtimes.")
          .nullable()
          .gated("SupplementalGroupsPolicy"),
      ),
      declaredFeatures: since(
        "1.35",
        field(14, list(string), "Features that the kubelet declares.").atomic().gated("NodeDeclaredFeatures"),
      ),
    }),
  },
);
export type NodeStatus = Static<typeof NodeStatus>;
