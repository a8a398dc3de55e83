import type { YieldIfDue } from "../base/yielding.ts";
import type { FollowedView, ViewSource, ViewState } from "../resources/objects/followed-view.ts";
import type { EnumeratedView } from "../resources/objects/object-view.ts";
import type { Resource } from "../resources/registry/registry.ts";
import { revisionOf } from "../storage/entry.ts";
import type { AccessScopes } from "./access-scopes.ts";
import type { ResourceAttributes, ScopeResolver } from "./authorizer.ts";
import type { AuthorizerChain } from "./authorizer-chain.ts";
import { GrantedView } from "./granted-view.ts";
import { notEnumerable } from "./user-view.ts";

/**
 * Returns the source of the objects of a collection that a `get` of each would allow to a user, as their grants change: those of RBAC with
 * those of the authorizers whose grants never change.
 *
 * @param attributes of the watch; its verb and name are ignored.
 * @throws {StatusError} BadRequest if an authorizer that can't enumerate objects may decide.
 */
export async function userViewSource(
  chain: AuthorizerChain,
  attributes: ResourceAttributes,
  resource: Resource,
  yieldIfDue: YieldIfDue,
): Promise<ViewSource> {
  const get = { ...attributes, verb: "get", name: "" };
  const fixed: AccessScopes[] = [];
  let changing: Required<ScopeResolver> | undefined;
  for (const { name, scopes: resolver } of chain.links) {
    if (fixed.some(({ everything }) => everything)) break;
    if (resolver === undefined) throw notEnumerable(name);
    if (isChanging(resolver)) {
      changing = resolver;
      continue;
    }
    const scopes = await resolver.scopesFor(get, yieldIfDue);
    if (scopes === undefined) throw notEnumerable(name);
    if (scopes.size > 0) fixed.push(scopes);
  }
  const toView = (scopes: AccessScopes): EnumeratedView => new GrantedView([...fixed, scopes], get, resource);
  const view = new GrantedView(fixed, get, resource);
  return {
    everything: view.everything,
    open: async (after) =>
      changing === undefined
        ? new FixedView(view, yieldIfDue)
        : changing.followScopes({ attributes: get, toView, after }),
  };
}

function isChanging(resolver: ScopeResolver): resolver is Required<ScopeResolver> {
  return resolver.followScopes !== undefined;
}

/** The view of a user whose grants never change. */
class FixedView implements FollowedView {
  readonly start = undefined;
  readonly state: ViewState;
  readonly position = revisionOf(Number.MAX_SAFE_INTEGER);

  constructor(
    view: EnumeratedView,
    readonly yieldIfDue: YieldIfDue,
  ) {
    this.state = { since: revisionOf(1), view, next: undefined, totalSize: 0 };
  }

  advance(): void {}

  reach(): void {}

  listen(): void {}

  close(): void {}
}
