import { detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { draftOf, revisionOf } from "../entry.ts";
import { pagesOf } from "../range-pages.ts";
import type { Pin, StorePins } from "../store-history.ts";
import {
  RevisionCompactedError,
  RevisionTooNewError,
  StoreError,
  type Draft,
  type Entry,
  type Revision,
  type Store,
  type StoreEvent,
  type Subscription,
  type Write,
  type WriteCondition,
} from "../store.ts";
import { isArchiveKey, recordKey } from "./archive-keys.ts";
import { encodeArchiveRecord } from "./archive-record.ts";

/** Prefix of the keys of pins. */
export const pinsPrefix = "/~/pins//";
/** Changes with the pins, so that no write of another process overlooks one. */
const generationKey = "/~/generations//pins";
const pageKeys = 500;
const pendingMark = "?";
const completeMark = ":";
/** Maximum number of pins that one transaction changes. */
const changesTogether = 64;
/** Attempts to follow the pins if the store ends the subscription meanwhile. */
const maxAttempts = 5;

/** A change of a pin that waits for its transaction. */
interface PinChange {
  readonly key: string;
  /** Returns the write for the stored pin; undefined if there is nothing to do. */
  readonly writeFor: (stored: Entry | undefined) => MaybePromise<Write | undefined>;
  readonly resolve: (entry: Entry | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** The pins of a store. What is visible at one is kept from the write on that would supersede it. */
export class Pins implements StorePins {
  private generation: Revision | 0 = 0;
  private pinned = new PinnedRevisions();
  /** Keeps `pinned` up to date from the first pin on, so that a change of one pin doesn't read them all. */
  private subscription: Subscription | undefined;
  private loading: Promise<void> | undefined;
  private readonly waiting: PinChange[] = [];
  private isChanging = false;

  constructor(private readonly store: Store) {}

  /** The newest pinned revision; 0 without pins. */
  get newest(): Revision | 0 {
    return this.pinned.newest;
  }

  /** The condition of every write: the pins haven't changed. */
  get condition(): WriteCondition {
    return { key: generationKey, revision: this.generation };
  }

  /** Learns of the pins of all processes up to now. */
  load(): Promise<void> {
    return (this.loading ??= this.read().finally(() => (this.loading = undefined)));
  }

  private async read(): Promise<void> {
    // First: pins that are added meanwhile are of a later generation.
    const generation = (await this.store.get(generationKey))?.revision ?? 0;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      // One that has ended stays where it was, without an error.
      const reached = (await this.subscription?.sync()) ?? 0;
      if (reached >= generation) {
        this.generation = generation;
        return;
      }
      await this.follow();
    }
    throw new StoreError(`the pins of the store could not be followed in ${maxAttempts} attempts`);
  }

  /** Reads all pins, and receives the later ones. */
  private async follow(): Promise<void> {
    const after = await this.store.latestRevision();
    const pinned = new PinnedRevisions();
    for (const { name, revision } of await this.stored()) pinned.set(name, revision);
    const subscription = this.store.subscribe(
      { prefix: pinsPrefix, after },
      {
        events(batch) {
          for (const { key, entry } of batch)
            if (entry === undefined) pinned.delete(nameIn(key));
            else pinned.set(nameIn(key), pinIn(entry).revision);
        },
        ended: () => {
          if (this.subscription === subscription) this.subscription = undefined;
        },
      },
    );
    this.pinned = pinned;
    this.subscription = subscription;
  }

  /** Whether a revision is pinned. */
  async has(revision: Revision): Promise<boolean> {
    if (this.isBetween(revision, revision)) return true;
    // Another process may have pinned it.
    if (((await this.store.get(generationKey))?.revision ?? 0) === this.generation) return false;
    await this.load();
    return this.isBetween(revision, revision);
  }

  /** Whether a pinned revision is at least `from` and at most `to`. */
  isBetween(from: number, to: number): boolean {
    return this.pinned.isBetween(from, to);
  }

  async list(start = ""): Promise<readonly Pin[]> {
    const stored = await this.stored(start);
    return stored.filter(({ pending }) => !pending).map(({ name, revision }) => ({ name, revision }));
  }

  /** Returns the pins whose names begin with a text. */
  private async stored(start = ""): Promise<readonly StoredPin[]> {
    const pins: StoredPin[] = [];
    const first = start === "" ? undefined : await this.store.get(pinsPrefix + start);
    if (first !== undefined) pins.push(pinIn(first));
    const after = start === "" ? undefined : pinsPrefix + start;
    for await (const { entries } of pagesOf(this.store, { prefix: pinsPrefix, after, limit: pageKeys })) {
      const read = entries.map(pinIn);
      const end = read.findIndex(({ name }) => !name.startsWith(start));
      pins.push(...(end === -1 ? read : read.slice(0, end)));
      if (end !== -1) break;
    }
    return pins;
  }

  /** Completes the pins that a process which ended didn't complete, or removes them if their values are gone. */
  async complete(): Promise<void> {
    for (const pin of await this.stored()) {
      if (!pin.pending) continue;
      try {
        await this.finish(pin);
      } catch (error) {
        // Its values are gone, and so is the pin: it wasn't acknowledged.
        if (!(error instanceof RevisionCompactedError)) throw error;
      }
    }
  }

  async add(name: string, at?: Revision): Promise<Pin> {
    const key = pinsPrefix + name;
    const entry = await this.change(key, async (stored) => {
      // All values of a revision that another pin has are kept.
      const isComplete = at === undefined || (await this.isBelowFloor(at));
      const mark = isComplete ? completeMark : pendingMark;
      const draft = draftOfText(at === undefined ? mark : mark + String(at));
      return stored === undefined
        ? { kind: "create", key, draft }
        : { kind: "update", key, expected: stored.revision, draft };
    });
    const pin = pinIn(entry!);
    if (pin.pending) await this.finish(pin);
    return { name, revision: pin.revision };
  }

  /** Copies the values of a pin in the past that were superseded before it was stored. */
  private async finish({ name, revision, entry }: StoredPin): Promise<void> {
    try {
      await this.keepSuperseded(revision, entry.revision);
    } catch (error) {
      if (error instanceof RevisionCompactedError) await this.remove(name);
      throw error;
    }
    const { key } = entry;
    const draft = draftOfText(completeMark + String(revision));
    // A conflict is another change of the pin.
    await this.store.commit({ kind: "update", key, expected: entry.revision, draft });
  }

  async remove(name: string): Promise<boolean> {
    const key = pinsPrefix + name;
    const removed = await this.change(key, (stored) =>
      stored === undefined ? undefined : { kind: "delete", key, expected: stored.revision },
    );
    return removed !== undefined;
  }

  /**
   * Whether a revision can be read only because it is pinned.
   *
   * @throws as {@link StorePins.add}.
   */
  private async isBelowFloor(at: Revision): Promise<boolean> {
    const [floor, latest] = [await this.store.floor(), await this.store.latestRevision()];
    if (at > latest) throw new RevisionTooNewError(at, latest);
    if (at >= floor) return false;
    if (await this.has(at)) return true;
    throw new RevisionCompactedError(at, floor);
  }

  /**
   * Changes a pin together with the generation, and with the other changes that wait: each transaction changes the generation, so they can't
   * be concurrent. Returns the entry of the pin; undefined if there is none and nothing to do.
   */
  private change(key: string, writeFor: PinChange["writeFor"]): Promise<Entry | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ key, writeFor, resolve, reject });
      if (!this.isChanging) detach(this.changeWaiting(), reject);
    });
  }

  /** Changes the pins that wait until none does. Never rejects. */
  private async changeWaiting(): Promise<void> {
    this.isChanging = true;
    while (this.waiting.length > 0) {
      const keys = new Set<string>();
      const most = Math.min(changesTogether, this.store.transactionLimits.writes - 1);
      let count = 0;
      while (count < most && count < this.waiting.length && !keys.has(this.waiting[count]!.key))
        keys.add(this.waiting[count++]!.key);
      const changes = this.waiting.splice(0, count);
      try {
        await this.changeTogether(changes);
      } catch (error) {
        for (const { reject } of changes) reject(error as Error);
      }
    }
    this.isChanging = false;
  }

  /** Changes pins in one transaction. A change that isn't possible rejects by itself. */
  private async changeTogether(changes: readonly PinChange[]): Promise<void> {
    for (let left = changes; ;) {
      // Read first: what the writes rely on is as it is at this generation.
      const generation = await this.store.get(generationKey);
      const plans = await Promise.all(left.map((change) => this.plan(change)));
      const planned = plans.filter((one) => one !== undefined);
      if (planned.length === 0) return;
      const draft = draftOfText(completeMark);
      const result = await this.store.transact([
        ...planned.map(({ write }) => write),
        generation === undefined
          ? { kind: "create", key: generationKey, draft }
          : { kind: "update", key: generationKey, expected: generation.revision, draft },
      ]);
      left = planned.map(({ change }) => change);
      if (!result.ok) continue;
      await this.load();
      for (const [index, { change }] of planned.entries()) change.resolve(result.entries[index]);
      return;
    }
  }

  /** Returns the write of a change; undefined if it has nothing to do, or isn't possible. */
  private async plan(
    change: PinChange,
  ): Promise<{ readonly change: PinChange; readonly write: Write } | undefined> {
    const stored = await this.store.get(change.key);
    try {
      const write = await change.writeFor(stored);
      if (write !== undefined) return { change, write };
      change.resolve(stored);
    } catch (error) {
      change.reject(error as Error);
    }
    return undefined;
  }

  /**
   * Keeps the values that are visible at a revision and were superseded up to a later one, at which the pin was stored. They are copied
   * portion by portion.
   */
  private async keepSuperseded(at: Revision, upTo: Revision): Promise<void> {
    let events: StoreEvent[] = [];
    const copy = async (): Promise<void> => {
      const portion = events;
      events = [];
      for (const event of portion) await this.keepValue(event);
    };
    let subscription: Subscription | undefined;
    try {
      // The write of the pin is the last event.
      await new Promise<void>((resolve, reject) => {
        subscription = this.store.subscribe(
          { prefix: "/", after: at },
          {
            events(batch, reached) {
              for (const event of batch) if (isVisibleAt(event, at, upTo)) events.push(event);
              if (reached >= upTo) resolve();
            },
            ended: reject,
            drained: () => copy().catch(reject),
          },
        );
      });
    } finally {
      subscription?.close();
    }
    await copy();
  }

  /** Writes the record of a value, after the write that superseded it. */
  private async keepValue({ key, entry, previous, revision }: StoreEvent): Promise<void> {
    const value = previous!;
    const draft = encodeArchiveRecord({
      deleted: entry === undefined,
      previous: value.revision,
      value,
      origin: undefined,
      revision,
    });
    // There is one if another pin needed it.
    await this.store.commit({ kind: "create", key: recordKey(key, value.revision), draft });
  }
}

/** Whether an event up to a revision superseded a value that is visible at an earlier one. */
function isVisibleAt({ key, revision, previous }: StoreEvent, at: Revision, upTo: Revision): boolean {
  return previous !== undefined && previous.revision <= at && revision <= upTo && !isArchiveKey(key);
}

/** A stored pin. */
interface StoredPin extends Pin {
  /** Whether values that it needs are still being copied. */
  readonly pending: boolean;
  readonly entry: Entry;
}

function pinIn(entry: Entry): StoredPin {
  const text = Buffer.from(draftOf(entry).body).toString("utf8");
  const revision = text.length === 1 ? entry.revision : revisionOf(Number(text.slice(1)));
  return { name: nameIn(entry.key), revision, pending: text.startsWith(pendingMark), entry };
}

function nameIn(key: string): string {
  return key.slice(pinsPrefix.length);
}

/** The revisions of pins by name, and in order. */
class PinnedRevisions {
  private readonly byName = new Map<string, Revision>();
  /** In ascending order; one that several pins have is there for each. */
  private readonly ordered: Revision[] = [];

  get newest(): Revision | 0 {
    return this.ordered.at(-1) ?? 0;
  }

  isBetween(from: number, to: number): boolean {
    const first = this.ordered[this.indexOf(from)];
    return first !== undefined && first <= to;
  }

  set(name: string, revision: Revision): void {
    if (this.byName.get(name) === revision) return;
    this.delete(name);
    this.byName.set(name, revision);
    this.ordered.splice(this.indexOf(revision), 0, revision);
  }

  delete(name: string): void {
    const revision = this.byName.get(name);
    if (revision === undefined) return;
    this.byName.delete(name);
    this.ordered.splice(this.indexOf(revision), 1);
  }

  /** Index of the first revision that isn't below another one. */
  private indexOf(revision: number): number {
    let [low, high] = [0, this.ordered.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ordered[middle]! < revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function draftOfText(text: string): Draft {
  return { header: new Uint8Array(), body: Buffer.from(text), revisionAt: 0 };
}
