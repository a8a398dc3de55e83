import { scopeKey } from "./granted-scopes.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { eventBytes } from "../../storage/entry.ts";
import {
  StoreClosedError,
  type Revision,
  type StoreError,
  type StoreEvent,
  type Subscription,
} from "../../storage/store.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { DatedScopes, FollowRequest, ScopeAttributes } from "../authorizer.ts";
import { FollowedScopes, LiveScopes, ScopeState } from "./followed-scopes.ts";
import {
  maxPendingBytes,
  maxPendingChanges,
  readGrantEvents,
  readGrants,
  tooManyChanges,
  type GrantStore,
} from "./grant-events.ts";
import { GrantHistory } from "./grant-history.ts";
import { GrantLog, type LoggedChange } from "./grant-log.ts";
import { concerns, loggedChange, roleText, subjectsOf, TrackedGrants } from "./tracked-grants.ts";

/** Time for which a line without followers is kept, because watches end and are resumed. */
const lingerMs = 30_000;

/** What a {@link GrantLine} needs. */
export interface GrantLineParts extends GrantStore {
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  /** Receives the error for a role or binding that can't be decoded. */
  failed(error: unknown): void;
  /** Called once when the line has ended, so that the next follower needs a new one. */
  ended(): void;
}

/** A change that waits, or other work that needs an unchanged index. */
interface Step {
  /** Undefined for other work. */
  readonly revision?: Revision;
  readonly bytes: number;
  run(): MaybePromise<void>;
  /** The line has ended before the step did. */
  abandon?(error: Error): void;
}

/**
 * Applies the changes of roles and bindings one after another to an index of its own, and reports to the watches of views which objects
 * their users may access from each revision on. A change is applied only when every earlier one has been reported, so the index is never
 * ahead of what the followers know.
 */
export class GrantLine {
  readonly yieldIfDue = createYielder();
  private readonly grants: TrackedGrants<LiveScopes>;
  private readonly history: GrantHistory;
  private readonly live = new Map<string, LiveScopes>();
  private readonly starting: Promise<void>;
  private log!: GrantLog;
  private subscription: Subscription | undefined;
  private readonly steps: Step[] = [];
  /** The revisions of the changes in {@link steps}. */
  private readonly pendingRevisions: Revision[] = [];
  private pendingBytes = 0;
  private waiters: (() => void)[] = [];
  /** The end of the last extension of the log; they run one after another. */
  private extending: Promise<void> = Promise.resolve();
  /** The log can't be extended to this revision or earlier ones. */
  private outOfReach = 0;
  /** Number of followers, and of callers that are becoming one. */
  private users = 0;
  private linger: Timer | undefined;
  private failure: Error | undefined;

  constructor(private readonly parts: GrantLineParts) {
    this.grants = new TrackedGrants(parts.vocabulary, parts.failed);
    this.history = new GrantHistory(parts, parts.vocabulary, parts.failed);
    this.starting = this.start();
    this.starting.catch((error: unknown) => this.end(error as Error));
  }

  /** Every change up to this revision has been reported. */
  get position(): Revision {
    const [pending] = this.pendingRevisions;
    if (pending !== undefined) return (pending - 1) as Revision;
    return this.subscription?.position ?? this.log.start;
  }

  /**
   * Follows the objects that a user may access.
   *
   * @throws {StatusError} Expired if the roles of the revision are no longer known.
   * @throws {StoreError} the store can't be read.
   */
  async follow(request: FollowRequest): Promise<FollowedScopes> {
    this.users++;
    this.linger?.cancel();
    let follower: FollowedScopes | undefined;
    try {
      await this.starting;
      await this.subscription?.sync();
      const { after } = request;
      if (after !== undefined && after < this.log.start) await this.extendLog(after);
      follower = await this.inStep(() => this.open(request));
      const isPast = after !== undefined && after < follower.state.since;
      if (isPast && this.isAffectedAfter(follower.live, after)) await this.addPast(follower, request, after);
      if (this.failure !== undefined) throw this.failure;
      return follower;
    } catch (error) {
      if (follower === undefined) this.userLeft();
      else follower.close();
      throw error;
    }
  }

  /**
   * Reads the objects that a user may access at one revision, while the changes after it wait.
   *
   * @throws {StoreError} the store can't be read.
   */
  async scopesNow(attributes: ScopeAttributes): Promise<DatedScopes> {
    this.users++;
    this.linger?.cancel();
    try {
      await this.starting;
      await this.subscription?.sync();
      return await this.inStep(async () => {
        const revision = this.position;
        return { revision, scopes: await this.grants.scopesFor(attributes, this.yieldIfDue) };
      });
    } finally {
      this.userLeft();
    }
  }

  /** Advances the position to a revision of the store. */
  reach(revision: Revision): MaybePromise<void> {
    if (this.position >= revision) return;
    if (this.failure !== undefined) throw this.failure;
    if (this.pendingRevisions.length > 0) {
      return new Promise<void>((resolve) => this.waiters.push(resolve)).then(() => this.reach(revision));
    }
    return andThen(this.subscription!.sync(), () => {
      if (this.failure !== undefined) throw this.failure;
      return this.pendingRevisions.length > 0 ? this.reach(revision) : undefined;
    });
  }

  release(follower: FollowedScopes): void {
    const { live } = follower;
    live.followers.delete(follower);
    if (live.followers.size === 0 && this.live.get(live.key) === live) {
      this.live.delete(live.key);
      this.grants.untrack(live);
    }
    this.userLeft();
  }

  close(): void {
    this.end(new StoreClosedError("the server stops"));
  }

  private userLeft(): void {
    this.users--;
    if (this.users > 0 || this.failure !== undefined) return;
    this.linger = this.parts.clock.setTimer(() => this.close(), lingerMs);
  }

  private async start(): Promise<void> {
    const after = await readGrants(this.parts, undefined, (entry) => this.grants.put(entry));
    this.log = new GrantLog(after);
    if (this.failure !== undefined) throw this.failure;
    const { store, prefix } = this.parts;
    const subscription = store.subscribe(
      { prefix, after },
      {
        events: (batch) => batch.forEach((event) => this.receive(event)),
        ended: (error) => this.lose(error),
      },
    );
    this.subscription = subscription;
    if (this.failure !== undefined) subscription.close();
  }

  private lose(error: StoreError): void {
    const message = "the changes of roles and bindings were lost; list the view again";
    this.end(error instanceof StoreClosedError ? error : new StatusError("Expired", message));
  }

  private end(error: Error): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.linger?.cancel();
    this.subscription?.close();
    for (const step of this.steps.splice(0)) step.abandon?.(error);
    for (const { followers } of this.live.values()) {
      for (const follower of followers) follower.end(error);
    }
    this.wake();
    this.parts.ended();
  }

  private receive(event: StoreEvent): void {
    if (this.failure !== undefined) return;
    if (this.steps.length === 0) {
      // Most changes affect no follower.
      const affected = this.apply(event);
      if (affected.size === 0) return;
      return this.addStep({
        revision: event.revision,
        bytes: eventBytes(event),
        run: () => this.report(event.revision, affected),
      });
    }
    this.addStep({
      revision: event.revision,
      bytes: eventBytes(event),
      run: () => {
        const affected = this.apply(event);
        return affected.size === 0 ? undefined : this.report(event.revision, affected);
      },
    });
    if (this.pendingRevisions.length > maxPendingChanges || this.pendingBytes > maxPendingBytes)
      this.end(tooManyChanges());
  }

  private apply(event: StoreEvent): ReadonlySet<LiveScopes> {
    const { affected, change } = this.grants.apply(event);
    this.log.add(change);
    return affected;
  }

  private async report(revision: Revision, affected: Iterable<LiveScopes>): Promise<void> {
    for (const live of affected) {
      if (!this.grants.isTracked(live)) continue;
      const scopes = await this.grants.scopesOf(live, this.yieldIfDue);
      live.append(revision, scopes);
      await this.yieldIfDue();
    }
  }

  private addStep(step: Step): void {
    this.steps.push(step);
    if (step.revision !== undefined) this.pendingRevisions.push(step.revision);
    this.pendingBytes += step.bytes;
    if (this.steps.length === 1) this.runSteps().catch((error: unknown) => this.end(error as Error));
  }

  private async runSteps(): Promise<void> {
    while (this.steps.length > 0) {
      const step = this.steps[0]!;
      const running = step.run();
      if (running instanceof Promise) await running;
      // The line may have ended meanwhile.
      if (this.steps[0] !== step) return;
      this.steps.shift();
      this.pendingBytes -= step.bytes;
      if (step.revision === undefined) continue;
      this.pendingRevisions.shift();
      this.wake();
    }
  }

  private wake(): void {
    const { waiters } = this;
    if (waiters.length === 0) return;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Runs work while the index doesn't change. */
  private inStep<R>(work: () => Promise<R>): Promise<R> {
    if (this.failure !== undefined) throw this.failure;
    return new Promise((resolve, reject) => {
      this.addStep({ bytes: 0, run: () => work().then(resolve, reject), abandon: reject });
    });
  }

  /** Adds a follower of the current state. */
  private async open({ attributes, toView, after }: FollowRequest): Promise<FollowedScopes> {
    const key = scopeKey(attributes);
    let live = this.live.get(key);
    if (live === undefined) {
      live = new LiveScopes(key, attributes, toView);
      this.grants.track(live);
      try {
        const scopes = await this.grants.scopesOf(live, this.yieldIfDue);
        live.tail = new ScopeState(this.position, toView(scopes), scopes.size + 1);
      } catch (error) {
        this.grants.untrack(live);
        throw error;
      }
      this.live.set(key, live);
    }
    const follower = new FollowedScopes(this, live, after ?? this.position, live.tail);
    live.followers.add(follower);
    return follower;
  }

  /** Whether a change after a revision may have affected what a user may access; also if that is unknown. */
  private isAffectedAfter(live: LiveScopes, revision: Revision): boolean {
    const subjects = new Set(subjectsOf(live));
    const roles = new Set([...live.roles].map(({ namespace, name }) => roleText(namespace, name)));
    // The log bounds the subjects of its changes; a user may be in many groups.
    const matches = ({ namespace, subjects: bound = [], role }: LoggedChange): boolean =>
      role !== undefined
        ? roles.has(role)
        : concerns(live, namespace) && bound.some((subject) => subjects.has(subject));
    return this.log.hasAfter(revision, matches) ?? true;
  }

  /**
   * Reads the changes since a revision into the log, if there are few.
   *
   * @throws {StoreError} the history can't be read.
   */
  private extendLog(after: Revision): Promise<void> {
    const next = (): Promise<void> => this.readEarlierChanges(after);
    this.extending = this.extending.then(next, next);
    return this.extending;
  }

  private async readEarlierChanges(after: Revision): Promise<void> {
    const { log } = this;
    if (after >= log.start || after <= this.outOfReach) return;
    try {
      const upTo = log.start;
      const changes: LoggedChange[] = [];
      for (const event of await readGrantEvents(this.parts, after, upTo)) {
        changes.push(loggedChange(event, this.parts.vocabulary));
        await this.yieldIfDue();
      }
      log.extend(after, changes, upTo);
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
    if (after < log.start) this.outOfReach = after;
  }

  /** Replaces the state of a follower by that of a past revision, followed by those since then. */
  private async addPast(
    follower: FollowedScopes,
    { attributes, toView }: FollowRequest,
    after: Revision,
  ): Promise<void> {
    const newest = follower.state;
    const past = await this.history.scopesBetween(attributes, after, newest.since);
    // A state that begins with the newest one is the same.
    const states = past.filter(({ since }) => since < newest.since);
    let totalSize = newest.totalSize - states.reduce((sum, { scopes }) => sum + scopes.size + 1, 0);
    let previous: ScopeState | undefined;
    for (const { since, scopes } of states) {
      const state = new ScopeState(since, toView(scopes), (totalSize += scopes.size + 1));
      if (previous === undefined) follower.state = state;
      else previous.next = state;
      previous = state;
    }
    if (previous !== undefined) previous.next = newest;
  }
}
