/** The kept history of a derived store: that of its own store, in which the markers of hidden keys are writes of these keys. */
import { createYielder } from "../../base/turns/yielding.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { revisionOf } from "../entry.ts";
import { compareKeys } from "../keys.ts";
import type { StoreHistory, Version, VersionOptions, VersionPage } from "../store-history.ts";
import type { Entry, Revision, Store } from "../store.ts";
import { hiddenRevision, isMarker, markerKey, shownKey } from "./hidden-keys.ts";

/** What a {@link DerivedHistory} is over. */
export interface DerivedHistoryParts {
  /** The derived store. */
  readonly derived: Pick<Store, "get">;
  /** The store that has its writes. */
  readonly own: Store;
  readonly history: StoreHistory;
  /** Returns the base's value of a key. */
  readonly baseValue: (key: string) => MaybePromise<Entry | undefined>;
  /** The revision with which the derived store begins. */
  readonly since: Revision;
}

/** Maximum number of keys that one page of deletions looks at. */
const scannedKeys = 500;
const scannedBytes = 512 * 1024;

/**
 * The history of a derived store begins with the store: the version that a key had then is the value of the base, without an origin.
 * Deletions from before are those of the base.
 */
export class DerivedHistory implements StoreHistory {
  constructor(private readonly parts: DerivedHistoryParts) {}

  keeps(prefix: string): boolean {
    return this.parts.history.keeps(prefix);
  }

  async floor(prefix: string): Promise<Revision> {
    return revisionOf(Math.max(await this.parts.history.floor(prefix), this.parts.since));
  }

  revisionAt(time: number): Promise<Revision> {
    return this.parts.history.revisionAt(time);
  }

  forget(start: string, ending?: AbortSignal): Promise<void> {
    return this.parts.history.forget(start, ending);
  }

  async versions(key: string, options: VersionOptions): Promise<VersionPage> {
    const { history, own, since } = this.parts;
    const floor = await this.floor(key);
    const page = await history.versions(key, options);
    const marker = await own.get(markerKey(key));
    const versions: Version[] = [];
    for (const version of page.versions) {
      const { revision, deleted } = version;
      // A move to another state of the base deletes own values that this state has.
      const isMoved = deleted && revision <= since;
      if (!isMoved) versions.push(this.overBase(version, marker));
      if (revision > floor) continue;
      const rest = isMoved ? await this.oldest(key, marker, floor) : [];
      return { versions: [...versions, ...rest], next: undefined };
    }
    if (page.next !== undefined) return { versions, next: page.next };
    return { versions: [...versions, ...(await this.oldest(key, marker, floor))], next: undefined };
  }

  /** The version of a write, whose version before is that of the base if it was the first write of its key. */
  private overBase(version: Version, marker: Entry | undefined): Version {
    if (marker?.revision !== version.revision || version.deleted) return version;
    return { ...version, previous: hiddenRevision(marker) };
  }

  /** Returns the versions of a key before those that its own records have. */
  private async oldest(key: string, marker: Entry | undefined, floor: Revision): Promise<Version[]> {
    if (marker !== undefined && marker.revision <= floor) return [];
    const deletion = marker && (await this.deletionWithOrigin(key, marker));
    const base = await this.parts.baseValue(key);
    const versions = deletion === undefined ? [] : [deletion];
    if (base !== undefined)
      versions.push({ key, revision: base.revision, deleted: false, previous: 0, origin: undefined });
    return versions;
  }

  /** Returns the deletion that a marker above the floor stands for, without an origin; undefined if its key was updated. */
  private async deletionOf(key: string, marker: Entry): Promise<Version | undefined> {
    const { revision } = marker;
    const value = await this.parts.own.get(key, revision);
    if (value?.revision === revision) return undefined;
    return { key, revision, deleted: true, previous: hiddenRevision(marker), origin: undefined };
  }

  /** As {@link deletionOf}, with the origin, which the record of the marker has. */
  private async deletionWithOrigin(key: string, marker: Entry): Promise<Version | undefined> {
    const deletion = await this.deletionOf(key, marker);
    if (deletion === undefined) return undefined;
    const { versions } = await this.parts.history.versions(marker.key, { limit: 1 });
    const origin = versions.find(({ revision }) => revision === marker.revision)?.origin;
    return { ...deletion, origin };
  }

  async deletions(prefix: string, { after, limit }: VersionOptions): Promise<VersionPage> {
    const floor = await this.floor(prefix);
    const own = await this.ownDeletions(prefix, { after, limit }, floor);
    const hidden = await this.hiddenKeys(prefix, { after, limit }, floor);
    // Both have all keys up to the smaller end.
    const end = smallest(own.next, hidden.next);
    const versions = [...own.versions, ...hidden.versions]
      .filter(({ key }) => end === undefined || compareKeys(key, end) <= 0)
      .toSorted((a, b) => compareKeys(a.key, b.key));
    if (versions.length <= limit) return { versions, next: end };
    return { versions: versions.slice(0, limit), next: versions[limit - 1]!.key };
  }

  /** Returns the keys whose own value was deleted. */
  private async ownDeletions(prefix: string, options: VersionOptions, floor: Revision): Promise<VersionPage> {
    const { history, derived } = this.parts;
    const { versions, next } = await history.deletions(prefix, options);
    const own: Version[] = [];
    for (const version of versions) {
      if (version.revision <= floor || isMarker(version.key)) continue;
      if ((await derived.get(version.key)) === undefined) own.push(version);
    }
    return { versions: own, next: next && shownKey(next) };
  }

  /** Returns the keys of the base that were deleted and never written. */
  private async hiddenKeys(
    prefix: string,
    { after, limit }: VersionOptions,
    floor: Revision,
  ): Promise<VersionPage> {
    const { own, history } = this.parts;
    const { entries, more } = await own.range({
      prefix,
      // The marker of a key is a part of it.
      after: after && markerKey(after),
      limit: scannedKeys,
      maxBytes: scannedBytes,
    });
    const versions: Version[] = [];
    const yieldIfDue = createYielder();
    for (const marker of entries) {
      if (!isMarker(marker.key) || marker.revision <= floor) continue;
      const key = shownKey(marker.key);
      // An own value, also a deleted one, has records of its own.
      const { versions: records } = await history.versions(key, { limit: 1 });
      if (records.length > 0) continue;
      const deletion = await this.deletionWithOrigin(key, marker);
      if (deletion !== undefined) versions.push(deletion);
      if (versions.length >= limit) return { versions, next: key };
      await yieldIfDue();
    }
    const last = entries.at(-1);
    return { versions, next: more && last ? shownKey(last.key) : undefined };
  }

  async changes(prefix: string, options: VersionOptions): Promise<VersionPage> {
    const { own, history } = this.parts;
    const floor = await this.floor(prefix);
    const { versions: records, next } = await history.changes(prefix, options);
    const versions: Version[] = [];
    for (const version of records) {
      const { key, revision, deleted, previous } = version;
      if (revision <= floor) continue;
      if (!isMarker(key)) {
        const isCreate = previous === 0 && !deleted;
        versions.push(isCreate ? this.overBase(version, await own.get(markerKey(key))) : version);
        continue;
      }
      const marker = deleted ? undefined : await own.get(key);
      if (marker?.revision !== revision) continue;
      const deletion = await this.deletionOf(shownKey(key), marker);
      if (deletion !== undefined) versions.push({ ...deletion, origin: version.origin });
    }
    return { versions, next };
  }
}

function smallest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareKeys(a, b) < 0 ? a : b;
}
