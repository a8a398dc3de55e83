import { decodeTrusted } from "../../base/json/trusted.ts";
import { jsonOf, type JsonObject } from "../../base/json/value.ts";
import { RelayedStatusError, StatusError } from "../../base/status-error.ts";
import type { Undo } from "../../kinds/history/undo.ts";
import type { Operation } from "../../kinds/transactions/transaction.ts";
import type { Target } from "../../resources/engine/engine.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import { hasOwnRight, historySubresource } from "../../resources/reads/history.ts";
import type { WriteAccess } from "../../resources/undo/planned-write.ts";
import { undoChangeSet } from "../../resources/undo/undo-change-set.ts";
import { undoSelection } from "../../resources/undo/undo-selection.ts";
import { refuseConflicts, undoStatus } from "../../resources/undo/undo-status.ts";
import { answerReview } from "../../resources/writes/review.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { accountOf, type ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { bodyOf, encodingOf, sendObject } from "../verbs/answer.ts";
import { readBody } from "./read-body.ts";
import { operationRequest } from "./operation-request.ts";
import { runOperation } from "./run-operation.ts";

/**
 * POST of an Undo: takes a change set back in one transaction. Each write is authorized, admitted and validated as an operation of a
 * Transaction; the user also needs the right to read each object. The audit event has the result without values.
 *
 * @throws {StatusError} Conflict with a cause for each field that others have changed since; the errors of `undoChangeSet`.
 */
export async function serveUndo(service: HttpService, request: ResourceContext): Promise<void> {
  const { target, exchange, user, audit } = request;
  const { engine } = service;
  const encoding = encodingOf(service, request);
  const { object, parameters, report } = await readBody(service, request);
  const { dryRun, fieldManager } = parameters;
  audit?.requestObject(jsonOf(object) as JsonObject);
  await answerReview(engine, target, object, { user, dryRun, fieldManager, report }, () => undefined);
  const undo = objectAs<Undo>(object);
  const chosen = await undoSelection(engine, undo.spec);
  const pause = async (): Promise<void> => {
    if (exchange.expired)
      throw new StatusError("Timeout", "the undo did not end in time; nothing was written");
    await service.turns.longStep(accountOf(request));
  };
  const outcome = await undoChangeSet(engine, { ...chosen, dryRun, pause }, (staged) =>
    accessOf({ ...service, engine: staged, compresses: false }, request, fieldManager),
  );
  if (!dryRun) refuseConflicts(outcome);
  const status = undoStatus(outcome, dryRun);
  report.annotate(
    groupAnnotation(engine.vocabulary.groupSuffix, "objects", "history"),
    status.objects
      .map(
        ({ action, kind, namespace, name }) => `${action} ${kind} ${namespace ? `${namespace}/` : ""}${name}`,
      )
      .join("; "),
  );
  undo.status = status;
  // The event has no response object: its values may be secret.
  return sendObject(service, { ...request, audit: undefined }, encoding, 201, bodyOf(object));
}

/** The access of the user of a request. Writes are operations within the request. */
function accessOf(service: HttpService, request: ResourceContext, fieldManager: string): WriteAccess {
  const run = async (operation: Operation) => {
    const own = await operationRequest(operation, service.engine.registry);
    try {
      return await runOperation(service, request, own);
    } catch (error) {
      throw failureOf(error, own.text);
    }
  };
  return {
    mayRead: (target) => mayRead(service, request, target),
    async create(_, object) {
      const { body } = await run({ verb: "create", object, fieldManager });
      return objectAs<ApiObject>(decodeTrusted(Buffer.from(body)) as JsonObject);
    },
    update: (_, object) => run({ verb: "update", object, fieldManager }),
    remove({ resource, namespace, name }, { metadata: { uid, resourceVersion } }) {
      const names = { apiVersion: resource.apiVersion, kind: resource.kind.name, namespace, name };
      const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
      return run({ verb: "delete", ...names, preconditions });
    },
  };
}

/** Whether the user may get an object, and read its history. */
async function mayRead(
  { authorizer }: HttpService,
  { user }: ResourceContext,
  { resource, namespace, name }: Target,
): Promise<boolean> {
  const { group, version, name: type } = resource;
  // The path of a namespace has its name as namespace too.
  const within = group === "" && type === "namespaces" ? name : namespace;
  const isAllowed = async (subresource: string) => {
    const attributes = {
      kind: "resource",
      user,
      verb: "get",
      group,
      version,
      resource: type,
      subresource,
      namespace: within,
      name,
    } as const;
    return (await authorizer.authorize(attributes)).verdict === "allow";
  };
  if (!(await isAllowed(""))) return false;
  return hasOwnRight(resource) ? isAllowed(historySubresource) : true;
}

/** Returns the error of an undo: that of one of its writes, which the message names. */
function failureOf(thrown: unknown, text: string): unknown {
  const error = storeFailure(thrown);
  if (!(error instanceof StatusError)) return error;
  const message = `${text}: ${error.message}; nothing was written`;
  if (error instanceof RelayedStatusError) return new RelayedStatusError(message, error.relayed);
  return new StatusError(error.reason, message, error.details, { cause: error.cause });
}
