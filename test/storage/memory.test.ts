import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { describeModel } from "./model.ts";
import { describeConformance, ManualClock } from "./support.ts";

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

// Its data belongs to one store object.
describeConformance("memory", open, [
  "two stores over one set of data see one truth",
  "sync delivers what another store committed",
  "another store's commits arrive by themselves, in order with one's own",
  "another store's compaction is respected at once",
]);
describeModel("memory", open, { runs: 100 });
