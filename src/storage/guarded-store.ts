import {
  ExtensionError,
  extensionLimitMs,
  inTime,
  isPromise,
  isRecord,
  type ExtensionGuard,
} from "../base/extension.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { discardUnreadable } from "./discard.ts";
import {
  StoreDamagedError,
  StoreError,
  StoreUnavailableError,
  type CommitResult,
  type DiscardResult,
  type Entry,
  type Listener,
  type RangePage,
  type Revision,
  type Store,
  type StoreEvent,
  type StoreUsage,
  type SubscribeOptions,
  type Subscription,
  type TransactionLimits,
  type TransactionResult,
} from "./store.ts";

/** The methods that a store must have. */
export const storeMethods = [
  "latestRevision",
  "floor",
  "get",
  "range",
  "count",
  "commit",
  "transact",
  "subscribe",
  "together",
  "compact",
  "check",
  "writeObstacle",
  "close",
] as const satisfies readonly (keyof Store)[];

/** Whether the `storage` option is a store rather than an engine's options. */
export function isStore<T extends object>(storage: Store | T): storage is Store {
  return typeof (storage as Partial<Store>).commit === "function";
}

/**
 * Wraps a store that the embedding program passed in and turns its failures into operational errors: a timeout becomes a
 * {@link StoreUnavailableError}, a result of the wrong shape a {@link StoreDamagedError}. `close` leaves the wrapped store
 * open, because the program owns it.
 */
export class GuardedStore implements Store {
  constructor(
    private readonly store: Store,
    private readonly guard: ExtensionGuard,
  ) {}

  latestRevision(): MaybePromise<Revision> {
    return this.ask("latestRevision", () => this.store.latestRevision(), isRevision);
  }

  floor(): MaybePromise<Revision> {
    return this.ask("floor", () => this.store.floor(), isRevision);
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    return this.ask("get", () => this.store.get(key, at), isEntryOrNothing);
  }

  range(options: Parameters<Store["range"]>[0]): MaybePromise<RangePage> {
    return this.ask("range", () => this.store.range(options), isPage);
  }

  count(prefix: string, at?: Revision): MaybePromise<number> {
    return this.ask("count", () => this.store.count(prefix, at), isRevision);
  }

  async commit(write: Parameters<Store["commit"]>[0]): Promise<CommitResult> {
    return this.ask("commit", () => this.store.commit(write), isCommitResult);
  }

  async transact(writes: Parameters<Store["transact"]>[0]): Promise<TransactionResult> {
    return this.ask("transact", () => this.store.transact(writes), isTransactionResult);
  }

  get transactionLimits(): TransactionLimits {
    return this.store.transactionLimits;
  }

  async discard(key: string, dryRun: boolean): Promise<DiscardResult> {
    return this.ask(
      "discard",
      () => discardUnreadable(this.store, key, dryRun),
      (answer) => discardResults.has(answer),
    );
  }

  subscribe(options: SubscribeOptions, listener: Listener): Subscription {
    const subscription = new GuardedListener(listener, (error) => this.failed(error));
    const inner = this.store.subscribe(options, subscription);
    subscription.ends = () => inner.close();
    return {
      get position() {
        return inner.position;
      },
      sync: () => this.ask("sync", () => inner.sync(), isRevision),
      close: () => {
        subscription.ended = () => undefined;
        inner.close();
      },
    };
  }

  together(work: () => void): void {
    let begun = false;
    const once = () => {
      if (begun) return;
      begun = true;
      work();
    };
    try {
      this.store.together(once);
    } catch (error) {
      if (begun) throw error;
      this.failed(error);
    }
    if (begun) return;
    this.failed(new ExtensionError("together did not run its work"));
    once();
  }

  compact(before: number): Promise<Revision> {
    return this.store.compact(before);
  }

  check(): Promise<readonly string[]> {
    return this.store.check();
  }

  writeObstacle(): MaybePromise<StoreError | undefined> {
    return this.ask(
      "writeObstacle",
      () => this.store.writeObstacle(),
      (answer) => answer === undefined || answer instanceof StoreError,
    );
  }

  usage(): MaybePromise<StoreUsage | undefined> {
    return this.ask("usage", () => this.store.usage?.(), isUsageOrNothing);
  }

  /** Leaves the store open. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private ask<T>(
    method: string,
    call: () => MaybePromise<T>,
    fits: (answer: unknown) => boolean,
  ): MaybePromise<T> {
    const checked = (answer: T): T => {
      if (fits(answer)) return answer;
      const error = new StoreDamagedError(`${method} of the given store broke the form of the contract`);
      this.failed(error);
      throw error;
    };
    const answer = call();
    if (!isPromise(answer)) return checked(answer);
    return inTime(this.guard.clock, answer, method).then(checked, (error: unknown) => {
      if (!(error instanceof ExtensionError)) throw error;
      this.failed(error);
      const limit = `${extensionLimitMs / 1000} seconds`;
      throw new StoreUnavailableError(`the given store did not answer ${method} within ${limit}`, {
        cause: error,
      });
    });
  }

  private failed(error: unknown): void {
    this.guard.failed("store", error);
  }
}

/** Ends the subscription, instead of calling the server's listener, if the store delivers events of the wrong shape. */
class GuardedListener implements Listener {
  ends: () => void = () => undefined;
  ended: (error: StoreError) => void;
  readonly drained?: () => Promise<void>;
  private over = false;

  constructor(
    private readonly listener: Listener,
    private readonly failed: (error: unknown) => void,
  ) {
    if (listener.drained !== undefined) this.drained = () => listener.drained!();
    this.ended = (error) => this.endOnce(error instanceof StoreError ? error : unavailable(error));
  }

  events(batch: readonly StoreEvent[], upTo: Revision): void {
    if (this.over) return;
    if (!isRevision(upTo) || !Array.isArray(batch) || !batch.every(isEvent)) {
      const error = new StoreDamagedError("a subscription of the given store broke the form of the contract");
      this.failed(error);
      this.endOnce(error);
      this.ends();
      return;
    }
    this.listener.events(batch, upTo);
  }

  private endOnce(error: StoreError): void {
    if (this.over) return;
    this.over = true;
    this.listener.ended(error);
  }
}

function unavailable(error: unknown): StoreError {
  return new StoreUnavailableError(`a subscription of the given store ended: ${String(error)}`);
}

const discardResults: ReadonlySet<unknown> = new Set<DiscardResult>(["absent", "readable", "discarded"]);

function isRevision(value: unknown): value is Revision {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value)) return false;
  const { key, revision, header, body, revisionAt } = value;
  return (
    typeof key === "string" &&
    isRevision(revision) &&
    header instanceof Uint8Array &&
    body instanceof Uint8Array &&
    isRevision(revisionAt)
  );
}

function isEntryOrNothing(value: unknown): boolean {
  return value === undefined || isEntry(value);
}

function isUsageOrNothing(value: unknown): boolean {
  return (
    value === undefined ||
    (isRecord(value) &&
      isSize(value["totalBytes"]) &&
      isSize(value["freeBytes"]) &&
      (value["failedWrites"] === undefined || isSize(value["failedWrites"])))
  );
}

function isSize(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

function isPage(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { revision, entries, more } = value;
  return (
    isRevision(revision) && Array.isArray(entries) && entries.every(isEntry) && typeof more === "boolean"
  );
}

function isCommitResult(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value["ok"] === true) return isRevision(value["revision"]) && isEntry(value["entry"]);
  return value["ok"] === false && isEntryOrNothing(value["current"]);
}

function isTransactionResult(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { ok, revision, entries, failedWrite, current } = value;
  if (ok === true) return isRevision(revision) && Array.isArray(entries) && entries.every(isEntry);
  return ok === false && isRevision(failedWrite) && isEntryOrNothing(current);
}

function isEvent(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { key, revision, entry, previous } = value;
  return (
    typeof key === "string" && isRevision(revision) && isEntryOrNothing(entry) && isEntryOrNothing(previous)
  );
}
