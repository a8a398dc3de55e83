import { totalmem } from "node:os";
import { randomValues } from "../../base/random.ts";
import { stackOf } from "../../base/logger.ts";
import { Timestamps } from "../../base/time/timestamps.ts";
import { RecentFieldSets } from "../../fields/apply/recent-field-sets.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { RepeatedApplies } from "../../resources/engine/repeated-applies.ts";
import { PageCache } from "../../resources/pages/page-cache.ts";
import { PageCacheMemory, pageCacheLimits } from "../../resources/pages/page-cache-memory.ts";
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
  return {
    ...parts,
    store,
    registry,
    vocabulary,
    clock,
    ...randomValues(options),
    featureEnabled: featureGates(options).enabled,
    allowPrivileged,
    pages: parts.pages ?? new PageCache(store, pageMemory(options)),
    selectors: parts.selectors ?? selectors(),
    repeatedApplies: new RepeatedApplies(),
    fieldSets: new RecentFieldSets(),
    timestamps: new Timestamps(clock),
  };
}

/** Returns the memory for the cached pages of a server in this process. */
function pageMemory({ clock, processes = 1 }: ServerOptions): PageCacheMemory {
  return new PageCacheMemory(clock, pageCacheLimits(memoryBytes() / processes));
}

/** Pages of workspaces have this part of the memory of the server's own ones, */
const workspacesPart = 1 / 2;
/** and more collections, which are small. */
const workspacesCollections = 512;

/** Returns the memory for the cached pages of all workspaces of a server, beside that of the server. */
export function workspacesPageMemory({ clock, processes = 1 }: ServerOptions): PageCacheMemory {
  const limits = pageCacheLimits((memoryBytes() / processes) * workspacesPart);
  return new PageCacheMemory(clock, { ...limits, collections: workspacesCollections });
}

/** Memory that this process may use: that of the machine, or less if the system limits it. */
function memoryBytes(): number {
  const limit = process.constrainedMemory() || Infinity;
  return Math.min(limit, totalmem());
}
