import {
  deletableTypes,
  typeOfKind,
  type RemoteObjects,
  type RemoteServices,
} from "../../aggregation/remote-objects.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { ObjectMetaValue, OwnerReferenceValue } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Whether an owner exists and keeps its dependents (solid), is absent (lost), or waits for their deletion. */
export type OwnerState = "solid" | "lost" | "waiting";

/** An object of this server with an owner of a kind that this server doesn't serve. */
export interface RemotelyOwned {
  readonly key: string;
  readonly namespace: string;
  readonly owners: readonly OwnerReferenceValue[];
}

/** What {@link RemoteOwnership} needs of the garbage collector. */
export interface LocalOwnership {
  /** The state of an owner of this server; undefined if its kind is unknown. */
  stateOf(owner: OwnerReferenceValue, namespace: string): Promise<OwnerState> | undefined;
  /** The objects with owners of unknown kinds. */
  remotelyOwned(): AsyncIterable<RemotelyOwned>;
  /** Called when owners of an object are lost. */
  lost(key: string): void;
  failed(error: unknown): void;
}

/** Name of the service account whose rights the collector has at extension servers. */
const account = "generic-garbage-collector";
/** Interval between two reads of the objects; longer if they take long, so that they use at most a tenth of the time. */
const intervalMs = 10_000;
const shareOfTime = 10;
/** A server whose call failed gets no calls for this time. */
const pauseMs = 30_000;
/** Maximum number of pages of one resource type; dependents on further ones are not collected. */
const maxPages = 100;
/** Maximum number of owners that are looked up after one read. */
const maxLookups = 1000;
const parallelCalls = 8;

/** An object of an extension server that has owners. */
interface RemoteDependent {
  readonly type: RemoteObjects;
  readonly metadata: ObjectMetaValue;
}

/** The objects of one resource type at the last complete read. */
interface Listing {
  readonly type: RemoteObjects;
  readonly dependents: readonly RemoteDependent[];
  readonly uids: ReadonlySet<string>;
}

/**
 * Owners and dependents at extension servers. Their objects are read at intervals, because a server may not support watches: dependents
 * there that have lost their owners are deleted, and absent owners there are reported to the collector.
 */
export class RemoteOwnership {
  private timer: Timer | undefined;
  private closed = false;
  private running: Promise<void> | undefined;
  /** By resource type. */
  private listings = new Map<string, Listing>();
  /** Until when a server gets no calls, by name. */
  private readonly paused = new Map<string, number>();
  /** The uids of owners that don't exist at their extension server. */
  private lostOwners: ReadonlySet<string> = new Set();
  private lookups = 0;

  constructor(
    private readonly services: RemoteServices,
    private readonly vocabulary: Vocabulary,
    private readonly clock: Clock,
    private readonly local: LocalOwnership,
  ) {}

  start(): void {
    this.schedule(intervalMs);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.running;
  }

  /** Whether an owner of an extension server was found to be absent. */
  isLost({ uid }: OwnerReferenceValue): boolean {
    return this.lostOwners.has(uid);
  }

  /**
   * Releases an owner of this server that is being deleted from its dependents at extension servers: removes their references (orphan) or
   * deletes them. Returns whether one of them still blocks the owner, or could not be changed. Dependents that are unknown because their
   * server doesn't answer are ignored.
   */
  async release(ownerUid: string, orphans: boolean): Promise<boolean> {
    if (this.types().length === 0 && this.listings.size === 0) return false;
    await this.readObjects();
    let blocked = false;
    let released = 0;
    const owned = this.dependents().filter(({ metadata }) => refersTo(metadata, ownerUid));
    await this.inParallel(owned, async ({ type, metadata }) => {
      const { ownerReferences = [] } = metadata;
      const others = ownerReferences.filter(({ uid }) => uid !== ownerUid);
      if (orphans) {
        if (type.allows("patch")) await type.setOwners(metadata, others);
      } else {
        const own = ownerReferences.find(({ uid }) => uid === ownerUid);
        if (own?.blockOwnerDeletion === true) blocked = true;
        if (metadata.deletionTimestamp === undefined && others.length === 0) await type.delete(metadata);
      }
      released++;
    });
    return blocked || released < owned.length;
  }

  private schedule(delayMs: number): void {
    if (this.closed) return;
    this.timer = this.clock.setTimer(() => {
      const startedAt = this.clock.monotonicNow();
      this.running = this.pass()
        .catch((error: unknown) => this.local.failed(error))
        .finally(() => {
          this.running = undefined;
          this.schedule(Math.max(intervalMs, shareOfTime * (this.clock.monotonicNow() - startedAt)));
        });
      detach(this.running, (error) => this.local.failed(error));
    }, delayMs);
  }

  private async pass(): Promise<void> {
    if (this.closed || ![...this.services.list()].some(({ remote }) => remote?.available === true)) return;
    this.lookups = 0;
    await this.readObjects();
    await this.collectHere();
    await this.collectThere();
  }

  /** Reports the objects of this server whose owners at extension servers are absent. */
  private async collectHere(): Promise<void> {
    const lost = new Set<string>();
    const keys: string[] = [];
    for await (const { key, namespace, owners } of this.local.remotelyOwned()) {
      if (this.closed) return;
      for (const owner of owners) {
        if (this.local.stateOf(owner, namespace) !== undefined) continue;
        if (!lost.has(owner.uid) && (await this.remoteState(owner, namespace)) !== "lost") continue;
        lost.add(owner.uid);
        keys.push(key);
      }
    }
    this.lostOwners = lost;
    for (const key of keys) this.local.lost(key);
  }

  /** Deletes the objects of extension servers that have lost all their owners; removes references to some that are lost. */
  private collectThere(): Promise<void> {
    return this.inParallel(this.dependents(), async ({ type, metadata }) => {
      const { ownerReferences = [], namespace = "", deletionTimestamp } = metadata;
      if (deletionTimestamp !== undefined) return;
      const states: OwnerState[] = [];
      for (const owner of ownerReferences)
        states.push(await (this.local.stateOf(owner, namespace) ?? this.remoteState(owner, namespace)));
      const solid = ownerReferences.filter((_, index) => states[index] === "solid");
      if (solid.length === ownerReferences.length) return;
      if (solid.length === 0) await type.delete(metadata);
      else if (type.allows("patch")) await type.setOwners(metadata, solid);
    });
  }

  /** The state of an owner at an extension server; solid if it can't be determined. */
  private async remoteState(owner: OwnerReferenceValue, namespace: string): Promise<OwnerState> {
    for (const { uids } of this.listings.values()) if (uids.has(owner.uid)) return "solid";
    const type = typeOfKind(this.services, this.vocabulary, owner, account);
    if (type === undefined || this.isPaused(type) || this.lookups >= maxLookups) return "solid";
    this.lookups++;
    const answer = await this.called(type, () =>
      type.find(type.resource.namespaced ? namespace : "", owner.name).then((object) => ({ object })),
    );
    return answer === undefined || answer.object?.uid === owner.uid ? "solid" : "lost";
  }

  private types(): readonly RemoteObjects[] {
    return deletableTypes(this.services, this.vocabulary, account);
  }

  private dependents(): readonly RemoteDependent[] {
    return [...this.listings.values()].flatMap(({ dependents }) => dependents);
  }

  private reading: Promise<void> | undefined;
  private nextReading: Promise<void> | undefined;

  /** Reads the objects of all deletable types, after a read that runs already; calls meanwhile share the next read. */
  private readObjects(): Promise<void> {
    if (this.reading === undefined) {
      this.reading = this.readAll().finally(() => (this.reading = undefined));
      return this.reading;
    }
    this.nextReading ??= this.reading.then(() => {
      this.nextReading = undefined;
      return this.readObjects();
    });
    return this.nextReading;
  }

  private async readAll(): Promise<void> {
    const listings = new Map<string, Listing>();
    const types = this.types();
    await Promise.all(
      types.map(async (type) => {
        const name = `${type.resource.name}.${type.group}`;
        const read = this.isPaused(type) ? undefined : await this.called(type, () => listingOf(type));
        // What a server had before is kept while it doesn't answer.
        const listing = read ?? this.listings.get(name);
        if (listing !== undefined) listings.set(name, listing);
      }),
    );
    // Also while it is unavailable, until its APIService is deleted.
    const registered = new Set([...this.services.list()].map(({ remote }) => remote));
    for (const [name, listing] of this.listings) {
      const isAvailable = types.some(({ remote }) => remote === listing.type.remote);
      if (!listings.has(name) && !isAvailable && registered.has(listing.type.remote))
        listings.set(name, listing);
    }
    this.listings = listings;
  }

  private isPaused({ remote }: RemoteObjects): boolean {
    return this.clock.monotonicNow() < (this.paused.get(remote.name) ?? 0);
  }

  /** Calls a server; undefined if the call fails, after which the server gets no calls for a time. */
  private async called<T>({ remote }: RemoteObjects, call: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await call();
      this.paused.delete(remote.name);
      return result;
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      if (remote.callsEnded) return undefined;
      this.paused.set(remote.name, this.clock.monotonicNow() + pauseMs);
      this.local.failed(error);
      return undefined;
    }
  }

  private async inParallel(
    dependents: readonly RemoteDependent[],
    work: (one: RemoteDependent) => Promise<void>,
  ): Promise<void> {
    for (let at = 0; at < dependents.length && !this.closed; at += parallelCalls) {
      const some = dependents.slice(at, at + parallelCalls).filter(({ type }) => !this.isPaused(type));
      await Promise.all(some.map((one) => this.called(one.type, () => work(one))));
    }
  }
}

function refersTo({ ownerReferences = [] }: ObjectMetaValue, ownerUid: string): boolean {
  return ownerReferences.some(({ uid }) => uid === ownerUid);
}

/** Reads the uids of all objects of a type, and the objects that have owners. */
async function listingOf(type: RemoteObjects): Promise<Listing> {
  const yieldIfDue = createYielder();
  const dependents: RemoteDependent[] = [];
  const uids = new Set<string>();
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { items, next } = await type.list("", after);
    for (const metadata of items) {
      if (metadata.uid !== undefined) uids.add(metadata.uid);
      if ((metadata.ownerReferences ?? []).length > 0) dependents.push({ type, metadata });
      await yieldIfDue();
    }
    if (next === undefined) break;
    after = next;
  }
  return { type, dependents, uids };
}
