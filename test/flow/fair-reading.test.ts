import { describe, expect, test } from "vitest";
import { FairReading } from "../../src/flow/fair-turns.ts";

/** A loop with connections, each of which has its next request ready as soon as it is answered. */
class Loop {
  timeMs = 0;
  private tasks: (() => void)[] = [];
  readonly reading = new FairReading({
    nowMs: () => this.timeMs,
    later: (task) => void this.tasks.push(task),
  });
  private readonly connections: Busy[] = [];

  connect(flow: string, count: number): void {
    for (let index = 0; index < count; index++) this.connections.push(new Busy(flow));
  }

  /** One turn: reads and answers what may be read, and then ends the turn. Gives whose requests were answered. */
  turn(): string[] {
    const read = this.connections.filter(({ isRead }) => isRead);
    for (const connection of read) this.reading.answered(connection.flow, this.timeMs, connection);
    const due = this.tasks;
    this.tasks = [];
    for (const task of due) task();
    return read.map(({ flow }) => flow);
  }

  /** How many connections are left unread. */
  get unread(): number {
    return this.connections.filter(({ isRead }) => !isRead).length;
  }

  get idle(): boolean {
    return this.tasks.length === 0;
  }
}

class Busy {
  isRead = true;
  constructor(readonly flow: string) {}
  pause(): void {
    this.isRead = false;
  }
  resume(): void {
    this.isRead = true;
  }
}

const countOf = (flow: string, turn: readonly string[]) => turn.filter((one) => one === flow).length;

describe("reading connections", () => {
  test("all connections of a single user are read in each turn", () => {
    const loop = new Loop();
    loop.connect("only", 64);
    // Whoever comes first is a change of user.
    loop.turn();
    loop.timeMs += 2000;
    while (!loop.idle) loop.turn();
    for (let turn = 0; turn < 5; turn++) expect(loop.turn()).toHaveLength(64);
    expect(loop.unread).toBe(0);
  });

  test("at most three connections of a noisy user are read in each turn when another user is active", () => {
    const loop = new Loop();
    loop.connect("noisy", 64);
    loop.connect("quiet", 1);
    expect(loop.turn()).toHaveLength(65);
    expect(loop.unread).toBe(63);
    let answered = 0;
    for (let turn = 0; turn < 64; turn++) {
      const read = loop.turn();
      expect(countOf("quiet", read)).toBe(1);
      expect(countOf("noisy", read)).toBeLessThanOrEqual(3);
      answered += countOf("noisy", read);
    }
    expect(answered).toBeGreaterThanOrEqual(64);
  });

  test("one connection of a noisy user is read in each turn when turns are long", () => {
    const loop = new Loop();
    loop.connect("noisy", 16);
    loop.connect("quiet", 1);
    loop.turn();
    for (let turn = 0; turn < 32; turn++) {
      loop.timeMs += 1;
      const read = loop.turn();
      if (turn > 0) expect(countOf("noisy", read)).toBe(1);
    }
  });

  test("noisy users are read equally often", () => {
    const loop = new Loop();
    loop.connect("first", 32);
    loop.connect("second", 8);
    loop.turn();
    let [first, second] = [0, 0];
    for (let turn = 0; turn < 100; turn++) {
      const read = loop.turn();
      first += countOf("first", read);
      second += countOf("second", read);
    }
    expect(Math.abs(first - second)).toBeLessThanOrEqual(4);
  });

  test("all connections are read again when other users are no longer active", () => {
    const loop = new Loop();
    loop.connect("noisy", 16);
    loop.reading.answered("quiet", 0, new Busy("quiet"));
    loop.turn();
    expect(loop.unread).toBe(15);
    loop.timeMs += 2000;
    for (let turn = 0; turn < 8; turn++) loop.turn();
    expect(loop.unread).toBe(0);
    expect(loop.turn()).toHaveLength(16);
    expect(loop.idle).toBe(true);
  });

  test("the reader is idle after a turn without responses", () => {
    const loop = new Loop();
    loop.connect("a", 1);
    loop.connect("b", 1);
    loop.turn();
    expect(loop.unread).toBe(0);
    expect(loop.idle).toBe(true);
  });
});
