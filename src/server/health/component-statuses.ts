import type { Clock } from "../../base/clock.ts";
import { ComponentStatus } from "../../kinds/core/component-status.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import { checkStore } from "./health-checks.ts";

/** What the field calls the first place where objects are kept, whatever keeps them. */
const storeComponent = "etcd-0";

/**
 * The state of the components that the server can ask: the store. What would run beside a server, such as a scheduler, it
 * doesn't know.
 */
export async function componentStatuses(store: Store, clock: Clock): Promise<readonly ApiObject[]> {
  const problem = await checkStore(store, clock);
  const healthy = { type: "Healthy", status: "True", message: "ok" };
  const condition = problem === undefined ? healthy : { type: "Healthy", status: "False", error: problem };
  return [
    {
      kind: ComponentStatus.name,
      apiVersion: ComponentStatus.version,
      metadata: { name: storeComponent, creationTimestamp: null },
      conditions: [condition],
    },
  ];
}
