/** Asks the measured processes for figures that only they know (`meter.cjs`). */
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Flags of Node that load the meter into a process, which needs a channel to the bench. */
export const meterFlags: readonly string[] = [
  "--require",
  fileURLToPath(new URL("meter.cjs", import.meta.url)),
];

type Method = "startTurns" | "stopTurns" | "collectGarbage";

interface Reply {
  readonly meter: number;
  readonly value: number | undefined;
}

const meters = new Map<number, Meter>();

/** The meter of one process. */
class Meter {
  private last = 0;
  private readonly waiting = new Map<number, (value: number | undefined) => void>();

  constructor(private readonly child: ChildProcess) {
    child.on("message", (reply: Partial<Reply>) => {
      if (reply.meter !== undefined) this.settle(reply.meter, reply.value);
    });
    child.once("exit", () => {
      meters.delete(child.pid!);
      for (const id of this.waiting.keys()) this.settle(id, undefined);
    });
  }

  /** Returns undefined if the process has ended. */
  call(method: Method): Promise<number | undefined> {
    if (!this.child.connected) return Promise.resolve(undefined);
    const meter = ++this.last;
    return new Promise((resolve) => {
      this.waiting.set(meter, resolve);
      this.child.send({ meter, method });
    });
  }

  private settle(id: number, value: number | undefined): void {
    this.waiting.get(id)?.(value);
    this.waiting.delete(id);
  }
}

/** Makes the meter of a process that was started with {@link meterFlags} available by its pid. */
export function attachMeter(child: ChildProcess): void {
  meters.set(child.pid!, new Meter(child));
}

/** Longest turn that was measured since the last call of {@link takeLongestTurn}. */
let longest: number | undefined;

/** Begins to measure the event loop of a process. */
export async function startTurns(pid: number | undefined): Promise<void> {
  if (pid !== undefined) await meters.get(pid)?.call("startTurns");
}

/** Returns the longest turn of a process's event loop since {@link startTurns}, in milliseconds; undefined if it has no meter. */
export async function stopTurns(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined) return undefined;
  return meters.get(pid)?.call("stopTurns");
}

/** Adds a turn of the product to those of the row that is being measured. */
function noteTurn(milliseconds: number | undefined): void {
  if (milliseconds !== undefined) longest = Math.max(longest ?? 0, milliseconds);
}

/** Returns the longest turn of the products since the last call; measurement goes on. */
export async function takeLongestTurn(): Promise<number | undefined> {
  for (const pid of products) {
    noteTurn(await stopTurns(pid));
    await startTurns(pid);
  }
  const turn = longest;
  longest = undefined;
  return turn;
}

const products = new Set<number>();

/** Measures a product's event loop from now on, until {@link forgetProduct}. */
export async function watchProduct(child: ChildProcess): Promise<void> {
  attachMeter(child);
  products.add(child.pid!);
  await startTurns(child.pid);
}

/** Must be called before a product is stopped. */
export async function forgetProduct(pid: number): Promise<void> {
  if (!products.delete(pid)) return;
  noteTurn(await stopTurns(pid));
}

/** Collects the garbage of a process, so that its memory is comparable. */
export async function collectGarbage(pid: number): Promise<void> {
  await meters.get(pid)?.call("collectGarbage");
}
