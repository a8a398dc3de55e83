import { decodeTrusted } from "../../base/json/trusted.ts";
import type { JsonObject } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { RelayedStatusError, StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Operation } from "../../kinds/transactions/transaction.ts";
import type { Engine, Target } from "../../resources/engine/engine.ts";
import { storeFailure } from "../../resources/engine/resource-version.ts";
import type { WriteAccess } from "../../resources/undo/planned-write.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { ResourceContext } from "../request/context.ts";
import type { HttpService } from "../service.ts";
import { operationRequest } from "./operation-request.ts";
import { runOperation } from "./run-operation.ts";

/** How planned writes are made and what they depend on. */
interface WriteAccessOptions {
  readonly fieldManager: string;
  /** Whether the user may read an object, with all that the plan depends on. */
  readonly mayRead: (service: HttpService, user: UserInfo, target: Target) => MaybePromise<boolean>;
}

/**
 * Returns the access of the user of a request to the objects of a transaction. Each write is authorized, admitted and validated as an
 * operation of a Transaction.
 *
 * @param outer serves the objects.
 * @param staged the engine of the transaction.
 */
export function writeAccess(
  outer: HttpService,
  staged: Engine,
  request: ResourceContext,
  { fieldManager, mayRead }: WriteAccessOptions,
): WriteAccess {
  const service: HttpService = { ...outer, engine: staged, compresses: false };
  const run = async (operation: Operation) => {
    const own = await operationRequest(operation, service.engine.registry);
    try {
      return await runOperation(service, request, own);
    } catch (error) {
      throw failureOf(error, own.text);
    }
  };
  return {
    mayRead: (target) => mayRead(service, request.user, target),
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

/** Whether a user may get an object or its subresource. */
export async function mayGet(
  { authorizer }: Pick<HttpService, "authorizer">,
  user: UserInfo,
  { resource, namespace, name, subresource }: Target,
): Promise<boolean> {
  const { group, version, name: type } = resource;
  const attributes = {
    kind: "resource",
    user,
    verb: "get",
    group,
    version,
    resource: type,
    subresource,
    // The path of a namespace has its name as namespace too.
    namespace: group === "" && type === "namespaces" ? name : namespace,
    name,
  } as const;
  return (await authorizer.authorize(attributes)).verdict === "allow";
}

/** Returns the error of one of the writes with its name. */
function failureOf(thrown: unknown, text: string): unknown {
  const error = storeFailure(thrown);
  if (!(error instanceof StatusError)) return error;
  const message = `${text}: ${error.message}; nothing was written`;
  if (error instanceof RelayedStatusError) return new RelayedStatusError(message, error.relayed);
  return new StatusError(error.reason, message, error.details, { cause: error.cause });
}
