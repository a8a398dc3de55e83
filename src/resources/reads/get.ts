import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { notFound, type Engine, type Target } from "../engine/engine.ts";
import { engineInVersion } from "../engine/conversion.ts";
import { keyOf } from "../registry/registry.ts";
import { tooLargeVersion, type ResourceVersion } from "../engine/resource-version.ts";

/**
 * Reads one object (spec: conventions 4.5). Always returns the latest version, which satisfies every requested one.
 *
 * @throws {StatusError} NotFound; Timeout if the store doesn't reach `version` in time.
 */
export function getObject(
  engine: Engine,
  target: Target,
  version: ResourceVersion = undefined,
): MaybePromise<Entry> {
  if (version !== undefined && version !== 0) {
    return andThen(awaitVersion(engine, version), () => getObject(engine, target));
  }
  const { store } = engineInVersion(engine, target.resource);
  return andThen(store.get(keyOf(target.resource, target.namespace, target.name)), (entry) => {
    if (entry === undefined) throw notFound(target);
    return entry;
  });
}

/** Longest wait of a read for a future version. */
const versionWaitMs = 3000;
const versionPollMs = 50;

/** Waits until the store has reached a revision. */
export function awaitVersion(
  engine: Pick<Engine, "clock" | "store">,
  version: Exclude<ResourceVersion, undefined | 0>,
): MaybePromise<void> {
  return andThen(engine.store.latestRevision(), (latest) =>
    latest >= version ? undefined : poll(engine.store, engine.clock, version),
  );
}

async function poll(
  store: Store,
  clock: Engine["clock"],
  version: Exclude<ResourceVersion, undefined | 0>,
): Promise<void> {
  const deadline = clock.monotonicNow() + versionWaitMs;
  for (;;) {
    const latest = await store.latestRevision();
    if (latest >= version) return;
    if (clock.monotonicNow() >= deadline) throw tooLargeVersion(version, latest);
    await new Promise<void>((resolve) => clock.setTimer(resolve, versionPollMs));
  }
}
