/** Commits writes together with the records of what they supersede. */
import { revisionOf } from "../entry.ts";
import { StoreError, type Entry, type Store, type TransactionResult, type Write } from "../store.ts";
import { draftBytes } from "../transaction.ts";
import { recordKey } from "./archive-keys.ts";
import { encodeArchiveRecord } from "./archive-record.ts";
import type { Archive } from "./archive.ts";
import type { OriginCodec } from "./origin-codec.ts";
import type { Pins } from "./pins.ts";
import type { TimeLine } from "./time-line.ts";

/** Attempts of a transaction whose record another process has written. */
const maxAttempts = 50;

/** A write whose expectation is never met, so that a transaction with it writes nothing. */
const impossible: Write = {
  kind: "delete",
  key: "/~/none//none",
  expected: revisionOf(Number.MAX_SAFE_INTEGER),
};

/** What a record is made of. */
interface PlannedRecord {
  readonly write: Write;
  readonly recordKey: string;
  /** The superseded value; undefined for a create. */
  value: Entry | undefined;
}

/** Writes of kept collections. */
export class Recorder {
  constructor(
    private readonly store: Store,
    private readonly archive: Archive,
    private readonly origins: OriginCodec,
    private readonly times: TimeLine,
    private readonly pins: Pins | undefined,
    private readonly keeps: (key: string) => boolean,
  ) {}

  /** Whether a write needs a record, or a condition. */
  concerns({ key }: Write): boolean {
    return this.pins !== undefined || this.keeps(key);
  }

  /** As {@link Store.transact}, with a record for each write whose key is kept, or whose superseded value is pinned. */
  async transact(requested: readonly Write[]): Promise<TransactionResult> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const writes = this.underPins(requested);
      const planned = await this.planAll(writes);
      if (planned === undefined) {
        const refusal = await this.refusalOf(requested);
        if (refusal !== undefined) return refusal;
        continue;
      }
      this.fit(writes, planned);
      const records = await Promise.all(planned.map((record) => this.recordOf(record, attempt > 0)));
      const mark = writes.some(({ key }) => this.keeps(key)) ? this.times.mark() : undefined;
      const all = mark === undefined ? [...writes, ...records] : [...writes, ...records, mark];
      const result = await this.store.transact(all);
      if (result.ok) {
        if (mark !== undefined) this.times.wasMarked(mark);
        return { ...result, entries: result.entries.slice(0, writes.length) };
      }
      if (result.failedWrite < writes.length) {
        if (!this.isPinConflict(requested, result)) return result;
        await this.pins!.load();
      }
      if (mark !== undefined && result.failedWrite === all.length - 1) this.times.wasMarked(mark);
    }
    throw new StoreError(
      `the history of ${requested[0]!.key} changed during each of ${maxAttempts} attempts`,
    );
  }

  /** Returns the records of writes; undefined if a key isn't in the expected state. */
  private async planAll(writes: readonly Write[]): Promise<PlannedRecord[] | undefined> {
    const planned: PlannedRecord[] = [];
    for (const write of writes) {
      if (!this.needsRecord(write)) continue;
      const record = await this.plan(write);
      if (record === undefined) return undefined;
      planned.push(record);
    }
    return planned;
  }

  /** Returns why a transaction fails; undefined if it would succeed by now, which needs records. */
  private async refusalOf(writes: readonly Write[]): Promise<TransactionResult | undefined> {
    const result = await this.store.transact([...writes, impossible]);
    return !result.ok && result.failedWrite < writes.length ? result : undefined;
  }

  /** Adds the condition that the pins haven't changed. */
  private underPins(writes: readonly Write[]): readonly Write[] {
    const [first, ...others] = writes;
    if (this.pins === undefined || first === undefined) return writes;
    return [{ ...first, conditions: [...(first.conditions ?? []), this.pins.condition] }, ...others];
  }

  /** Whether a transaction failed because another process has changed the pins. */
  private isPinConflict(
    [first]: readonly Write[],
    { failedWrite, failedCondition }: Extract<TransactionResult, { ok: false }>,
  ): boolean {
    return (
      this.pins !== undefined && failedWrite === 0 && failedCondition === (first!.conditions?.length ?? 0)
    );
  }

  private needsRecord(write: Write): boolean {
    if (this.keeps(write.key)) return true;
    return this.pins !== undefined && write.kind !== "create" && write.expected <= this.pins.newest;
  }

  /** Returns the record of a write; undefined if the key isn't in the expected state. */
  private async plan(write: Write): Promise<PlannedRecord | undefined> {
    const { key } = write;
    const current = await this.store.get(key);
    if (write.kind !== "create") {
      if (current?.revision !== write.expected) return undefined;
      return { write, recordKey: recordKey(key, write.expected), value: current };
    }
    if (current !== undefined) return undefined;
    const newest = await this.archive.newest(key);
    return { write, recordKey: recordKey(key, newest?.revision ?? 0), value: undefined };
  }

  /** Leaves the largest values out of the records if all of them exceed what the store accepts at once. */
  private fit(writes: readonly Write[], planned: readonly PlannedRecord[]): void {
    const sizeOf = ({ value }: PlannedRecord): number =>
      value === undefined ? 0 : value.header.length + value.body.length;
    let rest = this.store.transactionLimits.bytes - draftBytes(writes) - planned.length * maxRecordOverhead;
    for (const record of planned) rest -= sizeOf(record);
    if (rest >= 0) return;
    for (const record of planned.toSorted((a, b) => sizeOf(b) - sizeOf(a))) {
      if (rest >= 0) return;
      rest += sizeOf(record);
      record.value = undefined;
    }
  }

  /** @param mayExist whether a record of a write that is no longer there may be in its place. */
  private async recordOf(planned: PlannedRecord, mayExist: boolean): Promise<Write> {
    const { write, recordKey: key, value } = planned;
    const draft = encodeArchiveRecord({
      deleted: write.kind === "delete",
      previous: write.kind === "create" ? 0 : write.expected,
      value,
      origin: write.origin && this.origins.encode(write.origin),
    });
    const stale = mayExist ? await this.store.get(key) : undefined;
    if (stale === undefined) return { kind: "create", key, draft };
    return { kind: "update", key, expected: stale.revision, draft };
  }
}

/** Upper bound of the size of a record without its value. */
const maxRecordOverhead = 1024;
