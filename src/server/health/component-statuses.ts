import type { Clock } from "../../base/time/clock.ts";
import { defaultRelease, type Release } from "../../base/releases.ts";
import { ComponentStatus } from "../../kinds/core/component-status.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { emptyTimes } from "../../schema/object-meta.ts";
import type { Store } from "../../storage/store.ts";
import { checkStore } from "./health-checks.ts";

/** The name that Kubernetes gives to the first etcd member; used for every storage engine. */
const storeComponent = "etcd-0";

/**
 * Returns the ComponentStatuses. Only the store is listed: the server doesn't know other components, such as a
 * scheduler.
 */
export async function componentStatuses(
  store: Store,
  clock: Clock,
  release: Release = defaultRelease,
): Promise<readonly ApiObject[]> {
  const problem = await checkStore(store, clock);
  const healthy = { type: "Healthy", status: "True", message: "ok" };
  const condition = problem === undefined ? healthy : { type: "Healthy", status: "False", error: problem };
  return [
    {
      kind: ComponentStatus.name,
      apiVersion: ComponentStatus.version,
      metadata: { name: storeComponent, ...emptyTimes({ release }) },
      conditions: [condition],
    },
  ];
}
