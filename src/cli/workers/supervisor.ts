import cluster, { type Worker } from "node:cluster";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { stackOf, type Logger } from "../../base/logger.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import { stopSignal } from "../serve/stop.ts";
import { pulseMessage, pulseMs, Pulses } from "./pulse.ts";
import {
  announceMessage,
  environmentOf,
  readyMessage,
  stopCommitterSignal,
  type Role,
  type WorkerRole,
} from "./role.ts";
import { closeUntakenConnections } from "./untaken-connections.ts";
import { isAnswer, isRequest, type ValueAnswer, type ValueRequest } from "./value-messages.ts";

/** Delay before the start of a process is tried again. */
const retryMs = 1000;

/** What {@link superviseWorkers} starts. */
interface Supervised {
  /** Number of workers. */
  readonly workers: number;
  /** Whether the workers share a folder, so that one process should commit. */
  readonly needsCommitter: boolean;
  /** Port of all workers. */
  readonly port: number;
  readonly log: Logger;
}

/**
 * Serves with several processes that accept connections on one port: workers, and for an embedded store a committer that commits the writes
 * of all. A process that ends is replaced, and so is one that doesn't run any more.
 *
 * @returns the exit code, after SIGINT or SIGTERM, or when a process can't be started.
 */
export async function superviseWorkers(supervised: Supervised): Promise<number> {
  // Only this user can access it.
  const folder = supervised.needsCommitter ? mkdtempSync(path.join(tmpdir(), "plinth-")) : undefined;
  try {
    return await new Supervisor(supervised, folder && path.join(folder, "commits")).run();
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

class Supervisor {
  /** The running processes with their roles. */
  private readonly children = new Map<Worker, Role>();
  private readonly values = new ValueRelay(() => this.runningWorkers());
  private readonly pulses = new Pulses<Worker>((child) => this.endFrozen(child));
  private allServe!: () => void;
  /** Resolved when all workers serve. */
  private readonly whenAllServe = new Promise<void>((resolve) => (this.allServe = resolve));
  /** Whether a worker was told to announce the start. */
  private isAnnounced = false;
  private stopping = false;

  private readonly workers: number;
  private readonly port: number;
  private readonly log: Logger;

  /** @param socket path of the committer's socket; undefined if there is none. */
  constructor(
    { workers, port, log }: Supervised,
    private readonly socket: string | undefined,
  ) {
    this.workers = workers;
    this.port = port;
    this.log = log;
  }

  async run(): Promise<number> {
    const stop = stopSignal();
    const pulse = setInterval(() => this.pulses.tick(), pulseMs);
    const code = await Promise.race([this.startAll(), stop.then(() => 0)]);
    if (code === 0) await stop;
    this.stopping = true;
    await this.stopAll();
    clearInterval(pulse);
    return code;
  }

  /** Starts all processes; returns 0, or the exit code of the committer or the first worker if it can't start. */
  private async startAll(): Promise<number> {
    const { socket } = this;
    if (socket !== undefined) {
      const code = await this.start({ kind: "committer", socket });
      if (code !== 0) return code;
    }
    // The first worker creates certificates and default objects, which the others read.
    const code = await this.start(this.workerRole(1, true));
    if (code !== 0) return code;
    const others = Array.from({ length: this.workers - 1 }, (_, n) => this.workerRole(n + 2, false));
    await Promise.all(others.map((role) => this.start(role, true)));
    if (this.stopping) return 0;
    this.allServe();
    this.log.info(
      { processes: [...this.children.keys()].map(({ process }) => process.pid) },
      `${this.workers} workers serve`,
    );
    return 0;
  }

  private workerRole(number: number, announces: boolean): WorkerRole {
    const { workers, port, socket } = this;
    return { kind: "worker", number, workers, announces, port, socket };
  }

  /**
   * Starts a process, unless the server stops; returns 0 once it is ready, or its exit code if it ends before.
   *
   * @param retries whether the process is started again if it ends before it is ready.
   */
  private start(role: Role, retries = false): Promise<number> {
    if (this.stopping) return Promise.resolve(0);
    const child = cluster.fork(environmentOf(role));
    this.children.set(child, role);
    closeUntakenConnections(child.process);
    return new Promise((resolve) => {
      let isReady = false;
      child.on("message", (message: unknown) => {
        if (message === pulseMessage) return this.pulses.beat(child);
        if (message === readyMessage) {
          isReady = true;
          this.pulses.beat(child);
          resolve(0);
          if (role.kind === "worker" && role.announces) this.letAnnounce(child);
        }
        detach(this.values.receive(child, message), (error) => this.report(error));
      });
      const ended = (code: number | null, reason: unknown) => {
        this.pulses.remove(child);
        if (!this.children.delete(child)) return;
        resolve(code || 1);
        if (!this.stopping && (isReady || retries)) this.replace(role, reason, isReady ? 0 : retryMs);
      };
      child.once("exit", (code: number | null, signal: string | null) => ended(code, code ?? signal));
      child.on("error", (error) => {
        this.report(error);
        // A process that couldn't be created doesn't exit.
        if (child.process.pid === undefined) ended(null, error.message);
      });
    });
  }

  /** Lets a worker announce the start when all serve: connections stay with their worker, and are then distributed among all. */
  private letAnnounce(child: Worker): void {
    detach(
      this.whenAllServe.then(() => {
        if (!child.isConnected()) return;
        this.isAnnounced = true;
        child.send(announceMessage);
      }),
      (error) => this.report(error),
    );
  }

  private replace(role: Role, reason: unknown, delayMs: number): void {
    const name = role.kind === "committer" ? "the process that commits" : `worker ${role.number}`;
    this.log.error({ reason }, `${name} ended; starting another`);
    const again =
      role.kind === "committer" ? role : this.workerRole(role.number, role.announces && !this.isAnnounced);
    setTimeout(() => {
      detach(this.start(again, true), (error) => this.report(error));
    }, delayMs);
  }

  /** Ends a process that can't end by itself; it is then replaced. */
  private endFrozen(child: Worker): void {
    this.log.error({ pid: child.process.pid }, "a process doesn't run any more; ending it");
    child.process.kill("SIGKILL");
  }

  private runningWorkers(): Worker[] {
    return [...this.children].filter(([, { kind }]) => kind === "worker").map(([child]) => child);
  }

  private report(error: unknown): void {
    this.log.error({ error: stackOf(error) }, "a process could not be started or asked");
  }

  private async stopAll(): Promise<void> {
    const ended = (child: Worker) =>
      child.isDead()
        ? Promise.resolve()
        : new Promise<void>((resolve) => child.once("exit", () => resolve()));
    const workers = this.runningWorkers();
    for (const child of workers) child.process.kill("SIGTERM");
    await Promise.all(workers.map(ended));
    // Only the committer is left.
    const rest = [...this.children.keys()];
    for (const child of rest) child.process.kill(stopCommitterSignal);
    await Promise.all(rest.map(ended));
  }
}

/** Time for a worker to answer, in milliseconds; the value of one that doesn't is left out. */
const answerMs = 2000;

/** Passes values between workers. */
class ValueRelay {
  private lastId = 0;
  private readonly pending = new Map<number, (values: ValueAnswer["values"]) => void>();

  /** @param workers returns the running workers. */
  constructor(private readonly workers: () => readonly Worker[]) {}

  /** Handles a message of a worker; messages of other kinds are ignored. */
  async receive(from: Worker, message: unknown): Promise<void> {
    if (isAnswer(message)) this.pending.get(message.id)?.(message.values);
    else if (isRequest(message)) {
      const { id, topic } = message;
      const others = this.workers().filter((worker) => worker !== from && worker.isConnected());
      const values = (await Promise.all(others.map((worker) => this.valuesOf(worker, topic)))).flat();
      if (from.isConnected()) from.send({ kind: "value answer", id, values } satisfies ValueAnswer);
    }
  }

  private valuesOf(worker: Worker, topic: string): Promise<readonly unknown[]> {
    const id = ++this.lastId;
    return new Promise((resolve) => {
      const settle = (values: readonly unknown[]) => {
        this.pending.delete(id);
        clearTimeout(timer);
        resolve(values);
      };
      const timer = setTimeout(settle, answerMs, []);
      this.pending.set(id, settle);
      worker.send({ kind: "value request", id, topic } satisfies ValueRequest);
    });
  }
}
