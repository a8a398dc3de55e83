import type { Clock } from "../../../src/base/time/clock.ts";
import { status } from "../../../src/storage/etcd/grpc.ts";
import type { Member, OpenWatch, WatchListener } from "../../../src/storage/etcd/member.ts";
import type {
  RangeRequest,
  RangeResponse,
  TxnRequest,
  TxnResponse,
  WatchCreateRequest,
  WatchEvent,
  WatchResponse,
} from "../../../src/storage/etcd/messages.ts";
import { Compacted, Revisions } from "./revisions.ts";

/** What happens to a request on its way to a member and back. */
export interface Passage {
  /** Time until the member executes the request, in milliseconds; undefined: the request is lost. */
  readonly requestMs: number | undefined;
  /** Time until the answer arrives; undefined: the answer is lost. */
  readonly answerMs: number | undefined;
  /** Time until the request arrives a second time, whose answer is dropped; undefined: it arrives once. */
  readonly repeatMs?: number | undefined;
}

/** A request that a client sends. */
export interface SentRequest {
  readonly client: string;
  readonly member: number;
  readonly kind: "range" | "txn" | "compact" | "alarm";
  readonly changes: boolean;
}

/** The network between clients and members. */
export interface Network {
  passage(request: SentRequest): Passage;
  /** Time until the events of a watch arrive, in milliseconds. */
  eventMs(client: string | undefined, member: number): number;
}

/** A member: `up`, `down` (connections are refused) or `frozen` (nothing is answered until it continues). */
export type MemberState = "up" | "down" | "frozen";

/** An error with the status of gRPC. */
class StatusOfCall extends Error {
  constructor(
    readonly code: number,
    readonly details: string,
  ) {
    super(details);
  }
}

/**
 * An etcd cluster in the process, on an injected clock: its members execute requests of {@link Member} in one order, over a network
 * that delays and loses messages. Without a quorum nothing is executed.
 */
export class SimulatedCluster {
  readonly data = new Revisions();
  readonly states: MemberState[];
  /** Whether the quota is used up: transactions that put are rejected. */
  full = false;
  /** Whether a rejected transaction is executed nevertheless, as the one that exceeds the quota is. */
  executesWhenFull = false;
  /** Called after each revision. */
  committed: (revision: number) => void = () => undefined;
  /** Called before a compaction that a client requests. */
  compactRequested: (client: string, revision: number) => void = () => undefined;
  private readonly watches = new Set<SimulatedWatch>();
  private readonly ended = new Set<string>();
  private waiting: (() => void)[] = [];

  constructor(
    readonly clock: Clock,
    readonly network: Network,
    members = 3,
  ) {
    this.states = Array.from({ length: members }, () => "up");
  }

  /** Returns the endpoints that clients use; their names have no other meaning. */
  get endpoints(): string[] {
    return this.states.map((_, index) => `member-${index}:2379`);
  }

  /**
   * Returns the members as one client sees them.
   *
   * @param clock the clock of the client's process, on which answers, events and deadlines arrive.
   */
  connect(client: string, clock: Clock = this.clock): Member[] {
    return this.states.map((_, index) => new SimulatedMember(this, client, clock, index));
  }

  /** Cuts the connections of a client whose process has ended: it gets and sends nothing any more. */
  disconnect(client: string): void {
    this.ended.add(client);
    for (const watch of this.watches) if (watch.at.client === client) this.watches.delete(watch);
  }

  /** Whether enough members run to execute requests. */
  get hasQuorum(): boolean {
    return this.states.filter((state) => state === "up").length * 2 > this.states.length;
  }

  /** Stops, freezes or continues a member. Watches at a stopped member end. */
  setState(member: number, state: MemberState): void {
    this.states[member] = state;
    for (const watch of this.watches) {
      if (state === "down" && watch.member === member) watch.end("the member stopped");
      else if (state === "up") watch.send();
    }
    if (state === "frozen") return;
    const { waiting } = this;
    this.waiting = [];
    for (const execute of waiting) this.clock.setTimer(execute, this.network.eventMs(undefined, member));
  }

  /** As {@link setState}, for all members. */
  setStates(state: MemberState): void {
    for (const member of this.states.keys()) this.setState(member, state);
  }

  /** Executes a request that waits for its member or a quorum when the state of a member changes, in any order. */
  wait(execute: () => void): void {
    this.waiting.push(execute);
  }

  compact(revision: number): void {
    this.data.compact(revision);
  }

  execute<T>(run: (data: Revisions) => T): T {
    const before = this.data.revision;
    try {
      return run(this.data);
    } finally {
      if (this.data.revision > before) {
        this.committed(this.data.revision);
        for (const watch of this.watches) watch.send();
      }
    }
  }

  /** Whether the process of a client has ended. */
  hasEnded(client: string): boolean {
    return this.ended.has(client);
  }

  openWatch(watch: SimulatedWatch): void {
    if (this.hasEnded(watch.at.client)) return;
    this.watches.add(watch);
    watch.send();
  }

  closeWatch(watch: SimulatedWatch): void {
    this.watches.delete(watch);
  }
}

class SimulatedMember implements Member {
  constructor(
    private readonly cluster: SimulatedCluster,
    readonly client: string,
    /** The clock of the client. */
    readonly clock: Clock,
    readonly index: number,
  ) {}

  range(request: RangeRequest, timeoutMs: number): Promise<RangeResponse> {
    return this.call("range", false, timeoutMs, (data) => data.range(request));
  }

  txn(request: TxnRequest, timeoutMs: number): Promise<TxnResponse> {
    const changes = request.success.some((op) => !("range" in op));
    const puts = request.success.some((op) => "put" in op);
    return this.call("txn", changes, timeoutMs, (data) => {
      if (!puts || !this.cluster.full) return data.txn(request);
      if (this.cluster.executesWhenFull) data.txn(request);
      throw new StatusOfCall(status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded");
    });
  }

  compact(revision: number, timeoutMs: number): Promise<void> {
    return this.call("compact", true, timeoutMs, (data) => {
      this.cluster.compactRequested(this.client, revision);
      data.compact(revision);
    });
  }

  outOfSpace(timeoutMs: number): Promise<boolean> {
    return this.call("alarm", false, timeoutMs, () => this.cluster.full);
  }

  watch(request: WatchCreateRequest, listener: WatchListener): OpenWatch {
    const watch = new SimulatedWatch(this.cluster, this, request, listener);
    this.cluster.openWatch(watch);
    return watch;
  }

  close(): void {
    // The requests in progress end by their deadlines.
  }

  private call<T>(
    kind: SentRequest["kind"],
    changes: boolean,
    timeoutMs: number,
    run: (data: Revisions) => T,
  ): Promise<T> {
    const { cluster, index } = this;
    if (cluster.hasEnded(this.client)) return new Promise(() => undefined);
    const passage = cluster.network.passage({ client: this.client, member: index, kind, changes });
    return new Promise<T>((resolve, reject) => {
      const deadline = this.clock.setTimer(
        () => reject(new StatusOfCall(status.DEADLINE_EXCEEDED, "Deadline exceeded")),
        timeoutMs,
      );
      const answer = (settle: () => void): void => {
        if (passage.answerMs === undefined) return;
        const arrive = (): void => {
          deadline.cancel();
          settle();
        };
        this.clock.setTimer(arrive, passage.answerMs);
      };
      const execute = (): void => {
        if (cluster.states[index] === "down")
          return answer(() => reject(new StatusOfCall(status.UNAVAILABLE, "connect ECONNREFUSED")));
        // A frozen member, and one without a quorum, executes the request later, if at all.
        if (cluster.states[index] === "frozen" || !cluster.hasQuorum) return cluster.wait(execute);
        try {
          const result = cluster.execute(run);
          // The second message follows the first one on the same connection.
          if (kind === "txn" && changes && passage.repeatMs !== undefined) cluster.execute(run);
          answer(() => resolve(result));
        } catch (error) {
          const failure =
            error instanceof Compacted ? new StatusOfCall(status.OUT_OF_RANGE, compactedText) : error;
          answer(() => reject(failure as Error));
        }
      };
      if (passage.requestMs !== undefined) cluster.clock.setTimer(execute, passage.requestMs);
    });
  }
}

const compactedText = "etcdserver: mvcc: required revision has been compacted";

class SimulatedWatch implements OpenWatch {
  private next: number;
  private sending = false;
  private closed = false;

  constructor(
    private readonly cluster: SimulatedCluster,
    readonly at: SimulatedMember,
    private readonly request: WatchCreateRequest,
    private readonly listener: WatchListener,
  ) {
    this.next = request.startRevision;
  }

  get member(): number {
    return this.at.index;
  }

  close(): void {
    this.closed = true;
    this.cluster.closeWatch(this);
  }

  /** Ends the stream with an error. */
  end(reason: string): void {
    this.deliver(() => {
      this.close();
      this.listener.ended(new StatusOfCall(status.UNAVAILABLE, reason));
    });
  }

  /** Sends the events since the last ones, if there are some and none are on their way. */
  send(): void {
    const { cluster, member } = this;
    if (this.closed || this.sending || cluster.states[member] === "frozen") return;
    if (cluster.states[member] === "down") return this.end("connect ECONNREFUSED");
    if (this.next <= cluster.data.compactRevision) return this.cancel(cluster.data.compactRevision);
    const { revision } = cluster.data;
    const events: WatchEvent[] = [];
    for (; this.next <= revision; this.next++)
      events.push(...cluster.data.changesAt(this.next, this.request));
    if (events.length === 0) return;
    this.sending = true;
    this.deliver(() => {
      this.sending = false;
      this.listener.response({ ...emptyResponse, events: cluster.data.asSent(events) });
      this.send();
    });
  }

  private cancel(compactRevision: number): void {
    this.deliver(() => {
      this.close();
      this.listener.response({ ...emptyResponse, canceled: true, compactRevision });
    });
  }

  private deliver(arrive: () => void): void {
    const { client, index, clock } = this.at;
    clock.setTimer(
      () => {
        if (!this.closed) arrive();
      },
      this.cluster.network.eventMs(client, index),
    );
  }
}

const emptyResponse: WatchResponse = {
  created: false,
  canceled: false,
  compactRevision: 0,
  cancelReason: "",
  events: [],
};
