import { since } from "../../base/release-rows.ts";
import { struct } from "../../schema/meta.ts";
import { removedIn } from "../../schema/added-fields.ts";
import { field, string, type LaterFields } from "../../schema/types.ts";

/** A resource type in any version (`metav1.GroupResource`). */
export const GroupResource = struct(
  "GroupResource",
  "A group and resource, without the version.",
  {
    group: field(1, string, "Group of the resource; empty for the core group.").declaredRequired(),
    resource: field(2, string, "Name of the resource.").declaredRequired(),
  },
  {
    later: (): LaterFields => ({
      // The version that migrations had in v1alpha1.
      version: [since("1.30", field(undefined, string, "Version of the resource.")), removedIn("1.35")],
    }),
  },
);
