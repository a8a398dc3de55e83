import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { entryFromDraft, revisionOf } from "../../storage/entry.ts";
import { assertKey, compareKeys } from "../../storage/keys.ts";
import { StoreView } from "../../storage/store-view.ts";
import type {
  CommitResult,
  Draft,
  Entry,
  RangeOptions,
  RangePage,
  Revision,
  TransactionResult,
  Write,
  WriteCondition,
} from "../../storage/store.ts";
import type { Origin } from "../../storage/store-history.ts";
import type { StagedEntries } from "../objects/staged-entries.ts";
import { namesOf } from "../registry/registry.ts";

/** The revision of staged entries: their own one isn't known before the commit. No store assigns it. */
export const stagedRevision: Revision = revisionOf(Number.MAX_SAFE_INTEGER);

/** The state of a key that the transaction has written. */
interface Staged {
  /** Revision of its value before the transaction; 0 if it had none. */
  readonly before: Revision | 0;
  /** The staged value; undefined for a deletion. */
  readonly entry: Entry | undefined;
  readonly draft: Draft | undefined;
  /** Origin of the last write. */
  readonly origin: Origin | undefined;
  /** Conditions on keys that the transaction had not written. */
  readonly conditions: readonly WriteCondition[];
}

/**
 * A store in which the operations of a transaction see the writes of the ones before them; other readers don't. The writes are
 * committed together by {@link StagedStore.commitStaged}. Everything else is that of the other store.
 */
export class StagedStore extends StoreView implements StagedEntries {
  private readonly staged = new Map<string, Staged>();

  stagedEntry(key: string): Entry | undefined {
    return this.staged.get(key)?.entry;
  }

  get(key: string, at?: Revision): MaybePromise<Entry | undefined> {
    const staged = at === undefined ? this.staged.get(key) : undefined;
    return staged === undefined ? this.inner.get(key, at) : staged.entry;
  }

  range(options: RangeOptions): MaybePromise<RangePage> {
    const read = this.inner.range(options);
    if (options.at !== undefined || this.staged.size === 0) return read;
    return andThen(read, (page) => this.withStaged(options, page));
  }

  /** Returns a page with the staged values up to its last key. */
  private withStaged({ prefix, after, limit = Infinity }: RangeOptions, page: RangePage): RangePage {
    const last = page.more ? page.entries.at(-1)?.key : undefined;
    const isOnPage = (key: string) =>
      key.startsWith(prefix) &&
      (after === undefined || compareKeys(key, after) > 0) &&
      (last === undefined || compareKeys(key, last) <= 0);
    const added: Entry[] = [];
    for (const [key, { entry }] of this.staged) if (entry !== undefined && isOnPage(key)) added.push(entry);
    const unchanged = page.entries.filter(({ key }) => !this.staged.has(key));
    if (added.length === 0 && unchanged.length === page.entries.length) return page;
    const entries = [...unchanged, ...added].toSorted((a, b) => compareKeys(a.key, b.key));
    return { ...page, entries: entries.slice(0, limit), more: page.more || entries.length > limit };
  }

  override count(prefix: string, at?: Revision): MaybePromise<number> {
    const counted = this.inner.count(prefix, at);
    if (at !== undefined) return counted;
    let growth = 0;
    for (const [key, { before, entry }] of this.staged)
      if (key.startsWith(prefix)) growth += (entry === undefined ? 0 : 1) - (before === 0 ? 0 : 1);
    return andThen(counted, (count) => count + growth);
  }

  /**
   * Stages a write, with the result that its commit would have.
   *
   * @throws {StatusError} BadRequest if the transaction has created what it deletes, or deleted what it creates.
   */
  async commit(write: Write): Promise<CommitResult> {
    const { key, kind, conditions = [] } = write;
    assertKey(key);
    const current = await this.get(key);
    const expected = kind === "create" ? undefined : write.expected;
    if (current?.revision !== expected) return { ok: false, current };
    for (const [failedCondition, condition] of conditions.entries()) {
      const revision = (await this.get(condition.key))?.revision ?? 0;
      if (revision !== condition.revision) return { ok: false, current, failedCondition };
    }
    this.stage(write, current);
    const entry = this.stagedEntry(key) ?? current!;
    return { ok: true, revision: stagedRevision, entry };
  }

  private stage(write: Write, current: Entry | undefined): void {
    const { key, kind, origin, conditions = [] } = write;
    const earlier = this.staged.get(key);
    if (earlier !== undefined) refuseReplacement(key, kind, earlier);
    const draft = kind === "delete" ? undefined : write.draft;
    this.staged.set(key, {
      before: earlier?.before ?? current?.revision ?? 0,
      entry: draft && entryFromDraft(key, stagedRevision, draft),
      draft,
      origin,
      conditions: [
        ...(earlier?.conditions ?? []),
        // What the transaction itself has written is as it was staged.
        ...conditions.filter((condition) => !this.staged.has(condition.key)),
      ],
    });
  }

  transact(writes: readonly Write[]): Promise<TransactionResult> {
    throw new TypeError(`a transaction of ${writes.length} writes in a transaction`);
  }

  /**
   * Commits the staged writes.
   *
   * @returns undefined if there are none.
   * @throws {StoreError} as {@link Store.transact}.
   */
  async commitStaged(): Promise<TransactionResult | undefined> {
    if (this.staged.size === 0) return undefined;
    return this.inner.transact([...this.staged].map(([key, staged]) => writeOf(key, staged)));
  }
}

function writeOf(key: string, { before, draft, origin, conditions }: Staged): Write {
  if (before === 0) return { kind: "create", key, draft: draft!, origin, conditions };
  return draft === undefined
    ? { kind: "delete", key, expected: before, origin, conditions }
    : { kind: "update", key, expected: before, draft, origin, conditions };
}

/** @throws {StatusError} BadRequest: watches could not tell the old object from the new one, or would miss one. */
function refuseReplacement(key: string, kind: Write["kind"], { before, entry }: Staged): void {
  const { name } = namesOf(key);
  if (kind === "create")
    throw new StatusError(
      "BadRequest",
      `an earlier operation deletes ${JSON.stringify(name)}: a transaction can't replace an object`,
    );
  if (kind === "delete" && before === 0 && entry !== undefined)
    throw new StatusError(
      "BadRequest",
      `an earlier operation creates ${JSON.stringify(name)}: a transaction can't delete its own objects`,
    );
}
