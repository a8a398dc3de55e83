import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { Quantity } from "../../../base/quantity.ts";
import { Follower } from "../../../resources/followers/follower.ts";
import { prefixOf, type Resource } from "../../../resources/registry/registry.ts";
import { decodeLive, headerOf } from "../../../resources/objects/stored.ts";
import type { Entry, Revision } from "../../../storage/store.ts";
import type { FollowSources } from "../../followed-objects.ts";
import type { Evaluator, Measured } from "./evaluators.ts";
import type { QuotaFacts } from "./quota-facts.ts";
import { compileScopes, type ScopeCondition, type ScopeMatcher } from "./scopes.ts";
import { UsageSum, type Usage } from "./usage.ts";

/** A resource type that quotas count. */
export interface CountedType {
  /** The stored version. */
  readonly resource: Resource;
  readonly evaluator: Evaluator;
}

/**
 * Usage of a write that this process has admitted and that isn't visible in the store yet. It counts until the object is visible
 * or the write has failed.
 */
export interface Reservation {
  readonly key: string;
  /** The uid of a new object; undefined for an update. */
  readonly uid: string | undefined;
  /** The revision that an update replaces; 0 for a create. */
  readonly replaces: number;
  readonly measured: Measured;
  /** The usage before an update, and its increase, which counts in the scopes that had the object before. */
  readonly update: { readonly before: Measured; readonly increase: Usage } | undefined;
  readonly evaluator: Evaluator;
  /** The turn in which the reservation was made. */
  readonly turn: Revision;
  /** The outcome of the write; undefined while it is in progress. */
  outcome: "committed" | "unknown" | undefined;
}

/** The sums for one combination of scopes. */
class ScopeSums {
  readonly stored = new UsageSum();
  readonly reserved = new UsageSum();
  readonly holds: ScopeMatcher;

  constructor(scopes: readonly ScopeCondition[]) {
    this.holds = compileScopes(scopes);
  }
}

/** The amount of a reservation in scopes that have the object after the write. */
function amountIn(sums: ScopeSums, { measured, update }: Reservation): Usage {
  return update !== undefined && sums.holds(update.before.traits) ? update.increase : measured.usage;
}

interface StoredUsage {
  readonly measured: Measured;
  readonly evaluator: Evaluator;
}

/**
 * The usage of one namespace with quotas. It watches the objects of limited types and keeps their sums for each combination of
 * scopes. Usage is always computed from stored objects and reservations, so it can't drift.
 */
export class NamespaceUsage {
  private readonly facts = new Map<string, QuotaFacts>();
  private sorted: readonly QuotaFacts[] | undefined;
  private readonly sums = new Map<string, ScopeSums>();
  private readonly followers = new Map<Evaluator, Follower>();
  private readonly objects = new Map<string, StoredUsage>();
  /** Keys of the objects with usage that changes at a time. */
  private readonly changing = new Set<string>();
  /** The next time at which usage changes, in milliseconds since 1970. */
  nextChange = Infinity;
  private readonly reservations = new Map<string, Reservation[]>();
  /** Number of reservations with a completed write that isn't visible yet. */
  private completedCount = 0;

  /** @param changed called after changes of usage or limits. */
  constructor(
    readonly name: string,
    private readonly sources: FollowSources,
    private types: readonly CountedType[],
    private readonly changed: () => void,
  ) {}

  /** The quotas of the namespace, sorted by name. */
  get quotas(): readonly QuotaFacts[] {
    return (this.sorted ??= [...this.facts.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  }

  /** Adds or updates a quota. */
  put(quota: QuotaFacts): void {
    const before = this.facts.get(quota.name);
    this.facts.set(quota.name, quota);
    this.sorted = undefined;
    if (before?.limitsSameAs(quota) !== true) this.arrange();
    this.changed();
  }

  /** Removes a quota; returns whether any is left. */
  remove(name: string): boolean {
    this.facts.delete(name);
    this.sorted = undefined;
    this.arrange();
    return this.facts.size > 0;
  }

  /** Updates the counted types, which change with custom resource definitions. */
  changeTypes(types: readonly CountedType[]): void {
    this.types = types;
    this.arrange();
    this.changed();
  }

  /** Whether any quota limits the objects of an evaluator. */
  limits(evaluator: Evaluator): boolean {
    return this.followers.has(evaluator);
  }

  /**
   * Waits until the objects of an evaluator include all writes that any process acknowledged before the call.
   *
   * @throws {StoreUnavailableError} the objects can't be read.
   */
  sync(evaluator: Evaluator): MaybePromise<void> {
    const follower = this.followers.get(evaluator);
    if (follower === undefined) return;
    // After the sync, objects of writes that were completed before are visible or deleted.
    const completed = this.completedCount === 0 ? undefined : this.completedReservations(evaluator);
    const done = (): void => completed?.forEach((reservation) => this.release(reservation));
    const failed = (error: unknown): MaybePromise<void> => {
      if (this.followers.get(evaluator) === follower) throw error;
      return this.sync(evaluator);
    };
    try {
      const synced = follower.sync();
      return synced instanceof Promise ? synced.then(done, failed) : done();
    } catch (error) {
      return failed(error);
    }
  }

  /** As {@link sync}, for all limited types. */
  async syncAll(): Promise<void> {
    for (const evaluator of this.followers.keys()) await this.sync(evaluator);
    this.applyDueChanges();
  }

  /** The usage in the scopes of a quota: stored objects and reservations. */
  used(quota: QuotaFacts, name: string): Quantity {
    const { stored, reserved } = this.sums.get(quota.scopeKey)!;
    const counted = stored.of(name);
    const { nanos, format } = reserved.of(name);
    if (nanos === 0n) return counted;
    return { nanos: counted.nanos + nanos, format: counted.nanos === 0n ? format : counted.format };
  }

  /** The usage of stored objects in the scopes of a quota. */
  stored(quota: QuotaFacts, name: string): Quantity {
    return this.sums.get(quota.scopeKey)!.stored.of(name);
  }

  /** Whether a name in a quota belongs to a counted type. */
  measures(name: string): boolean {
    return this.types.some(({ evaluator }) => evaluator.measures(name));
  }

  /** Whether an object is in a quota's scopes. */
  holds(quota: QuotaFacts, { traits }: Measured): boolean {
    return this.sums.get(quota.scopeKey)!.holds(traits);
  }

  reserve(reservation: Reservation): void {
    const { key, measured } = reservation;
    const others = this.reservations.get(key);
    if (others === undefined) this.reservations.set(key, [reservation]);
    else others.push(reservation);
    this.inSums(measured, (sums) => sums.reserved.add(amountIn(sums, reservation)));
  }

  /** Removes a reservation, if it exists. */
  release(reservation: Reservation): void {
    const { key, measured, outcome } = reservation;
    const list = this.reservations.get(key);
    const index = list?.indexOf(reservation) ?? -1;
    if (index === -1) return;
    if (list!.length === 1) this.reservations.delete(key);
    else list!.splice(index, 1);
    if (outcome !== undefined) this.completedCount--;
    this.inSums(measured, (sums) => sums.reserved.subtract(amountIn(sums, reservation)));
  }

  /** Records that the write of a reservation may have been committed. */
  end(reservation: Reservation, outcome: "committed" | "unknown"): void {
    if (this.reservations.get(reservation.key)?.includes(reservation) !== true) return;
    reservation.outcome = outcome;
    this.completedCount++;
  }

  /**
   * Removes reservations of writes with unknown outcome that can't be committed any more, because they depend on an earlier turn.
   * Call it after a {@link sync} that follows the acquisition of the turn, so that committed writes are visible.
   */
  releaseBefore(turn: Revision, evaluator: Evaluator): void {
    if (this.completedCount === 0) return;
    for (const reservation of [...this.reservations.values()].flat()) {
      if (reservation.evaluator !== evaluator || reservation.outcome !== "unknown") continue;
      if (reservation.turn < turn) this.release(reservation);
    }
  }

  /** Updates the usage of objects that changes at a time, if the time has come. */
  applyDueChanges(): void {
    const now = this.sources.clock.now();
    if (now <= this.nextChange) return;
    this.nextChange = Infinity;
    for (const key of this.changing) {
      const { measured, evaluator } = this.objects.get(key)!;
      const { later, traits } = measured;
      if (later === undefined) continue;
      if (now <= later.at) this.nextChange = Math.min(this.nextChange, later.at);
      else this.set(key, { evaluator, measured: { usage: later.usage, traits } });
    }
  }

  close(): void {
    for (const follower of this.followers.values()) follower.close();
    this.followers.clear();
  }

  /** Starts and stops watches according to the limits, and updates the sums for the scopes. */
  private arrange(): void {
    const byScope = new Map(this.quotas.map((quota) => [quota.scopeKey, quota]));
    for (const key of this.sums.keys()) if (!byScope.has(key)) this.sums.delete(key);
    for (const [key, { scopes }] of byScope) {
      if (!this.sums.has(key)) this.sums.set(key, this.sumUp(scopes));
    }
    for (const { resource, evaluator } of this.types) {
      const limited = this.quotas.some((quota) => quota.limitsOf(evaluator).length > 0);
      if (limited && !this.followers.has(evaluator)) this.follow(resource, evaluator);
      if (!limited && this.followers.has(evaluator)) this.forget(evaluator);
    }
  }

  private sumUp(scopes: readonly ScopeCondition[]): ScopeSums {
    const sums = new ScopeSums(scopes);
    for (const { measured } of this.objects.values()) {
      if (sums.holds(measured.traits)) sums.stored.add(measured.usage);
    }
    for (const reservation of [...this.reservations.values()].flat()) {
      if (sums.holds(reservation.measured.traits)) sums.reserved.add(amountIn(sums, reservation));
    }
    return sums;
  }

  private follow(resource: Resource, evaluator: Evaluator): void {
    const { store, clock, failed } = this.sources;
    // A follower that was closed while it loads may still call its handler.
    const isCurrent = (): boolean => this.followers.get(evaluator) === follower;
    const handler = {
      put: (entry: Entry, created: boolean) => {
        if (isCurrent()) this.addEntry(entry, evaluator, created);
      },
      remove: (key: string) => {
        if (isCurrent()) this.drop(key);
      },
      reloaded: () => this.changed(),
      failed,
    };
    const follower: Follower = new Follower(store, prefixOf(resource, this.name), handler, clock);
    this.followers.set(evaluator, follower);
    follower.startInBackground();
  }

  private forget(evaluator: Evaluator): void {
    this.followers.get(evaluator)!.close();
    this.followers.delete(evaluator);
    for (const [key, stored] of this.objects) if (stored.evaluator === evaluator) this.set(key, undefined);
  }

  private addEntry(entry: Entry, evaluator: Evaluator, created: boolean): void {
    const reserved = this.settleReservations(entry);
    const measured = (created ? reserved : undefined) ?? evaluator.constant ?? this.measure(entry, evaluator);
    this.set(entry.key, { evaluator, measured });
    this.changed();
  }

  private measure(entry: Entry, evaluator: Evaluator): Measured {
    return evaluator.measure(decodeLive(entry).object, this.sources.clock.now());
  }

  private drop(key: string): void {
    // Updates in progress fail, as the object is gone.
    for (const reservation of this.reservations.get(key)?.filter(({ uid }) => uid === undefined) ?? []) {
      this.release(reservation);
    }
    this.set(key, undefined);
    this.changed();
  }

  /**
   * Removes the reservations that an entry settles: that of its create, and those of updates of earlier revisions. Returns the
   * usage that was measured for the create.
   */
  private settleReservations(entry: Entry): Measured | undefined {
    const list = this.reservations.get(entry.key);
    if (list === undefined) return undefined;
    const { uid } = headerOf(entry);
    let created: Measured | undefined;
    for (const reservation of list.slice()) {
      const isUpdate = reservation.uid === undefined;
      if (isUpdate ? entry.revision <= reservation.replaces : reservation.uid !== uid) continue;
      if (!isUpdate) created = reservation.measured;
      this.release(reservation);
    }
    return created;
  }

  private set(key: string, stored: StoredUsage | undefined): void {
    const before = this.objects.get(key)?.measured;
    const after = stored?.measured;
    if (stored === undefined) this.objects.delete(key);
    else this.objects.set(key, stored);
    if (after?.later === undefined) this.changing.delete(key);
    else {
      this.changing.add(key);
      this.nextChange = Math.min(this.nextChange, after.later.at);
    }
    if (before !== undefined) this.inSums(before, (sums) => sums.stored.subtract(before.usage));
    if (after !== undefined) this.inSums(after, (sums) => sums.stored.add(after.usage));
  }

  private inSums({ traits }: Measured, visit: (sums: ScopeSums) => void): void {
    for (const sums of this.sums.values()) if (sums.holds(traits)) visit(sums);
  }

  private completedReservations(evaluator: Evaluator): Reservation[] {
    return [...this.reservations.values()]
      .flat()
      .filter((reservation) => reservation.evaluator === evaluator && reservation.outcome === "committed");
  }
}
