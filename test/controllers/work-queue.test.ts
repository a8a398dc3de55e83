import { expect, test } from "vitest";
import { WorkQueue } from "../../src/controllers/work-queue.ts";
import { ManualClock, settle, until } from "../api/support.ts";
import { countTurns } from "../support/event-loop-turns.ts";

function queue(work: (key: string, closing: AbortSignal) => Promise<void>, workers?: number) {
  const clock = new ManualClock();
  const failures: string[] = [];
  const made = new WorkQueue(
    clock,
    work,
    (key, error) => failures.push(`${key}: ${String(error)}`),
    undefined,
    workers,
  );
  return { clock, failures, queue: made };
}

test("the queue processes one key at a time, and each key once when it is added several times", async () => {
  const done: string[] = [];
  let running = 0;
  const { queue: keys } = queue(async (key) => {
    expect(++running).toBe(1);
    await settle();
    done.push(key);
    running--;
  });
  for (const key of ["a", "b", "a", "c", "b"]) keys.add(key);
  await until(
    () => done.length,
    (count) => count === 3,
  );
  await settle();
  await keys.close();
  expect(done).toEqual(["a", "b", "c"]);
});

test("several workers process different keys, and a key that is added while it is processed is processed again afterwards", async () => {
  const done: string[] = [];
  const running = new Set<string>();
  let most = 0;
  const { queue: keys } = queue(async (key) => {
    expect(running.has(key)).toBe(false);
    running.add(key);
    most = Math.max(most, running.size);
    await settle();
    running.delete(key);
    done.push(key);
  }, 3);
  for (const key of ["a", "b", "c", "d", "e"]) keys.add(key);
  await Promise.resolve();
  for (const key of ["a", "b", "f"]) keys.add(key);
  await until(
    () => done.length,
    (count) => count === 8,
  );
  await keys.close();
  expect(most).toBe(3);
  expect(done.toSorted()).toEqual(["a", "a", "b", "b", "c", "d", "e", "f"]);
});

test("a key whose work never ends does not block other keys", async () => {
  const done: string[] = [];
  let finish = (): void => undefined;
  const { queue: keys } = queue(async (key) => {
    if (key === "stuck") await new Promise<void>((resolve) => (finish = resolve));
    done.push(key);
  }, 2);
  for (const key of ["stuck", "a", "b", "stuck", "c"]) keys.add(key);
  await settle();
  expect(done).toEqual(["a", "b", "c"]);
  const closed = keys.close();
  finish();
  await closed;
  expect(done).toEqual(["a", "b", "c", "stuck"]);
});

test("a key that is added while it is processed is processed again", async () => {
  const done: string[] = [];
  const { queue: keys } = queue(async (key) => {
    done.push(key);
    if (done.length === 1) keys.add(key);
  });
  keys.add("a");
  await settle();
  expect(done).toEqual(["a", "a"]);
});

test("a key is processed when it is added in any microtask turn after the last work", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const done: string[] = [];
    const { queue: keys } = queue(async (key) => void done.push(key));
    keys.add("first");
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    keys.add("second");
    await settle();
    expect(done, `after ${turns} turns`).toEqual(["first", "second"]);
  }
});

test("a failed key is retried with exponential backoff of at most 30 seconds", async () => {
  let attempts = 0;
  const {
    clock,
    failures,
    queue: keys,
  } = queue(async () => {
    attempts++;
    throw new Error("no");
  });
  keys.add("a");
  await settle();
  const expected = [20, 40, 80, 160];
  for (const [index, waitMs] of expected.entries()) {
    expect(attempts).toBe(index + 1);
    await clock.advance(waitMs - 1);
    expect(attempts).toBe(index + 1);
    await clock.advance(1);
  }
  await clock.advance(10 * 60_000);
  const before = attempts;
  await clock.advance(30_000);
  expect(attempts).toBe(before + 1);
  expect(failures).toHaveLength(attempts);
  await keys.close();
});

test("the backoff of a key is reset after a success", async () => {
  let fail = true;
  let attempts = 0;
  const { clock, queue: keys } = queue(async () => {
    attempts++;
    if (fail) throw new Error("no");
  });
  keys.add("a");
  await settle();
  await clock.advance(20);
  fail = false;
  await clock.advance(40);
  fail = true;
  keys.add("a");
  await settle();
  const before = attempts;
  await clock.advance(20);
  expect(attempts).toBe(before + 1);
  await keys.close();
});

test("close waits for running work, and no work starts afterwards", async () => {
  const done: string[] = [];
  const { clock, queue: keys } = queue(async (key) => {
    await settle();
    done.push(key);
    keys.addLater(key, 5);
  });
  keys.add("a");
  keys.addLater("b", 10);
  await Promise.resolve();
  await keys.close();
  keys.add("c");
  await clock.advance(1000);
  expect(done.filter((key) => key !== "a")).toEqual([]);
  expect(clock.due(60_000)).toBe(0);
});

test("addLater uses the earliest time and one timer per key when a key is added several times", async () => {
  const done: string[] = [];
  const { clock, queue: keys } = queue(async (key) => void done.push(key));
  keys.addLater("a", 1000);
  keys.addLater("a", 100);
  keys.addLater("a", 500);
  keys.addLater("b", 700);
  expect(clock.due(60_000)).toBe(2);
  await clock.advance(100);
  expect(done).toEqual(["a"]);
  await clock.advance(10_000);
  expect(done).toEqual(["a", "b"]);
  keys.addLater("a", 100);
  await clock.advance(100);
  expect(done).toEqual(["a", "b", "a"]);
});

test("close aborts the signal of long-running work", async () => {
  let batches = 0;
  const { failures, queue: keys } = queue(async (_key, closing) => {
    for (;;) {
      await settle();
      closing.throwIfAborted();
      batches++;
    }
  });
  keys.add("a");
  await until(
    () => batches,
    (count) => count > 1,
  );
  await keys.close();
  expect(failures).toEqual([]);
});

test("two queues whose work never waits let the event loop turn between their keys", async () => {
  const turns = countTurns();
  let done = 0;
  const work = (): Promise<void> => {
    const end = performance.now() + 1;
    while (performance.now() < end);
    done++;
    return Promise.resolve();
  };
  const queues = [queue(work).queue, queue(work).queue];
  for (let key = 0; key < 30; key++) for (const one of queues) one.add(`key-${key}`);
  while (done < 60) await new Promise((resolve) => setImmediate(resolve));
  turns.stop();
  // 60 ms of work in steps of at most 3 ms and one key.
  expect(turns.count).toBeGreaterThanOrEqual(10);
  for (const one of queues) await one.close();
});
