import type { Availability } from "../../aggregation/remote-api-service.ts";
import { APIService } from "../../kinds/apiregistration/api-service.ts";
import type { NewObject } from "../../resources/client.ts";
import { unlessRaced } from "../../resources/races.ts";
import { resourceOf } from "../../resources/registry.ts";
import type { ApiServiceListener, ApiServices } from "../../aggregation/api-services.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";

/** Dependencies of {@link apiServiceAvailability}. */
export interface AvailabilityDependencies
  extends QueueDependencies, Pick<ControllerContext, "client" | "registry"> {
  readonly apiServices: ApiServices;
}

/** What APIServices of this server's own say, as in the reference. */
const local: Availability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

/**
 * Writes into the status of each APIService what this server found out about its availability, when that is another thing than is
 * there already.
 */
export const apiServiceAvailability: Controller<AvailabilityDependencies> = {
  name: "apiservice-availability",
  start(context) {
    if (!context.registry.serves(APIService)) return { close: () => Promise.resolve() };
    const { clock, apiServices, queueObserver } = context;
    const failed = (key: string, error: unknown) => context.failed(this.name, key, error);
    const work = (name: string) => writeAvailability(context, name);
    const queue = new WorkQueue(clock, work, failed, queueObserver?.(this.name));
    const listener: ApiServiceListener = (name) => {
      if (differs(context, name)) queue.add(name);
    };
    apiServices.listen(listener);
    return {
      close() {
        apiServices.unlisten(listener);
        return queue.close();
      },
    };
  },
};

/** What the status should say; undefined where that isn't known yet. */
function wantedFor(
  { apiServices }: Pick<AvailabilityDependencies, "apiServices">,
  name: string,
): Availability | undefined {
  const record = apiServices.get(name);
  if (record === undefined) return undefined;
  return record.remote === undefined ? local : record.remote.availability;
}

function differs(context: AvailabilityDependencies, name: string): boolean {
  const wanted = wantedFor(context, name);
  const stored = context.apiServices.get(name)?.stored;
  return wanted !== undefined && !isSame(wanted, stored);
}

function isSame(a: Availability, b: Availability | undefined): boolean {
  return a.status === b?.status && a.reason === b.reason && a.message === b.message;
}

async function writeAvailability(context: AvailabilityDependencies, name: string): Promise<void> {
  const wanted = wantedFor(context, name);
  if (wanted === undefined) return;
  const { client, registry, clock } = context;
  const { apiVersion, kind } = resourceOf(APIService, registry.vocabulary);
  const live = await client.find<APIService>({ apiVersion, kind: kind.name, name });
  if (live === undefined) return;
  const conditions = live.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === "Available");
  if (before !== undefined && isSame(wanted, before as Availability)) return;
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const lastTransitionTime = before?.status === wanted.status ? (before.lastTransitionTime ?? now) : now;
  const condition = { type: "Available", ...wanted, lastTransitionTime };
  const others = conditions.filter(({ type }) => type !== "Available");
  const status = { ...live.status, conditions: [...others, condition] };
  // When another write comes before this one, the listener hears of it and looks again.
  await unlessRaced(() => client.update({ ...live, status } as unknown as NewObject, "status"));
}
