import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { FollowedView, ViewObserver, ViewState } from "../../resources/objects/followed-view.ts";
import type { EnumeratedView } from "../../resources/objects/object-view.ts";
import type { Revision } from "../../storage/store.ts";
import type { AccessScopes } from "../access-scopes.ts";
import type { ScopeAttributes } from "../authorizer.ts";
import type { RoleRecord } from "./role-record.ts";
import type { TrackedScopes } from "./tracked-grants.ts";

/** Maximum number of namespaces and names in the states that a follower keeps in memory. */
export const maxStatesSize = 1_000_000;

/** A {@link ViewState} that can get a following one. */
export class ScopeState implements ViewState {
  next: ScopeState | undefined;

  constructor(
    readonly since: Revision,
    readonly view: EnumeratedView,
    readonly totalSize: number,
  ) {}
}

/** The granted objects of one user, resource type and namespace, shared by their watches. */
export class LiveScopes implements TrackedScopes {
  roles: ReadonlySet<RoleRecord> = new Set();
  readonly followers = new Set<FollowedScopes>();
  /** The newest state. */
  tail!: ScopeState;

  /** @param toView returns the view of a user with these grants of the authorizer. */
  constructor(
    readonly key: string,
    readonly attributes: ScopeAttributes,
    readonly toView: (scopes: AccessScopes) => EnumeratedView,
  ) {}

  /** Adds the state that begins at a revision, and informs the followers. */
  append(since: Revision, scopes: AccessScopes): void {
    const state = new ScopeState(since, this.toView(scopes), this.tail.totalSize + scopes.size + 1);
    this.tail.next = state;
    this.tail = state;
    for (const follower of this.followers) follower.changed();
  }
}

/** The grants that a {@link FollowedScopes} follows. */
interface FollowedLine {
  readonly position: Revision;
  readonly yieldIfDue: YieldIfDue;
  reach(revision: Revision): MaybePromise<void>;
  release(follower: FollowedScopes): void;
}

/** The granted objects of its user, as one watch follows them. */
export class FollowedScopes implements FollowedView {
  private observer: ViewObserver | undefined;
  private failure: Error | undefined;
  private closed = false;

  constructor(
    private readonly line: FollowedLine,
    readonly live: LiveScopes,
    readonly start: Revision,
    public state: ScopeState,
  ) {}

  get position(): Revision {
    return this.line.position;
  }

  get yieldIfDue(): YieldIfDue {
    return this.line.yieldIfDue;
  }

  reach(revision: Revision): MaybePromise<void> {
    if (this.failure !== undefined) throw this.failure;
    return this.line.reach(revision);
  }

  listen(observer: ViewObserver): void {
    this.observer = observer;
    const { failure } = this;
    if (failure !== undefined) queueMicrotask(() => this.reportEnd(failure));
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.line.release(this);
  }

  advance(): void {
    this.state = this.state.next!;
  }

  /** A state has got a following one. */
  changed(): void {
    if (this.failure !== undefined) return;
    if (this.live.tail.totalSize - this.state.totalSize <= maxStatesSize) this.observer?.changed();
    else this.end(tooManyStates());
  }

  /** The line has ended. */
  end(error: Error): void {
    this.failure = error;
    this.reportEnd(error);
  }

  private reportEnd(error: Error): void {
    if (!this.closed) this.observer?.ended(error);
  }
}

/** The error of a watch whose states exceed {@link maxStatesSize}. */
export function tooManyStates(): StatusError {
  return new StatusError("Expired", "the grants of the user have changed too often; list the view again");
}
