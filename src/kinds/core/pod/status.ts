import { since } from "../../../base/release-rows.ts";
import { PodIP } from "./spec-fields.ts";
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
  "A condition of a Pod.",
  {
    type: field(1, string, "Type of the condition, such as Ready or PodScheduled.")
      .declaredRequired()
      .knownValues("ContainersReady", "DisruptionTarget", "Initialized", "PodScheduled", "Ready"),
    status: field(2, string, "Status of the condition: True, False or Unknown.")
      .declaredRequired()
      .knownValues("False", "True", "Unknown"),
    lastProbeTime: field(3, time, "Time of the last check of the condition.").emitEmpty(),
    lastTransitionTime: field(4, time, "Time of the last change of `status`.").emitEmpty(),
    reason: field(5, string, "Machine-readable reason in CamelCase."),
    message: field(6, string, "Human-readable details."),
  },
  {
    later: () => ({
      observedGeneration: since(
        "1.33",
        field(7, int64, "Generation of the pod for which the condition was set.").gated(
          "PodObservedGenerationTracking",
        ),
      ),
    }),
  },
);

/** The gate of the resources of whole pods. */
const podLevelScaling = "InPlacePodLevelResourcesVerticalScaling";

const ContainerStateWaiting = struct(
  "ContainerStateWaiting",
  "State of a container that is not running yet.",
  {
    reason: field(1, string, "Machine-readable reason in CamelCase."),
    message: field(2, string, "Human-readable details."),
  },
);

const ContainerStateRunning = struct("ContainerStateRunning", "State of a running container.", {
  startedAt: field(1, time, "Time at which the container was started.").emitEmpty(),
});

const ContainerStateTerminated = struct("ContainerStateTerminated", "State of a terminated container.", {
  exitCode: field(1, int32, "Exit status of the last run.").declaredRequired(),
  signal: field(2, int32, "Signal that terminated the last run."),
  reason: field(3, string, "Machine-readable reason in CamelCase."),
  message: field(4, string, "Human-readable details."),
  startedAt: field(5, time, "Start time of the last run.").emitEmpty(),
  finishedAt: field(6, time, "End time of the last run.").emitEmpty(),
  containerID: field(7, string, "Identifier of the container, as `<type>://<id>`."),
});

const ContainerState = struct(
  "ContainerState",
  "State of a container; at most one field is set, and none means waiting.",
  {
    waiting: field(1, ContainerStateWaiting, "Details of a waiting container.").nullable(),
    running: field(2, ContainerStateRunning, "Details of a running container.").nullable(),
    terminated: field(3, ContainerStateTerminated, "Details of a terminated container.").nullable(),
  },
);

export const ContainerStatus = struct(
  "ContainerStatus",
  "Observed state of a container.",
  {
    name: field(1, string, "Name of the container.").declaredRequired(),
    state: field(2, ContainerState, "Current state of the container.").emitEmpty(),
    lastState: field(3, ContainerState, "State of the previous run.").emitEmpty(),
    ready: field(4, bool, "Whether the container is ready: the readiness probe succeeds.").declaredRequired(),
    restartCount: field(5, int32, "Number of restarts of the container.").declaredRequired(),
    image: field(6, string, "Name of the container image.").declaredRequired(),
    imageID: field(7, string, "Identifier of the image.").declaredRequired(),
    containerID: field(8, string, "Identifier of the container, as `<type>://<id>`."),
    started: field(9, bool, "Whether the container has started: the startup probe has succeeded.").nullable(),
  },
  { later: laterContainerStatus },
);

function laterContainerStatus() {
  return {
    allocatedResources: since(
      "1.27",
      field(10, map(quantity), "Resources that the node has allocated to the container.").gated(
        "InPlacePodVerticalScaling",
      ),
    ),
    resources: since(
      "1.27",
      field(11, ResourceRequirements, "Effective resource requests and limits of the running container.")
        .nullable()
        .gated("InPlacePodVerticalScaling"),
    ),
    volumeMounts: since(
      "1.30",
      field(12, list(VolumeMountStatus), "Status of the volume mounts.")
        .mapBy("mountPath")
        .patchMerge("mountPath")
        .gated("RecursiveReadOnlyMounts"),
    ),
    user: since(
      "1.31",
      field(13, ContainerUser, "User of the container's first process.")
        .nullable()
        .gated("SupplementalGroupsPolicy"),
    ),
    allocatedResourcesStatus: since(
      "1.31",
      field(14, list(ResourceStatus), "Health of the devices allocated to the container.")
        .mapBy("name")
        .patchMerge("name")
        .gated("ResourceHealthStatus"),
    ),
    stopSignal: since(
      "1.33",
      field(15, string, "Signal that stops the container.").nullable().gated("ContainerStopSignals"),
    ),
  };
}
export type ContainerStatus = Static<typeof ContainerStatus>;

export const PodStatus = struct(
  "PodStatus",
  "Observed state of a Pod.",
  {
    phase: field(1, string, "Phase of the pod: Pending, Running, Succeeded, Failed or Unknown.").oneOf(
      "Failed",
      "Pending",
      "Running",
      "Succeeded",
      "Unknown",
    ),
    conditions: field(2, list(PodCondition), "Conditions of the object, at most one per type.")
      .mapBy("type")
      .patchMerge("type"),
    message: field(3, string, "Human-readable details of the pod's state."),
    reason: field(4, string, "Machine-readable reason for the pod's state."),
    hostIP: field(5, string, "IP address of the node."),
    podIP: field(6, string, "First IP address of the pod."),
    startTime: field(7, time, "Time at which the kubelet accepted the pod.").nullable(),
    containerStatuses: field(8, list(ContainerStatus), "Status of each container.").atomic(),
    qosClass: field(9, string, "Quality of service class: Guaranteed, Burstable or BestEffort.").oneOf(
      "BestEffort",
      "Burstable",
      "Guaranteed",
    ),
    initContainerStatuses: field(10, list(ContainerStatus), "Status of each init container.").atomic(),
    nominatedNodeName: field(11, string, "Name of the node on which pods are preempted for this one."),
    podIPs: field(12, list(PodIP), "IP addresses of the pod, at most one per family.")
      .mapBy("ip")
      .patchMerge("ip"),
    ephemeralContainerStatuses: field(
      13,
      list(ContainerStatus),
      "Status of each ephemeral container.",
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
      field(14, string, "Status of a resize of the resources: Proposed, InProgress, Deferred or Infeasible.")
        .knownValues("Deferred", "InProgress", "Infeasible")
        .gated("InPlacePodVerticalScaling"),
    ),
    resourceClaimStatuses: since(
      "1.28",
      field(15, list(PodResourceClaimStatus), "ResourceClaims created for the pod's claims.")
        .mapBy("name")
        .patchMerge("name")
        .patchRetainKeys()
        .gated("DynamicResourceAllocation"),
    ),
    hostIPs: since(
      "1.28",
      field(16, list(HostIP), "IP addresses of the node, at most one per family.")
        .atomic()
        .patchMerge("ip")
        .gated("PodHostIPs"),
    ),
    observedGeneration: since(
      "1.33",
      field(17, int64, "Latest generation of the pod that the kubelet has observed.").gated(
        "PodObservedGenerationTracking",
      ),
    ),
    extendedResourceClaimStatus: since(
      "1.34",
      field(18, PodExtendedResourceClaimStatus, "ResourceClaim created for the pod's extended resources.")
        .nullable()
        .gated("DRAExtendedResource"),
    ),
    allocatedResources: since(
      "1.35",
      field(19, map(quantity), "Resources that the node has allocated to the pod.").gated(podLevelScaling),
    ),
    resources: since(
      "1.35",
      field(20, ResourceRequirements, "Effective resource requests and limits of the pod.")
        .nullable()
        .gated(podLevelScaling),
    ),
    nodeAllocatableResourceClaimStatuses: since(
      "1.36",
      field(
        21,
        list(NodeAllocatableResourceClaimStatus),
        "Node resources, such as memory, that the pod's claims need.",
      )
        .mapBy("resourceClaimName")
        .patchMerge("resourceClaimName")
        .gated("DRANodeAllocatableResources"),
    ),
    volumeHealth: since(
      "1.37",
      field(22, list(PodVolumeHealth), "Health of the pod's volumes.").mapBy("name").gated("CSIVolumeHealth"),
    ),
  };
}
export type PodStatus = Static<typeof PodStatus>;
