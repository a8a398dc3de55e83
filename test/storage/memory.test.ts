import { expect, test } from "vitest";
import { MemoryIndex } from "../../src/storage/memory/memory-index.ts";
import type { Entry, Revision } from "../../src/storage/store.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { describeModel } from "./model.ts";
import { describeConformance, ManualClock, multipleStoreCases } from "./support.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

async function open() {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock });
  return {
    store,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    dispose: () => store.close(),
  };
}

// The data of a memory store belongs to one store object.
describeConformance("memory", open, multipleStoreCases);
describeModel("memory", open, { runs: 100 });

test("the history of a key that was written very often is dropped in no time", () => {
  const index = new MemoryIndex();
  const key = "/g/r/n/hot";
  const count = 100_000;
  let previous: Entry | undefined;
  for (let at = 2; at < count; at++) {
    const revision = at as Revision;
    const entry: Entry = { key, revision, header: new Uint8Array(), body: new Uint8Array(), revisionAt: 0 };
    index.apply({ key, revision, entry, previous });
    previous = entry;
  }
  const usedMs = cpuStopwatch();
  const floor = (count - 10) as Revision;
  index.compact(floor);
  expect(usedMs()).toBeLessThan(1000);
  expect(index.check()).toEqual([]);
  expect(index.at(key, (floor + 3) as Revision)?.revision).toBe(floor + 3);
  expect(index.at(key, (floor - 3) as Revision)).toBeUndefined();
});
