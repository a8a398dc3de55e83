import type { WorkspacePreview } from "../../kinds/all.ts";
import type { ApplyOptions } from "./server-client.ts";

/** Options of {@link ServerTools.preview}. */
export interface PreviewOptions extends Omit<ApplyOptions, "dryRun"> {
  /** Name of the workspace in which the objects would be applied; by default the server outside of workspaces. */
  readonly workspace?: string | undefined;
  /** Shows the deletion of the objects, in the reverse order, instead; false by default. */
  readonly delete?: boolean | undefined;
  /** Name of the user whose rights decide; by default the administrator. */
  readonly user?: string | undefined;
  /** Groups of `user`, without those that authentication adds. */
  readonly groups?: readonly string[] | undefined;
  /** Time for the controllers to settle, in milliseconds of the machine's clock; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
}

type PreviewStatus = NonNullable<WorkspacePreview["status"]>;

/** The members that every preview has. */
type Member = "message" | "results" | "objects" | "consequences" | "settled";

/** The changes that objects would cause: the status of a WorkspacePreview, see [preview](preview.md#by-api). */
export type PreviewResult = PreviewStatus & { [K in Member]: NonNullable<PreviewStatus[K]> };
