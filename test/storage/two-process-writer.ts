/**
 * A child of `lmdb-two-processes.test.ts`, driven by lines on standard input:
 * `write <name> <count>` creates keys one after the other, `race <key> <count>` increments a counter by compare and swap.
 * Its second argument is the interval in ms within which the writes are synced; without it they are synced before they are acknowledged.
 * Each acknowledged write is reported as `ack <revision> <time in ms, of the machine>`.
 */
import { createInterface } from "node:readline";
import { systemClock } from "../../src/base/time/clock.ts";
import { create, draft, textOf } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";

const [dir = "", intervalMs] = process.argv.slice(2);
const deferredSyncMs = intervalMs === undefined ? undefined : new Map([["/g/r/", Number(intervalMs)]]);
const store = openLmdbStore({ dir, clock: systemClock, deferredSyncMs });

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function write(name: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const revision = await create(store, `/g/r/n/${name}${i}`, name);
    say(`ack ${revision} ${performance.timeOrigin + performance.now()}`);
  }
}

async function race(key: string, count: number): Promise<void> {
  for (let done = 0; done < count;) {
    const seen = (await store.get(key))!;
    const next = draft(String(Number(textOf(seen)) + 1));
    const result = await store.commit({ kind: "update", key, expected: seen.revision, draft: next });
    if (result.ok) done++;
  }
}

say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [command, name = "", count = "0"] = line.split(" ");
  if (command === "write") await write(name, Number(count));
  else if (command === "race") await race(name, Number(count));
  else break;
  say("done");
}
await store.close();
process.exit(0);
