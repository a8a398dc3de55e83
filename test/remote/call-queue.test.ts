import { describe, expect, it } from "vitest";
import { CallQueue, CallRefusedError, type CallOrigin } from "../../src/remote/call-queue.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";

const limits = { running: 4, runningPerSource: 3, waiting: 6, waitingPerSource: 5, waitMs: 10_000 };

/** A queue whose calls end when the test says so. */
class Calls {
  readonly clock = new ManualClock();
  readonly queue = new CallQueue(this.clock, limits);
  /** Names of the calls that were made, in order. */
  readonly made: string[] = [];
  readonly refused: string[] = [];
  private readonly ends = new Map<string, (error?: Error) => void>();

  call(name: string, origin: Partial<CallOrigin> = {}): void {
    const whole = { source: "a", connection: undefined, precedence: false, ...origin };
    const call = () => {
      this.made.push(name);
      return new Promise<void>((resolve, reject) => {
        this.ends.set(name, (error) => (error === undefined ? resolve() : reject(error)));
      });
    };
    this.queue.run(whole, call).catch((error: unknown) => {
      if (error instanceof CallRefusedError) this.refused.push(name);
    });
  }

  async end(name: string, error?: Error): Promise<void> {
    this.ends.get(name)!(error);
    await settle();
  }
}

describe("calls on behalf of unknown clients", () => {
  it("one source leaves room for others, and its further calls wait", async () => {
    const calls = new Calls();
    for (const name of ["a1", "a2", "a3", "a4"]) calls.call(name);
    calls.call("b1", { source: "b" });
    calls.call("b2", { source: "b" });
    expect(calls.made).toEqual(["a1", "a2", "a3", "b1"]);
    await calls.end("b1");
    expect(calls.made.at(-1)).toBe("b2");
    await calls.end("a1", new Error("failed"));
    expect(calls.made.at(-1)).toBe("a4");
    expect(calls.queue.waiting).toBe(0);
  });

  it("sources take turns, and connections within a source", async () => {
    const calls = new Calls();
    const [one, two] = [{}, {}];
    for (const name of ["x1", "x2", "x3", "y1"]) calls.call(name, { source: name[0]! });
    calls.call("a1", { connection: one });
    calls.call("a2", { connection: one });
    calls.call("a3", { connection: two });
    calls.call("b1", { source: "b" });
    for (const name of ["x1", "x2", "x3", "y1"]) await calls.end(name);
    expect(calls.made.slice(4)).toEqual(["a1", "b1", "a3", "a2"]);
  });

  it("precedence goes before turns, and beyond a source's share", async () => {
    const calls = new Calls();
    for (const name of ["a1", "a2", "a3", "a4"]) calls.call(name);
    calls.call("known", { precedence: true });
    expect(calls.made.at(-1)).toBe("known");
    calls.call("b1", { source: "b" });
    calls.call("known2", { precedence: true });
    await calls.end("a1");
    expect(calls.made.at(-1)).toBe("known2");
  });

  it("when too many wait, the newest call of the connection with most of them is refused", async () => {
    const calls = new Calls();
    const [one, two] = [{}, {}];
    for (const name of ["a1", "a2", "a3"]) calls.call(name, { connection: one });
    for (const name of ["a4", "a5", "a6", "a7"]) calls.call(name, { connection: one });
    calls.call("a8", { connection: two });
    await settle();
    expect(calls.refused).toEqual([]);
    calls.call("a9", { connection: two });
    await settle();
    expect(calls.refused).toEqual(["a7"]);
    calls.call("x0", { source: "b" });
    calls.call("b1", { source: "b" });
    calls.call("b2", { source: "b" });
    await settle();
    expect(calls.refused).toEqual(["a7", "a6"]);
    expect(calls.queue.waiting).toBe(limits.waiting);
  });

  it("who waits for too long is refused, and is not called later", async () => {
    const calls = new Calls();
    for (const name of ["a1", "a2", "a3", "a4"]) calls.call(name);
    await calls.clock.advance(limits.waitMs - 1);
    expect(calls.refused).toEqual([]);
    await calls.clock.advance(1);
    expect(calls.refused).toEqual(["a4"]);
    await calls.end("a1");
    expect(calls.made).toEqual(["a1", "a2", "a3"]);
    expect([calls.queue.waiting, calls.clock.pending]).toEqual([0, 0]);
  });
});
