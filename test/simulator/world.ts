import type { Network, Passage } from "./etcd/simulated-cluster.ts";
import { SimulatedCluster } from "./etcd/simulated-cluster.ts";
import { createMemoryStore, type MemoryStore } from "../../src/storage/memory/memory-store.ts";
import { History } from "./history/history.ts";
import { Violations } from "./laws/violations.ts";
import { SimulatedServer } from "./servers/simulated-server.ts";
import { ProcessClock } from "./time/process-clock.ts";
import { Scheduler } from "./time/scheduler.ts";
import { Trace } from "./trace.ts";
import { Dice } from "../support/dice.ts";

/** The parameters of a simulation. */
export interface WorldOptions {
  readonly seed: number;
  /** Number of servers, 1 to 3; by default the seed decides. */
  readonly servers?: number | undefined;
  /** The store of the servers; by default the seed decides. */
  readonly engine?: "etcd" | "memory" | undefined;
  /** Number of events that are kept as text. */
  readonly traceLines: number;
}

/** A line of a server's log. */
export interface LogLine {
  readonly server: SimulatedServer;
  readonly level: "info" | "warn" | "error";
  readonly text: string;
  readonly fields: object;
}

/** Part of the seeds whose servers have a store in memory. */
const memoryShare = 0.1;
const startMs = Date.parse("2030-01-01T00:00:00Z");

/** The network between servers and cluster, and between clients and servers. */
class SimulatedNetwork implements Network {
  /** Mean of a delay in milliseconds. */
  meanMs = 1;
  /** The same for events of watches; by default as for other messages. */
  eventMeanMs: number | undefined;
  /** Probability that a request or an answer is lost. */
  loss = 0;
  /** Probability that a request arrives twice. */
  repeats = 0;
  private readonly dice: Dice;

  constructor(seed: number) {
    this.dice = new Dice(seed);
  }

  passage(): Passage {
    const [requestMs, answerMs] = [this.delayOrLoss(), this.delayOrLoss()];
    const isRepeated = requestMs !== undefined && this.dice.chance(this.repeats);
    return { requestMs, answerMs, repeatMs: isRepeated ? requestMs + this.delayMs() : undefined };
  }

  eventMs(): number {
    return this.delayMs(this.eventMeanMs);
  }

  /** @param meanMs the mean, in milliseconds. */
  delayMs(meanMs = this.meanMs): number {
    return -Math.log(1 - this.dice.next()) * meanMs;
  }

  private delayOrLoss(): number | undefined {
    const isLost = this.dice.chance(this.loss);
    const delayMs = this.delayMs();
    return isLost ? undefined : delayMs;
  }
}

/** One simulated world: servers over a cluster, in virtual time. Clients and faults are added to it. */
export class World {
  readonly scheduler: Scheduler;
  readonly trace: Trace;
  readonly violations: Violations;
  readonly clusterNetwork: SimulatedNetwork;
  readonly clientNetwork: SimulatedNetwork;
  readonly cluster: SimulatedCluster;
  /** The store of the servers, if it isn't in the cluster. */
  readonly memory: MemoryStore | undefined;
  /** The clock of the store in memory. */
  readonly memoryClock: ProcessClock;
  readonly history: History;
  readonly servers: readonly SimulatedServer[];
  readonly seed: number;
  readonly retentionMs: number;
  /** Whether the servers keep the history of ConfigMaps. */
  readonly keepsHistory: boolean;
  /** Whether clients continue to change objects. */
  isActive = true;
  /** Whether clients send requests without long pauses. */
  isBusy = false;
  /** The newest resource version that a client has received. */
  acknowledged = 0;
  private readonly logListeners: ((line: LogLine) => void)[] = [];

  constructor({ seed, servers, engine, traceLines }: WorldOptions) {
    this.seed = seed;
    const dice = this.dice("world");
    this.scheduler = new Scheduler(startMs, seed);
    const nowMs = (): number => this.scheduler.nowMs;
    this.trace = new Trace(nowMs, traceLines);
    this.violations = new Violations(seed, nowMs, this.trace);
    this.clusterNetwork = new SimulatedNetwork(dice.below(2 ** 31));
    this.clientNetwork = new SimulatedNetwork(dice.below(2 ** 31));
    const clock = new ProcessClock(this.scheduler, "etcd");
    this.cluster = new SimulatedCluster(clock, this.clusterNetwork, dice.pick([1, 3]));
    this.history = new History(this.cluster, nowMs, (revision) =>
      this.violations.add("revisions", `revision ${revision} is used a second time`),
    );
    const retentionMs = dice.pick([60_000, 300_000]);
    this.retentionMs = retentionMs;
    this.keepsHistory = this.dice("history").chance(0.5);
    this.memoryClock = new ProcessClock(this.scheduler, "memory");
    if (engine === "memory" || (engine === undefined && this.dice("engine").chance(memoryShare))) {
      this.memory = createMemoryStore({ clock: this.memoryClock, retentionMs });
      this.history.follow(this.memory);
    }
    // Only one process can use a store in memory.
    const count = this.memory === undefined ? (servers ?? 1 + dice.below(3)) : 1;
    this.servers = Array.from({ length: count }, (_, index) => new SimulatedServer(this, `server-${index}`));
    this.history.listen(({ key, revision, isDeletion }) =>
      this.trace.add("etcd", isDeletion ? "delete" : "put", `${revision} ${key}`),
    );
  }

  /** The revision up to which the history is gone. */
  get floor(): number {
    return this.memory === undefined ? this.cluster.data.compactRevision : this.memory.floor();
  }

  /** Returns a source of random choices for one purpose, which doesn't depend on the others. */
  dice(purpose: string): Dice {
    let hash = Math.imul(this.seed, 0x9e3779b1);
    for (let at = 0; at < purpose.length; at++)
      hash = Math.imul(hash ^ purpose.charCodeAt(at), 0x01000193) ^ (hash >>> 13);
    return new Dice(hash >>> 0);
  }

  /** Calls a listener for each line of a server's log. */
  onLog(listener: (line: LogLine) => void): void {
    this.logListeners.push(listener);
  }

  logged(name: string, level: LogLine["level"], text: string, fields: object): void {
    const { error } = fields as { readonly error?: unknown };
    this.trace.add(name, level, error === undefined ? text : `${text}: ${String(error).split("\n")[0]}`);
    const server = this.servers.find((one) => one.name === name)!;
    for (const listener of this.logListeners) listener({ server, level, text, fields });
  }

  startFailed(name: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.trace.add(name, "start failed", reason);
    for (const listener of this.logListeners)
      listener({
        server: this.servers.find((one) => one.name === name)!,
        level: "error",
        text: "start failed",
        fields: { error: String(error instanceof Error ? error.stack : error), cause: error as object },
      });
  }
}
