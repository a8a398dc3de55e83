import { batch } from "../../kinds/groups.ts";
import { groupVersion } from "./group-versions.ts";
import { at, change, keepDefault, type VersionChange } from "./notes.ts";

const v1 = groupVersion(batch, "v1");
/** The older version kept all finished Jobs. */
const all = 2_147_483_647;

export const batchChanges: readonly VersionChange[] = [
  change(groupVersion(batch, "v1beta1"), v1, ["CronJob"]),
  change(
    groupVersion(batch, "v2alpha1"),
    v1,
    ["CronJob"],
    at(
      "spec",
      keepDefault("successfulJobsHistoryLimit", all, 3),
      keepDefault("failedJobsHistoryLimit", all, 1),
    ),
  ),
];
