import { agrees, apply, type RegisterOperation, type RegisterState } from "./register.ts";

/** A way in which the operations so far can have taken effect: the state, and which of the running ones already did. */
interface Configuration {
  readonly state: RegisterState;
  /** Indexes of running operations that have taken effect, ascending. */
  readonly done: readonly number[];
}

/** The first operation that no order explains, and the states that were possible before its answer. */
export interface Contradiction {
  readonly operation: RegisterOperation;
  readonly states: readonly RegisterState[];
  /** Operations that were running. */
  readonly running: readonly RegisterOperation[];
}

/**
 * Searches an order of the operations of one key in which each takes effect between its begin and its answer and every answer agrees
 * with the state (Wing and Gong, with memory of the configurations that were seen). It passes over begins and answers in the order of
 * time and keeps the set of possible configurations. Known revisions leave one possible order of the writes, and an observation that
 * agrees with a state is placed there at once, so a step costs about as much as there are running operations.
 */
export class RegisterSearch {
  private configurations: Configuration[];
  private readonly running = new Set<number>();
  /** For each known revision of a write, and for the initial one, the next known revision. */
  private readonly nextRevision = new Map<number, number>();

  constructor(
    private readonly operations: readonly RegisterOperation[],
    initial: RegisterState,
  ) {
    this.configurations = [{ state: initial, done: [] }];
    const revisions = operations.flatMap(({ revision }) => (revision === undefined ? [] : [revision]));
    let previous = initial.revision;
    for (const revision of [...new Set(revisions)].toSorted((a, b) => a - b)) {
      if (revision <= initial.revision) continue;
      this.nextRevision.set(previous, revision);
      previous = revision;
    }
  }

  /** Returns the first contradiction; undefined if there is none. */
  run(): Contradiction | undefined {
    for (const { index, isBegin } of momentsOf(this.operations)) {
      if (isBegin) {
        this.running.add(index);
        continue;
      }
      const after = this.explain(index);
      if (after.length === 0) {
        const running = [...this.running].map((one) => this.operations[one]!);
        const states = this.configurations.map(({ state }) => state);
        return { operation: this.operations[index]!, states, running };
      }
      this.running.delete(index);
      this.configurations = after.map(({ state, done }) => ({
        state,
        done: done.filter((one) => one !== index),
      }));
    }
    return undefined;
  }

  /** Returns the configurations in which an operation has taken effect. */
  private explain(index: number): Configuration[] {
    const seen = new Set<string>();
    const result: Configuration[] = [];
    const pending = [...this.configurations];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const configuration = this.withObservations(next);
      const name = nameOf(configuration);
      if (seen.has(name)) continue;
      seen.add(name);
      if (configuration.done.includes(index)) result.push(configuration);
      else pending.push(...this.successors(configuration));
    }
    return result;
  }

  /** Places every running observation that agrees with the state. */
  private withObservations({ state, done }: Configuration): Configuration {
    const more = [...this.running].filter((index) => {
      const operation = this.operations[index]!;
      return !operation.isEffect && !done.includes(index) && agrees(state, operation);
    });
    return more.length === 0 ? { state, done } : { state, done: ascending([...done, ...more]) };
  }

  private successors({ state, done }: Configuration): Configuration[] {
    const next = this.nextRevision.get(state.revision);
    return [...this.running].flatMap((index) => {
      const operation = this.operations[index]!;
      if (done.includes(index) || !operation.isEffect) return [];
      const after = apply(state, operation, next);
      return after === undefined ? [] : [{ state: after, done: ascending([...done, index]) }];
    });
  }
}

function ascending(indexes: readonly number[]): number[] {
  return indexes.toSorted((a, b) => a - b);
}

function nameOf({ state, done }: Configuration): string {
  return `${state.revision} ${state.uid ?? ""} ${done.join(",")}`;
}

/** The begins and ends by time; a begin comes before an end at the same time. */
function momentsOf(operations: readonly RegisterOperation[]): { index: number; isBegin: boolean }[] {
  const moments = operations.flatMap(({ beginNs, endNs }, index) => [
    { index, atNs: beginNs, isBegin: true },
    ...(endNs === Number.POSITIVE_INFINITY ? [] : [{ index, atNs: endNs, isBegin: false }]),
  ]);
  return moments.toSorted((a, b) => a.atNs - b.atNs || Number(b.isBegin) - Number(a.isBegin));
}
