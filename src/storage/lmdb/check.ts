import { revisionOf } from "../entry.ts";
import { assertKey, countersOf } from "../keys.ts";
import type { RawEntry } from "./codecs.ts";
import type { Environment } from "./databases.ts";
import { decodeLogRecord, type HistoryKey, readUint64, type State } from "./layout.ts";
import { numberIn, stateIn } from "./reader.ts";

const SLICE_ENTRIES = 1000;
const MAX_PROBLEMS = 100;

/**
 * Compares everything in the environment with everything else, at one snapshot.
 *
 * @returns what is wrong, in words; empty when the store is sound.
 */
export async function checkEnvironment(environment: Environment): Promise<string[]> {
  const problems: string[] = [];
  for (const _ of passes(environment, problems)) await new Promise((resolve) => setImmediate(resolve));
  return problems;
}

/** As {@link checkEnvironment}, without a turn for others. */
export function checkNow(environment: Environment): string[] {
  const problems: string[] = [];
  for (const _ of passes(environment, problems));
  return problems;
}

function* passes(environment: Environment, problems: string[]): Generator<void> {
  environment.root.resetReadTxn();
  const transaction = environment.root.useReadTransaction();
  try {
    const check = new Check(environment, { transaction }, problems);
    yield* check.data();
    yield* check.history();
    yield* check.log();
    yield* check.counters();
  } catch (error) {
    problems.push(`reading stopped: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    transaction.done();
  }
}

type Snapshot = { readonly transaction: ReturnType<Environment["root"]["useReadTransaction"]> };

/** The passes of a check; each yields where the event loop may have its turn. */
class Check {
  private readonly state: State;
  private readonly counted = new Map<string, number>();

  constructor(
    private readonly environment: Environment,
    private readonly snapshot: Snapshot,
    private readonly problems: string[],
  ) {
    // A plain `get` takes the snapshot's transaction; the state record is small enough to be copied.
    const state = environment.meta.get("state", snapshot);
    this.state = stateIn(state);
    if (this.state.floor > this.state.revision) this.report("the floor is above the latest revision");
  }

  /** Every present value: its key, its revision, and the log entry that wrote it. */
  *data(): Generator<void> {
    const { data, log } = this.environment;
    for (const [{ key, value }, pause] of paced(data.getRange({ start: "/", ...this.snapshot }))) {
      if (pause) yield;
      const { revision } = value as RawEntry;
      this.checkKey(key);
      if (revision < 1) this.report(`${key} has no revision`);
      if (revision > this.state.revision)
        this.report(`${key} stands at ${revision}, above the latest revision`);
      else if (revision > this.state.floor) {
        const bytes = log.get(revision, this.snapshot);
        const entry = bytes === undefined ? undefined : decodeLogRecord(bytes);
        if (entry?.key !== key || entry.kind === "delete") {
          this.report(`${key} stands at ${revision}, which the log doesn't say`);
        }
      }
      const { collection, partition } = countersOf(key);
      for (const prefix of [collection, partition]) {
        this.counted.set(prefix, (this.counted.get(prefix) ?? 0) + 1);
      }
    }
  }

  /** Every superseded value lies between its own revision and the one that replaced it, within the history. */
  *history(): Generator<void> {
    const { history, log } = this.environment;
    const { floor, revision: latest } = this.state;
    const start: HistoryKey = ["/", revisionOf(0)];
    for (const [{ key: at, value }, pause] of paced(history.getRange({ start, ...this.snapshot }))) {
      if (pause) yield;
      const [key, supersededAt] = at;
      const { revision } = value as RawEntry;
      const where = `the value of ${key} superseded at ${supersededAt}`;
      if (revision >= supersededAt) this.report(`${where} is of revision ${revision}`);
      if (supersededAt <= floor || supersededAt > latest) this.report(`${where} lies outside the history`);
      const bytes = log.get(supersededAt, this.snapshot);
      if (bytes === undefined || decodeLogRecord(bytes).key !== key) this.report(`${where} isn't in the log`);
    }
  }

  /** The log has every revision of the history, and what its entries superseded. */
  *log(): Generator<void> {
    const { log, history, data } = this.environment;
    let expected = this.state.floor + 1;
    for (const [{ key: at, value }, pause] of paced(log.getRange({ start: 0, ...this.snapshot }))) {
      if (pause) yield;
      if (at !== expected) this.report(`the log goes from ${expected - 1} to ${at}`);
      expected = at + 1;
      const { kind, key } = decodeLogRecord(value);
      const superseded = history.get([key, revisionOf(at)], this.snapshot);
      if ((superseded === undefined) !== (kind === "create")) {
        this.report(`the log says ${kind} of ${key} at ${at}; history disagrees`);
      }
      if (kind === "delete" && (data.get(key, this.snapshot) as RawEntry | undefined)?.revision === at) {
        this.report(`${key} was deleted at ${at} and stands there`);
      }
    }
    if (expected !== this.state.revision + 1) {
      this.report(`the log ends at ${expected - 1}, the latest revision is ${this.state.revision}`);
    }
  }

  /** The counters say how many keys there are. */
  *counters(): Generator<void> {
    const { counts } = this.environment;
    for (const [{ key: prefix, value }, pause] of paced(counts.getRange({ start: "/", ...this.snapshot }))) {
      if (pause) yield;
      const real = this.counted.get(prefix) ?? 0;
      if (readUint64(value, 0) !== real)
        this.report(`${prefix} counts ${numberIn(value)} keys and has ${real}`);
      this.counted.delete(prefix);
    }
    for (const [prefix, real] of this.counted) this.report(`${prefix} has no counter and ${real} keys`);
  }

  private checkKey(key: string): void {
    try {
      assertKey(key);
    } catch (error) {
      this.report((error as Error).message);
    }
  }

  private report(problem: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
  }
}

/** Items with a flag on each that ends a slice. */
function* paced<T>(items: Iterable<T>): Generator<readonly [T, boolean]> {
  let count = 0;
  for (const item of items) yield [item, ++count % SLICE_ENTRIES === 0];
}
