import { decodeJson } from "../../base/json/decode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { jsonOf } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { Workspace } from "../../kinds/tenancy/workspace.ts";
import {
  settleTimeMs,
  type WorkspacePreview,
  type WorkspacePreviewSpec,
  type WorkspacePreviewStatus,
} from "../../kinds/tenancy/workspace-preview.ts";
import { previewDifferences } from "../../resources/branches/preview-changes.ts";
import { previewStatus } from "../../resources/branches/preview-status.ts";
import { Client } from "../../resources/clients/client.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { objectAs } from "../../schema/api-object.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { awaitClient } from "../limits/fair-limiter.ts";
import { accountOf, type ResourceContext } from "../request/context.ts";
import type { HttpService, OpenedWorkspace } from "../service.ts";
import { authorizeAccess } from "../stages/workspace.ts";
import { readPosted, sendPosted } from "../transactions/posted-object.ts";
import { namedBy, operationRequest } from "../transactions/operation-request.ts";
import { runOperation } from "../transactions/run-operation.ts";
import { OpenedSides } from "./opened-sides.ts";
import type { PreviewSlots } from "./preview-slots.ts";
import { runPreviewed } from "./previewed-operations.ts";

/** Time for everything but the controllers, after which the branch expires if the server is killed, in seconds. */
const workSeconds = 120;
/** The controllers get at most this number of times the time to settle: at the start, after new kinds and namespaces, and in the end. */
const maxWaits = 3;

/**
 * POST of a WorkspacePreview: runs operations in a new isolated branch, waits for its controllers and compares it with its state before. The
 * user needs the rights to create workspaces and, of a workspace, to enter it; each operation is authorized in the branch, by its roles.
 *
 * @throws {StatusError} Forbidden; TooManyRequests; those of the creation of a workspace.
 */
export async function servePreview(
  service: HttpService,
  request: ResourceContext,
  slots: PreviewSlots,
): Promise<void> {
  const posted = await readPosted(service, request, (one) =>
    withoutContents(objectAs<WorkspacePreview>(one)),
  );
  const preview = objectAs<WorkspacePreview>(posted.object);
  const { spec } = preview;
  if (spec.workspace) await authorizeAccess(service, request, spec.workspace);
  preview.status = await slots.use(accountOf(request), () => previewInBranch(service, request, spec));
  posted.report.annotate(
    groupAnnotation(service.engine.vocabulary.groupSuffix, "operations", "tenancy"),
    (preview.status.results ?? []).map(({ operation, code }) => `${operation}: ${code}`).join("; "),
  );
  delete (preview as Partial<WorkspacePreview>).spec;
  return sendPosted(service, request, posted);
}

async function previewInBranch(
  service: HttpService,
  request: ResourceContext,
  spec: WorkspacePreviewSpec,
): Promise<WorkspacePreviewStatus> {
  const branch = await createBranch(service, request, spec);
  if (typeof spec.keepSeconds === "number")
    return { ...(await runIn(service, request, branch, spec)), workspace: branch.name };
  const remove = () => new Client(service.engine, request.user).delete(branch, { uid: branch.uid });
  let status: WorkspacePreviewStatus;
  try {
    status = await runIn(service, request, branch, spec);
  } catch (error) {
    // The failure of the preview counts; a branch that can't be deleted expires by itself.
    await remove().catch((failure: unknown) => {
      if (!(failure instanceof StatusError)) service.log.defect(failure, { event: "deletion of a preview" });
    });
    throw error;
  }
  try {
    await remove();
    return status;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const note = `the branch ${branch.name} couldn't be deleted, and expires by itself: ${error.message}`;
    return { ...status, notes: [...(status.notes ?? []), note] };
  }
}

/** The object of a new branch. */
interface NewBranch {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Creates the branch with the rights of the user. */
async function createBranch(
  service: HttpService,
  request: ResourceContext,
  spec: WorkspacePreviewSpec,
): Promise<NewBranch> {
  const { apiVersion } = service.engine.registry.require(Workspace) as Resource;
  const { workspace, keepSeconds } = spec;
  const expirationSeconds = keepSeconds ?? workSeconds + (maxWaits * settleTimeMs(spec)) / 1000;
  const object = {
    apiVersion,
    kind: Workspace.name,
    metadata: { generateName: "preview-" },
    spec: { from: workspace ? { workspace } : {}, isolated: true, expirationSeconds },
  };
  const operation = await operationRequest({ verb: "create", object }, service.engine.registry);
  try {
    const { body } = await runOperation({ ...service, compresses: false }, request, operation);
    const { name = "", uid = "" } = (decodeJson(Buffer.from(body)).value as JsonObject)["metadata"] as {
      readonly name?: string;
      readonly uid?: string;
    };
    return { apiVersion, kind: Workspace.name, name, uid };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const message = `a preview makes a branch, which is refused: ${error.message}`;
    throw new StatusError(error.reason, message, error.details, { cause: error.cause });
  }
}

async function runIn(
  service: HttpService,
  request: ResourceContext,
  branch: NewBranch,
  spec: WorkspacePreviewSpec,
): Promise<WorkspacePreviewStatus> {
  const workspace = await service.workspaces!.find(branch.name);
  const opened = await workspace?.open(request.user);
  if (opened === undefined) throw service.workspaces!.notFound(branch.name);
  try {
    return await previewIn(service, request, opened, spec);
  } finally {
    opened.left();
  }
}

async function previewIn(
  service: HttpService,
  request: ResourceContext,
  opened: OpenedWorkspace,
  spec: WorkspacePreviewSpec,
): Promise<WorkspacePreviewStatus> {
  const activity = await opened.activity();
  const limitMs = settleTimeMs(spec);
  const endMs = service.clock.monotonicNow() + maxWaits * limitMs;
  let isLeft = false;
  request.exchange.onClose(() => (isLeft = true));
  const isOver = () => isLeft || request.exchange.expired || service.clock.monotonicNow() >= endMs;
  // Who waits for controllers yields its seat.
  const settle = () =>
    awaitClient(service, request, activity.settled(limitMs, isOver), () => !request.exchange.expired);
  try {
    return await OpenedSides.use(service, request, async (sides) => {
      const pause = () => sides.pause("preview");
      // What controllers do in the base anyway isn't a consequence of the operations.
      await settle();
      const { engine } = opened.service;
      const start = await engine.store.latestRevision();
      const namespace = spec.namespace ?? "";
      const operations = spec.operations ?? [];
      const run = { service: opened.service, request, start, namespace, settle, pause };
      const { results, outcomes } = await runPreviewed(run, operations);
      const settled = await settle();
      const view = sides.view(opened.service);
      const base = (await sides.baseOf(opened)) ?? service;
      const branch = { view, base: base.engine, own: opened.own, start, outcomes, pause };
      const differences = await previewDifferences(branch);
      return previewStatus(results, differences, { settled, limitMs });
    });
  } finally {
    activity.close();
  }
}

/** The preview without the objects and patches, which may be secret. */
function withoutContents({ spec, ...preview }: Partial<WorkspacePreview>): JsonValue {
  const { operations, ...others }: Partial<WorkspacePreviewSpec> = spec ?? {};
  const named = (operations ?? []).map(({ object, patch: _patch, ...operation }) => ({
    ...operation,
    ...namedBy({ object, ...operation }),
  }));
  return jsonOf({ ...preview, spec: { ...others, operations: named } });
}
