import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { openLmdbStore } from "../../src/storage/lmdb/lmdb-store.ts";
import { Child } from "./child.ts";
import { counterOf } from "./counter-draft.ts";
import { temporaryFolder } from "./support.ts";
import { effort } from "../support/effort.ts";

const KILLS = effort(2, 25);
const WRITERS = 16;

/** Small pseudo-random numbers from a seed, so that a failure can be repeated. */
function* random(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

describe.each([
  { name: "", args: [], kills: KILLS },
  { name: " whose syncs are deferred", args: ["60000"], kills: KILLS },
])("an embedded store$name whose process is killed in the middle of writes", ({ args, kills }) => {
  const folder = temporaryFolder();
  afterAll(folder.remove);

  it(`C-1-02 holds every acknowledged write, whole, after ${kills} kills`, { timeout: 60_000 }, async () => {
    const acknowledged = new Map<string, { revision: number; counter: number }>();
    const chance = random(20261121);
    let total = 0;
    let next = new Child("./crash-writer.ts", [folder.path, `${WRITERS}`, ...args]);
    for (let kill = 0; kill < kills; kill++) {
      const child = next;
      const enough = 1 + Math.floor(chance.next().value * 400);
      await child.until((lines) => lines.length > enough);
      await child.kill();
      // The next one starts (and waits for nobody's locks) while the folder is examined here.
      next = new Child("./crash-writer.ts", [folder.path, `${WRITERS}`, ...args]);
      // The last line may be cut off by the kill; it is then no acknowledgement.
      for (const line of child.lines.slice(1)) {
        const match = /^(\S+) (\d+) (\d+)$/.exec(line);
        if (match === null) continue;
        total++;
        acknowledged.set(match[1]!, { revision: Number(match[2]), counter: Number(match[3]) });
      }
      const store = openLmdbStore({ dir: folder.path, clock: systemClock });
      for (const [key, seen] of acknowledged) {
        const entry = await store.get(key);
        expect(entry, `${key} after kill ${kill}`).toBeDefined();
        // A write that was not acknowledged any more, or one of the next process, may be there as well.
        expect(counterOf(entry!)).toBeGreaterThanOrEqual(seen.counter);
        expect(entry!.revision).toBeGreaterThanOrEqual(seen.revision);
      }
      expect(await store.check(), `after kill ${kill}`).toEqual([]);
      await store.close();
    }
    await next.kill();
    expect(acknowledged.size).toBe(WRITERS);
    expect(total).toBeGreaterThan(kills);
  });
});
