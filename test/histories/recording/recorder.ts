import type { Answer, History, LeaderTerm, Operation, Quota, Request, State, Watch } from "../history.ts";
import { partsOf } from "../judge/parts.ts";
import { isWrite } from "../judge/timeline.ts";

/** What holds for every history of a recorder. */
export interface HistorySettings {
  readonly quotas: readonly Quota[];
  readonly retentionNs: number;
}

/** Who sends a request. */
export interface Sender {
  readonly client: string;
  readonly server: string;
  /** Absent outside of workspaces. */
  readonly workspace?: string | undefined;
}

/** Writes without an answer of the past are part of a history if they began less than this time before its begin. */
const carriedNs = 120e9;

/** Collects operations and watches. The recording is divided into histories, between which no client is active. */
export class Recorder {
  private readonly startNs = process.hrtime.bigint();
  private operations: Operation[] = [];
  private watches: Watch[] = [];
  private terms: LeaderTerm[] = [];
  private initial: Pick<History, "initial" | "workspaces"> = { initial: { revision: 0, objects: [] } };
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
  async record(by: Sender, request: Request, perform: () => Promise<Answer | undefined>): Promise<Operation> {
    const id = ++this.lastId;
    const beginNs = this.nowNs();
    const answer = await perform();
    const ended = answer === undefined ? {} : { answer, endNs: this.nowNs() };
    const operation = { id, ...by, beginNs, request, ...ended };
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
    by: Sender,
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

  /** Begins a history with a state, and those of workspaces by name. */
  begin(initial: State, workspaces: Readonly<Record<string, State>>): void {
    this.initial = { initial, workspaces };
  }

  /** Returns the history since its begin, and forgets it except for writes that may still take effect. */
  end(): History {
    const { initial, operations, watches, terms, settings } = this;
    const history = { ...initial, operations, watches, terms, decisionDelayNs: 0, ...settings };
    const earliestNs = this.nowNs() - carriedNs;
    const isOpen = (operation: Operation) =>
      isWrite(operation.request) && operation.answer === undefined && operation.beginNs > earliestNs;
    this.operations = [...partsOf(history)]
      .filter(({ workspace }) => workspace === undefined || workspace in (initial.workspaces ?? {}))
      .flatMap(({ history: part, timeline }) =>
        part.operations.filter((one) => isOpen(one) && timeline.revisionOf(one) === undefined),
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
