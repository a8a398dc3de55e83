import { flowcontrol } from "../groups.ts";
import { home } from "./homes.ts";
import { at, change, rename, type VersionChange } from "./words.ts";

const v1beta3 = home(flowcontrol, "v1beta3");

/** Version v1beta2 is served; its conversion stands with the kinds. */
export const flowcontrolChanges: readonly VersionChange[] = ["v1alpha1", "v1beta1"].flatMap((version) => [
  change(home(flowcontrol, version), v1beta3, ["FlowSchema"]),
  change(
    home(flowcontrol, version),
    v1beta3,
    ["PriorityLevelConfiguration"],
    at("spec.limited", rename("assuredConcurrencyShares", "nominalConcurrencyShares")),
  ),
]);
