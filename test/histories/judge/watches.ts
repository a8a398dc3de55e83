import type { Frame, History, Violation, Watch } from "../history.ts";
import { Compactions } from "./compaction.ts";
import { judgeCoverage } from "./coverage.ts";
import { countUpTo, type Timeline, type Version } from "./timeline.ts";

const law = "watches";

/** A frame with an object. */
type Event = Extract<Frame, { object: unknown }>;

/**
 * A watch delivers every change after its revision exactly once, in the order of revisions and with the right type; a bookmark isn't
 * ahead of later events; and 410 is answered only if history may have been compacted. A watch may end within the events of a transaction;
 * one that begins at the revision of a transaction delivers all of its events, if there are several. This holds for each watch by itself,
 * so it holds for a client that continues at another server from the last revision. Linear in the number of frames.
 */
export function judgeWatches(history: History, timeline: Timeline): Violation[] {
  const judge = new WatchJudge(history, timeline);
  return history.watches.flatMap((watch) => judge.violationsOf(watch));
}

class WatchJudge {
  /** The version before each one, by revision and key. */
  private readonly previous = new Map<string, Version | undefined>();
  private readonly compactions: Compactions;
  /** Whether some watch shows each deletion. */
  private readonly isCovered: boolean;

  constructor(
    private readonly history: History,
    private readonly timeline: Timeline,
  ) {
    for (const versions of timeline.byKey.values())
      versions.forEach((version, index) => this.previous.set(idOf(version), versions[index - 1]));
    this.compactions = new Compactions(history, timeline);
    this.isCovered = judgeCoverage(history, timeline).length === 0;
  }

  violationsOf(watch: Watch): Violation[] {
    const messages = [
      ...this.orderOf(watch),
      ...this.missingOf(watch),
      ...watch.frames.flatMap((frame) => this.wrongEvent(frame)),
      ...watch.frames.flatMap((frame) => this.wrongGone(watch, frame)),
    ];
    const { id, client, server, prefix, after } = watch;
    // The first one explains the others.
    return messages.slice(0, 1).map((message) => ({
      law,
      message: `watch ${id} (${client} at ${server}, ${prefix} after revision ${after}): ${message}`,
    }));
  }

  /** Revisions ascend, also across bookmarks; the events of a transaction have the same one. */
  private orderOf(watch: Watch): string[] {
    const { frames, after } = watch;
    const repeats = this.hasSeveral(watch, after);
    let position = after;
    let isBookmark = false;
    /** Keys of the events of the position. */
    let keys = new Set<string>();
    for (const frame of frames) {
      if (frame.type === "GONE") continue;
      const revision = frame.type === "BOOKMARK" ? frame.revision : frame.object.revision;
      const continues =
        isEvent(frame) &&
        revision === position &&
        !isBookmark &&
        (keys.size > 0 || (repeats && revision === after));
      const isWrong = isEvent(frame)
        ? revision <= position && !(continues && !keys.has(frame.object.key))
        : revision < position;
      if (isWrong)
        return [`${nameOf(frame)} follows ${isBookmark ? "a bookmark with " : ""}revision ${position}`];
      if (!continues) keys = new Set();
      if (isEvent(frame)) keys.add(frame.object.key);
      position = revision;
      isBookmark = frame.type === "BOOKMARK";
    }
    return [];
  }

  /** Whether several objects under the prefix of a watch changed at a revision. */
  private hasSeveral({ prefix }: Watch, revision: number): boolean {
    const versions = this.timeline.under(prefix);
    return countUpTo(versions, revision) - countUpTo(versions, revision - 1) > 1;
  }

  /** Every version under the prefix up to the last position was delivered, and nothing else. */
  private missingOf(watch: Watch): string[] {
    const { frames, after, prefix, mustReach = 0 } = watch;
    const last = frames.findLast(({ type }) => type !== "GONE");
    const lastRevision = last === undefined || last.type === "GONE" ? after : revisionOf(last);
    const mayBeCut = last !== undefined && isEvent(last) && this.hasSeveral(watch, lastRevision);
    const position = mayBeCut ? lastRevision - 1 : lastRevision;
    const delivered = new Set(frames.filter(isEvent).map(({ object }) => idOf(object)));
    const versions = this.timeline.under(prefix);
    const from = Math.max(this.firstOf(watch), this.history.initial.revision);
    const required = versions.slice(
      countUpTo(versions, from),
      countUpTo(versions, Math.max(position, mustReach)),
    );
    const missing = required.find((version) => !delivered.has(idOf(version)));
    if (missing !== undefined)
      return [`revision ${missing.revision} of ${missing.key} was not delivered; ${missing.source} shows it`];
    const foreign = frames.filter(isEvent).find(({ object }) => !object.key.startsWith(prefix));
    return foreign === undefined ? [] : [`${nameOf(foreign)} is not under the prefix`];
  }

  /** The revision after which a watch that has delivered something must have delivered every version. */
  private firstOf(watch: Watch): number {
    const { after, frames } = watch;
    const last = frames.at(-1);
    if (last === undefined || last.type === "GONE" || !this.hasSeveral(watch, after)) return after;
    return this.compactions.mayHaveRemoved(after - 1, last.atNs) ? after : after - 1;
  }

  /** The type agrees with the version before, and a deletion carries its last value. */
  private wrongEvent(frame: Frame): string[] {
    if (!isEvent(frame) || frame.object.revision <= this.history.initial.revision) return [];
    const { key, digest, uid } = frame.object;
    const previous = this.previous.get(idOf(frame.object));
    if (frame.type !== "DELETED" && previous?.object !== undefined && previous.uid !== uid)
      return frame.type === "ADDED" && !this.isCovered
        ? []
        : [
            `${nameOf(frame)} is another object than revision ${previous.revision}, whose deletion no watch shows`,
          ];
    const type = frame.type === "DELETED" ? "DELETED" : previous?.object === undefined ? "ADDED" : "MODIFIED";
    if (frame.type !== type) return [`${nameOf(frame)} should have the type ${type}`];
    if (type !== "DELETED") return [];
    if (previous?.object === undefined) return [`${nameOf(frame)}, but ${key} did not exist before`];
    return previous.object.digest === digest
      ? []
      : [`${nameOf(frame)} carries another value than revision ${previous.revision}`];
  }

  private wrongGone({ after }: Watch, frame: Frame): string[] {
    return frame.type !== "GONE" || this.compactions.mayHaveRemoved(after, frame.atNs)
      ? []
      : [`410 was answered at ${(frame.atNs / 1e6).toFixed(3)} ms, but nothing was compacted`];
  }
}

function idOf({ revision, key }: { readonly revision: number; readonly key: string }): string {
  return `${revision} ${key}`;
}

function isEvent(frame: Frame): frame is Event {
  return frame.type !== "BOOKMARK" && frame.type !== "GONE";
}

function revisionOf(frame: Exclude<Frame, { type: "GONE" }>): number {
  return frame.type === "BOOKMARK" ? frame.revision : frame.object.revision;
}

function nameOf(frame: Exclude<Frame, { type: "GONE" }>): string {
  if (frame.type === "BOOKMARK") return `a bookmark with revision ${frame.revision}`;
  return `${frame.type} of ${frame.object.key} at revision ${frame.object.revision}`;
}
