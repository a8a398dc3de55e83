import type { Revision, Subscription } from "../../storage/store.ts";
import { shownEntry, type WatchChange } from "../registry/watch-change.ts";

/** A batch of which the changes before `next` have been delivered. */
interface PendingBatch {
  readonly changes: readonly WatchChange[];
  next: number;
}

/** One source of a merged watch, with the changes that wait for other sources. */
export class MergedSource {
  readonly pending: PendingBatch[] = [];
  pendingBytes = 0;
  /** Undefined until its `subscribe` has returned. */
  subscription: Subscription | undefined;
  isSyncing = false;
  /** Resolve when no change waits. */
  private waiting: (() => void)[] = [];

  /** @param received every change up to here has been received. */
  constructor(private received: Revision) {}

  /** Every change up to here has been received. Never decreases, unlike the position of a subscription with deferred events. */
  get position(): Revision {
    const position = this.subscription?.position ?? this.received;
    if (position > this.received) this.received = position;
    return this.received;
  }

  /** Revision of the first waiting change; Infinity if there is none. */
  get nextRevision(): number {
    const [first] = this.pending;
    return first === undefined ? Infinity : first.changes[first.next]!.event.revision;
  }

  /** Revision of the last waiting change; 0 if there is none. */
  get lastRevision(): number {
    return this.pending.at(-1)?.changes.at(-1)?.event.revision ?? 0;
  }

  /** Whether it sends no further history until its changes are delivered. */
  get isHeldBack(): boolean {
    return this.waiting.length > 0;
  }

  receive(changes: readonly WatchChange[], upTo: Revision): void {
    this.received = upTo;
    if (changes.length === 0) return;
    this.pending.push({ changes, next: 0 });
    for (const change of changes) this.pendingBytes += bytesOf(change);
  }

  /** Takes the waiting changes below a revision, at most the rest of a batch. @param limit exclusive. */
  take(limit: number): readonly WatchChange[] {
    const [batch] = this.pending;
    const { changes, next } = batch!;
    let end = next;
    while (end < changes.length && changes[end]!.event.revision < limit) {
      this.pendingBytes -= bytesOf(changes[end]!);
      end++;
    }
    if (end === changes.length) this.pending.shift();
    else batch!.next = end;
    return sliceOf(changes, next, end);
  }

  /** Resolves when all received changes are delivered, or the source is closed. */
  delivered(): Promise<void> {
    if (this.pending.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  releaseIfDelivered(): void {
    if (this.pending.length > 0 || this.waiting.length === 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** As `Subscription.sync`. A promise resolves after `done` was called. */
  sync(done: () => void): Promise<void> | undefined {
    const synced = this.subscription?.sync();
    if (!(synced instanceof Promise)) return undefined;
    this.isSyncing = true;
    return synced
      .finally(() => {
        this.isSyncing = false;
      })
      .then(done);
  }

  close(): void {
    this.pending.length = 0;
    this.pendingBytes = 0;
    this.releaseIfDelivered();
    this.subscription?.close();
  }
}

/**
 * Takes the next changes in the order of revisions from the sources. Of equal revisions the first source is first.
 *
 * @param upTo only changes up to this revision.
 */
export function nextRun(
  sources: readonly MergedSource[],
  upTo: Revision,
): { readonly source: number; readonly changes: readonly WatchChange[] } | undefined {
  let first = -1;
  let firstRevision = Infinity;
  /** The changes of the first source below this revision are before all changes of other sources. */
  let limit = upTo + 1;
  for (const [index, { nextRevision }] of sources.entries()) {
    if (nextRevision < firstRevision) {
      // Of equal revisions those of the earlier source come first.
      limit = Math.min(limit, firstRevision);
      firstRevision = nextRevision;
      first = index;
    } else limit = Math.min(limit, nextRevision + 1);
  }
  if (firstRevision > upTo) return undefined;
  return { source: first, changes: sources[first]!.take(limit) };
}

function bytesOf(change: WatchChange): number {
  return shownEntry(change).body.length;
}

const slices = new WeakMap<readonly WatchChange[], Map<string, readonly WatchChange[]>>();

/** Returns a part of a batch; the same array for the same part, so that watches share its encoding. */
function sliceOf(changes: readonly WatchChange[], from: number, to: number): readonly WatchChange[] {
  if (from === 0 && to === changes.length) return changes;
  let byRange = slices.get(changes);
  if (byRange === undefined) slices.set(changes, (byRange = new Map()));
  const key = `${from} ${to}`;
  let slice = byRange.get(key);
  if (slice === undefined) byRange.set(key, (slice = changes.slice(from, to)));
  return slice;
}
