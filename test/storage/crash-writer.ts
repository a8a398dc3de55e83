/**
 * A child of `lmdb-crash.test.ts`: writes with many writers at once until it is killed, and reports each acknowledged
 * write on standard output as `key revision counter`. With a third argument, its writes are acknowledged before their sync, which follows
 * within so many milliseconds; some writes of another collection are synced first.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/time/clock.ts";
import { succeeded } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision } from "../../src/storage/store.ts";
import { counterDraft, counterOf } from "./counter-draft.ts";

const [dir = "", writers = "16", intervalMs] = process.argv.slice(2);
const deferredSyncMs = intervalMs === undefined ? undefined : new Map([["/crash/test/", Number(intervalMs)]]);
const store = openLmdbStore({ dir, clock: systemClock, retentionMs: 2000, deferredSyncMs });
writeSync(1, "ready\n");

async function writeForever(name: string): Promise<never> {
  const key = `/crash/test/n/${name}`;
  const standing = await store.get(key);
  let counter = standing === undefined ? 0 : counterOf(standing);
  let revision: Revision | undefined = standing?.revision;
  for (;;) {
    counter++;
    const draft = counterDraft(counter);
    const result =
      revision === undefined
        ? await store.commit({ kind: "create", key, draft })
        : await store.commit({ kind: "update", key, expected: revision, draft });
    if (!result.ok) throw new Error(`${key} was changed by someone else`);
    revision = result.revision;
    writeSync(1, `${key} ${revision} ${counter}\n`);
  }
}

async function writeOthers(): Promise<void> {
  for (let n = 0; intervalMs !== undefined; n++) {
    const key = `/crash/synced/n/${process.pid}-${n}`;
    const { revision } = succeeded(await store.commit({ kind: "create", key, draft: counterDraft(n) }));
    succeeded(await store.commit({ kind: "delete", key, expected: revision }));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const others = writeOthers();
await Promise.all(Array.from({ length: Number(writers) }, (_, i) => writeForever(`w${i}`)));
await others;
