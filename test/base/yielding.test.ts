import { expect, test, vi } from "vitest";
import { createYielder, nextTurn } from "../../src/base/turns/yielding.ts";
import { countTurns } from "../support/event-loop-turns.ts";

test("of several pieces of long work one continues in each turn of the event loop, in the order of their calls", async () => {
  const turns = countTurns();
  const continued: [name: string, turn: number][] = [];
  const piece = async (name: string) => {
    await nextTurn();
    continued.push([name, turns.count]);
  };
  await Promise.all(["a", "b", "c"].map(piece));
  turns.stop();
  expect(continued.map(([name]) => name)).toEqual(["a", "b", "c"]);
  expect(new Set(continued.map(([, turn]) => turn)).size).toBe(3);
});

test("long work yields after 3 ms, and not before", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1000);
  try {
    const yieldIfDue = createYielder();
    now.mockReturnValue(1002.9);
    expect(yieldIfDue()).toBeUndefined();
    now.mockReturnValue(1003);
    const pause = yieldIfDue();
    expect(pause).toBeInstanceOf(Promise);
    await pause;
    now.mockReturnValue(1005.9);
    expect(yieldIfDue()).toBeUndefined();
  } finally {
    now.mockRestore();
  }
});
