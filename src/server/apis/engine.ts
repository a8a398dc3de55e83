import { totalmem } from "node:os";
import { randomValues } from "../../base/random.ts";
import { stackOf } from "../../base/logger.ts";
import { Timestamps } from "../../base/time/timestamps.ts";
import { RecentFieldSets } from "../../fields/apply/recent-field-sets.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { RepeatedApplies } from "../../resources/engine/repeated-applies.ts";
import { PageCache, pageCacheLimits } from "../../resources/pages/page-cache.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { SelectorIndex } from "../../resources/selector-index/selector-index.ts";
import type { Store } from "../../storage/store.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Creates the engine with the dependencies of the verbs. */
export function engineFor(
  options: ServerOptions,
  registry: Registry,
  store: Store,
  parts: Pick<Engine, "tokens" | "storageHooks" | "admit"> & Partial<Pick<Engine, "pages" | "selectors">>,
): Engine {
  const { vocabulary, clock, log, allowPrivileged } = options;
  const selectors = () =>
    new SelectorIndex(store, clock, (error) =>
      log.warn({ error: stackOf(error) }, "an index for selectors could not be built; lists scan instead"),
    );
  const limits = pageCacheLimits(memoryBytes() / (options.processes ?? 1));
  return {
    ...parts,
    store,
    registry,
    vocabulary,
    clock,
    ...randomValues(options),
    featureEnabled: featureGates(options).enabled,
    allowPrivileged,
    pages: parts.pages ?? new PageCache(store, clock, limits),
    selectors: parts.selectors ?? selectors(),
    repeatedApplies: new RepeatedApplies(),
    fieldSets: new RecentFieldSets(),
    timestamps: new Timestamps(clock),
  };
}

/** Memory that this process may use: that of the machine, or less if the system limits it. */
function memoryBytes(): number {
  const limit = process.constrainedMemory() || Infinity;
  return Math.min(limit, totalmem());
}
