import { deepClone } from "../../base/json/value.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { keyOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import { PolicyFailure } from "./failure.ts";
import type { Binding, Policy } from "./policy.ts";

/** Reads the current parameters of policies, each once for a request. */
export class ParamReader {
  private readonly read = new Map<string, MaybePromise<ApiObject | undefined>>();

  constructor(
    private readonly store: Store,
    private readonly registry: Registry,
    private readonly context: KindContext,
  ) {}

  /**
   * Returns the parameters of a policy with a binding; undefined if one of them has none.
   *
   * @throws {PolicyFailure} the kind isn't served, or the object doesn't exist.
   */
  get({ paramKind }: Policy, { paramRef }: Binding): MaybePromise<ApiObject | undefined> {
    if (paramKind === undefined || paramRef === undefined) return undefined;
    const resource = this.registry.findKind(paramKind.apiVersion, paramKind.kind);
    if (resource === undefined || !resource.kind.verbs.includes("get")) throw unknownKind(paramKind);
    const { name, namespace } = paramRef;
    const missing = () =>
      new PolicyFailure(
        `failed to configure binding: ${objectNotFound({ resource: resource.name, group: resource.group, name }).message}`,
      );
    if (name === "" || name.includes("/") || (namespace !== "") !== resource.namespaced) throw missing();
    const key = keyOf(resource, namespace, name);
    const cacheKey = `${paramKind.apiVersion} ${key}`;
    let pending = this.read.get(cacheKey);
    if (pending === undefined) {
      pending = andThen(this.storeOf(resource).get(key), (entry) =>
        entry === undefined ? undefined : fromStored(resource, deepClone(decodeEntry(entry)), this.context),
      );
      this.read.set(cacheKey, pending);
    }
    return andThen(pending, (object) => {
      if (object === undefined) throw missing();
      return object;
    });
  }

  private storeOf(resource: Resource): Pick<Store, "get"> {
    return resource.storage?.viewOf(this.store) ?? this.store;
  }

  /** @throws {PolicyFailure} the kind of a policy's parameters isn't served. */
  assertKind({ paramKind }: Policy): void {
    if (paramKind === undefined) return;
    if (this.registry.findKind(paramKind.apiVersion, paramKind.kind) === undefined)
      throw unknownKind(paramKind);
  }
}

function unknownKind({ apiVersion, kind }: NonNullable<Policy["paramKind"]>): PolicyFailure {
  return new PolicyFailure(
    `failed to configure policy: failed to find resource referenced by paramKind: '${apiVersion}, Kind=${kind}'`,
  );
}
