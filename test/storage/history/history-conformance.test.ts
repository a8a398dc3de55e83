import { keepHistory } from "../../../src/storage/history/history-store.ts";
import { openLmdbStore } from "../../../src/storage/lmdb/lmdb-store.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { ForgetfulStore } from "./forgetful-store.ts";
import { describeModel } from "../model.ts";
import {
  describeConformance,
  ManualClock,
  multipleStoreCases,
  openSubject,
  temporaryFolder,
} from "../support.ts";

const dayMs = 24 * 60 * 60_000;

const keeping = {
  collections: new Map([["/g/r/", { ms: dayMs }]]),
  others: { ms: dayMs, isIncluded: () => true },
  drops: true,
  failed: (error: unknown) => {
    throw error;
  },
};

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

/** Cases that say how history ends. */
const endings = [
  "compaction raises the floor to what was newest then, and keeps what stands",
  "a subscription from the floor hears all after it; from below it ends",
  "C-8-01 history is kept for 5 minutes by default, then goes by itself",
  "another store's compaction is respected at once",
];
/** What doesn't apply to them, in the order of the cases. */
const ofOneStore = [
  ...multipleStoreCases.slice(0, 6),
  ...endings.slice(0, 2),
  ...multipleStoreCases.slice(6, 7),
  ...endings.slice(2),
  ...multipleStoreCases.slice(8),
];

describeConformance("memory with kept history", inMemory, ofOneStore);
describeConformance("kept history alone", forgetful, ofOneStore);
describeConformance("lmdb with kept history", embedded, endings);
describeModel("memory with kept history", inMemory, { runs: 30 });
describeModel("kept history alone", forgetful, { runs: 100 });
describeModel("lmdb with kept history", embedded, { runs: 10 });
