/**
 * A child of `lmdb-crash.test.ts`: writes with many writers at once until it is killed, and reports each acknowledged
 * write on standard output as `key revision counter`.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../src/base/clock.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import type { Revision } from "../../src/storage/store.ts";
import { counterDraft, counterOf } from "./counter-draft.ts";

const [dir = "", writers = "16"] = process.argv.slice(2);
const store = openLmdbStore({ dir, clock: systemClock, retentionMs: 2000 });
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

await Promise.all(Array.from({ length: Number(writers) }, (_, i) => writeForever(`w${i}`)));
