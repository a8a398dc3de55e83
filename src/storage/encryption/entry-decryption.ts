import { qualifiedName } from "../../base/object-errors.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { RecentMap } from "../../base/collections/recent-map.ts";
import { mapInTurns } from "../../base/turns/yielding.ts";
import { entryFromDraft, entryWith, eventBytes } from "../entry.ts";
import { withoutKeyspace } from "../keys.ts";
import type { Draft, Entry, Revision, StoreEvent } from "../store.ts";
import { observed, type EncryptionObserver } from "./encryption-observer.ts";
import { encryptedBytes, isSealed, labelOf, packDraft, sealedDraft, unpackDraft } from "./sealed-draft.ts";
import {
  EncryptedValueError,
  EncryptionError,
  KeyServiceError,
  type CiphersOf,
  type CollectionCiphers,
  type ValueCipher,
} from "./value-cipher.ts";

/** Decrypted values that are kept, by key; the cost is their size in bytes. */
const cacheLimits = { entries: 20_000, cost: 32 * 1024 * 1024 };

/** Decrypted events that are kept for the subscriptions that receive them at the same time; the cost is their size in bytes. */
const eventLimits = { entries: 4000, cost: 4 * 1024 * 1024 };

/** Entries up to this size in total are decrypted without a pause for other work: about 1 ms. */
const maxBytesWithoutPause = 64 * 1024;

/** A draft in both forms; the caller of the commit may change the bytes of its own draft. */
export interface SealedPair {
  readonly sealed: Draft;
  readonly plain: Draft;
  /** {@link EntryDecryption.generation} when it was encrypted. */
  readonly generation: number;
}

/** The ciphers of a collection whose values are not all in plain text. */
interface EncryptedCollection {
  /** Resource with its group, such as `deployments.apps`. */
  readonly resource: string;
  readonly ciphers: CollectionCiphers;
}

/** Group of the core resources in keys of the store. */
const coreGroup = "core";

/** Encrypts drafts and decrypts entries of a store. */
export class EntryDecryption {
  private readonly byCollection = new Map<string, EncryptedCollection | undefined>();
  /**
   * Decrypted forms of events by revision, so that the subscriptions that receive an event share it. It is limited because the store
   * keeps the encrypted form of many events.
   */
  private events = new RecentMap<StoreEvent>(eventLimits);
  private readonly batches = new WeakMap<readonly StoreEvent[], readonly StoreEvent[]>();
  private recent = new RecentMap<Entry>(cacheLimits);
  private readonly pending = new Map<string, Set<SealedPair>>();
  /** Number of changes of the ciphers and their keys. */
  private generation = 0;

  constructor(
    private ciphersOf: CiphersOf,
    private readonly observer: EncryptionObserver | undefined,
  ) {}

  /** Uses other ciphers, or the same ones with other keys, from now on. */
  use(ciphersOf: CiphersOf): void {
    this.ciphersOf = ciphersOf;
    this.generation++;
    this.byCollection.clear();
    this.recent = new RecentMap(cacheLimits);
    this.events = new RecentMap(eventLimits);
  }

  /**
   * Encrypts the draft of a key.
   *
   * @returns undefined if the collection is stored in plain text.
   * @throws {KeyServiceError} the key of the collection can't be used at present.
   */
  seal(key: string, draft: Draft): MaybePromise<SealedPair | undefined> {
    const collection = this.collectionOf(key);
    if (collection === undefined) return undefined;
    const { resource, ciphers } = collection;
    const { writer } = ciphers;
    const transformation = { resource, direction: "to_storage", label: writer?.label ?? "" } as const;
    if (writer === undefined) return observed(this.observer, transformation, () => undefined);
    const packed = packDraft(draft);
    const plain = unpackDraft(packed);
    const { generation } = this;
    const sealing = observed(this.observer, transformation, () => writer.encrypt(packed, key));
    return andThen(sealing, (bytes) => ({
      sealed: sealedDraft(writer.label, bytes),
      plain,
      generation,
    }));
  }

  /**
   * Runs the commit of a draft. Its events, which arrive before it ends, need no decryption.
   */
  async committing<T>(key: string, drafts: SealedPair, commit: () => Promise<T>): Promise<T> {
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
   * @throws {KeyServiceError} its key can't be used at present.
   * @throws {EncryptionError} it can't be decrypted, or its collection must be encrypted.
   */
  open(entry: Entry): MaybePromise<Entry> {
    return this.openWith(entry, true);
  }

  /** Returns the entry of a committed draft. */
  committed(key: string, revision: Revision, { plain, generation }: SealedPair): Entry {
    const recent = this.recent.get(key);
    return recent?.revision === revision
      ? recent
      : this.keep(entryFromDraft(key, revision, plain), generation);
  }

  /** @param keeps whether the result is kept for later reads; that of a page isn't, so that it doesn't displace all others. */
  private openWith(entry: Entry, keeps: boolean): MaybePromise<Entry> {
    const { key, revision } = entry;
    const collection = this.collectionOf(key);
    if (!isSealed(entry)) return this.openPlain(entry, collection);
    const recent = this.recent.get(key);
    if (recent?.revision === revision) return recent;
    const { generation } = this;
    const draft = this.committedDraft(entry);
    if (draft !== undefined) return this.keep(entryFromDraft(key, revision, draft), generation);
    const opened = this.decrypt(entry, collection);
    return keeps ? andThen(opened, (plain) => this.keep(plain, generation)) : opened;
  }

  /** Decrypts entries in their order; pauses for other work if they are large. */
  openAll(entries: readonly Entry[]): MaybePromise<readonly Entry[]> {
    let bytes = 0;
    for (const { body } of entries) bytes += body.length;
    return inOrder(entries, (entry) => this.openWith(entry, false), bytes);
  }

  /** Decrypts a batch of events, as {@link openAll}; the same batch and event have the same result. */
  openBatch(batch: readonly StoreEvent[]): MaybePromise<readonly StoreEvent[]> {
    const cached = this.batches.get(batch);
    if (cached !== undefined) return cached;
    let bytes = 0;
    for (const { entry, previous } of batch)
      bytes += (entry?.body.length ?? 0) + (previous?.body.length ?? 0);
    // In the history of a key the previous value of an event is that of the event before.
    const opened = new Map<string, Entry>();
    return andThen(
      inOrder(batch, (event) => this.openEvent(event, opened), bytes),
      (events) => {
        this.batches.set(batch, events);
        return events;
      },
    );
  }

  private openEvent(event: StoreEvent, opened: Map<string, Entry>): MaybePromise<StoreEvent> {
    const { key, revision, entry, previous } = event;
    const cached = this.events.get(String(revision));
    if (cached?.key === key) return cached;
    const { events } = this;
    return andThen(this.openPrevious(previous, opened), (openPrevious) =>
      andThen(entry === undefined ? undefined : this.open(entry), (openEntry) => {
        if (openEntry !== undefined) opened.set(event.key, openEntry);
        if (openEntry === entry && openPrevious === previous) return event;
        const result = { ...event, entry: openEntry, previous: openPrevious };
        events.set(String(revision), result, eventBytes(result));
        return result;
      }),
    );
  }

  private openPrevious(
    previous: Entry | undefined,
    opened: ReadonlyMap<string, Entry>,
  ): MaybePromise<Entry | undefined> {
    if (previous === undefined) return undefined;
    const last = opened.get(previous.key);
    return last?.revision === previous.revision ? last : this.openWith(previous, false);
  }

  /**
   * Keeps an entry for later reads, unless that of a later revision is kept.
   *
   * @param generation that of the time when its decryption or encryption began; after a change of the keys it may be outdated.
   */
  private keep(plain: Entry, generation: number): Entry {
    const { key, revision, header, body } = plain;
    if (generation !== this.generation) return plain;
    if ((this.recent.get(key)?.revision ?? 0) < revision) {
      this.recent.set(key, plain, body.length + header.length);
    }
    return plain;
  }

  /** Returns the plain form of an entry whose commit by this store is pending. */
  private committedDraft(entry: Entry): Draft | undefined {
    const pending = this.pending.get(entry.key);
    if (pending === undefined) return undefined;
    const bytes = encryptedBytes(entry);
    for (const { sealed, plain, generation } of pending) {
      if (generation === this.generation && bytes.equals(sealed.body)) return plain;
    }
    return undefined;
  }

  private openPlain(entry: Entry, collection: EncryptedCollection | undefined): MaybePromise<Entry> {
    if (collection === undefined) return entry;
    const { resource, ciphers } = collection;
    const label = ciphers.readsPlain ? "identity" : "unknown";
    return observed(this.observer, { resource, direction: "from_storage", label }, () =>
      plainEntry(entry, ciphers),
    );
  }

  private decrypt(entry: Entry, collection: EncryptedCollection | undefined): MaybePromise<Entry> {
    const cipherLabel = labelOf(entry);
    const reader = collection?.ciphers.readers.find((one) => one.label === cipherLabel);
    const { resource = collectionName(entry.key) } = collection ?? {};
    const label = reader === undefined ? "unknown" : cipherLabel;
    return observed(this.observer, { resource, direction: "from_storage", label }, () =>
      decryptWith(reader, entry, collection?.ciphers.writer),
    );
  }

  private collectionOf(key: string): EncryptedCollection | undefined {
    const inner = withoutKeyspace(key);
    const end = inner.indexOf("/", inner.indexOf("/", 1) + 1);
    const collection = inner.slice(0, end);
    if (this.byCollection.has(collection)) return this.byCollection.get(collection);
    const [, group = "", resource = ""] = collection.split("/");
    const ciphers = this.ciphersOf(group, resource);
    const encrypted = ciphers === undefined ? undefined : { resource: collectionName(key), ciphers };
    this.byCollection.set(collection, encrypted);
    return encrypted;
  }
}

/** Returns the resource of a key with its group. */
function collectionName(key: string): string {
  const [, group = "", collection = ""] = withoutKeyspace(key).split("/", 3);
  // A collection that is stored apart from an older version of its kind has a suffix: `resourceclaims.v1`.
  const [resource = ""] = collection.split(".");
  return qualifiedName(resource, group === coreGroup ? "" : group);
}

function plainEntry(entry: Entry, ciphers: CollectionCiphers): Entry {
  if (ciphers.writer === undefined && ciphers.readsPlain) return entry;
  if (ciphers.readsPlain) return { ...entry, outdated: true };
  throw new EncryptedValueError(
    entry.key,
    "it is not encrypted, and the providers of its resource have no identity",
  );
}

function decryptWith(
  reader: ValueCipher | undefined,
  entry: Entry,
  writer: ValueCipher | undefined,
): MaybePromise<Entry> {
  const { key, revision } = entry;
  if (reader === undefined) {
    const label = JSON.stringify(labelOf(entry));
    throw new EncryptedValueError(key, `no provider of its resource has the key ${label}`);
  }
  const bytes = encryptedBytes(entry);
  const finish = (packed: Buffer): Entry => {
    const outdated = reader !== writer || reader.isOutdated?.(bytes) === true;
    return entryWith(outdated ? { key, revision, outdated } : { key, revision }, unpackDraft(packed));
  };
  try {
    const packed = reader.decrypt(bytes, key);
    if (!(packed instanceof Promise)) return finish(packed);
    return packed.then(finish).catch((error: unknown) => {
      throw withKey(key, error);
    });
  } catch (error) {
    throw withKey(key, error);
  }
}

/**
 * Maps items in order, synchronously if they are small and no result is a promise.
 *
 * @param bytes total size of the items; large ones are mapped with pauses for other work.
 */
function inOrder<T>(
  items: readonly T[],
  map: (item: T) => MaybePromise<T>,
  bytes: number,
): MaybePromise<readonly T[]> {
  const results: T[] = [];
  if (bytes > maxBytesWithoutPause) return mapInTurns(items, map);
  for (const [index, item] of items.entries()) {
    const result = map(item);
    if (result instanceof Promise) {
      return result.then(async (first) => [
        ...results,
        first,
        ...(await mapInTurns(items.slice(index + 1), map)),
      ]);
    }
    results.push(result);
  }
  return results;
}

function withKey(key: string, error: unknown): unknown {
  if (error instanceof KeyServiceError || !(error instanceof EncryptionError)) return error;
  return new EncryptedValueError(key, error.message, error);
}
