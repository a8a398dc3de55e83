import { apiVersionOf } from "../../base/object-errors.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonObject, JsonValue } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { Operation } from "../../kinds/transactions/transaction.ts";
import { isStored, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { groupHint } from "../../vocabulary/other-vocabulary.ts";

/** The request that an operation would be if it were sent alone. */
export interface OperationRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly contentType: string;
  readonly body: Buffer;
  /** What it does, for messages: `create configmaps "a" in namespace "default"`. */
  readonly text: string;
  readonly resource: Resource;
  /** Empty if the kind is cluster-scoped. */
  readonly namespace: string;
}

const methods = { create: "POST", update: "PUT", patch: "PATCH", apply: "PATCH", delete: "DELETE" } as const;

/** What an operation names, with the defaults from its object. */
interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Returns the request of an operation.
 *
 * @param operation valid by the rules of its kind.
 * @param defaultNamespace namespace of objects that name none and whose kind has one; none by default.
 * @throws {StatusError} BadRequest: the kind isn't served here, or can't be part of a transaction.
 */
export function operationRequest(
  operation: Operation,
  registry: Registry,
  defaultNamespace = "",
): MaybePromise<OperationRequest> {
  const named = namedBy(operation);
  return andThen(resourceFor(named, registry), (resource) => {
    if (resource === undefined) throw unknownKind(named, registry);
    refuseSpecial(resource, operation);
    const namespace = named.namespace === "" && resource.namespaced ? defaultNamespace : named.namespace;
    return requestFor(operation, { ...named, namespace }, resource);
  });
}

function resourceFor({ apiVersion, kind }: Named, registry: Registry): MaybePromise<Resource | undefined> {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  if (registry.isBuiltIn(group)) return registry.findKind(apiVersion, kind);
  return andThen(registry.sync(), () => registry.findKind(apiVersion, kind));
}

function unknownKind({ apiVersion, kind }: Named, { vocabulary }: Registry): StatusError {
  const group = apiVersion.split("/", 1)[0]!;
  const missing = apiVersion === "" || kind === "";
  return new StatusError(
    "BadRequest",
    missing
      ? "the operation must name apiVersion and kind, in its object or beside it"
      : `this server has no kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)} ` +
          `whose objects it stores${groupHint(group, vocabulary)}`,
  );
}

/** @throws {StatusError} BadRequest for what isn't a write of a stored object. */
function refuseSpecial(resource: Resource, { subresource = "" }: Operation): void {
  if (!isStored(resource) || resource.kind.subresourceAlias !== undefined)
    throw new StatusError("BadRequest", `${resource.name} are not stored and can't be part of a transaction`);
  if (subresource === "") return;
  const below = resource.kind.subresources[subresource];
  if (below?.shape === "action" || below?.shape === "connect")
    throw new StatusError(
      "BadRequest",
      `${resource.name}/${subresource} is not a write of the object and can't be part of a transaction`,
    );
}

/** Returns what an operation names; texts that its object lacks are empty. */
export function namedBy({ object, ...operation }: Operation): Named {
  const { apiVersion, kind, metadata } = (object ?? {}) as JsonObject;
  const { namespace, name } = ((metadata as JsonValue | undefined) ?? {}) as JsonObject;
  const chosen = (explicit: string | undefined, own: unknown) =>
    explicit ?? (typeof own === "string" ? own : "");
  return {
    apiVersion: chosen(operation.apiVersion, apiVersion),
    kind: chosen(operation.kind, kind),
    namespace: chosen(operation.namespace, namespace),
    name: chosen(operation.name, name),
  };
}

function requestFor(operation: Operation, named: Named, resource: Resource): OperationRequest {
  const { verb, subresource = "" } = operation;
  const { name } = named;
  const namespace = resource.namespaced ? named.namespace : "";
  if (resource.namespaced && namespace === "")
    throw new StatusError("BadRequest", `the operation must name the namespace of ${resource.name}`);
  if (!resource.namespaced && named.namespace !== "")
    throw new StatusError("BadRequest", `${resource.name} are cluster-scoped and have no namespace`);
  if (name === "" && verb !== "create")
    throw new StatusError("BadRequest", `the operation must name the object`);
  const parts = [
    resource.group === "" ? "api" : "apis",
    ...apiVersionOf(resource.group, resource.version).split("/"),
    ...(namespace === "" ? [] : ["namespaces", namespace]),
    resource.name,
    ...(verb === "create" && subresource === "" ? [] : [name]),
    ...(subresource === "" ? [] : [subresource]),
  ];
  const { contentType, body } = contentOf(operation);
  const what = `${resource.name}${subresource === "" ? "" : `/${subresource}`}`;
  const where = namespace === "" ? "" : ` in namespace ${JSON.stringify(namespace)}`;
  return {
    method: methods[verb as keyof typeof methods],
    url: `/${parts.map(encodeURIComponent).join("/")}${queryOf(operation)}`,
    contentType,
    body,
    text: `${verb} ${what} ${JSON.stringify(name)}${where}`,
    resource,
    namespace,
  };
}

function queryOf({ fieldManager, fieldValidation, force }: Operation): string {
  if (fieldManager === undefined && fieldValidation === undefined && force !== true) return "";
  const query = new URLSearchParams();
  if (fieldManager !== undefined) query.set("fieldManager", fieldManager);
  if (fieldValidation !== undefined) query.set("fieldValidation", fieldValidation);
  if (force === true) query.set("force", "true");
  return `?${query}`;
}

function contentOf(operation: Operation): Pick<OperationRequest, "contentType" | "body"> {
  const { verb, object, patch, patchType = "" } = operation;
  const json = (value: unknown) => Buffer.from(encodeJson(value as JsonValue));
  if (verb === "patch") return { contentType: patchType, body: json(patch) };
  // JSON is YAML.
  if (verb === "apply") return { contentType: "application/apply-patch+yaml", body: json(object) };
  if (verb !== "delete") return { contentType: "application/json", body: json(object) };
  const { propagationPolicy, gracePeriodSeconds, preconditions } = operation;
  const options = { propagationPolicy, gracePeriodSeconds, preconditions };
  const present = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return {
    contentType: "application/json",
    body: json({ apiVersion: "v1", kind: "DeleteOptions", ...present }),
  };
}
