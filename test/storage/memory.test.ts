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

describeConformance("memory", open);
describeModel("memory", open, { runs: 100 });
