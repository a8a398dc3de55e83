import { deepClone } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { keyOf, prefixOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { decodeEntry, headerOf } from "../../resources/objects/stored.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { PolicyFailure } from "./failure.ts";
import type { Binding, ParamReference, PolicyBase } from "./policy.ts";

/** The parameters of a policy or binding without parameters. */
const noParams = [undefined] as const;
/** Maximum number of entries, and of bytes of their bodies, that are read at once. */
const pageLimits = { limit: 500, maxBytes: 1024 * 1024 };
/** Maximum number of selected parameters; the policy is evaluated for each. */
const maxSelected = 1000;
/** Maximum size of all parameters that a request selects by labels, in bytes of their stored form. */
const maxSelectedBytes = 16 * 1024 * 1024;

/**
 * Returns the namespace of the parameters: that of the binding or, in releases that have it, that of the request.
 *
 * @throws {PolicyFailure} the binding needs the namespace of a cluster-scoped request.
 */
function paramNamespace(
  { namespace, allowsMissing }: ParamReference,
  resource: Resource,
  requestNamespace: string,
): string {
  if (namespace !== "" || !resource.namespaced || allowsMissing === undefined) return namespace;
  if (requestNamespace !== "") return requestNamespace;
  throw new PolicyFailure(
    "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources",
  );
}

/** Reads the current parameters of policies, each once for a request. */
export class ParamReader {
  private readonly read = new Map<string, MaybePromise<ApiObject | undefined>>();
  /** Selected objects by apiVersion and key; bindings that select the same object share it. */
  private readonly selectedObjects = new Map<string, ApiObject>();
  private selectedBytes = 0;

  constructor(
    private readonly store: Store,
    private readonly registry: Registry,
    private readonly context: KindContext,
  ) {}

  /**
   * Returns the parameters of a policy with a binding, each for an evaluation of its own; one undefined value if the policy or the
   * binding has none. Empty if there are none and the binding allows that.
   *
   * @param namespace that of the request, for bindings that don't name one.
   * @throws {PolicyFailure} the kind isn't served, or the object doesn't exist.
   */
  get(
    { paramKind }: PolicyBase,
    { paramRef }: Binding,
    namespace: string,
  ): MaybePromise<readonly (ApiObject | undefined)[]> {
    if (paramKind === undefined || paramRef === undefined) return noParams;
    const resource = this.registry.findKind(paramKind.apiVersion, paramKind.kind);
    if (resource === undefined || !resource.kind.verbs.includes("get")) throw unknownKind(paramKind);
    const place = paramNamespace(paramRef, resource, namespace);
    if (paramRef.selects !== undefined) return this.selected(resource, place, paramRef);
    const { name } = paramRef;
    const missing = () =>
      new PolicyFailure(
        `failed to configure binding: ${objectNotFound({ resource: resource.name, group: resource.group, name }).message}`,
      );
    if (name === "" || name.includes("/") || (place !== "") !== resource.namespaced) throw missing();
    return andThen(this.one(resource, keyOf(resource, place, name)), (object) => {
      if (object !== undefined) return [object];
      if (paramRef.allowsMissing === true) return [];
      throw paramRef.allowsMissing === false ? noneFound() : missing();
    });
  }

  private one(resource: Resource, key: string): MaybePromise<ApiObject | undefined> {
    const cacheKey = `${resource.apiVersion} ${key}`;
    let pending = this.read.get(cacheKey);
    if (pending === undefined) {
      pending = andThen(this.storeOf(resource).get(key), (entry) => entry && this.decoded(resource, entry));
      this.read.set(cacheKey, pending);
    }
    return pending;
  }

  /** Reads the selected objects of a namespace, or of the whole collection if it is cluster-scoped. */
  private async selected(
    resource: Resource,
    namespace: string,
    { selects, allowsMissing }: ParamReference,
  ): Promise<readonly ApiObject[]> {
    const prefix = prefixOf(resource, namespace);
    const objects: ApiObject[] = [];
    const store = this.storeOf(resource);
    const yieldIfDue = createYielder();
    let page = await store.range({ prefix, ...pageLimits });
    for (;;) {
      for (const entry of page.entries) {
        await yieldIfDue();
        if (!selects!(headerOf(entry).labels)) continue;
        objects.push(this.selectedObject(resource, entry));
        if (objects.length > maxSelected) {
          throw new PolicyFailure(
            `failed to configure binding: more than ${maxSelected} params are selected`,
          );
        }
      }
      const last = page.entries.at(-1);
      if (!page.more || last === undefined) break;
      page = await store.range({ prefix, ...pageLimits, after: last.key, at: page.revision });
    }
    if (objects.length > 0 || allowsMissing === true) return objects;
    throw noneFound();
  }

  /** @throws {PolicyFailure} the parameters of the request are too large. */
  private selectedObject(resource: Resource, entry: Entry): ApiObject {
    const cacheKey = `${resource.apiVersion} ${entry.key}`;
    let object = this.selectedObjects.get(cacheKey);
    if (object === undefined) {
      this.selectedBytes += entry.body.length;
      if (this.selectedBytes > maxSelectedBytes) {
        throw new PolicyFailure(
          `failed to configure binding: the selected params have more than ${maxSelectedBytes} bytes`,
        );
      }
      object = this.decoded(resource, entry);
      this.selectedObjects.set(cacheKey, object);
    }
    return object;
  }

  private decoded(resource: Resource, entry: Entry): ApiObject {
    return fromStored(resource, deepClone(decodeEntry(entry)), this.context);
  }

  private storeOf(resource: Resource): Pick<Store, "get" | "range"> {
    return resource.storage?.viewOf(this.store) ?? this.store;
  }

  /** @throws {PolicyFailure} the kind of a policy's parameters isn't served. */
  assertKind({ paramKind }: PolicyBase): void {
    if (paramKind === undefined) return;
    if (this.registry.findKind(paramKind.apiVersion, paramKind.kind) === undefined)
      throw unknownKind(paramKind);
  }
}

function noneFound(): PolicyFailure {
  return new PolicyFailure(
    "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
  );
}

function unknownKind({ apiVersion, kind }: NonNullable<PolicyBase["paramKind"]>): PolicyFailure {
  return new PolicyFailure(
    `failed to configure policy: failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`,
  );
}
