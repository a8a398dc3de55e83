import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { YieldIfDue } from "../../base/turns/yielding.ts";
import type { Revision } from "../../storage/store.ts";
import type { EnumeratedView } from "./object-view.ts";

/** What a user may see from one change of their grants to the next. */
export interface ViewState {
  /** Revision of the change with which the state begins. */
  readonly since: Revision;
  readonly view: EnumeratedView;
  /** The following state; undefined while this is the newest. */
  readonly next: ViewState | undefined;
  /** Number of namespaces and names in this state and all earlier ones, as a measure of memory. */
  readonly totalSize: number;
}

/** Receives the changes of a {@link FollowedView}; each call is synchronous and must not throw. */
export interface ViewObserver {
  /** A state has got a following one. */
  changed(): void;
  /** The view can't be followed any longer; called at most once. */
  ended(error: Error): void;
}

/** The view of one user as it changes with the revisions of the store. It must be closed. */
export interface FollowedView {
  /** The revision at which it was opened; undefined if it never changes, so that it is valid at every revision. */
  readonly start: Revision | undefined;
  /** At first the view at {@link start}. */
  readonly state: ViewState;
  /** Replaces the state by the following one. States that aren't replaced stay in memory, so a view with too many of them ends. */
  advance(): void;
  /** Every state that begins at or before this revision is known. */
  readonly position: Revision;
  /** Advances the position to a revision that the store has reached. Synchronous if the store is and no grant of the user changes. */
  reach(revision: Revision): MaybePromise<void>;
  /** Registers the observer; called once. If the view has ended already, `ended` is called in a later microtask. */
  listen(observer: ViewObserver): void;
  /** Yields to other work; shared by all followed views of a server. */
  readonly yieldIfDue: YieldIfDue;
  close(): void;
}

/** Opens the view of the user of one request. */
export interface ViewSource {
  /** Whether the view has every object of the collection and always will, so that it needn't be followed. */
  readonly everything: boolean;
  /**
   * @param after the revision at which the view begins; undefined: a revision that has every write acknowledged before the call.
   * @throws {StatusError} Expired if the grants at the revision are no longer known.
   */
  open(after: Revision | undefined): Promise<FollowedView>;
}
