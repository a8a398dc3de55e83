import type { JsonObject } from "../../base/json/value.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { previewOperation, previewOrder } from "../../resources/branches/preview-operations.ts";
import { WorkspacePreview } from "../../kinds/tenancy/workspace-preview.ts";
import { OptionsError } from "../options/options-error.ts";
import { manifestsOf } from "./apply.ts";
import { userNamed } from "./client-guards.ts";
import type { LocalRequests } from "./local-requests.ts";
import type { PreviewOptions, PreviewResult } from "./preview-result.ts";
import { workspacesOff } from "./workspace-requests.ts";

/** The server of a preview. */
interface PreviewingServer {
  readonly local: LocalRequests;
  readonly administrator: UserInfo;
}

/**
 * Shows what objects would do; see {@link ServerTools.preview}.
 *
 * @throws {OptionsError} workspaces aren't served.
 * @throws {StatusError} the error of the request.
 * @throws {TypeError} if the user or the groups can't be used.
 */
export async function previewWith(
  { local, administrator }: PreviewingServer,
  source: object | readonly object[] | string,
  options: PreviewOptions,
): Promise<PreviewResult> {
  const { workspace, namespace = "default", user, groups, timeoutMs } = options;
  if (!local.registry.serves(WorkspacePreview)) throw new OptionsError(workspacesOff);
  if (user === undefined && groups !== undefined)
    throw new TypeError("the option groups needs the option user");
  const objects = (await manifestsOf(source)).map(({ document }) => document.value as JsonObject);
  const applied = { ...options, fieldManager: options.fieldManager ?? "plinth" };
  const ordered = previewOrder(objects, ({ kind }) => kind, applied);
  const spec = {
    ...(workspace === undefined ? {} : { workspace }),
    namespace,
    operations: ordered.map((one) => previewOperation(one, applied)),
    ...(timeoutMs === undefined ? {} : { timeoutSeconds: Math.max(1, Math.round(timeoutMs / 1000)) }),
  };
  const caller = user === undefined ? administrator : userNamed(local.vocabulary, user, groups);
  return local.post<PreviewResult>(caller, WorkspacePreview, spec);
}
