import { afterAll, afterEach, describe, expect, it } from "vitest";
import { create, update } from "../../src/storage/conformance/support.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import type { Revision, Store } from "../../src/storage/store.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const retentionMs = 60_000;
const hourMs = 3_600_000;
const folder = temporaryFolder();
afterAll(() => folder.remove());
const engines: [string, (clock: ManualClock) => Store][] = [
  ["memory", (clock) => createMemoryStore({ clock, retentionMs })],
  ["LMDB", (clock) => openLmdbStore({ clock, retentionMs, dir: `${folder.path}/${Math.random()}` })],
];

describe.each(engines)("age of history (%s)", (_, open) => {
  let store: Store;
  afterEach(() => store.close());

  /** Writes a key three times, a second apart, and returns the first revision. */
  async function writeHistory(clock: ManualClock): Promise<Revision> {
    const first = await create(store, "/g/r/n/x", "1");
    await clock.advance(1000);
    const second = await update(store, "/g/r/n/x", first, "2");
    await clock.advance(1000);
    await update(store, "/g/r/n/x", second, "3");
    return first;
  }

  it("keeps history for the retention time when the wall clock is set forward", async () => {
    const clock = new ManualClock();
    store = open(clock);
    const first = await writeHistory(clock);
    clock.setWall(hourMs);
    // Compactions are due in between, and done before one of the writes is.
    for (let at = 0; at < retentionMs / 2; at += 1000) {
      await clock.advance(1000);
      await create(store, `/g/r/n/y-${at}`, "1");
    }
    expect((await store.get("/g/r/n/x", first))?.revision).toBe(first);
  });

  it("drops history after the retention time when the wall clock is set back", async () => {
    const clock = new ManualClock();
    store = open(clock);
    const first = await writeHistory(clock);
    clock.setWall(-hourMs);
    await expect
      .poll(async () => {
        await clock.advance(retentionMs);
        return store.floor();
      })
      .toBeGreaterThan(first);
  });
});
