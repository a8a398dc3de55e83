import { jsonOf, type JsonValue, deepClone } from "../../base/json/value.ts";
import { objectAs } from "../../schema/api-object.ts";
import type { Clock } from "../../base/time/clock.ts";
import { createYielder, nextTurn, type YieldIfDue } from "../../base/turns/yielding.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { bind, type Bindings } from "../../cel/compile.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { type AdmissionRequest } from "../../resources/engine/engine.ts";
import { fromStored } from "../../resources/engine/conversion.ts";
import { decodeEntry, headerOf } from "../../resources/objects/stored.ts";
import { keyOf, type Registry, type Resource, prefixOf } from "../../resources/registry/registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store, Entry } from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { FollowedObjects, NamespaceFacts } from "../followed-objects.ts";
import { requestTimedOut } from "../webhooks/failures.ts";
import { ReviewObjects } from "../webhooks/review-objects.ts";
import { authorizerVariables } from "./authorizer-variables.ts";
import {
  namespaceEnvironment,
  objectEnvironment,
  paramsEnvironment,
  requestVariable,
} from "./environment.ts";
import { CostBudget } from "./evaluation-variables.ts";
import type { PolicyBase, Binding, ParamReference } from "./policy.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { objectNotFound } from "../../base/object-errors.ts";
import { PolicyFailure } from "./failure.ts";

/** Cost budget of all policies for one request, in the units of the reference. */
const requestBudget = 10_000_000;

/** The budget of a request, which validating and mutating policies share. */
class RequestBudget extends CostBudget {
  constructor() {
    super(requestBudget);
  }
}

/** Dependencies of the evaluation of policies. */
export interface PolicyServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly namespaces: FollowedObjects<NamespaceFacts>;
  readonly contextOf: (request: AdmissionRequest) => KindContext;
  readonly authorizer: Authorizer;
}

/** The values of variables for one request, its budget, and the parameters of its policies. */
export class PolicyInputs {
  readonly params: ParamReader;
  readonly objects: ReviewObjects;
  readonly budget: CostBudget;
  /**
   * Lets other requests run between evaluations.
   *
   * @throws {StatusError} Timeout, after the deadline of the request.
   */
  readonly yieldIfDue: YieldIfDue;
  /** Variables without the parameters, by the version in which policies match. */
  private readonly variables = new Map<Resource, Bindings>();
  private namespace: Promise<Bindings> | undefined;

  constructor(
    private readonly services: PolicyServices,
    readonly request: AdmissionRequest,
  ) {
    const { store, registry, vocabulary, contextOf } = services;
    const context = contextOf(request);
    this.params = new ParamReader(store, registry, context);
    this.objects = new ReviewObjects(request, vocabulary, context);
    this.budget = request.effects.state(RequestBudget);
    this.yieldIfDue = createYielder(() => this.pause());
  }

  private async pause(): Promise<void> {
    await nextTurn();
    const { expiresAt = Infinity } = this.request.options.report ?? {};
    if (this.services.clock.monotonicNow() >= expiresAt) throw requestTimedOut();
  }

  get namespaces(): FollowedObjects<NamespaceFacts> {
    return this.services.namespaces;
  }

  /** The object of the request has changed, so its variable is bound again. */
  objectChanged(): void {
    this.variables.clear();
  }

  /** The values of all variables but those that the policy declares. */
  async bindingsFor(
    policy: PolicyBase,
    resource: Resource,
    params: ApiObject | undefined,
  ): Promise<Bindings> {
    let variables = this.variables.get(resource);
    if (variables === undefined) this.variables.set(resource, (variables = await this.bindObjects(resource)));
    const namespace = policy.usesNamespace ? await (this.namespace ??= this.bindNamespace()) : {};
    if (policy.paramKind === undefined) return { ...variables, ...namespace };
    const own = bind(paramsEnvironment, { params: (params ?? null) as JsonValue });
    return { ...variables, ...namespace, params: own["params"]! };
  }

  private async bindObjects(resource: Resource): Promise<Bindings> {
    const { request, objects, services } = this;
    const { object, oldObject } = await objects.read(resource);
    const values = bind(objectEnvironment, {
      object: (object ?? null) as JsonValue,
      oldObject: (oldObject ?? null) as JsonValue,
      request: requestVariable(request, resource, objects, services.vocabulary),
    });
    return { ...values, ...authorizerVariables(request, services.authorizer, services.vocabulary) };
  }

  /** The variable `namespaceObject`: the namespace of the request, null for cluster-scoped ones. */
  private async bindNamespace(): Promise<Bindings> {
    const { target, staged } = this.request;
    const { store, registry } = this.services;
    const namespaceObject = async (): Promise<JsonValue> => {
      if (target.namespace === "" || !registry.serves(Namespace)) return null;
      const key = keyOf(registry.require(Namespace), "", target.namespace);
      const entry = staged?.stagedEntry(key) ?? (await store.get(key));
      if (entry === undefined) return null;
      const { metadata, spec, status } = objectAs<Namespace>(decodeEntry(entry));
      const { uid, managedFields: _, ...rest } = metadata;
      return jsonOf({ metadata: { ...rest, UID: uid }, spec, status });
    };
    return bind(namespaceEnvironment, { namespaceObject: await namespaceObject() });
  }
}

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
class ParamReader {
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
