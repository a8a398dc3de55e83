import { since } from "../../../schema/later-fields.ts";
import { PodIP } from "./network.ts";
import { ResourceRequirements } from "./resources.ts";
import {
  ContainerUser,
  HostIP,
  NodeAllocatableResourceClaimStatus,
  PodExtendedResourceClaimStatus,
  PodResourceClaimStatus,
  PodVolumeHealth,
  ResourceStatus,
  VolumeMountStatus,
} from "./status-details.ts";
import { struct } from "../v1.ts";
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

const PodCondition = struct(
  "PodCondition",
  "One aspect of a pod's state.",
  {
    type: field(1, string, "What the condition is about.")
      .declaredRequired()
      .knownValues("ContainersReady", "DisruptionTarget", "Initialized", "PodScheduled", "Ready"),
    status: field(2, string, "Whether it holds.").declaredRequired().knownValues("False", "True", "Unknown"),
    lastProbeTime: field(3, time, "When the condition was last looked at.").emitEmpty(),
    lastTransitionTime: field(4, time, "When the status last changed.").emitEmpty(),
    reason: field(5, string, "Short reason for programs."),
    message: field(6, string, "Explanation for people."),
  },
  {
    later: () => ({
      observedGeneration: since(
        "1.33",
        field(7, int64, "Generation of the pod that the condition is about.").gated(
          "PodObservedGenerationTracking",
        ),
      ),
    }),
  },
);

/** The gate of the resources of whole pods. */
const podLevelScaling = "InPlacePodLevelResourcesVerticalScaling";

const ContainerStateWaiting = struct("ContainerStateWaiting", "A container that doesn't run yet.", {
  reason: field(1, string, "Short reason for programs."),
  message: field(2, string, "Explanation for people."),
});

const ContainerStateRunning = struct("ContainerStateRunning", "A container that runs.", {
  startedAt: field(1, time, "When it was started.").emitEmpty(),
});

const ContainerStateTerminated = struct("ContainerStateTerminated", "A container that has ended.", {
  exitCode: field(1, int32, "Exit code of its last run.").declaredRequired(),
  signal: field(2, int32, "Signal that ended its last run."),
  reason: field(3, string, "Short reason for programs."),
  message: field(4, string, "Explanation for people."),
  startedAt: field(5, time, "When its last run began.").emitEmpty(),
  finishedAt: field(6, time, "When its last run ended.").emitEmpty(),
  containerID: field(7, string, "Identifier of the container, as type://id."),
});

const ContainerState = struct("ContainerState", "What a container does; without any it is waiting.", {
  waiting: field(1, ContainerStateWaiting, "It waits.").nullable(),
  running: field(2, ContainerStateRunning, "It runs.").nullable(),
  terminated: field(3, ContainerStateTerminated, "It has ended.").nullable(),
});

export const ContainerStatus = struct(
  "ContainerStatus",
  "What a container is like now.",
  {
    name: field(1, string, "Name of the container.").declaredRequired(),
    state: field(2, ContainerState, "What it does now.").emitEmpty(),
    lastState: field(3, ContainerState, "How its last run ended.").emitEmpty(),
    ready: field(4, bool, "Whether its readiness probe succeeds.").declaredRequired(),
    restartCount: field(5, int32, "How often it was started again.").declaredRequired(),
    image: field(6, string, "Image that it runs.").declaredRequired(),
    imageID: field(7, string, "Identifier of the image.").declaredRequired(),
    containerID: field(8, string, "Identifier of the container, as type://id."),
    started: field(9, bool, "Whether its startup probe has succeeded.").nullable(),
  },
  { later: laterContainerStatus },
);

function laterContainerStatus() {
  return {
    allocatedResources: since(
      "1.27",
      field(10, map(quantity), "Resources that the node gave to it.").gated("InPlacePodVerticalScaling"),
    ),
    resources: since(
      "1.27",
      field(11, ResourceRequirements, "Resources that it has.").nullable().gated("InPlacePodVerticalScaling"),
    ),
    volumeMounts: since(
      "1.30",
      field(12, list(VolumeMountStatus), "State of its mounts.")
        .mapBy("mountPath")
        .patchMerge("mountPath")
        .gated("RecursiveReadOnlyMounts"),
    ),
    user: since(
      "1.31",
      field(13, ContainerUser, "User of its first process.").nullable().gated("SupplementalGroupsPolicy"),
    ),
    allocatedResourcesStatus: since(
      "1.31",
      field(14, list(ResourceStatus), "Health of its devices.")
        .mapBy("name")
        .patchMerge("name")
        .gated("ResourceHealthStatus"),
    ),
    stopSignal: since(
      "1.33",
      field(15, string, "Signal that stops it.").nullable().gated("ContainerStopSignals"),
    ),
  };
}
export type ContainerStatus = Static<typeof ContainerStatus>;

export const PodStatus = struct(
  "PodStatus",
  "What a pod is like now.",
  {
    phase: field(1, string, "Where the pod is in its life.").oneOf(
      "Failed",
      "Pending",
      "Running",
      "Succeeded",
      "Unknown",
    ),
    conditions: field(2, list(PodCondition), "What is known about its state.")
      .mapBy("type")
      .patchMerge("type"),
    message: field(3, string, "Why the pod is in this state, for people."),
    reason: field(4, string, "Why the pod is in this state, for programs."),
    hostIP: field(5, string, "Address of the node."),
    podIP: field(6, string, "First address of the pod."),
    startTime: field(7, time, "When the node agent took the pod.").nullable(),
    containerStatuses: field(8, list(ContainerStatus), "State of each container.").atomic(),
    qosClass: field(9, string, "Quality of service that follows from the resources.").oneOf(
      "BestEffort",
      "Burstable",
      "Guaranteed",
    ),
    initContainerStatuses: field(10, list(ContainerStatus), "State of each init container.").atomic(),
    nominatedNodeName: field(11, string, "Node on which room is being made for the pod."),
    podIPs: field(12, list(PodIP), "Addresses of the pod, at most one of each family.")
      .mapBy("ip")
      .patchMerge("ip"),
    ephemeralContainerStatuses: field(
      13,
      list(ContainerStatus),
      "State of each temporary container.",
    ).atomic(),
  },
  {
    later: laterPodStatus,
    // The older field has precedence over the newer list, for writers that know only the older one.
    fill(copy) {
      const first = copy.podIPs?.[0]?.ip;
      const { podIP = "" } = copy;
      if (podIP !== "" && podIP !== first) copy.podIPs = [{ ip: podIP }];
      else if (podIP === "" && first !== undefined) copy.podIP = first;
    },
  },
);
function laterPodStatus() {
  return {
    resize: since(
      "1.27",
      field(14, string, "State of a change of resources.")
        .knownValues("Deferred", "InProgress", "Infeasible")
        .gated("InPlacePodVerticalScaling"),
    ),
    resourceClaimStatuses: since(
      "1.28",
      field(15, list(PodResourceClaimStatus), "Claims that were made for the pod.")
        .mapBy("name")
        .patchMerge("name")
        .patchRetainKeys()
        .gated("DynamicResourceAllocation"),
    ),
    hostIPs: since(
      "1.28",
      field(16, list(HostIP), "Addresses of the node, at most one of each family.")
        .atomic()
        .patchMerge("ip")
        .gated("PodHostIPs"),
    ),
    observedGeneration: since(
      "1.33",
      field(17, int64, "Generation of the pod that the node agent has seen.").gated(
        "PodObservedGenerationTracking",
      ),
    ),
    extendedResourceClaimStatus: since(
      "1.34",
      field(18, PodExtendedResourceClaimStatus, "The claim for extended resources.")
        .nullable()
        .gated("DRAExtendedResource"),
    ),
    allocatedResources: since(
      "1.35",
      field(19, map(quantity), "Resources that the node gave to the pod.").gated(podLevelScaling),
    ),
    resources: since(
      "1.35",
      field(20, ResourceRequirements, "Resources that the pod has.").nullable().gated(podLevelScaling),
    ),
    nodeAllocatableResourceClaimStatuses: since(
      "1.36",
      field(21, list(NodeAllocatableResourceClaimStatus), "Resources of the node that claims use.")
        .mapBy("resourceClaimName")
        .patchMerge("resourceClaimName")
        .gated("DRANodeAllocatableResources"),
    ),
    volumeHealth: since(
      "1.37",
      field(22, list(PodVolumeHealth), "Health of the volumes.").mapBy("name").gated("CSIVolumeHealth"),
    ),
  };
}
export type PodStatus = Static<typeof PodStatus>;
