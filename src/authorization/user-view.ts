import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { YieldIfDue } from "../base/turns/yielding.ts";
import type { ObjectView, ViewPart } from "../resources/objects/object-view.ts";
import type { Resource } from "../resources/registry/registry.ts";
import { compareKeys } from "../storage/keys.ts";
import type { Revision } from "../storage/store.ts";
import type { AccessScopes } from "./access-scopes.ts";
import { isChanging, type Authorizer, type ResourceAttributes, type ScopeAttributes } from "./authorizer.ts";
import type { AuthorizerChain } from "./authorizer-chain.ts";
import { GrantedView } from "./granted-view.ts";

/**
 * What a view shows: with `get` the objects that the user may get; with `list` those that the user may list, and those that a rule
 * grants by name for `get`. Listing is a right of its own in Kubernetes: who may get every object can still not enumerate them.
 */
export type ViewRule = "get" | "list";

/** The attributes of the objects that a view shows. @param attributes of the list or watch; its verb and name are ignored. */
export function viewedAttributes(attributes: ResourceAttributes, rule: ViewRule): ScopeAttributes {
  const viewed = { ...attributes, verb: rule, name: "" };
  return rule === "get" ? viewed : { ...viewed, namedVerb: "get" };
}

/**
 * Returns the objects of a collection that a `get` of each would allow to a user, or those of the rule `list`. They are enumerated once, by the
 * authorizers of the chain in order; those of a node's agent are decided one by one. The view has the revision of the grants in the store.
 *
 * @param attributes of the list; its verb and name are ignored.
 * @throws {StatusError} BadRequest if an authorizer that can neither enumerate objects nor is known never to deny may decide.
 */
export async function userView(
  chain: AuthorizerChain,
  attributes: ResourceAttributes,
  resource: Resource,
  { rule, yieldIfDue }: { readonly rule: ViewRule; readonly yieldIfDue: YieldIfDue },
): Promise<ObjectView> {
  const viewed = viewedAttributes(attributes, rule);
  const granted: AccessScopes[] = [];
  const others: Authorizer[] = [];
  let revision: Revision | undefined;
  for (const { name, authorizer, scopes: resolver } of chain.links) {
    if (granted.some(({ everything }) => everything)) break;
    if (resolver === undefined) throw notEnumerable(name);
    let scopes: AccessScopes | undefined;
    if (isChanging(resolver)) ({ scopes, revision } = await resolver.currentScopes(viewed, yieldIfDue));
    else scopes = await resolver.scopesFor(viewed, yieldIfDue);
    if (scopes === undefined) others.push(authorizer);
    else if (scopes.size > 0) granted.push(scopes);
  }
  const view = new GrantedView(granted, viewed, resource, revision);
  return others.length === 0 ? view : new DecidedView(view, { ...viewed, verb: "get" }, others);
}

/** The error of a view that an authorizer can't enumerate. */
export function notEnumerable(authorizer: string): StatusError {
  return new StatusError(
    "BadRequest",
    `parameter view: the authorizer ${JSON.stringify(authorizer)} can't enumerate the objects that a user may get; ` +
      "list or watch a namespace without the parameter",
  );
}

/** A view of objects of which some are decided one by one. */
class DecidedView implements ObjectView {
  readonly id: string;
  readonly everything: boolean;
  readonly revision: Revision | undefined;
  /** The last object that the chain decided about, and the keys of those that it allowed up to there. */
  private decidedUpTo = "";
  private readonly allowedKeys = new Set<string>();

  /**
   * @param granted the objects that authorizers enumerated; the other authorizers decide about all others.
   * @param get attributes of a `get` without its name.
   */
  constructor(
    private readonly granted: GrantedView,
    private readonly get: ResourceAttributes,
    private readonly others: readonly Authorizer[],
  ) {
    this.id = granted.id;
    this.everything = granted.everything;
    this.revision = granted.revision;
  }

  parts(): readonly ViewPart[] | undefined {
    return undefined;
  }

  allows(namespace: string, name: string): MaybePromise<boolean> {
    return this.granted.allows(namespace, name) || this.decide(this.granted.scopeOf(namespace, name), name);
  }

  private decide(namespace: string, name: string): MaybePromise<boolean> {
    const key = `${namespace}/${name}`;
    if (compareKeys(key, this.decidedUpTo) <= 0) return this.allowedKeys.has(key);
    return andThen(this.allowsByOther({ ...this.get, namespace, name }, 0), (allowed) => {
      this.decidedUpTo = key;
      if (allowed) this.allowedKeys.add(key);
      return allowed;
    });
  }

  private allowsByOther(attributes: ResourceAttributes, first: number): MaybePromise<boolean> {
    const authorizer = this.others[first];
    if (authorizer === undefined) return false;
    return andThen(
      authorizer.authorize(attributes),
      ({ verdict }) =>
        verdict === "allow" || (verdict !== "deny" && this.allowsByOther(attributes, first + 1)),
    );
  }
}
