import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { openLmdbStore } from "../../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { endings, keeping, ofOneStore } from "./kept-subjects.ts";
import { ForgetfulStore } from "./forgetful-store.ts";
import { describeModel } from "../model.ts";
import { describeConformance, ManualClock, openSubject, temporaryFolder } from "../support.ts";

async function inMemory(change = (store: Store) => store) {
  const clock = new ManualClock();
  const store = await keepHistory(change(createMemoryStore({ clock })), { clock, ...keeping });
  return {
    store,
    advance: (ms: number) => clock.advance(ms),
    now: () => clock.now(),
    dispose: () => store.close(),
  };
}

async function embedded() {
  const folder = temporaryFolder();
  const subject = await openSubject(async (options) =>
    keepHistory(openLmdbStore({ dir: folder.path, ...options }), { clock: options.clock, ...keeping }),
  );
  return {
    ...subject,
    async dispose() {
      await subject.dispose();
      folder.remove();
    },
  };
}

const forgetful = () => inMemory((store) => new ForgetfulStore(store));

describeConformance("memory with kept history", inMemory, ofOneStore);
describeConformance("kept history alone", forgetful, ofOneStore);
describeConformance("lmdb with kept history", embedded, endings);
describeModel("memory with kept history", inMemory, { runs: 30 });
describeModel("kept history alone", forgetful, { runs: 100 });
describeModel("lmdb with kept history", embedded, { runs: 10 });
