import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { RecentMap } from "../../base/recent-map.ts";
import { createYielder } from "../../base/yielding.ts";
import type { Draft, Entry, StoreEvent } from "../store.ts";
import {
  encryptedBytes,
  isSealed,
  labelOf,
  packDraft,
  plainEntry,
  sealedDraft,
  unpackDraft,
} from "./sealed-draft.ts";
import { EncryptionError, type CiphersOf, type CollectionCiphers } from "./value-cipher.ts";

/** Decrypted values that are kept, by key; the cost is their size in bytes. */
const cacheLimits = { entries: 20_000, cost: 32 * 1024 * 1024 };

/** Entries up to this size in total are decrypted without a pause for other work. */
const maxBytesWithoutPause = 64 * 1024;

/** A draft whose commit is pending, in both forms. */
interface PendingDraft {
  readonly sealed: Draft;
  readonly plain: Draft;
}

/** Encrypts drafts and decrypts entries of a store. */
export class EntryDecryption {
  private readonly byCollection = new Map<string, CollectionCiphers | undefined>();
  /** Decrypted forms of the objects of the store, so that readers of the same object share the result. */
  private entries = new WeakMap<Entry, Entry>();
  private readonly events = new WeakMap<StoreEvent, StoreEvent>();
  private readonly batches = new WeakMap<readonly StoreEvent[], readonly StoreEvent[]>();
  private recent = new RecentMap<Entry>(cacheLimits);
  private readonly pending = new Map<string, Set<PendingDraft>>();

  constructor(private ciphersOf: CiphersOf) {}

  /** Uses other ciphers from now on. */
  use(ciphersOf: CiphersOf): void {
    this.ciphersOf = ciphersOf;
    this.byCollection.clear();
    this.entries = new WeakMap();
    this.recent = new RecentMap(cacheLimits);
  }

  /**
   * Encrypts the draft of a key.
   *
   * @returns the draft itself if the collection is stored in plain text.
   * @throws {EncryptionError} the key of the collection can't be used at present.
   */
  seal(key: string, draft: Draft): MaybePromise<Draft> {
    const writer = this.ciphersFor(key)?.writer;
    if (writer === undefined) return draft;
    return andThen(writer.encrypt(packDraft(draft), key), (bytes) => sealedDraft(writer.label, bytes));
  }

  /**
   * Runs the commit of a draft. Its events, which arrive before it ends, need no decryption.
   */
  async committing<T>(key: string, drafts: PendingDraft, commit: () => Promise<T>): Promise<T> {
    let pending = this.pending.get(key);
    if (pending === undefined) this.pending.set(key, (pending = new Set()));
    pending.add(drafts);
    try {
      return await commit();
    } finally {
      pending.delete(drafts);
      if (pending.size === 0 && this.pending.get(key) === pending) this.pending.delete(key);
    }
  }

  /**
   * Returns the decrypted form of an entry; the entry itself if it is stored in plain text.
   *
   * @throws {EncryptionError} it can't be decrypted, or its collection must be encrypted.
   */
  open(entry: Entry): MaybePromise<Entry> {
    const cached = this.entries.get(entry);
    if (cached !== undefined) return cached;
    const ciphers = this.ciphersFor(entry.key);
    if (!isSealed(entry)) return this.openPlain(entry, ciphers);
    const recent = this.recent.get(entry.key);
    if (recent?.revision === entry.revision) return this.keep(entry, recent);
    const committed = this.committedDraft(entry);
    if (committed !== undefined) {
      return this.keep(entry, plainEntry(entry.key, entry.revision, committed));
    }
    return this.decrypt(entry, ciphers);
  }

  /** Decrypts entries in their order; pauses for other work if they are large. */
  openAll(entries: readonly Entry[]): MaybePromise<readonly Entry[]> {
    let bytes = 0;
    for (const { body } of entries) bytes += body.length;
    return bytes <= maxBytesWithoutPause ? this.openNow(entries) : this.openInTurns(entries);
  }

  /** Decrypts a batch of events; the same batch and event have the same result. */
  openBatch(batch: readonly StoreEvent[]): MaybePromise<readonly StoreEvent[]> {
    const cached = this.batches.get(batch);
    if (cached !== undefined) return cached;
    const opened = inOrder(batch, (event) => this.openEvent(event));
    return andThen(opened, (events) => {
      this.batches.set(batch, events);
      return events;
    });
  }

  private openEvent(event: StoreEvent): MaybePromise<StoreEvent> {
    const cached = this.events.get(event);
    if (cached !== undefined) return cached;
    const { entry, previous } = event;
    return andThen(entry === undefined ? undefined : this.open(entry), (openEntry) =>
      andThen(previous === undefined ? undefined : this.open(previous), (openPrevious) => {
        const isPlain = openEntry === entry && openPrevious === previous;
        const opened = isPlain ? event : { ...event, entry: openEntry, previous: openPrevious };
        this.events.set(event, opened);
        return opened;
      }),
    );
  }

  private openNow(entries: readonly Entry[]): MaybePromise<readonly Entry[]> {
    return inOrder(entries, (entry) => this.open(entry));
  }

  private async openInTurns(entries: readonly Entry[]): Promise<readonly Entry[]> {
    const yieldIfDue = createYielder();
    const opened: Entry[] = [];
    for (const entry of entries) {
      const one = this.open(entry);
      opened.push(one instanceof Promise ? await one : one);
      const pause = yieldIfDue();
      if (pause !== undefined) await pause;
    }
    return opened;
  }

  private openPlain(entry: Entry, ciphers: CollectionCiphers | undefined): Entry {
    if (ciphers === undefined || (ciphers.writer === undefined && ciphers.readsPlain)) return entry;
    if (!ciphers.readsPlain) {
      throw unreadable(entry.key, "it is not encrypted, and the providers of its resource have no identity");
    }
    return this.remember(entry, { ...entry, outdated: true });
  }

  private decrypt(entry: Entry, ciphers: CollectionCiphers | undefined): MaybePromise<Entry> {
    const label = labelOf(entry);
    const reader = ciphers?.readers.find((one) => one.label === label);
    if (reader === undefined) {
      throw unreadable(entry.key, `no provider of its resource has the key ${JSON.stringify(label)}`);
    }
    const bytes = encryptedBytes(entry);
    const { writer } = ciphers!;
    const finish = (packed: Buffer): Entry => {
      const plain = plainEntry(entry.key, entry.revision, unpackDraft(packed));
      const outdated = reader !== writer || reader.isOutdated?.(bytes) === true;
      return this.keep(entry, outdated ? { ...plain, outdated } : plain);
    };
    try {
      const packed = reader.decrypt(bytes, entry.key);
      if (!(packed instanceof Promise)) return finish(packed);
      return packed.then(finish).catch((error: unknown) => {
        throw withKey(entry.key, error);
      });
    } catch (error) {
      throw withKey(entry.key, error);
    }
  }

  private keep(entry: Entry, plain: Entry): Entry {
    this.recent.set(plain.key, plain, plain.body.length + plain.header.length);
    return this.remember(entry, plain);
  }

  private remember(entry: Entry, plain: Entry): Entry {
    this.entries.set(entry, plain);
    return plain;
  }

  /** Returns the plain form of an entry whose commit by this store is pending. */
  private committedDraft(entry: Entry): Draft | undefined {
    const pending = this.pending.get(entry.key);
    if (pending === undefined) return undefined;
    const bytes = encryptedBytes(entry);
    for (const { sealed, plain } of pending) if (bytes.equals(sealed.body)) return plain;
    return undefined;
  }

  private ciphersFor(key: string): CollectionCiphers | undefined {
    const end = key.indexOf("/", key.indexOf("/", 1) + 1);
    const collection = key.slice(0, end);
    if (this.byCollection.has(collection)) return this.byCollection.get(collection);
    const [, group = "", resource = ""] = collection.split("/");
    const ciphers = this.ciphersOf(group, resource);
    this.byCollection.set(collection, ciphers);
    return ciphers;
  }
}

/** Maps items in order; synchronous as long as no result is a promise. */
function inOrder<T>(items: readonly T[], map: (item: T) => MaybePromise<T>): MaybePromise<readonly T[]> {
  const results: T[] = [];
  for (const [index, item] of items.entries()) {
    const result = map(item);
    if (result instanceof Promise) return continueInOrder(results, result, items.slice(index + 1), map);
    results.push(result);
  }
  return results;
}

async function continueInOrder<T>(
  results: T[],
  pending: Promise<T>,
  items: readonly T[],
  map: (item: T) => MaybePromise<T>,
): Promise<readonly T[]> {
  results.push(await pending);
  for (const item of items) results.push(await map(item));
  return results;
}

function withKey(key: string, error: unknown): unknown {
  return error instanceof EncryptionError ? unreadable(key, error.message, error) : error;
}

function unreadable(key: string, reason: string, cause?: EncryptionError): EncryptionError {
  return new EncryptionError(`the stored value of ${key} can't be decrypted: ${reason}`, { cause });
}
