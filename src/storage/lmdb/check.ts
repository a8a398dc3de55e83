import { revisionOf } from "../entry.ts";
import { assertKey, countersOf } from "../keys.ts";
import { type Entry, type Revision, StoreValueError, type Write } from "../store.ts";
import type { RawEntry } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import {
  assertRecord,
  changesOfTransaction,
  decodeLogRecord,
  decodeRecord,
  type HistoryKey,
  indexEvery,
  isIndexed,
  isTransaction,
  type LogRecord,
  readUint64,
  type State,
} from "./layout.ts";
import { entriesIn } from "./disk-space.ts";
import { damagedPage } from "./page-walk.ts";
import { numberIn, soundStateIn } from "./stored-state.ts";
import { noProgress, type Progress } from "./progress.ts";
import { stampIn } from "./stamp.ts";

const sliceEntries = 1000;
const maxProblems = 100;
const maxAttempts = 3;

/** Less than the first character of every valid key, so that keys with a damaged first character are included. */
const lowestKey = "\u0001";

/**
 * Checks the consistency of all databases in the environment, at one snapshot.
 *
 * @returns messages about damage; empty if there is none.
 */
export async function checkEnvironment(
  environment: Environment,
  progress: Progress = noProgress,
): Promise<string[]> {
  const damage = pageDamage(environment, true, progress);
  // Reading damaged pages through LMDB could crash the process.
  if (damage !== undefined) return [damage];
  const problems: string[] = [];
  for (const share of passes(environment, problems)) {
    progress(valuesStep, share);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return problems;
}

/** Returns a message about a damaged page of the data file; undefined if there is none. See {@link damagedPage}. */
export function pageDamage(
  { dir, root }: Pick<Environment, "dir" | "root">,
  everything: boolean,
  progress: Progress = noProgress,
  isRestored = false,
): string | undefined {
  let damage: string | undefined;
  // A meta page may be read during a write of another process; real damage is still there at the next attempt.
  for (let attempt = 0; attempt < maxAttempts && (attempt === 0 || damage !== undefined); attempt++) {
    root.resetReadTxn();
    const transaction = root.useReadTransaction();
    try {
      damage = damagedPage(dir, everything, progress, isRestored);
    } finally {
      transaction.done();
    }
  }
  return damage;
}

/** Like {@link checkEnvironment}, without yielding to the event loop. */
export function checkNow(environment: Environment, progress: Progress = noProgress): string[] {
  const problems: string[] = [];
  for (const share of passes(environment, problems)) progress(valuesStep, share);
  return problems;
}

const valuesStep = "checking values";

/** Runs the passes; yields the share of the entries that are checked. */
function* passes(environment: Environment, problems: string[]): Generator<number> {
  environment.root.resetReadTxn();
  const transaction = environment.root.useReadTransaction();
  try {
    const check = new Check(environment, { transaction }, problems);
    const { data, history, log, counts, marks } = environment;
    const total = entriesIn([data, history, log, counts, marks]);
    let slices = 0;
    for (const pass of [check.data(), check.history(), check.log(), check.counters(), check.marks()]) {
      for (const _ of pass) yield Math.min(1, (++slices * sliceEntries) / total);
    }
    stampIn(environment);
  } catch (error) {
    problems.push(`reading stopped: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    transaction.done();
  }
}

/** A read transaction. */
interface Snapshot {
  readonly transaction: ReturnType<Environment["root"]["useReadTransaction"]>;
}

/** A log entry. */
interface LogEntry {
  readonly kind: Write["kind"];
  readonly key: string;
  readonly superseded: Entry | undefined;
  readonly indexed: boolean;
}

/** The passes of a check. Each yields regularly, so that the caller can let the event loop run. */
class Check {
  private readonly state: State;
  /** Number of keys by prefix. */
  private readonly keyCounts = new Map<string, number>();
  /** Number of log entries that {@link walk} visited, and the sum of their revisions. */
  private readonly visited = { count: 0, sum: 0 };

  constructor(
    private readonly environment: Environment,
    private readonly snapshot: Snapshot,
    private readonly problems: string[],
  ) {
    // `get` accepts the snapshot's transaction; the state record is small, so copying it is cheap.
    this.state = soundStateIn(environment.meta.get("state", snapshot));
    if (this.state.floor > this.state.revision) this.report("the floor is above the latest revision");
  }

  /** Checks every current value: its key, its revision, and the log entry that wrote it. */
  *data(): Generator<void> {
    const { data } = this.environment;
    for (const [{ key, value }, pause] of paced(data.getRange({ start: lowestKey, ...this.snapshot }))) {
      const { revision } = value as RawEntry;
      // Runs before the pause, because it uses the checksum of the entry that was decoded last.
      this.checkValue(key, value as RawEntry);
      if (pause) yield;
      this.checkKey(key);
      if (revision < 1) this.report(`${key} has no revision`);
      if (revision > this.state.revision)
        this.report(`${key} has revision ${revision}, above the latest revision`);
      else if (revision > this.state.floor) {
        const change = this.logEntry(revision, key);
        if (change?.key !== key || change.kind === "delete") {
          this.report(`${key} has revision ${revision}, which is not in the log`);
        } else if (!change.indexed) this.walk(key, revision);
      }
      const { collection, partition } = countersOf(key);
      for (const prefix of [collection, partition]) {
        this.keyCounts.set(prefix, (this.keyCounts.get(prefix) ?? 0) + 1);
      }
    }
  }

  /** Checks that every index entry belongs to a change within the history that should have one according to the log. */
  *history(): Generator<void> {
    const { history } = this.environment;
    const { floor, revision: latest } = this.state;
    const start: HistoryKey = [lowestKey, revisionOf(0)];
    for (const [[key, supersededAt], pause] of paced(history.getKeys({ start, ...this.snapshot }))) {
      if (pause) yield;
      const entry = `the index entry of ${key} at ${supersededAt}`;
      if (supersededAt <= floor || supersededAt > latest) this.report(`${entry} is outside the history`);
      const change = this.logEntry(supersededAt, key);
      if (change?.key !== key) this.report(`${entry} isn't in the log`);
      else if (!change.indexed) this.report(`${entry} should not exist`);
      else this.walk(key, supersededAt);
    }
  }

  /** Checks that the log has every revision of the history, and that walks from `data` or `history` visited each exactly once. */
  *log(): Generator<void> {
    const { log, history } = this.environment;
    let expected = this.state.floor + 1;
    let count = 0;
    let sum = 0;
    for (const [at, pause] of paced(log.getKeys({ start: 0, ...this.snapshot }))) {
      if (pause) yield;
      if (at !== expected) this.report(`the log goes from ${expected - 1} to ${at}`);
      expected = at + 1;
      for (const change of this.logEntries(at)) {
        count++;
        sum += at;
        if (change.indexed && history.get([change.key, revisionOf(at)], this.snapshot) === undefined) {
          this.report(`the change of ${change.key} at ${at} isn't in the index`);
        }
      }
    }
    if (expected !== this.state.revision + 1) {
      this.report(`the log ends at ${expected - 1}, the latest revision is ${this.state.revision}`);
    }
    if (count !== this.visited.count || sum !== this.visited.sum) {
      this.report(`the log has ${count} changes, but exact reads reach ${this.visited.count} of them`);
    }
  }

  /** Follows the earlier changes of a key, as an exact read does, up to the next indexed change. */
  private walk(key: string, from: Revision): void {
    for (let at = from, steps = 1; ; steps++) {
      const change = this.logEntry(at, key);
      if (change?.key !== key || (at !== from && change.kind === "delete")) {
        return this.report(`${key} had a value of revision ${at}, which isn't in the log`);
      }
      if (at !== from && change.indexed) return;
      if (steps > indexEvery) return this.report(`the index has too few entries of ${key} before ${from}`);
      this.visited.count++;
      this.visited.sum += at;
      if (change.kind === "create") return;
      const { revision } = change.superseded!;
      if (revision < 1 || revision >= at) {
        return this.report(`the value of ${key} superseded at ${at} is of revision ${revision}`);
      }
      if (revision <= this.state.floor) return;
      at = revision;
    }
  }

  /** Returns the changes of a revision; those of a transaction without their superseded values. */
  private logEntries(at: number): readonly Pick<LogEntry, "key" | "indexed">[] {
    const bytes = this.environment.log.get(at, this.snapshot);
    if (bytes === undefined) return [];
    const listed = changesOfTransaction(bytes);
    return listed === undefined
      ? [this.decode(decodeLogRecord(bytes), bytes, at)]
      : listed.map(({ key }) => ({ key, indexed: true }));
  }

  /** Returns the change of a key at a revision, or that of another key if the revision has only this one. */
  private logEntry(at: number, key: string): LogEntry | undefined {
    const { log, history } = this.environment;
    const bytes = log.get(at, this.snapshot);
    if (bytes === undefined) return undefined;
    if (!isTransaction(bytes)) return this.decode(decodeLogRecord(bytes), bytes, at);
    const own = history.get([key, revisionOf(at)], this.snapshot);
    if (own === undefined || own.length === 0) return undefined;
    return { ...this.decode({ ...decodeLogRecord(own), key }, own, at), indexed: true };
  }

  private decode({ kind, key, recordAt }: LogRecord, bytes: Buffer, at: number): LogEntry {
    const record = bytes.subarray(recordAt);
    if (kind === "create") return { kind, key, superseded: undefined, indexed: false };
    try {
      assertRecord(key, record);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.report(`the value of ${key} that was superseded at ${at} is damaged: ${error.message}`);
    }
    return { kind, key, superseded: decodeRecord(key, record), indexed: isIndexed(kind, bytes, recordAt) };
  }

  /** Checks that no mark has a future revision. Times may be out of order after the clock was set back. */
  *marks(): Generator<void> {
    const { marks } = this.environment;
    for (const [{ key: time, value }, pause] of paced(marks.getRange({ start: 0, ...this.snapshot }))) {
      if (pause) yield;
      const revision = numberIn(value);
      if (revision > this.state.revision)
        this.report(`the time ${time} has revision ${revision}, above the latest revision`);
    }
  }

  private checkValue(key: string, value: RawEntry): void {
    try {
      this.environment.records.name(key, value);
    } catch (error) {
      if (!(error instanceof StoreValueError)) throw error;
      this.report(error.message);
    }
  }

  /** Checks that the counters match the number of keys. */
  *counters(): Generator<void> {
    const { counts } = this.environment;
    for (const [{ key: prefix, value }, pause] of paced(
      counts.getRange({ start: lowestKey, ...this.snapshot }),
    )) {
      if (pause) yield;
      const actual = this.keyCounts.get(prefix) ?? 0;
      if (readUint64(value, 0) !== actual)
        this.report(`the counter of ${prefix} is ${numberIn(value)}, but it has ${actual} keys`);
      this.keyCounts.delete(prefix);
    }
    for (const [prefix, actual] of this.keyCounts)
      this.report(`${prefix} has no counter, but ${actual} keys`);
  }

  private checkKey(key: string): void {
    try {
      assertKey(key);
    } catch (error) {
      this.report((error as Error).message);
    }
  }

  private report(problem: string): void {
    if (this.problems.length < maxProblems) this.problems.push(problem);
  }
}

/** Returns each item with a flag that is true for the last one of a slice. */
function* paced<T>(items: Iterable<T>): Generator<readonly [T, boolean]> {
  let count = 0;
  for (const item of items) yield [item, ++count % sliceEntries === 0];
}
