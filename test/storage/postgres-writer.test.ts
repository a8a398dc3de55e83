import { expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { takeBatch, type WaitingWrites } from "../../src/storage/postgres/batch.ts";
import type { Connection } from "../../src/storage/postgres/connection.ts";
import { EntryCache } from "../../src/storage/postgres/entry-cache.ts";
import { SessionLostError, type Session, type Statement } from "../../src/storage/postgres/session.ts";
import { statementsOf } from "../../src/storage/postgres/statements.ts";
import { Writer } from "../../src/storage/postgres/writer.ts";
import { type Revision, StoreUnavailableError, type Write } from "../../src/storage/store.ts";

const deletion = (key: string): Write => ({ kind: "delete", key, expected: 4 as Revision });

const waiting = (...writes: Write[]): WaitingWrites => ({
  writes,
  deadlineMs: 0,
  resolve: () => undefined,
  reject: () => undefined,
});

test("a batch whose answer is lost and whose replaced values can't be read is rejected, and none of it is repeated", async () => {
  const statements = statementsOf("test");
  let commits = 0;
  const execute = async ({ text }: Statement) => {
    if (text === statements.commit.text) {
      commits++;
      throw new SessionLostError("lost");
    }
    return text === statements.outcome.text ? [[5, "{5,0}"]] : [];
  };
  const session = { isOpen: true, close: () => Promise.resolve() } as Session;
  const connection = {
    timeoutMs: 1000,
    connect: async () => session,
    execute: (_: Session, statement: Statement) => execute(statement),
  } as unknown as Connection;
  const writer = new Writer({
    connection,
    statements,
    cache: new EntryCache(0),
    clock: systemClock,
    getAt: () => Promise.reject(new StoreUnavailableError("no answer")),
    committed: () => Promise.resolve(),
  });
  const results = await Promise.allSettled([
    writer.commit(deletion("/g/r/n/a")),
    writer.commit(deletion("/g/r/n/b")),
  ]);
  for (const result of results)
    expect(String((result as PromiseRejectedResult).reason)).toMatch(/no answer; whether .* isn't known/);
  // Returns when nothing waits any more.
  await writer.close();
  expect(commits).toBe(1);
});

test("a batch is taken from a queue of any length, which stays in order", () => {
  const queue = Array.from({ length: 200_000 }, (_, index) => waiting(deletion(`/g/r/n/${index}`)));
  const all = [...queue];
  expect(takeBatch(queue)).toEqual(all.slice(0, 1000));
  expect(queue.length).toBe(199_000);
  expect([queue[0], queue.at(-1)]).toEqual([all[1000], all.at(-1)]);
});

test("a transaction waits for the batch after those that write one of its keys or conditions, and whole", () => {
  const conditional = (key: string, on: string): Write => ({
    ...deletion(key),
    conditions: [{ key: on, revision: 4 as Revision }],
  });
  const first = waiting(deletion("a"), deletion("b"));
  const dependent = waiting(deletion("c"), deletion("b"));
  const indirect = waiting(deletion("c"));
  const guarded = waiting(deletion("d"), conditional("e", "a"));
  const own = waiting(deletion("f"), conditional("g", "f"));
  const queue = [first, dependent, indirect, guarded, own];
  expect(takeBatch(queue)).toEqual([first, own]);
  expect(takeBatch(queue)).toEqual([dependent, guarded]);
  expect(takeBatch(queue)).toEqual([indirect]);
});

test("a batch isn't continued after the transaction with which it has its most writes", () => {
  const transaction = (name: string) =>
    waiting(...Array.from({ length: 400 }, (_, index) => deletion(`${name}-${index}`)));
  const all = ["a", "b", "c", "d"].map(transaction);
  const queue = [...all, waiting(deletion("a-0"))];
  expect(takeBatch(queue)).toEqual(all.slice(0, 3));
  expect(takeBatch(queue).length).toBe(2);
});
