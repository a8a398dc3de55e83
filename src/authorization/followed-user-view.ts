import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { YieldIfDue } from "../base/turns/yielding.ts";
import type {
  FollowedView,
  ViewObserver,
  ViewSource,
  ViewState,
} from "../resources/objects/followed-view.ts";
import type { EnumeratedView } from "../resources/objects/object-view.ts";
import type { Resource } from "../resources/registry/registry.ts";
import { revisionOf } from "../storage/entry.ts";
import type { Revision } from "../storage/store.ts";
import type { AccessScopes } from "./access-scopes.ts";
import { isChanging, type ChangingScopeResolver, type ResourceAttributes } from "./authorizer.ts";
import type { AuthorizerChain } from "./authorizer-chain.ts";
import { GrantedView } from "./granted-view.ts";
import { notEnumerable, viewedAttributes, type ViewRule } from "./user-view.ts";

/**
 * Returns the source of the objects of a collection that a `get` of each would allow to a user (or those of the rule `list`), as their grants change: those of RBAC with
 * those of the authorizers whose grants never change.
 *
 * @param attributes of the watch; its verb and name are ignored.
 * @throws {StatusError} BadRequest if an authorizer that can't enumerate objects may decide.
 */
export async function userViewSource(
  chain: AuthorizerChain,
  attributes: ResourceAttributes,
  resource: Resource,
  { rule, yieldIfDue }: { readonly rule: ViewRule; readonly yieldIfDue: YieldIfDue },
): Promise<ViewSource> {
  const viewed = viewedAttributes(attributes, rule);
  const fixed: AccessScopes[] = [];
  let changing: ChangingScopeResolver | undefined;
  const { links } = chain;
  for (const { name, scopes: resolver } of links) {
    if (fixed.some(({ everything }) => everything)) break;
    if (resolver === undefined) throw notEnumerable(name);
    if (isChanging(resolver)) {
      changing = resolver;
      continue;
    }
    const scopes = await resolver.scopesFor(viewed, yieldIfDue);
    if (scopes === undefined) throw notEnumerable(name);
    if (scopes.size > 0) fixed.push(scopes);
  }
  const toView = (scopes: AccessScopes): EnumeratedView =>
    new GrantedView([...fixed, scopes], viewed, resource);
  const view = new GrantedView(fixed, viewed, resource);
  return {
    everything: view.everything,
    open: async (after) => {
      const opened =
        changing === undefined
          ? new FixedView(view, yieldIfDue)
          : await changing.followScopes({ attributes: viewed, toView, after });
      if (chain.links === links) return new ChainView(opened, chain);
      opened.close();
      throw replaced();
    },
  };
}

function replaced(): StatusError {
  return new StatusError("Expired", "the authorizers of the server have changed; list the view again");
}

/** A view that ends when the authorizers of its chain are replaced. */
class ChainView implements FollowedView {
  private failure: Error | undefined;
  private observer: ViewObserver | undefined;
  private readonly unregister: () => void;

  constructor(
    private readonly inner: FollowedView,
    chain: AuthorizerChain,
  ) {
    this.unregister = chain.whenReplaced(() => this.end(replaced()));
  }

  get start(): Revision | undefined {
    return this.inner.start;
  }

  get state(): ViewState {
    return this.inner.state;
  }

  get position(): Revision {
    return this.inner.position;
  }

  get yieldIfDue(): YieldIfDue {
    return this.inner.yieldIfDue;
  }

  advance(): void {
    this.inner.advance();
  }

  reach(revision: Revision): MaybePromise<void> {
    if (this.failure !== undefined) throw this.failure;
    return this.inner.reach(revision);
  }

  listen(observer: ViewObserver): void {
    this.observer = observer;
    this.inner.listen({ changed: () => observer.changed(), ended: (error) => this.end(error) });
    const { failure } = this;
    if (failure !== undefined) queueMicrotask(() => this.observer?.ended(failure));
  }

  close(): void {
    this.observer = undefined;
    this.unregister();
    this.inner.close();
  }

  private end(error: Error): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.unregister();
    this.observer?.ended(error);
  }
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
