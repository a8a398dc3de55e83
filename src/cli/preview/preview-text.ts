import type { WorkspacePreviewStatus } from "../../kinds/tenancy/workspace-preview.ts";
import { lines, objectLines } from "../../resources/branches/branch-text.ts";

/** Returns the result of a preview as text, without the operations that failed. */
export function previewText({
  results = [],
  objects = [],
  consequences = [],
  moreObjects,
  message = "",
  workspace,
  notes = [],
}: WorkspacePreviewStatus): string {
  const warnings = results.flatMap((one) => one.warnings ?? []);
  return lines([
    ...[...new Set(warnings)].map((warning) => `Warning: ${warning}`),
    ...(objects.length === 0 ? [] : ["by the manifests:", ...objects.flatMap(objectLines)]),
    ...(consequences.length === 0 ? [] : ["by controllers:", ...consequences.flatMap(objectLines)]),
    ...(moreObjects === undefined ? [] : [`and ${moreObjects} more objects`]),
    message,
    ...(workspace === undefined ? [] : [`the branch is the workspace ${workspace}`]),
    ...notes.map((note) => `note: ${note}`),
  ]);
}
