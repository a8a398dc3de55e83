import { since } from "../../../base/release-rows.ts";
import { struct } from "../v1.ts";
import { bool, field, int64, list, quantity, string, time } from "../../../schema/types.ts";

const ResourceHealth = struct(
  "ResourceHealth",
  "Health of an allocated device.",
  {
    resourceID: field(1, string, "Identifier of the device.").declaredRequired(),
    health: field(2, string, "Health of the device: Healthy, Unhealthy or Unknown.").knownValues(
      "Healthy",
      "Unhealthy",
      "Unknown",
    ),
  },
  {
    later: () => ({
      message: since(
        "1.36",
        field(6, string, "Human-readable details.").nullable().gated("ResourceHealthStatusMessage"),
      ),
    }),
  },
);

export const ResourceStatus = struct("ResourceStatus", "Health of the allocated devices of a resource.", {
  name: field(1, string, "Name of the resource.").declaredRequired(),
  resources: field(2, list(ResourceHealth), "Health of each device.").mapBy("resourceID"),
});

const LinuxContainerUser = struct("LinuxContainerUser", "User and groups of a process on Linux.", {
  uid: field(1, int64, "Numeric ID of the user.").declaredRequired(),
  gid: field(2, int64, "Numeric ID of the primary group.").declaredRequired(),
  supplementalGroups: field(3, list(int64), "Numeric IDs of the additional groups.").atomic(),
});

export const ContainerUser = struct("ContainerUser", "The user of a container's first process.", {
  linux: field(1, LinuxContainerUser, "User and groups on Linux.").nullable(),
});

const ImageVolumeStatus = struct("ImageVolumeStatus", "Status of an image volume.", {
  imageRef: field(1, string, "Image reference with its digest.").mustBeGiven(),
});

const VolumeStatus = struct("VolumeStatus", "Status of a mounted volume, by its type.", {
  image: field(1, ImageVolumeStatus, "Status of an image volume.").nullable(),
});

export const VolumeMountStatus = struct(
  "VolumeMountStatus",
  "Status of a volume mount.",
  {
    name: field(1, string, "Name of the mount.").declaredRequired(),
    mountPath: field(2, string, "Mount path in the container.").declaredRequired(),
    readOnly: field(3, bool, "Whether the mount is read-only."),
    recursiveReadOnly: field(4, string, "Whether mounts below a read-only mount are read-only.").nullable(),
  },
  {
    later: () => ({
      volumeStatus: since(
        "1.36",
        field(5, VolumeStatus, "Status of the volume.").nullable().gated("ImageVolumeWithDigest"),
      ),
    }),
  },
);

export const HostIP = struct("HostIP", "An IP address of a node.", {
  ip: field(1, string, "IPv4 or IPv6 address.").declaredRequired(),
});

export const PodResourceClaimStatus = struct(
  "PodResourceClaimStatus",
  "The ResourceClaim created for a pod's claim.",
  {
    name: field(1, string, "Name of the claim in the pod's `resourceClaims`.").declaredRequired(),
    resourceClaimName: field(2, string, "Name of the ResourceClaim; absent if none was needed.").nullable(),
  },
);

const ContainerExtendedResourceRequest = struct(
  "ContainerExtendedResourceRequest",
  "Maps an extended resource of a container to the claim's request that provides it.",
  {
    containerName: field(1, string, "Name of the container.").declaredRequired(),
    resourceName: field(2, string, "Name of the extended resource.").declaredRequired(),
    requestName: field(3, string, "Name of the request in the claim.").declaredRequired(),
  },
);

export const PodExtendedResourceClaimStatus = struct(
  "PodExtendedResourceClaimStatus",
  "The ResourceClaim created for a pod's extended resources.",
  {
    requestMappings: field(1, list(ContainerExtendedResourceRequest), "Requests by container and resource.")
      .declaredRequired()
      .atomic(),
    resourceClaimName: field(2, string, "Name of the ResourceClaim.").declaredRequired(),
  },
);

const NodeAllocatableMappedResources = struct(
  "NodeAllocatableMappedResources",
  "Amount of a node resource that a claim needs for its devices.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    quantity: field(2, quantity, "Amount of the resource.").declaredRequired().nullable(),
  },
);

const NodeAllocatableOverheadResources = struct(
  "NodeAllocatableOverheadResources",
  "Fixed amounts of a node resource that a claim needs for each pod and container.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    perPod: field(2, quantity, "Amount for each pod that uses the claim.").nullable(),
    perContainer: field(3, quantity, "Amount for each container that uses the claim.").nullable(),
  },
);

export const NodeAllocatableResourceClaimStatus = struct(
  "NodeAllocatableResourceClaimStatus",
  "Node resources, such as memory, that a claim needs.",
  {
    resourceClaimName: field(1, string, "Name of the ResourceClaim.").declaredRequired(),
    containers: field(2, list(string), "Names of the containers that use the claim.").set(),
    mapping: field(
      4,
      list(NodeAllocatableMappedResources),
      "Amounts of node resources that the devices of the claim need.",
    )
      .mapBy("name")
      .patchMerge("name"),
    overhead: field(
      5,
      list(NodeAllocatableOverheadResources),
      "Fixed amounts of node resources that the claim needs for each pod and container.",
    )
      .mapBy("name")
      .patchMerge("name"),
  },
);

const VolumeHealthCondition = struct("VolumeHealthCondition", "A problem of a volume.", {
  status: field(1, string, "Type of the problem, such as Degraded or DataLoss.")
    .declaredRequired()
    .knownValues("DataLoss", "Degraded", "Inaccessible"),
  reason: field(2, string, "Machine-readable reason in CamelCase.").declaredRequired(),
  message: field(3, string, "Human-readable details."),
});

/** The conditions of a volume's health and the time of their last change, with these field numbers. */
function volumeHealthFields(conditions: number, changed: number) {
  return {
    healthConditions: field(conditions, list(VolumeHealthCondition), "Current problems of the volume.")
      .mapBy("status", "reason")
      .patchMerge("status"),
    lastTransitionTime: field(changed, time, "Time of the last change of the conditions.").nullable(),
  };
}

export const VolumeHealthStatus = struct(
  "VolumeHealthStatus",
  "Health of a volume.",
  volumeHealthFields(1, 2),
);

export const PodVolumeHealth = struct("PodVolumeHealth", "Health of a pod's volume.", {
  name: field(1, string, "Name of the volume in the pod.").declaredRequired(),
  ...volumeHealthFields(2, 3),
});
