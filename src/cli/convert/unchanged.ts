import {
  apiregistration,
  authentication,
  coordination,
  events,
  scheduling,
  storage,
} from "../../kinds/groups.ts";
import type { Group } from "../../schema/types.ts";
import { groupVersion } from "./group-versions.ts";
import { change, type VersionChange } from "./notes.ts";

/** Declares kinds of which only the version changed. */
function only(group: Group, from: string, to: string, ...kinds: readonly string[]): VersionChange {
  return change(groupVersion(group, from), groupVersion(group, to), kinds);
}

/** The groups whose kinds kept their fields and defaults. */
export const unchangedForms: readonly VersionChange[] = [
  only(apiregistration, "v1beta1", "v1", "APIService"),
  only(authentication, "v1beta1", "v1", "TokenReview"),
  only(coordination, "v1beta1", "v1", "Lease"),
  only(events, "v1beta1", "v1", "Event"),
  only(scheduling, "v1alpha1", "v1", "PriorityClass"),
  only(scheduling, "v1beta1", "v1", "PriorityClass"),
  only(storage, "v1alpha1", "v1beta1", "CSIStorageCapacity"),
  only(storage, "v1alpha1", "v1", "VolumeAttachment"),
  only(storage, "v1beta1", "v1", "CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"),
];
