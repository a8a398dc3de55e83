import { expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { takeBatch } from "../../src/storage/postgres/batch.ts";
import type { Connection } from "../../src/storage/postgres/connection.ts";
import { EntryCache } from "../../src/storage/postgres/entry-cache.ts";
import { SessionLostError, type Session, type Statement } from "../../src/storage/postgres/session.ts";
import { statementsOf } from "../../src/storage/postgres/statements.ts";
import { Writer } from "../../src/storage/postgres/writer.ts";
import { type Revision, StoreUnavailableError, type Write } from "../../src/storage/store.ts";

const deletion = (key: string): Write => ({ kind: "delete", key, expected: 4 as Revision });

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
  const queue = Array.from({ length: 200_000 }, (_, index) => ({
    write: deletion(`/g/r/n/${index}`),
    deadlineMs: 0,
    resolve: () => undefined,
    reject: () => undefined,
  }));
  const all = [...queue];
  expect(takeBatch(queue)).toEqual(all.slice(0, 1000));
  expect(queue.length).toBe(199_000);
  expect([queue[0], queue.at(-1)]).toEqual([all[1000], all.at(-1)]);
});
