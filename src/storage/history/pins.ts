import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import { draftOf, revisionOf } from "../entry.ts";
import { pagesOf } from "../range-pages.ts";
import type { Pin, StorePins } from "../store-history.ts";
import {
  RevisionCompactedError,
  RevisionTooNewError,
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

/** The pins of a store. What is visible at one is kept from the write on that would supersede it. */
export class Pins implements StorePins {
  private generation: Revision | 0 = 0;
  private revisions: Revision[] = [];
  private loading: Promise<void> | undefined;

  constructor(private readonly store: Store) {}

  /** The newest pinned revision; 0 without pins. */
  get newest(): Revision | 0 {
    return this.revisions.at(-1) ?? 0;
  }

  /** The condition of every write: the pins haven't changed. */
  get condition(): WriteCondition {
    return { key: generationKey, revision: this.generation };
  }

  /** Reads the pins. */
  load(): Promise<void> {
    return (this.loading ??= this.read().finally(() => (this.loading = undefined)));
  }

  private async read(): Promise<void> {
    const generation = (await this.store.get(generationKey))?.revision ?? 0;
    this.revisions = (await this.stored()).map(({ revision }) => revision).toSorted((a, b) => a - b);
    this.generation = generation;
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
    let [low, high] = [0, this.revisions.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.revisions[middle]! < from) low = middle + 1;
      else high = middle;
    }
    const first = this.revisions[low];
    return first !== undefined && first <= to;
  }

  async list(): Promise<readonly Pin[]> {
    const stored = await this.stored();
    return stored.filter(({ pending }) => !pending).map(({ name, revision }) => ({ name, revision }));
  }

  private async stored(): Promise<readonly StoredPin[]> {
    const pins: StoredPin[] = [];
    for await (const { entries } of pagesOf(this.store, { prefix: pinsPrefix, limit: pageKeys }))
      pins.push(...entries.map(pinIn));
    return pins;
  }

  /** Completes the pins that a process which ended didn't complete, or removes them if their values are gone. */
  async complete(): Promise<void> {
    for (const pin of await this.stored()) if (pin.pending) await this.finish(pin);
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

  /** Changes a pin together with the generation. Returns the entry of the pin; undefined if there is none and nothing to do. */
  private async change(
    key: string,
    writeFor: (stored: Entry | undefined) => MaybePromise<Write | undefined>,
  ): Promise<Entry | undefined> {
    for (;;) {
      // Read first: what the write relies on is as it is at this generation.
      const generation = await this.store.get(generationKey);
      const stored = await this.store.get(key);
      const write = await writeFor(stored);
      if (write === undefined) return stored;
      const draft = draftOfText(completeMark);
      const result = await this.store.transact([
        write,
        generation === undefined
          ? { kind: "create", key: generationKey, draft }
          : { kind: "update", key: generationKey, expected: generation.revision, draft },
      ]);
      if (!result.ok) continue;
      await this.load();
      return result.entries[0];
    }
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
  return { name: entry.key.slice(pinsPrefix.length), revision, pending: text.startsWith(pendingMark), entry };
}

function draftOfText(text: string): Draft {
  return { header: new Uint8Array(), body: Buffer.from(text), revisionAt: 0 };
}
