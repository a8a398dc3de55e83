import { node } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { change, hasMembers, move, type Rule, type VersionChange } from "./notes.ts";

const v1 = groupVersion(node, "v1");

/** Removes a spec that is empty after its members were moved. */
const emptySpec: Rule = ({ value }) => {
  if (!hasMembers(value["spec"])) delete value["spec"];
};

export const nodeChanges: readonly VersionChange[] = [
  change(groupVersion(node, "v1beta1"), v1, ["RuntimeClass"]),
  change(
    groupVersion(node, "v1alpha1"),
    v1,
    ["RuntimeClass"],
    move("spec.runtimeHandler", "handler"),
    move("spec.overhead", "overhead"),
    move("spec.scheduling", "scheduling"),
    emptySpec,
  ),
];
