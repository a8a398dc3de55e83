/** Child processes of the bench; they end with it. */
import { type ChildProcess, fork, spawn, type SpawnOptions } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { attachMeter } from "./meter.ts";
import type { Handlers } from "./serve-parent.ts";

/** The repository. */
export const root = fileURLToPath(new URL("..", import.meta.url));

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

/** Time-out of a call of a helper. */
const callTimeoutMs = 10 * 60 * 1000;
const stopTimeoutMs = 20_000;

/** Starts a program that ends with the bench. */
export function start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return track(spawn(command, args, options));
}

function track(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** Ends a process: SIGTERM, then SIGKILL after a time-out. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}

interface Reply {
  /** Undefined in replies to the meter. */
  readonly id?: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** A program of this folder in a process of its own, whose functions are called over a channel. */
export class Helper<H extends Handlers> {
  private last = 0;
  private readonly waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >();

  private constructor(private readonly child: ChildProcess) {
    child.on("message", (reply: Reply) => this.settle(reply));
    child.once("exit", (code, signal) => {
      for (const id of this.waiting.keys()) this.settle({ id, error: `ended: ${signal ?? code}` });
    });
  }

  /** @param file relative to this folder. */
  static start<H extends Handlers>(file: string, nodeFlags: readonly string[] = []): Helper<H> {
    const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], {
      execArgv: ["--import", import.meta.resolve("tsx"), ...nodeFlags],
      serialization: "advanced",
    });
    attachMeter(child);
    return new Helper<H>(track(child));
  }

  get pid(): number {
    return this.child.pid!;
  }

  call<M extends keyof H & string>(
    method: M,
    ...[argument]: Parameters<H[M]>
  ): Promise<Awaited<ReturnType<H[M]>>> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.settle({ id, error: `${method} takes too long` }), callTimeoutMs);
      timer.unref();
      this.waiting.set(id, {
        resolve: (value) => {
          clearTimeout(timer);
          resolve(value);
        },
        reject,
      });
      this.child.send({ id, method, argument });
    });
  }

  close(): Promise<void> {
    return stop(this.child);
  }

  private settle({ id, value, error }: Reply): void {
    if (id === undefined) return;
    const call = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) call?.resolve(value as never);
    else call?.reject(new Error(error));
  }
}

/** Facts about a process; undefined except on Linux. */
export interface ProcessFacts {
  /** Processor time used so far, in microseconds; in steps of 10 ms. */
  readonly cpuMicros: number | undefined;
  /** Memory in bytes: all that is resident, and of it what is not a mapped file (which the system may drop). */
  readonly rss: number | undefined;
  readonly anonymous: number | undefined;
}

export function factsOf(pid: number): ProcessFacts {
  if (!existsSync(`/proc/${pid}/stat`)) {
    return { cpuMicros: undefined, rss: undefined, anonymous: undefined };
  }
  // The fields after the name, which stands in parentheses: utime and stime are the 12th and 13th of them.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop()!.split(" ");
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string): number | undefined => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status);
    return match === null ? undefined : Number(match[1]) * 1024;
  };
  return {
    cpuMicros: (Number(fields[11]) + Number(fields[12])) * 10_000,
    rss: bytes("VmRSS"),
    anonymous: bytes("RssAnon"),
  };
}

/** Processor time that a process and its running child processes have used so far, in microseconds; undefined except on Linux. */
export function cpuMicrosOfTree(pid: number): number | undefined {
  let { cpuMicros } = factsOf(pid);
  if (cpuMicros === undefined) return undefined;
  for (const child of childrenOf(pid)) cpuMicros += cpuMicrosOfTree(child) ?? 0;
  return cpuMicros;
}

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const texts = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, "utf8"));
  return texts.join("").split(" ").filter(Boolean).map(Number);
}
