import { flowcontrol } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, rename, type VersionChange } from "./notes.ts";

const v1beta3 = groupVersion(flowcontrol, "v1beta3");

/** The kinds of v1beta2, which is served, have their own conversion. */
export const flowcontrolChanges: readonly VersionChange[] = ["v1alpha1", "v1beta1"].flatMap((version) => [
  change(groupVersion(flowcontrol, version), v1beta3, ["FlowSchema"]),
  change(
    groupVersion(flowcontrol, version),
    v1beta3,
    ["PriorityLevelConfiguration"],
    at("spec.limited", rename("assuredConcurrencyShares", "nominalConcurrencyShares")),
  ),
]);
