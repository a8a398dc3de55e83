import type { MaybePromise } from "../../../base/maybe-promise.ts";
import type { Quantity } from "../../../base/quantity.ts";
import { Follower } from "../../../resources/followers/follower.ts";
import { prefixOf, type Resource } from "../../../resources/registry/registry.ts";
import { decodeLive, headerOf } from "../../../resources/objects/stored.ts";
import type { Entry, Revision } from "../../../storage/store.ts";
import type { FollowSources } from "../../followed-objects.ts";
import type { Evaluator, Measured } from "./evaluator.ts";
import type { QuotaFacts } from "./quota-facts.ts";
import { compileScopes, type ScopeCondition, type ScopeMatcher } from "./scopes.ts";
import { UsageSum } from "./usage.ts";

/** A resource type that quotas count. */
export interface CountedType {
  /** In the version in which it is stored. */
  readonly resource: Resource;
  readonly evaluator: Evaluator;
}

/**
 * What this process has let pass in a namespace and doesn't see stored yet. It counts as used until it is stored, or can't be
 * any more.
 */
export interface Reservation {
  readonly key: string;
  /** Of an object to be created; undefined for an update. */
  readonly uid: string | undefined;
  /** The revision that an update replaces; 0 for a create. */
  readonly replaces: number;
  readonly measured: Measured;
  readonly evaluator: Evaluator;
  /** The turn in which it was made. */
  readonly turn: Revision;
  /** How the write ended; undefined while it is under way. */
  outcome: "committed" | "unknown" | undefined;
}

/** The sums of what is in one combination of scopes. */
class ScopeSums {
  readonly stored = new UsageSum();
  readonly reserved = new UsageSum();
  readonly holds: ScopeMatcher;

  constructor(scopes: readonly ScopeCondition[]) {
    this.holds = compileScopes(scopes);
  }
}

interface StoredUsage {
  readonly measured: Measured;
  readonly evaluator: Evaluator;
}

/**
 * What is used in one namespace that has quotas: it follows the objects of the types that its quotas limit, and keeps their
 * sum for each combination of scopes. Nothing is counted up or down by requests, so it can't drift from what is stored.
 */
export class NamespaceUsage {
  private readonly facts = new Map<string, QuotaFacts>();
  private sorted: readonly QuotaFacts[] | undefined;
  private readonly sums = new Map<string, ScopeSums>();
  private readonly followers = new Map<Evaluator, Follower>();
  private readonly objects = new Map<string, StoredUsage>();
  /** Keys of the objects that stop counting by themselves. */
  private readonly ending = new Set<string>();
  /** No object stops counting by itself before this time, in milliseconds since 1970. */
  nextEnd = Infinity;
  private readonly reservations = new Map<string, Reservation[]>();
  /** How many writes with a reservation have ended without its object having been seen. */
  private ended = 0;

  /** @param changed called when what is used, or what is limited, may have changed. */
  constructor(
    readonly name: string,
    private readonly sources: FollowSources,
    private types: readonly CountedType[],
    private readonly changed: () => void,
  ) {}

  /** The quotas of the namespace, in the order of their names. */
  get quotas(): readonly QuotaFacts[] {
    return (this.sorted ??= [...this.facts.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  }

  /** Takes in a quota that is new or was changed. */
  put(quota: QuotaFacts): void {
    const before = this.facts.get(quota.name);
    this.facts.set(quota.name, quota);
    this.sorted = undefined;
    if (before?.limitsSameAs(quota) !== true) this.arrange();
    this.changed();
  }

  /** Takes in that a quota is gone; says whether any is left. */
  remove(name: string): boolean {
    this.facts.delete(name);
    this.sorted = undefined;
    this.arrange();
    return this.facts.size > 0;
  }

  /** Takes in that types of objects have come or gone, as those of custom kinds do. */
  changeTypes(types: readonly CountedType[]): void {
    this.types = types;
    this.arrange();
    this.changed();
  }

  /** Whether any quota limits what an evaluator measures. */
  limits(evaluator: Evaluator): boolean {
    return this.followers.has(evaluator);
  }

  /**
   * Waits until everything is counted that was acknowledged before the call, by any process: of one evaluator's objects.
   *
   * @throws {StoreUnavailableError} they can't be followed at present.
   */
  sync(evaluator: Evaluator): MaybePromise<void> {
    const follower = this.followers.get(evaluator);
    if (follower === undefined) return;
    // Those whose writes had ended before are either seen by then, or gone.
    const over = this.ended === 0 ? undefined : this.endedReservations(evaluator);
    const done = (): void => over?.forEach((one) => this.release(one));
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

  /** As {@link sync}, of everything that quotas limit here. */
  async syncAll(): Promise<void> {
    for (const evaluator of this.followers.keys()) await this.sync(evaluator);
    this.endWhatEnds();
  }

  /** What is stored, and what is reserved besides, of the objects in a quota's scopes. */
  used(quota: QuotaFacts, name: string): Quantity {
    const { stored, reserved } = this.sums.get(quota.scopeKey)!;
    const counted = stored.of(name);
    const { nanos, format } = reserved.of(name);
    if (nanos === 0n) return counted;
    return { nanos: counted.nanos + nanos, format: counted.nanos === 0n ? format : counted.format };
  }

  /** What is stored, of the objects in a quota's scopes. */
  stored(quota: QuotaFacts, name: string): Quantity {
    return this.sums.get(quota.scopeKey)!.stored.of(name);
  }

  /** Whether a name means anything: some resource type is measured by it. */
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
    this.inSums(measured, ({ reserved }) => reserved.add(measured.usage));
  }

  /** Drops a reservation, unless that was done before. */
  release(reservation: Reservation): void {
    const { key, measured, outcome } = reservation;
    const all = this.reservations.get(key);
    const at = all?.indexOf(reservation) ?? -1;
    if (at === -1) return;
    if (all!.length === 1) this.reservations.delete(key);
    else all!.splice(at, 1);
    if (outcome !== undefined) this.ended--;
    this.inSums(measured, ({ reserved }) => reserved.subtract(measured.usage));
  }

  /** The write of a reservation has ended, and may have taken place. */
  end(reservation: Reservation, outcome: "committed" | "unknown"): void {
    if (this.reservations.get(reservation.key)?.includes(reservation) !== true) return;
    reservation.outcome = outcome;
    this.ended++;
  }

  /**
   * Drops reservations of writes whose outcome isn't known, and which can't take place any more: they need an earlier turn.
   * What did take place must have been seen, by a {@link sync} after the turn was taken.
   */
  releaseBefore(turn: Revision, evaluator: Evaluator): void {
    if (this.ended === 0) return;
    for (const one of [...this.reservations.values()].flat()) {
      if (one.outcome === "unknown" && one.evaluator === evaluator && one.turn < turn) this.release(one);
    }
  }

  /** Lets objects end that stop counting by themselves, and whose time has come. */
  endWhatEnds(): void {
    const now = this.sources.clock.now();
    if (now <= this.nextEnd) return;
    this.nextEnd = Infinity;
    for (const key of this.ending) {
      const { measured, evaluator } = this.objects.get(key)!;
      const { later, traits } = measured;
      if (later === undefined) continue;
      if (now <= later.at) this.nextEnd = Math.min(this.nextEnd, later.at);
      else this.set(key, { evaluator, measured: { usage: later.usage, traits } });
    }
  }

  close(): void {
    for (const follower of this.followers.values()) follower.close();
    this.followers.clear();
  }

  /** Follows what the quotas limit, and nothing else; makes sums for their scopes. */
  private arrange(): void {
    const wanted = new Map(this.quotas.map((quota) => [quota.scopeKey, quota]));
    for (const key of this.sums.keys()) if (!wanted.has(key)) this.sums.delete(key);
    for (const [key, { scopes }] of wanted) {
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
    for (const { measured } of [...this.reservations.values()].flat()) {
      if (sums.holds(measured.traits)) sums.reserved.add(measured.usage);
    }
    return sums;
  }

  private follow(resource: Resource, evaluator: Evaluator): void {
    const { store, clock, failed } = this.sources;
    // One that was closed while it loads isn't listened to any more.
    const isCurrent = (): boolean => this.followers.get(evaluator) === follower;
    const handler = {
      put: (entry: Entry, created: boolean) => {
        if (isCurrent()) this.take(entry, evaluator, created);
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

  private take(entry: Entry, evaluator: Evaluator, created: boolean): void {
    const reserved = this.takeReservation(entry);
    const measured = (created ? reserved : undefined) ?? evaluator.constant ?? this.measure(entry, evaluator);
    this.set(entry.key, { evaluator, measured });
    this.changed();
  }

  private measure(entry: Entry, evaluator: Evaluator): Measured {
    return evaluator.measure(decodeLive(entry).object, this.sources.clock.now());
  }

  private drop(key: string): void {
    // An update that is still under way finds nothing to change.
    for (const one of this.reservations.get(key)?.filter(({ uid }) => uid === undefined) ?? []) {
      this.release(one);
    }
    this.set(key, undefined);
    this.changed();
  }

  /**
   * Drops the reservations that an entry settles: of the create that made it, and of updates, which it is or which it forestalls.
   * Gives what the new object uses, where it was measured for its creation.
   */
  private takeReservation(entry: Entry): Measured | undefined {
    const all = this.reservations.get(entry.key);
    if (all === undefined) return undefined;
    const { uid } = headerOf(entry);
    let created: Measured | undefined;
    for (const one of all.slice()) {
      if (one.uid === undefined ? entry.revision <= one.replaces : one.uid !== uid) continue;
      if (one.uid !== undefined) created = one.measured;
      this.release(one);
    }
    return created;
  }

  private set(key: string, stored: StoredUsage | undefined): void {
    const before = this.objects.get(key)?.measured;
    const after = stored?.measured;
    if (stored === undefined) this.objects.delete(key);
    else this.objects.set(key, stored);
    if (after?.later === undefined) this.ending.delete(key);
    else {
      this.ending.add(key);
      this.nextEnd = Math.min(this.nextEnd, after.later.at);
    }
    if (before !== undefined) this.inSums(before, (sums) => sums.stored.subtract(before.usage));
    if (after !== undefined) this.inSums(after, (sums) => sums.stored.add(after.usage));
  }

  private inSums({ traits }: Measured, visit: (sums: ScopeSums) => void): void {
    for (const sums of this.sums.values()) if (sums.holds(traits)) visit(sums);
  }

  private endedReservations(evaluator: Evaluator): Reservation[] {
    return [...this.reservations.values()]
      .flat()
      .filter((one) => one.evaluator === evaluator && one.outcome === "committed");
  }
}
