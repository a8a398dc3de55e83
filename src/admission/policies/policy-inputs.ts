import type { Clock } from "../../base/time/clock.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { createYielder, nextTurn, type YieldIfDue } from "../../base/turns/yielding.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { bind, type Bindings } from "../../cel/compile.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { decodeEntry } from "../../resources/objects/stored.ts";
import { keyOf, type Registry, type Resource } from "../../resources/registry/registry.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
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
import { ParamReader } from "./params.ts";
import type { PolicyBase } from "./policy.ts";

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
    const { target } = this.request;
    const { store, registry } = this.services;
    const namespaceObject = async (): Promise<JsonValue> => {
      if (target.namespace === "" || !registry.serves(Namespace)) return null;
      const entry = await store.get(keyOf(registry.require(Namespace), "", target.namespace));
      if (entry === undefined) return null;
      const { metadata, spec, status } = decodeEntry(entry) as unknown as Namespace;
      const { uid, managedFields: _, ...rest } = metadata;
      return { metadata: { ...rest, UID: uid }, spec, status } as unknown as JsonValue;
    };
    return bind(namespaceEnvironment, { namespaceObject: await namespaceObject() });
  }
}
