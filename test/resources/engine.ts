import { systemClock } from "../../src/base/time/clock.ts";
import type { Engine } from "../../src/resources/engine/engine.ts";
import { Timestamps } from "../../src/base/time/timestamps.ts";
import { RecentFieldSets } from "../../src/fields/apply/recent-field-sets.ts";
import { PageCache } from "../../src/resources/pages/page-cache.ts";
import { PageCacheMemory } from "../../src/resources/pages/page-cache-memory.ts";
import { RepeatedApplies } from "../../src/resources/engine/repeated-applies.ts";
import { SelectorIndex } from "../../src/resources/selector-index/selector-index.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import type { Kind } from "../../src/schema/kind.ts";
import type { Store } from "../../src/storage/store.ts";
import { platform } from "../../src/vocabulary/platform.ts";

/** An engine over a store, for some kinds, with nobody who admits or refuses. Its `pages` must be closed. */
export function engineOver(store: Store, kinds: readonly Kind[]): Engine {
  return {
    store,
    registry: new Registry(kinds, platform, () => true),
    vocabulary: platform,
    clock: systemClock,
    randomInt: () => 0,
    newUid: () => "uid-of-it",
    admit: { concerns: () => false, mutate: () => undefined, validate: () => undefined },
    featureEnabled: () => false,
    allowPrivileged: true,
    storageHooks: new Map(),
    pages: new PageCache(store, new PageCacheMemory(systemClock)),
    selectors: new SelectorIndex(store, systemClock, () => undefined),
    repeatedApplies: new RepeatedApplies(),
    fieldSets: new RecentFieldSets(),
    timestamps: new Timestamps(systemClock),
  };
}
