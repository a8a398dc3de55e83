import { expect, it } from "vitest";
import type { WorkspaceConflict } from "../../../src/kinds/tenancy/changes.ts";
import { mergeText } from "../../../src/resources/branches/branch-text.ts";

const names = { theirs: "trial", ours: "the base" };
const values = { base: '"1"', theirs: '"2"', ours: '"3"', theirManagers: ["devi"], ourManagers: ["omar"] };

it.each<[Partial<WorkspaceConflict>, string]>([
  [
    { reason: "Changed", path: ".data.a", ...values },
    '.data.a: "1" at the start, "2" by devi in trial, "3" by omar in the base',
  ],
  [{ reason: "Deleted" }, "changed in trial, deleted in the base"],
  [
    { reason: "Deleted", path: ".data.a", base: '"1"', ours: '"3"', ourManagers: ["omar"] },
    'deleted in trial, but .data.a was changed from "1" to "3" by omar in the base',
  ],
  [
    { reason: "Deleted", path: ".data.a", base: '"1"' },
    'deleted in trial, but .data.a was changed from "1" to absent in the base',
  ],
  [{ reason: "Replaced" }, "deleted in trial, created again in the base"],
  [{ reason: "Terminating" }, "its deletion has not ended in the base"],
  [{ reason: "InUse", contents: "pod a/b" }, "deleted in trial, contains pod a/b in the base"],
  [{ reason: "NotServed" }, "the kind is not served in the base"],
])("the text of a merge says what the conflict %j is", (conflict, text) => {
  const object = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "settings" };
  const conflicts = [{ ...object, ...conflict } as WorkspaceConflict];
  const resolved = conflicts.map((one) => ({ ...one, resolution: "theirs" }));
  expect(mergeText({ conflicts, message: "nothing was written" }, names)).toBe(
    `conflict: configmap shop/settings: ${text}\nnothing was written\n`,
  );
  expect(mergeText({ conflicts: resolved, message: "written" }, names)).toBe(
    `resolved with theirs: configmap shop/settings: ${text}\nwritten\n`,
  );
});
