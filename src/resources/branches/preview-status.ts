import type {
  WorkspacePreviewResult,
  WorkspacePreviewStatus,
} from "../../kinds/tenancy/workspace-preview.ts";
import { countOf } from "../undo/undo-status.ts";
import { differenceStatus, hiddenText } from "./branch-status.ts";
import type { PreviewDifferences } from "./preview-changes.ts";

/** What no preview shows. */
const notes = [
  "controllers of other programs, such as a controller manager, and nodes don't work in a preview: no pod runs",
  "webhooks are called as for a dry run, those with other side effects aren't called, and extension servers aren't served",
];

/** Returns the status of a preview. */
export function previewStatus(
  results: readonly WorkspacePreviewResult[],
  { objects, consequences, moreObjects, hidden }: PreviewDifferences,
  { settled, limitMs }: { readonly settled: boolean; readonly limitMs: number },
): WorkspacePreviewStatus {
  const failed = results.filter(({ message }) => message !== undefined).length;
  const count = objects.length + consequences.length + moreObjects;
  const parts = [
    ...(failed === 0 ? [] : [`${failed} of ${countOf(results.length, "operation")} failed`]),
    count === 0
      ? "nothing would change"
      : `${countOf(objects.length, "object")} changed by the operations, ${consequences.length} by others`,
    ...(settled ? [] : [`the controllers have not settled within ${limitMs / 1000} s`]),
  ];
  return {
    message: `${parts.join("; ")}${hiddenText(hidden)}`,
    results: [...results],
    objects: objects.map(differenceStatus),
    consequences: consequences.map(differenceStatus),
    ...(moreObjects === 0 ? {} : { moreObjects }),
    ...(hidden === 0 ? {} : { hidden }),
    settled,
    notes: [...notes],
  };
}
