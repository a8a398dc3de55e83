import { NodeConfigStatus } from "./config-source.ts";
import { struct } from "../v1.ts";
import { roundUpToMilli } from "../../quantities.ts";
import { since } from "../../../schema/later-fields.ts";
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

const NodeCondition = struct("NodeCondition", "One aspect of a node's state.", {
  type: field(1, string, "What the condition is about.")
    .declaredRequired()
    .knownValues("DiskPressure", "MemoryPressure", "NetworkUnavailable", "PIDPressure", "Ready"),
  status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
  lastHeartbeatTime: field(3, time, "When news of the condition came last.").emitEmpty(),
  lastTransitionTime: field(4, time, "When the status last changed.").emitEmpty(),
  reason: field(5, string, "Short reason for programs."),
  message: field(6, string, "Explanation for people."),
});

const NodeAddress = struct("NodeAddress", "One address of a node.", {
  type: field(1, string, "What kind of address it is.")
    .declaredRequired()
    .knownValues("ExternalDNS", "ExternalIP", "Hostname", "InternalDNS", "InternalIP"),
  address: field(2, string, "The address itself.").declaredRequired(),
});

const DaemonEndpoint = struct("DaemonEndpoint", "A port on which one of the node's daemons listens.", {
  Port: field(1, int32, "Number of the port.").declaredRequired(),
});

const NodeDaemonEndpoints = struct("NodeDaemonEndpoints", "Ports of the daemons that run on a node.", {
  kubeletEndpoint: field(1, DaemonEndpoint, "Where the node agent listens.").emitEmpty(),
});

const NodeSwapStatus = struct("NodeSwapStatus", "Swap of a node.", {
  capacity: field(1, int64, "Size of the swap in bytes.").nullable(),
});

const NodeRuntimeHandlerFeatures = struct(
  "NodeRuntimeHandlerFeatures",
  "What a runtime can do.",
  {
    recursiveReadOnlyMounts: field(
      1,
      bool,
      "Whether it can make mounts below a read-only one read-only.",
    ).nullable(),
  },
  {
    later: () => ({
      userNamespaces: since("1.31", field(2, bool, "Whether it has user namespaces.").nullable()),
    }),
  },
);

const NodeRuntimeHandler = struct("NodeRuntimeHandler", "A container runtime of a node.", {
  name: field(1, string, "Name of the runtime; empty for the default one.").emitEmpty(),
  features: field(2, NodeRuntimeHandlerFeatures, "What it can do.").nullable(),
});

const NodeFeatures = struct("NodeFeatures", "What the container runtime of a node can do.", {
  supplementalGroupsPolicy: field(1, bool, "Whether it has supplementalGroupsPolicy.").nullable(),
});

const NodeSystemInfo = struct(
  "NodeSystemInfo",
  "What a node runs on.",
  {
    machineID: field(1, string, "Identifier of the machine that the node reports.").declaredRequired(),
    systemUUID: field(2, string, "Identifier of the system that the node reports.").declaredRequired(),
    bootID: field(3, string, "Identifier of the node's present boot.").declaredRequired(),
    kernelVersion: field(4, string, "Version of the node's kernel.").declaredRequired(),
    osImage: field(5, string, "Operating system as the node names it.").declaredRequired(),
    containerRuntimeVersion: field(
      6,
      string,
      "Name and version of the container runtime.",
    ).declaredRequired(),
    kubeletVersion: field(7, string, "Version of the node agent.").declaredRequired(),
    kubeProxyVersion: field(8, string, "Version of the service proxy on the node.").declaredRequired(),
    operatingSystem: field(9, string, "Operating system that the node reports.").declaredRequired(),
    architecture: field(10, string, "Processor architecture that the node reports.").declaredRequired(),
  },
  {
    later: () => ({
      swap: since("1.33", field(11, NodeSwapStatus, "Swap of the node.").nullable()),
      runningInUserNamespace: since(
        "1.37",
        field(12, bool, "Whether the node agent is in a user namespace.")
          .nullable()
          .gated("KubeletInUserNamespace"),
      ),
    }),
  },
);

const ContainerImage = struct("ContainerImage", "An image of containers that lies on a node.", {
  names: field(1, list(string), "Names by which the image is known.").emitEmpty().atomic(),
  sizeBytes: field(2, int64, "Size of the image in bytes."),
});

const AttachedVolume = struct("AttachedVolume", "A volume that is attached to a node.", {
  name: field(1, string, "Name of the volume.").declaredRequired(),
  devicePath: field(2, string, "Path of the device at which the volume can be found.").declaredRequired(),
});

export const NodeStatus = struct(
  "NodeStatus",
  "What a node is like now.",
  {
    capacity: field(1, map(quantity), "All that the node has of each resource."),
    allocatable: field(
      2,
      map(quantity),
      "What pods may have of each resource; without it, all that the node has.",
    ),
    phase: field(3, string, "Deprecated; it is no longer written.").oneOf("Pending", "Running", "Terminated"),
    conditions: field(4, list(NodeCondition), "What is known about the node's state.")
      .mapBy("type")
      .patchMerge("type"),
    addresses: field(5, list(NodeAddress), "Addresses at which the node can be reached.")
      .mapBy("type")
      .patchMerge("type"),
    daemonEndpoints: field(6, NodeDaemonEndpoints, "Ports of the node's daemons.").emitEmpty(),
    nodeInfo: field(7, NodeSystemInfo, "What the node runs on.").emitEmpty(),
    images: field(8, list(ContainerImage), "Images that lie on the node.").atomic(),
    volumesInUse: field(9, list(string), "Attachable volumes that the node uses.").atomic(),
    volumesAttached: field(10, list(AttachedVolume), "Volumes that are attached to the node.").atomic(),
    config: field(
      11,
      NodeConfigStatus,
      "Deprecated; it was the state of the configuration given to the node agent.",
    ).nullable(),
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
        field(12, list(NodeRuntimeHandler), "Runtimes of the node.")
          .atomic()
          .gated("RecursiveReadOnlyMounts"),
      ),
      features: since(
        "1.31",
        field(13, NodeFeatures, "What the container runtime can do.")
          .nullable()
          .gated("SupplementalGroupsPolicy"),
      ),
      declaredFeatures: since(
        "1.35",
        field(14, list(string), "Features that the node agent declares.")
          .atomic()
          .gated("NodeDeclaredFeatures"),
      ),
    }),
  },
);
export type NodeStatus = Static<typeof NodeStatus>;
