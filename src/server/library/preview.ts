import { decodeJson } from "../../base/json/decode.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { previewOperation, previewOrder } from "../../resources/branches/preview-operations.ts";
import { StatusError, type Reason, type StatusDetails } from "../../base/status-error.ts";
import { WorkspacePreview } from "../../kinds/tenancy/workspace-preview.ts";
import { OptionsError } from "../options/options-error.ts";
import { manifestsOf } from "./apply.ts";
import type { LocalRequests } from "./local-requests.ts";
import type { PreviewOptions, PreviewResult } from "./preview-result.ts";
import { workspacesOff } from "./workspaces.ts";

/** The server of a preview. */
interface PreviewingServer {
  readonly local: LocalRequests;
  readonly adminToken: string;
}

/**
 * Shows what objects would do; see {@link ServerTools.preview}.
 *
 * @throws {OptionsError} workspaces aren't served.
 * @throws {StatusError} the error of the request.
 */
export async function previewWith(
  { local, adminToken }: PreviewingServer,
  source: object | readonly object[] | string,
  options: PreviewOptions,
): Promise<PreviewResult> {
  const { workspace, namespace = "default", user, groups = [], timeoutMs } = options;
  const { registry } = local;
  if (!registry.serves(WorkspacePreview)) throw new OptionsError(workspacesOff);
  const { apiVersion, name } = registry.require(WorkspacePreview);
  const objects = (await manifestsOf(source)).map(({ document }) => document.value as JsonObject);
  const applied = { ...options, fieldManager: options.fieldManager ?? "plinth" };
  const ordered = previewOrder(objects, ({ kind }) => kind, applied);
  const spec = {
    ...(workspace === undefined ? {} : { workspace }),
    namespace,
    operations: ordered.map((one) => previewOperation(one, applied)),
    ...(timeoutMs === undefined ? {} : { timeoutSeconds: Math.max(1, Math.round(timeoutMs / 1000)) }),
  };
  const impersonation = [
    ...(user === undefined ? [] : ["impersonate-user", user]),
    ...groups.flatMap((group) => ["impersonate-group", group]),
  ];
  const answer = await local.send({
    method: "POST",
    url: `/apis/${apiVersion}/${name}`,
    headers: ["authorization", `Bearer ${adminToken}`, "content-type", "application/json", ...impersonation],
    body: Buffer.from(encodeJson({ metadata: {}, spec } as unknown as JsonValue)),
  });
  const body = decodeJson(answer.body).value as JsonObject;
  if (answer.status < 300) return body["status"] as unknown as PreviewResult;
  throw new StatusError(
    body["reason"] as Reason,
    String(body["message"]),
    body["details"] as unknown as StatusDetails,
  );
}
