import type { History, ObservedObject, Operation, WriteRequest } from "../history.ts";
import { isAnswered } from "../history.ts";

/** A value of a key, or its absence, from one revision to the next. */
export interface Version {
  readonly key: string;
  readonly revision: number;
  /** The object; absent if this revision deleted it. */
  readonly object?: ObservedObject;
  /** `uid` of the object, also of a deleted one. */
  readonly uid: string;
  /** Who saw the version first, for messages. */
  readonly source: string;
}

/** Two observations of one revision that differ. */
export interface Conflict {
  readonly first: Version;
  readonly second: Version;
}

/**
 * All versions that anybody saw: in the initial state, answers, lists and events. Every law except the order of events is stated in
 * terms of it.
 */
export class Timeline {
  /** Every version, by ascending revision. */
  readonly versions: readonly Version[];
  readonly conflicts: readonly Conflict[];
  /** Versions of each key, by ascending revision. */
  readonly byKey: ReadonlyMap<string, readonly Version[]>;
  /** Revisions of the values with a token, in the order in which they were first seen; more than one is a violation. */
  readonly revisionsByToken: ReadonlyMap<string, readonly number[]>;
  private readonly seen: ReadonlyMap<number, number>;
  private readonly deletionByUid = new Map<string, number>();
  private readonly versionsByPrefix = new Map<string, readonly Version[]>();
  private readonly keysByPrefix = new Map<string, readonly string[]>();

  constructor(readonly history: History) {
    const { byRevision, conflicts, seen } = collect(history);
    this.seen = seen;
    this.versions = [...byRevision.values()].flat().toSorted((a, b) => a.revision - b.revision);
    this.conflicts = conflicts;
    const byKey = new Map<string, Version[]>();
    const revisionsByToken = new Map<string, number[]>();
    for (const version of this.versions) {
      append(byKey, version.key, version);
      const token = version.object?.token;
      if (token !== undefined && token !== "") append(revisionsByToken, token, version.revision);
      if (version.object === undefined) this.deletionByUid.set(version.uid, version.revision);
    }
    this.byKey = byKey;
    this.revisionsByToken = revisionsByToken;
  }

  /** Returns the newest version of a key with at most this revision. */
  versionAt(key: string, revision: number): Version | undefined {
    const versions = this.byKey.get(key) ?? [];
    return versions[countUpTo(versions, revision) - 1];
  }

  /** Returns the versions under a prefix, by ascending revision. */
  under(prefix: string): readonly Version[] {
    let versions = this.versionsByPrefix.get(prefix);
    if (versions === undefined) {
      versions = this.versions.filter(({ key }) => key.startsWith(prefix));
      this.versionsByPrefix.set(prefix, versions);
    }
    return versions;
  }

  /** Returns every key under a prefix that ever had an object, in key order. */
  keysUnder(prefix: string): readonly string[] {
    let keys = this.keysByPrefix.get(prefix);
    if (keys === undefined) {
      keys = [...this.byKey.keys()].filter((key) => key.startsWith(prefix)).toSorted();
      this.keysByPrefix.set(prefix, keys);
    }
    return keys;
  }

  /** Returns the first time at which somebody had seen a revision; infinite if nobody did. */
  seenNs(revision: number | undefined): number {
    return (revision === undefined ? undefined : this.seen.get(revision)) ?? Number.POSITIVE_INFINITY;
  }

  /** Returns the revision of a write that took effect, if an answer or an observation shows it. */
  revisionOf({ request, answer }: Operation): number | undefined {
    if (!isWrite(request)) return undefined;
    if (request.verb === "delete")
      return answer?.outcome === "deleted" ? this.deletionByUid.get(answer.uid) : undefined;
    if (answer?.outcome === "object") return answer.object.revision;
    return answer !== undefined ? undefined : this.revisionsByToken.get(request.token)?.[0];
  }
}

/** Whether a request writes an object. */
export function isWrite(request: Operation["request"]): request is WriteRequest {
  return ["create", "update", "patch", "delete"].includes(request.verb);
}

/** Returns how many of the versions have at most this revision. */
export function countUpTo(versions: readonly Version[], revision: number): number {
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (versions[middle]!.revision <= revision) low = middle + 1;
    else high = middle;
  }
  return low;
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

function collect(history: History) {
  const byRevision = new Map<number, Version[]>();
  const transactions = new Map<string, number>();
  for (const { request, transaction } of history.operations)
    if (transaction !== undefined && "token" in request) transactions.set(request.token, transaction);
  /** Whether two values of different keys may have the same revision. */
  const areTogether = (a: Version, b: Version) => {
    // Earlier transactions are not part of the history.
    if (a.revision <= history.initial.revision) return true;
    const transaction = transactions.get(a.object?.token ?? "");
    return transaction !== undefined && transaction === transactions.get(b.object?.token ?? "");
  };
  const seen = new Map<number, number>();
  const conflicts: Conflict[] = [];
  const add = (version: Version, atNs: number, isInitial = false) => {
    const { revision } = version;
    const versions = byRevision.get(revision);
    // The initial state has everything that is older than it and still there.
    const isPast = !isInitial && revision <= history.initial.revision;
    if (isPast && versions?.some(({ key }) => key === version.key) !== true) return;
    const first = versions?.find(({ key }) => key === version.key) ?? versions?.[0];
    if (first === undefined) byRevision.set(revision, [version]);
    else if (first.key !== version.key && areTogether(first, version)) versions!.push(version);
    else if (!isSame(first, version)) conflicts.push({ first, second: version });
    if (atNs < (seen.get(revision) ?? Number.POSITIVE_INFINITY)) seen.set(revision, atNs);
  };
  const put = (object: ObservedObject, atNs: number, source: string, isInitial = false) => {
    const { key, revision, uid } = object;
    add({ key, revision, uid, object, source }, atNs, isInitial);
  };
  for (const object of history.initial.objects)
    put(object, Number.NEGATIVE_INFINITY, "the initial state", true);
  for (const operation of history.operations) {
    if (!isAnswered(operation)) continue;
    const { answer, id, endNs } = operation;
    const source = `operation ${id}`;
    if (answer.outcome === "object") put(answer.object, endNs, source);
    if (answer.outcome === "page") for (const object of answer.objects) put(object, endNs, source);
  }
  for (const { frames, id } of history.watches) {
    const source = `watch ${id}`;
    for (const frame of frames) {
      if (frame.type === "BOOKMARK" || frame.type === "GONE") continue;
      const { object, atNs } = frame;
      const { key, revision, uid } = object;
      if (frame.type === "DELETED") add({ key, revision, uid, source }, atNs);
      else put(object, atNs, source);
    }
  }
  return { byRevision, conflicts, seen };
}

function isSame(a: Version, b: Version): boolean {
  return a.key === b.key && a.uid === b.uid && a.object?.digest === b.object?.digest;
}
