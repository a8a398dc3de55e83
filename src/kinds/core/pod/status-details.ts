import { struct } from "../v1.ts";
import { since } from "../../../schema/later-fields.ts";
import { bool, field, int64, list, quantity, string, time } from "../../../schema/types.ts";

const ResourceHealth = struct(
  "ResourceHealth",
  "Health of a device.",
  {
    resourceID: field(1, string, "Identifier of the device.").declaredRequired(),
    health: field(2, string, "Its health.").knownValues("Healthy", "Unhealthy", "Unknown"),
  },
  {
    later: () => ({
      message: since(
        "1.36",
        field(6, string, "Explanation for people.").nullable().gated("ResourceHealthStatusMessage"),
      ),
    }),
  },
);

export const ResourceStatus = struct("ResourceStatus", "Health of the devices of a resource.", {
  name: field(1, string, "Name of the resource.").declaredRequired(),
  resources: field(2, list(ResourceHealth), "The devices.").mapBy("resourceID"),
});

const LinuxContainerUser = struct("LinuxContainerUser", "User and groups of a Linux process.", {
  uid: field(1, int64, "Numeric id of the user.").declaredRequired(),
  gid: field(2, int64, "Numeric id of the group.").declaredRequired(),
  supplementalGroups: field(3, list(int64), "Further groups.").atomic(),
});

export const ContainerUser = struct("ContainerUser", "User of a container's first process.", {
  linux: field(1, LinuxContainerUser, "User and groups in a Linux container.").nullable(),
});

const ImageVolumeStatus = struct("ImageVolumeStatus", "State of a volume with the content of an image.", {
  imageRef: field(1, string, "The image with its digest.").mustBeGiven(),
});

const VolumeStatus = struct("VolumeStatus", "State of a mounted volume by its type.", {
  image: field(1, ImageVolumeStatus, "State of an image volume.").nullable(),
});

export const VolumeMountStatus = struct(
  "VolumeMountStatus",
  "State of a mounted volume.",
  {
    name: field(1, string, "Name of the mount.").declaredRequired(),
    mountPath: field(2, string, "Path of the volume in the container.").declaredRequired(),
    readOnly: field(3, bool, "Whether the container may only read it."),
    recursiveReadOnly: field(4, string, "Whether mounts below it are read-only too.").nullable(),
  },
  {
    later: () => ({
      volumeStatus: since(
        "1.36",
        field(5, VolumeStatus, "State of the volume.").nullable().gated("ImageVolumeWithDigest"),
      ),
    }),
  },
);

export const HostIP = struct("HostIP", "An address of a node.", {
  ip: field(1, string, "The address.").declaredRequired(),
});

export const PodResourceClaimStatus = struct("PodResourceClaimStatus", "The claim that was made for a pod.", {
  name: field(1, string, "Name of the claim within the pod.").declaredRequired(),
  resourceClaimName: field(2, string, "Name of the ResourceClaim; absent if none was needed.").nullable(),
});

const ContainerExtendedResourceRequest = struct(
  "ContainerExtendedResourceRequest",
  "The device request for an extended resource of a container.",
  {
    containerName: field(1, string, "Name of the container.").declaredRequired(),
    resourceName: field(2, string, "Name of the extended resource.").declaredRequired(),
    requestName: field(3, string, "Name of the request in the claim.").declaredRequired(),
  },
);

export const PodExtendedResourceClaimStatus = struct(
  "PodExtendedResourceClaimStatus",
  "The claim that was made for the extended resources of a pod.",
  {
    requestMappings: field(1, list(ContainerExtendedResourceRequest), "Requests of the containers.")
      .declaredRequired()
      .atomic(),
    resourceClaimName: field(2, string, "Name of the ResourceClaim.").declaredRequired(),
  },
);

const NodeAllocatableMappedResources = struct(
  "NodeAllocatableMappedResources",
  "A resource of the node that a claim uses.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    quantity: field(2, quantity, "Amount of it.").declaredRequired().nullable(),
  },
);

const NodeAllocatableOverheadResources = struct(
  "NodeAllocatableOverheadResources",
  "A resource of the node that a claim needs in addition.",
  {
    name: field(1, string, "Name of the resource.").declaredRequired(),
    perPod: field(2, quantity, "Amount for each pod.").nullable(),
    perContainer: field(3, quantity, "Amount for each container.").nullable(),
  },
);

export const NodeAllocatableResourceClaimStatus = struct(
  "NodeAllocatableResourceClaimStatus",
  "The resources of the node that a claim uses.",
  {
    resourceClaimName: field(1, string, "Name of the ResourceClaim.").declaredRequired(),
    containers: field(2, list(string), "Names of the containers that use it.").set(),
    mapping: field(4, list(NodeAllocatableMappedResources), "The resources.")
      .mapBy("name")
      .patchMerge("name"),
    overhead: field(5, list(NodeAllocatableOverheadResources), "The additional resources.")
      .mapBy("name")
      .patchMerge("name"),
  },
);

const VolumeHealthCondition = struct("VolumeHealthCondition", "A problem of a volume.", {
  status: field(1, string, "What is wrong.")
    .declaredRequired()
    .knownValues("DataLoss", "Degraded", "Inaccessible"),
  reason: field(2, string, "Short reason for programs.").declaredRequired(),
  message: field(3, string, "Explanation for people."),
});

/** The conditions of a volume's health and the time of their last change, with these field numbers. */
function volumeHealthFields(conditions: number, changed: number) {
  return {
    healthConditions: field(conditions, list(VolumeHealthCondition), "Problems of the volume.")
      .mapBy("status", "reason")
      .patchMerge("status"),
    lastTransitionTime: field(changed, time, "When they last changed.").nullable(),
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
