import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import {
  StoreError,
  StoreTimeoutError,
  type CommitResult,
  type DiscardResult,
  type Entry,
  type Listener,
  type RangeOptions,
  type RangePage,
  type Revision,
  type Store,
  type SubscribeOptions,
  type Subscription,
  type TransactionResult,
  type Write,
} from "../store.ts";
import { StoreView } from "../store-view.ts";
import { assertTransaction } from "../transaction.ts";
import { DecryptedSubscription } from "./decrypted-subscription.ts";
import type { EncryptionObserver } from "./encryption-observer.ts";
import { EntryDecryption } from "./entry-decryption.ts";
import { EncryptionError, KeyServiceError, type CiphersOf } from "./value-cipher.ts";

/** Number of entries that {@link EncryptedStore.check} reads at once. */
const checkPageSize = 500;

/** Attempts to discard a value while other writes change it. */
const discardAttempts = 10;

/**
 * Encrypts the values of another store. Keys, revisions and the mark of the cipher stay in plain text; the body of an entry and its
 * header, with labels and selectable fields, don't. Values that were read or written lately stay in memory in plain text.
 */
export class EncryptedStore extends StoreView {
  private readonly decryption: EntryDecryption;
  private readonly subscriptions = new Set<DecryptedSubscription>();
  private readonly writes = new Set<Promise<unknown>>();

  /** @param observer receives the encryptions and decryptions. */
  constructor(inner: Store, ciphersOf: CiphersOf, observer?: EncryptionObserver) {
    super(inner);
    this.decryption = new EntryDecryption(ciphersOf, observer);
  }

  /** Uses other ciphers, or the same ones with other keys, from now on. */
  use(ciphersOf: CiphersOf): void {
    this.decryption.use(ciphersOf);
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return andThen(this.inner.get(key, at), (entry) => this.open(entry));
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    return andThen(this.inner.range(options), (page) =>
      andThen(this.decryption.openAll(page.entries), (entries) => this.fill(options, { ...page, entries })),
    );
  }

  /** Completes a page that reached its size with the encrypted bodies, which are larger, before it did so with the others. */
  private fill(options: RangeOptions, page: RangePage): MaybePromise<RangePage> {
    const { maxBytes, limit } = options;
    const { entries, revision: at, more } = page;
    if (!more || maxBytes === undefined || entries.length === limit) return page;
    let restBytes = maxBytes;
    for (const { body } of entries) restBytes -= body.length;
    if (restBytes <= 0) return page;
    const restLimit = limit === undefined ? undefined : limit - entries.length;
    const rest = {
      prefix: options.prefix,
      at,
      after: entries.at(-1)?.key,
      limit: restLimit,
      maxBytes: restBytes,
    };
    return andThen(this.range(rest), (last) => ({ ...last, entries: [...entries, ...last.entries] }));
  }

  async commit(write: Write): Promise<CommitResult> {
    return this.written([write], this.commitSealed(write));
  }

  async transact(writes: readonly Write[]): Promise<TransactionResult> {
    return this.written(writes, this.transactSealed(writes));
  }

  /** Returns the result of a commit when the subscriptions have its events. */
  private async written<T>(writes: readonly Write[], writing: Promise<T>): Promise<T> {
    this.writes.add(writing);
    try {
      const result = await writing;
      for (const { key } of writes) await this.delivered(key);
      return result;
    } finally {
      this.writes.delete(writing);
    }
  }

  /** Waits for subscriptions that wait for the key of an earlier event, and haven't delivered a write yet. */
  private async delivered(key: string): Promise<void> {
    for (const subscription of this.subscriptions) await subscription.delivered(key);
  }

  private async commitSealed(write: Write): Promise<CommitResult> {
    if (write.kind === "delete") return this.openResult(await this.inner.commit(write));
    const { key, draft } = write;
    const sealing = this.decryption.seal(key, draft);
    const pair = sealing instanceof Promise ? await sealing : sealing;
    if (pair === undefined) return this.openResult(await this.inner.commit(write));
    const result = await this.decryption.committing(key, pair, () =>
      this.inner.commit({ ...write, draft: pair.sealed }),
    );
    if (!result.ok) return this.openResult(result);
    return { ...result, entry: this.decryption.committed(key, result.revision, pair) };
  }

  private async transactSealed(writes: readonly Write[]): Promise<TransactionResult> {
    // Before anything is encrypted.
    assertTransaction(writes, this.transactionLimits);
    const pairs = await Promise.all(
      writes.map((write) =>
        write.kind === "delete" ? undefined : this.decryption.seal(write.key, write.draft),
      ),
    );
    const sealed = writes.map((write, index): Write => {
      const pair = pairs[index];
      return write.kind === "delete" || pair === undefined ? write : { ...write, draft: pair.sealed };
    });
    const commit = writes.reduce<() => Promise<TransactionResult>>(
      (next, { key }, index) => {
        const pair = pairs[index];
        return pair === undefined ? next : () => this.decryption.committing(key, pair, next);
      },
      () => this.inner.transact(sealed),
    );
    const result = await commit();
    if (!result.ok) return { ...result, current: await this.open(result.current) };
    const entries = await Promise.all(
      result.entries.map((entry, index) => {
        const pair = pairs[index];
        return pair === undefined
          ? this.decryption.open(entry)
          : this.decryption.committed(entry.key, result.revision, pair);
      }),
    );
    return { ...result, entries };
  }

  override async discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    for (let attempt = 1; ; attempt++) {
      const entry = await this.readSealed(key);
      if (entry === "damaged") return super.discard(key, dryRun);
      if (entry === undefined) return "absent";
      if ((await this.faultOf(entry)) === undefined) return "readable";
      if (dryRun) return "discarded";
      const result = await this.inner.commit({ kind: "delete", key, expected: entry.revision });
      if (result.ok) {
        await this.delivered(key);
        return "discarded";
      }
      // Another write came first; its value can usually be read.
      if (attempt === discardAttempts) throw new StoreTimeoutError(`${key} is being changed too often`);
    }
  }

  /** Returns the encrypted entry of a key. Whether an error is damage or an outage is for the engine to decide, which reads it again. */
  private async readSealed(key: string): Promise<Entry | "damaged" | undefined> {
    try {
      return await this.inner.get(key);
    } catch (error) {
      if (error instanceof StoreError) return "damaged";
      throw error;
    }
  }

  private async openResult(result: CommitResult): Promise<CommitResult> {
    if (result.ok) return { ...result, entry: await this.decryption.open(result.entry) };
    return { ...result, current: await this.open(result.current) };
  }

  private open(entry: Entry | undefined): MaybePromise<Entry | undefined> {
    return entry === undefined ? undefined : this.decryption.open(entry);
  }

  override subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const finished = () => this.subscriptions.delete(subscription);
    const subscription = new DecryptedSubscription(this.decryption, listener, options, finished);
    this.subscriptions.add(subscription);
    subscription.start((inner) => this.inner.subscribe(this.decrypting(options), inner));
    return subscription;
  }

  /** The options with a deferral that sees decrypted events. */
  private decrypting(options: SubscribeOptions): SubscribeOptions {
    const { deferral } = options;
    if (deferral === undefined) return options;
    const { key } = deferral;
    return {
      ...options,
      deferral: {
        key,
        selects: (batch) => {
          const opened = this.decryption.openBatch(batch);
          if (!(opened instanceof Promise)) return deferral.selects(opened);
          detach(opened, handledByDelivery);
          return true;
        },
      },
    };
  }

  /** Checks the other store, and whether each value can be decrypted. */
  override async check(): Promise<readonly string[]> {
    const damages = await this.inner.check();
    return damages.length > 0 ? damages : this.checkValues();
  }

  private async checkValues(): Promise<string[]> {
    const messages: string[] = [];
    const yieldIfDue = createYielder();
    let page: RangePage | undefined;
    do {
      const position = { after: page?.entries.at(-1)?.key, at: page?.revision };
      page = await this.inner.range({ prefix: "/", limit: checkPageSize, ...position });
      for (const entry of page.entries) {
        const fault = await this.faultOf(entry);
        if (fault !== undefined) messages.push(fault);
        await yieldIfDue();
      }
    } while (page.more);
    return messages;
  }

  private async faultOf(entry: Entry): Promise<string | undefined> {
    try {
      await this.decryption.openAll([entry]);
      return undefined;
    } catch (error) {
      if (error instanceof EncryptionError && !(error instanceof KeyServiceError)) return error.message;
      throw error;
    }
  }

  override async close(): Promise<void> {
    // Writes whose encryption has begun still reach the store.
    await Promise.allSettled(this.writes);
    await this.inner.close();
  }
}

/** An error of a batch ends the subscription when the batch is delivered. */
function handledByDelivery(): void {
  return undefined;
}
