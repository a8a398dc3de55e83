import { StatusError } from "../../base/status-error.ts";
import { parseTime } from "../../base/time/timestamps.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { qualifiedName } from "../../base/object-errors.ts";
import { core, isKindOf } from "../../kinds/groups.ts";
import type { StoreHistory, Version } from "../../storage/store-history.ts";
import { RevisionCompactedError, type Entry, type Revision } from "../../storage/store.ts";
import { notFound, type Engine, type Target } from "../engine/engine.ts";
import { engineInVersion } from "../engine/conversion.ts";
import { storeFailure } from "../engine/resource-version.ts";
import { keyOf, namesOf, prefixOf, type Resource } from "../registry/registry.ts";
import { isUnreadableValue } from "./unreadable-objects.ts";

/** Subresource with the versions of an object. */
export const historySubresource = "history";

/** Whether the history of a resource needs a right of its own, to the subresource `history`: what was secret may still be. */
export function hasOwnRight({ kind }: Pick<Resource, "kind">): boolean {
  return isKindOf(kind, core, "Secret");
}

/** Returns the history of a collection; undefined if it isn't kept longer than the retention time. */
export function historyOf({ store }: Pick<Engine, "store">, resource: Resource): StoreHistory | undefined {
  return store.history?.keeps(resource.storePrefix) === true ? store.history : undefined;
}

/** Whether a resource has history that needs a right of its own. */
export function hasGuardedHistory(engine: Pick<Engine, "store">, resource: Resource): boolean {
  return (
    engine.store.history !== undefined && hasOwnRight(resource) && historyOf(engine, resource) !== undefined
  );
}

/** Whether a read at a revision, or a watch from it, needs the right to such history. */
export async function isGuardedPast(
  engine: Engine,
  resource: Resource,
  revision: Revision,
): Promise<boolean> {
  return hasGuardedHistory(engine, resource) && revision < (await engine.store.floor());
}

/** As {@link historyOf}, for a request that needs it. @throws {StatusError} BadRequest, which begins with a subject such as `parameter at`. */
export function requiredHistory(
  engine: Pick<Engine, "store">,
  resource: Resource,
  subject: string,
): StoreHistory {
  const history = historyOf(engine, resource);
  if (history !== undefined) return history;
  throw new StatusError("BadRequest", `${subject}: ${notKept(resource)}`);
}

/** Why there is no history of a resource. */
export function notKept({ name, group }: Pick<Resource, "name" | "group">): string {
  return `the history of ${qualifiedName(name, group)} is not kept; the server keeps that of the resources in --history-retention`;
}

/** Returns the oldest revision at which a collection can be read. */
export function floorOf(engine: Pick<Engine, "store">, resource: Resource): MaybePromise<Revision> {
  return historyOf(engine, resource)?.floor(resource.storePrefix) ?? engine.store.floor();
}

/**
 * Returns the revision that the parameter `at` means.
 *
 * @param at a resource version, or a time in RFC 3339.
 * @throws {StatusError} BadRequest for another text, a future state, or a collection without history; Expired before its history.
 */
export async function revisionAt(
  { store, clock }: Pick<Engine, "store" | "clock">,
  resource: Resource,
  at: string,
): Promise<Revision> {
  const subject = `parameter at: ${JSON.stringify(at)}`;
  const history = requiredHistory({ store }, resource, subject);
  const floor = await history.floor(resource.storePrefix);
  const expired = () =>
    new StatusError(
      "Expired",
      `${subject} is before the history of ${qualifiedName(resource.name, resource.group)}, which begins at resource version ${floor}`,
    );
  const revision = /^\d{1,16}$/.test(at) ? await pastRevision(store, subject, at) : await timeRevision();
  if (revision < floor) throw expired();
  return revision;

  async function timeRevision(): Promise<Revision> {
    const time = parseTime(at);
    if (time === undefined)
      throw new StatusError(
        "BadRequest",
        `${subject} is neither a resource version nor a time such as 2026-11-24T10:00:00Z`,
      );
    if (time > clock.now()) throw new StatusError("BadRequest", `${subject} is in the future`);
    try {
      return await history.revisionAt(time);
    } catch (error) {
      throw error instanceof RevisionCompactedError ? expired() : storeFailure(error);
    }
  }
}

async function pastRevision(
  store: Pick<Engine["store"], "latestRevision">,
  subject: string,
  at: string,
): Promise<Revision> {
  const latest = await store.latestRevision();
  if (Number(at) <= latest) return Number(at) as Revision;
  throw new StatusError("BadRequest", `${subject} is above the latest resource version, ${latest}`);
}

/**
 * Reads one object as it was at a revision.
 *
 * @throws {StatusError} NotFound if it didn't exist.
 */
export async function getPastObject(served: Engine, target: Target, revision: Revision): Promise<Entry> {
  const { store } = engineInVersion(served, target.resource);
  const entry = await store.get(keyOf(target.resource, target.namespace, target.name), revision);
  if (entry === undefined) throw notFound(target);
  return entry;
}

/** A version of an object, with its content if it was requested. */
export interface ObjectVersionRead {
  readonly version: Version;
  /** The object after the write, or the last state of a deleted one. */
  readonly entry?: Entry | undefined;
  /** Why the object can't be read. */
  readonly error?: string | undefined;
}

/** A page of what a history has. */
export interface HistoryPage<T> {
  readonly items: readonly T[];
  /** Position of the next page; undefined if this is the last one. */
  readonly next: string | undefined;
}

/** Which versions a page has. */
export interface VersionsOptions {
  readonly limit: number;
  /** `next` of the page before. */
  readonly after: string | undefined;
  /** Whether with the objects. */
  readonly contents: boolean;
  /** Resolves when the next versions may be read. */
  readonly pause: () => Promise<void>;
}

/** Versions whose contents are read before their size is checked. */
const versionsAtATime = 4;
/** A page of versions or deleted objects ends when its contents reach this size, in bytes. */
const pageBytes = 4 * 1024 * 1024;

/**
 * Returns versions of an object, newest first; also of one that is deleted.
 *
 * @throws {StatusError} NotFound if there was never one with this name, as far as the history reaches back.
 */
export async function readVersions(
  served: Engine,
  target: Target,
  { limit, after, contents, pause }: VersionsOptions,
): Promise<HistoryPage<ObjectVersionRead>> {
  const { resource, namespace, name } = target;
  const history = historyOf(served, resource)!;
  const reader = new ContentReader(served, resource, await history.floor(resource.storePrefix));
  const key = keyOf(resource, namespace, name);
  const items: ObjectVersionRead[] = [];
  let bytes = 0;
  let next = after;
  do {
    const left = limit - items.length;
    const page = await history.versions(key, {
      after: next,
      limit: contents ? Math.min(left, versionsAtATime) : left,
    });
    for (const version of page.versions) {
      const item = contents ? { version, ...(await reader.contentOf(version)) } : { version };
      bytes += item.entry?.body.length ?? 0;
      items.push(item);
    }
    ({ next } = page);
    if (next !== undefined) await pause();
  } while (next !== undefined && items.length < limit && bytes < pageBytes);
  if (items.length === 0 && after === undefined) throw notFound(target);
  return { items, next };
}

/** Which deleted objects a page has. */
export interface DeletedObjectsOptions {
  /** Maximum number of objects; 0 for no limit. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly after: string | undefined;
  /** Whether an object is selected, by its last state; undefined if that can't be read. */
  readonly selects: (entry: Entry | undefined, namespace: string, name: string) => MaybePromise<boolean>;
  /** Resolves when the next objects may be read. */
  readonly pause: () => Promise<void>;
}

/** Deleted objects that are looked up at a time. */
const deletionsAtATime = 50;

/** Returns the last states of deleted objects that the history still has, in the order of their keys. */
export async function readDeleted(
  served: Engine,
  { resource, namespace }: Target,
  { limit, after, selects, pause }: DeletedObjectsOptions,
): Promise<HistoryPage<ObjectVersionRead>> {
  const history = historyOf(served, resource)!;
  const reader = new ContentReader(served, resource, await history.floor(resource.storePrefix));
  const prefix = prefixOf(resource, namespace);
  const items: ObjectVersionRead[] = [];
  let bytes = 0;
  let next = after;
  do {
    const left = limit === 0 ? deletionsAtATime : Math.min(deletionsAtATime, limit - items.length);
    const page = await history.deletions(prefix, { after: next, limit: left });
    for (const version of page.versions) {
      const { entry, error } = await reader.contentOf(version);
      const names = namesOf(version.key);
      if (!(await selects(entry, names.namespace, names.name))) continue;
      bytes += entry?.body.length ?? 0;
      items.push({ version, entry, error });
    }
    ({ next } = page);
    if (next !== undefined) await pause();
  } while (next !== undefined && (limit === 0 || items.length < limit) && bytes < pageBytes);
  return { items, next };
}

/** Reads the contents of versions, in the version of a resource type. */
class ContentReader {
  private readonly store: Engine["store"];

  /** @param floor the oldest revision that can be read. */
  constructor(
    served: Engine,
    resource: Resource,
    private readonly floor: Revision,
  ) {
    this.store = engineInVersion(served, resource).store;
  }

  /** Returns the object after the write, or before it if it deleted the object. A value that can't be read is an error of this version. */
  async contentOf(version: Version): Promise<Pick<ObjectVersionRead, "entry" | "error">> {
    const { key, revision, deleted, previous } = version;
    // The version that was current at the floor may be older than it.
    const at = Math.max(deleted ? previous : revision, this.floor) as Revision;
    try {
      const entry = await this.store.get(key, at);
      return entry === undefined ? { error: "the object is no longer kept" } : { entry };
    } catch (error) {
      const isOfVersion = isUnreadableValue(error) || error instanceof RevisionCompactedError;
      const failure = storeFailure(error);
      if (isOfVersion && failure instanceof StatusError) return { error: failure.message };
      throw failure;
    }
  }
}
