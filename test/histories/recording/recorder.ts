import type {
  Answer,
  History,
  LeaderTerm,
  ObservedObject,
  Operation,
  Quota,
  Request,
  Watch,
} from "../history.ts";
import { Timeline } from "../judge/timeline.ts";

/** What holds for every history of a recorder. */
export interface HistorySettings {
  readonly quotas: readonly Quota[];
  readonly retentionNs: number;
}

/** Writes without an answer of the past are part of a history if they began less than this time before its begin. */
const carriedNs = 120e9;

/** Collects operations and watches. The recording is divided into histories, between which no client is active. */
export class Recorder {
  private readonly startNs = process.hrtime.bigint();
  private operations: Operation[] = [];
  private watches: Watch[] = [];
  private terms: LeaderTerm[] = [];
  private initial: History["initial"] = { revision: 0, objects: [] };
  private lastId = 0;

  /** Number of operations since the start. */
  recorded = 0;

  constructor(private readonly settings: HistorySettings) {}

  /** Nanoseconds since the start. */
  nowNs(): number {
    return Number(process.hrtime.bigint() - this.startNs);
  }

  /**
   * Performs a request and records it.
   *
   * @param perform returns the answer; undefined if it leaves open whether the request took effect.
   */
  async record(
    by: { readonly client: string; readonly server: string },
    request: Request,
    perform: () => Promise<Answer | undefined>,
  ): Promise<Operation> {
    const id = ++this.lastId;
    const beginNs = this.nowNs();
    const answer = await perform();
    const ended = answer === undefined ? {} : { answer, endNs: this.nowNs() };
    const operation = { id, client: by.client, server: by.server, beginNs, request, ...ended };
    this.operations.push(operation);
    this.recorded++;
    return operation;
  }

  /**
   * Performs a transaction and records each of its writes.
   *
   * @param perform returns the answer to each; undefined if it leaves open whether the transaction took effect.
   */
  async recordTogether(
    by: { readonly client: string; readonly server: string },
    requests: readonly Request[],
    perform: () => Promise<readonly Answer[] | undefined>,
  ): Promise<Operation[]> {
    const transaction = this.lastId + 1;
    const ids = requests.map(() => ++this.lastId);
    const beginNs = this.nowNs();
    const answers = await perform();
    const endNs = this.nowNs();
    const operations = requests.map((request, index): Operation => {
      const ended = answers === undefined ? {} : { answer: answers[index]!, endNs };
      return { id: ids[index]!, ...by, beginNs, request, transaction, ...ended };
    });
    this.operations.push(...operations);
    this.recorded += operations.length;
    return operations;
  }

  /** Begins the record of a watch; frames are added with {@link Recorder.frame}. */
  watch(watch: Omit<Watch, "id" | "beginNs" | "frames">): Watch {
    const recorded = { ...watch, id: ++this.lastId, beginNs: this.nowNs(), frames: [] };
    this.watches.push(recorded);
    return recorded;
  }

  term(term: LeaderTerm): void {
    this.terms.push(term);
  }

  /** Begins a history with a state. */
  begin(revision: number, objects: readonly ObservedObject[]): void {
    this.initial = { revision, objects };
  }

  /** Returns the history since its begin, and forgets it except for writes that may still take effect. */
  end(): History {
    const { initial, operations, watches, terms, settings } = this;
    const history = { initial, operations, watches, terms, decisionDelayNs: 0, ...settings };
    const timeline = new Timeline(history);
    const earliestNs = this.nowNs() - carriedNs;
    this.operations = operations.filter(
      (operation) =>
        operation.answer === undefined &&
        operation.beginNs > earliestNs &&
        timeline.revisionOf(operation) === undefined,
    );
    this.watches = [];
    this.terms = [];
    return history;
  }
}

/** The position of a watch: everything up to this revision was delivered. */
export function positionOf({ frames, after }: Watch): number {
  const last = frames.at(-1);
  if (last === undefined || last.type === "GONE") return after;
  return last.type === "BOOKMARK" ? last.revision : last.object.revision;
}

/** Whether a watch was refused because its revision was compacted. */
export function isGone({ frames }: Watch): boolean {
  return frames.at(-1)?.type === "GONE";
}
