import type { RemoteServices } from "../../aggregation/remote-objects.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ObjectReference } from "../../resources/clients/client.ts";
import { foregroundFinalizer, orphanFinalizer } from "../../kinds/checks/finalizers.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { namesOf } from "../../resources/registry/registry.ts";
import { metadataOf } from "../../resources/objects/stored.ts";
import type { ObjectMetaValue, OwnerReferenceValue } from "../../schema/kind.ts";
import { keyspaceOf } from "../../storage/keys.ts";
import type { Entry } from "../../storage/store.ts";
import type { Timer } from "../../base/time/clock.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { retryRaced } from "../create-or-update.ts";
import { EventRecorder } from "../event-recorder.ts";
import { WorkQueue } from "../work-queue.ts";
import { ForeignOwners } from "./foreign-owners.ts";
import { mayMatter, Ownership } from "./ownership.ts";
import { RemoteOwnership, type OwnerState, type RemotelyOwned } from "./remote-ownership.ts";

/** Dependencies of the garbage collector. */
export type GarbageDependencies = QueueDependencies &
  Pick<ControllerContext, "client" | "registry" | "store"> & { readonly apiServices: RemoteServices };

/**
 * Deletes objects that have lost all their owners, and releases owners that wait for their dependents: until they are
 * deleted (foreground) or orphaned (spec: conventions 3.2).
 */
export const garbageCollection: Controller<GarbageDependencies> = {
  name: "garbagecollector",
  start(context) {
    const collector = new Collector(context, (key, error) => context.failed(this.name, key, error));
    collector.start();
    return {
      failing: () => collector.failing,
      synced: () => collector.synced(),
      close: () => collector.close(),
    };
  },
};

/** Source of Events about owners, as in the reference. */
const component = "garbage-collector-controller";
/** Interval after which objects with owners of unknown kinds are checked again, if the served kinds have changed. */
const kindsMs = 30_000;
/** Number of objects that are processed concurrently; their writes share a sync. */
const workers = 32;
/** Number of dependents of an orphaned object that are written concurrently. */
const parallelWrites = 16;
/** The number of attempts to remove an owner reference of an orphan if other writes come first. */
const maxOrphanAttempts = 20;
/** Delay before an owner is processed again because dependents still refer to it. */
const orphanRetryMs = 1000;

class Collector {
  private readonly ownership: Ownership;
  private readonly queue: WorkQueue;
  private readonly follower: Follower;
  private readonly events: EventRecorder;
  private readonly foreignOwners: ForeignOwners;
  private readonly remote: RemoteOwnership;
  /** Owners that are blocked by dependents. When such a dependent is changed or deleted, the owner is processed again. */
  private readonly blockedOwners = new Set<string>();
  private timer: Timer | undefined;
  private closed = false;

  constructor(
    private readonly context: GarbageDependencies,
    private readonly failed: (key: string, error: unknown) => void,
  ) {
    this.ownership = new Ownership(context.registry);
    this.queue = new WorkQueue(
      context.clock,
      (key, closing) => this.work(key, closing),
      failed,
      context.queueObserver?.("garbagecollector"),
      workers,
    );
    this.foreignOwners = new ForeignOwners(context.store, context.registry);
    this.events = new EventRecorder(context.client, context.clock, component, (error) => failed("/", error));
    this.remote = new RemoteOwnership(context.apiServices, context.registry.vocabulary, context.clock, {
      stateOf: (owner, namespace) => this.localState(owner, namespace),
      remotelyOwned: () => this.remotelyOwned(),
      lost: (key) => this.queue.add(key),
      failed: (error) => failed("/", error),
    });
    const handler = {
      // The objects of workspaces have collectors of their own.
      matters: (entry: Entry, lasting: boolean) =>
        keyspaceOf(entry.key) === undefined && mayMatter(entry, lasting),
      put: (entry: Entry) => this.put(entry),
      remove: (key: string) => this.removed(key),
      reloaded: () => {
        for (const key of this.ownership.owned()) this.queue.add(key);
      },
      failed: (error: unknown) => failed("/", error),
    };
    this.follower = new Follower(context.store, "/", handler, context.clock);
  }

  /** Loads the stored objects in the background; the server's start doesn't wait for it. */
  start(): void {
    this.follower.startInBackground();
    this.remote.start();
    this.scheduleRecheck(this.context.registry.revision);
  }

  /**
   * Schedules the check of objects of unknown kinds or with such owners.
   *
   * @param before the registry's revision at the previous check.
   */
  private scheduleRecheck(before: number): void {
    if (this.closed) return;
    const { clock, registry } = this.context;
    this.timer = clock.setTimer(() => {
      const { revision } = registry;
      const again = (): void => this.scheduleRecheck(revision);
      if (revision === before) return again();
      this.recheckUnknownKinds().then(again, (error: unknown) => {
        this.failed("/", error);
        this.scheduleRecheck(before);
      });
    }, kindsMs);
  }

  private async recheckUnknownKinds(): Promise<void> {
    for (const key of this.ownership.withUnknownKinds()) {
      if (this.closed) return;
      const entry = await this.context.store.get(key);
      if (entry !== undefined) this.put(entry);
    }
  }

  get failing(): boolean {
    return this.follower.failing;
  }

  async synced(): Promise<void> {
    await this.follower.sync();
  }

  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    this.follower.close();
    await Promise.all([this.queue.close(), this.remote.close()]);
    await this.events.close();
  }

  private put(entry: Entry): void {
    const before = this.ownership.owners(entry.key);
    for (const owner of this.ownership.put(entry)) {
      this.recordInvalidOwner(entry.key, owner, "names a namespaced kind, and the object is in no namespace");
    }
    this.queue.add(entry.key);
    for (const owner of [...before, ...this.ownership.owners(entry.key)]) {
      if (this.blockedOwners.has(owner)) this.queue.add(owner);
    }
  }

  /** Records an Event about a reference to an owner that the object can't have. */
  private recordInvalidOwner(
    key: string,
    { apiVersion, kind, name, uid }: OwnerReferenceValue,
    problem: string,
  ): void {
    const message = `ownerRef [${apiVersion}/${kind}, name: ${name}, uid: ${uid}] ${problem}`;
    this.events.record(this.referenceTo(key), "Warning", "OwnerRefInvalidNamespace", message);
  }

  /** Processes the dependents of a deleted object, and the owners that may have waited for it. */
  private removed(key: string): void {
    const dependents = this.ownership.dependentsOf(key);
    if (dependents.length > 0) this.foreignOwners.noteDeleted(key);
    for (const dependent of dependents) this.queue.add(dependent);
    for (const owner of this.ownership.owners(key)) this.queue.add(owner);
    this.ownership.remove(key);
    this.blockedOwners.delete(key);
  }

  private async work(key: string, closing: AbortSignal): Promise<void> {
    const entry = await this.context.store.get(key);
    if (entry === undefined) return;
    const metadata = metadataOf(entry);
    await this.context.registry.readAll();
    if (!this.ownership.isServed(key)) return;
    if (await this.releaseOwner(key, metadata, closing)) return;
    await this.processDependent(key, metadata);
  }

  /** Processes an owner that is being deleted and waits for its dependents. Returns false if the object isn't one. */
  private async releaseOwner(key: string, owner: ObjectMetaValue, closing: AbortSignal): Promise<boolean> {
    const { deletionTimestamp, finalizers = [], uid = "" } = owner;
    if (deletionTimestamp === undefined) return false;
    const orphans = finalizers.includes(orphanFinalizer);
    if (!orphans && !finalizers.includes(foregroundFinalizer)) return false;
    // All dependents must be loaded first: otherwise some would be deleted with the owner, or left behind.
    await this.follower.sync();
    if (await this.remote.release(uid, orphans)) {
      this.queue.addLater(key, orphanRetryMs);
      return true;
    }
    const done = orphans ? await this.orphan(key, uid, closing) : !(await this.deleteBlocking(key, uid));
    if (done) await this.dropFinalizer(key, owner, orphans ? orphanFinalizer : foregroundFinalizer);
    return true;
  }

  /**
   * Removes the references to an owner from its dependents. Returns false if a dependent still refers to the owner, or
   * if the queue is being closed; then the owner keeps its finalizer and is processed again.
   */
  private async orphan(key: string, uid: string, closing: AbortSignal): Promise<boolean> {
    const dependents = this.ownership.servedDependentsOf(key);
    for (let at = 0; at < dependents.length; at += parallelWrites) {
      if (closing.aborted) return false;
      const some = dependents.slice(at, at + parallelWrites);
      await Promise.all(some.map((dependent) => this.dropReference(dependent, uid)));
    }
    if (closing.aborted) return false;
    // Objects that were written meanwhile may refer to the owner too.
    await this.follower.sync();
    for (const dependent of this.ownership.servedDependentsOf(key)) {
      if (!namesOwner(await this.read(dependent), uid)) continue;
      // With a delay, because the writer that restored the reference may do it again.
      this.queue.addLater(key, orphanRetryMs);
      return false;
    }
    return true;
  }

  /** Queues the dependents for deletion. Returns true if one of them still blocks its owner. */
  private async deleteBlocking(key: string, ownerUid: string): Promise<boolean> {
    let blocked = false;
    // Before anything is read, so that no change of a dependent is missed.
    this.blockedOwners.add(key);
    for (const dependent of this.ownership.servedDependentsOf(key)) {
      const object = await this.read(dependent);
      const reference = object?.ownerReferences?.find((one) => one.uid === ownerUid);
      if (object === undefined || reference === undefined) continue;
      if (reference.blockOwnerDeletion === true) blocked = true;
      if (object.deletionTimestamp === undefined) this.queue.add(dependent);
    }
    if (!blocked) this.blockedOwners.delete(key);
    return blocked;
  }

  /**
   * Deletes an object if none of its owners exists, or if the existing ones wait for it; otherwise removes the
   * references to owners that don't exist.
   */
  private async processDependent(key: string, object: ObjectMetaValue): Promise<void> {
    const { ownerReferences = [], deletionTimestamp, finalizers = [] } = object;
    if (ownerReferences.length === 0 || deletionTimestamp !== undefined) return;
    const states = await Promise.all(ownerReferences.map((owner) => this.stateOf(owner, key)));
    const lost = ownerReferences.filter((_, index) => states[index] !== "solid");
    if (lost.length === 0) return;
    await this.recordForeignOwners(key, lost);
    if (lost.length < ownerReferences.length) return this.dropReferences(key, object, new Set(lost));
    const waiting = states.includes("waiting") && this.ownership.servedDependentsOf(key).length > 0;
    const policy = finalizers.includes(orphanFinalizer)
      ? "Orphan"
      : waiting || finalizers.includes(foregroundFinalizer)
        ? "Foreground"
        : "Background";
    // In a cycle each owner would wait for the others for ever, so this object stops blocking its owners.
    if (waiting && (await this.isWaitedFor(key)) && (await this.unblock(key, object))) return;
    const { uid, resourceVersion } = object;
    await unlessRaced(() =>
      this.context.client.delete(
        this.referenceTo(key),
        { uid: uid ?? "", resourceVersion: resourceVersion ?? "" },
        policy,
      ),
    );
  }

  /** Records Events about the references of an object to owners in another namespace. */
  private async recordForeignOwners(key: string, owners: readonly OwnerReferenceValue[]): Promise<void> {
    const { namespace } = namesOf(key);
    for (const owner of owners) {
      const expected = this.ownership.keyOfOwner(owner, namespace);
      if (expected === undefined || !(await this.foreignOwners.has(owner, expected))) continue;
      this.recordInvalidOwner(key, owner, `does not exist in namespace ${JSON.stringify(namespace)}`);
    }
  }

  /** Returns true if a dependent of the object is being deleted and waits for its own dependents. */
  private async isWaitedFor(key: string): Promise<boolean> {
    const dependents = await Promise.all(this.ownership.servedDependentsOf(key).map((one) => this.read(one)));
    return dependents.some((one) => one !== undefined && waitsForDependents(one));
  }

  /** Clears `blockOwnerDeletion` of all owner references. Returns true if any was set. */
  private async unblock(key: string, metadata: ObjectMetaValue): Promise<boolean> {
    const before = metadata.ownerReferences ?? [];
    if (!before.some((one) => one.blockOwnerDeletion === true)) return false;
    const ownerReferences = before.map((one) => ({ ...one, blockOwnerDeletion: false }));
    await unlessRaced(() => this.patch(key, metadata, { ownerReferences }));
    return true;
  }

  private stateOf(owner: OwnerReferenceValue, dependent: string): MaybePromise<OwnerState> {
    // The owner of an unknown kind is assumed to exist, unless its extension server says that it doesn't.
    return (
      this.localState(owner, namesOf(dependent).namespace) ?? (this.remote.isLost(owner) ? "lost" : "solid")
    );
  }

  private localState(owner: OwnerReferenceValue, namespace: string): Promise<OwnerState> | undefined {
    const key = this.ownership.keyOfOwner(owner, namespace);
    return key === undefined ? undefined : this.stateOfKey(key, owner);
  }

  private async stateOfKey(key: string, { uid }: OwnerReferenceValue): Promise<OwnerState> {
    const object = await this.read(key);
    if (object === undefined || object.uid !== uid) return "lost";
    return waitsForDependents(object) ? "waiting" : "solid";
  }

  private async *remotelyOwned(): AsyncGenerator<RemotelyOwned> {
    for (const key of this.ownership.withUnknownKinds()) {
      const owners = (await this.read(key))?.ownerReferences;
      if (owners !== undefined) yield { key, namespace: namesOf(key).namespace, owners };
    }
  }

  /** Removes the references to an owner from one dependent; retries if other writes come first. */
  private async dropReference(key: string, ownerUid: string): Promise<void> {
    await retryRaced(maxOrphanAttempts, async () => {
      const object = await this.read(key);
      if (object === undefined || !namesOwner(object, ownerUid)) return;
      const ownerReferences = object.ownerReferences!.filter(({ uid }) => uid !== ownerUid);
      await this.patch(key, object, { ownerReferences });
    });
  }

  private async dropReferences(
    key: string,
    metadata: ObjectMetaValue,
    lost: ReadonlySet<OwnerReferenceValue>,
  ): Promise<void> {
    const ownerReferences = (metadata.ownerReferences ?? []).filter((one) => !lost.has(one));
    await unlessRaced(() => this.patch(key, metadata, { ownerReferences }));
  }

  private async dropFinalizer(key: string, metadata: ObjectMetaValue, finalizer: string): Promise<void> {
    const finalizers = (metadata.finalizers ?? []).filter((one) => one !== finalizer);
    await unlessRaced(() => this.patch(key, metadata, { finalizers }));
  }

  /** Patches the metadata of an object, on the condition that it still has the version that was read. */
  private async patch(
    key: string,
    { resourceVersion }: ObjectMetaValue,
    change: Pick<ObjectMetaValue, "ownerReferences" | "finalizers">,
  ): Promise<void> {
    await this.context.client.patch(this.referenceTo(key), { metadata: { resourceVersion, ...change } });
  }

  private async read(key: string): Promise<ObjectMetaValue | undefined> {
    const entry = await this.context.store.get(key);
    return entry === undefined ? undefined : metadataOf(entry);
  }

  private referenceTo(key: string): ObjectReference {
    const resource = this.ownership.resourceOf(key);
    if (resource === undefined) throw new Error(`no resource type has the key ${key}`);
    const { apiVersion, kind } = resource;
    return { apiVersion, kind: kind.name, ...namesOf(key) };
  }
}

function namesOwner(object: ObjectMetaValue | undefined, ownerUid: string): boolean {
  return object?.ownerReferences?.some(({ uid }) => uid === ownerUid) ?? false;
}

/** Returns true if an object is being deleted in the foreground. */
function waitsForDependents(metadata: ObjectMetaValue): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  return deletionTimestamp !== undefined && finalizers.includes(foregroundFinalizer);
}
