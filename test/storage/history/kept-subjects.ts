/** What the conformance tests of kept history share. */
import { multipleStoreCases } from "../support.ts";

const dayMs = 24 * 60 * 60_000;

/** Options that keep everything for a day. */
export const keeping = {
  collections: new Map([["/g/r/", { ms: dayMs }]]),
  others: { ms: dayMs, isIncluded: () => true },
  drops: true,
  failed: (error: unknown) => {
    throw error;
  },
};

/** Cases that say how history ends. */
export const endings = [
  "compaction raises the floor to what was newest then, and keeps what stands",
  "a subscription from the floor hears all after it; from below it ends",
  "C-8-01 history is kept for 5 minutes by default, then goes by itself",
  "another store's compaction is respected at once",
];
/** What doesn't apply to kept history in one store object, in the order of the cases. */
export const ofOneStore = [
  ...multipleStoreCases.slice(0, 6),
  ...endings.slice(0, 2),
  ...multipleStoreCases.slice(6, 7),
  ...endings.slice(2),
  ...multipleStoreCases.slice(8),
];
