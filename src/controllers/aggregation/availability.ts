import type { Availability } from "../../aggregation/remote-api-service.ts";
import { APIService } from "../../kinds/apiregistration/api-service.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { resourceOf } from "../../resources/registry/registry.ts";
import type { ApiServiceListener, ApiServices } from "../../aggregation/api-services.ts";
import type { Controller, ControllerContext, QueueDependencies } from "../controller.ts";
import { WorkQueue } from "../work-queue.ts";

/** Dependencies of {@link apiServiceAvailability}. */
export interface AvailabilityDependencies
  extends QueueDependencies, Pick<ControllerContext, "client" | "registry"> {
  readonly apiServices: ApiServices;
}

/** The availability of APIServices that this server serves itself, as in the reference. */
const local: Availability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

/** Writes the availability that this server determined to the status of each APIService, if it differs from the stored one. */
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

/** Returns the availability to write; undefined if it isn't known yet. */
function desiredFor(
  { apiServices }: Pick<AvailabilityDependencies, "apiServices">,
  name: string,
): Availability | undefined {
  const record = apiServices.get(name);
  if (record === undefined) return undefined;
  return record.remote === undefined ? local : record.remote.availability;
}

function differs(context: AvailabilityDependencies, name: string): boolean {
  const desired = desiredFor(context, name);
  const stored = context.apiServices.get(name)?.stored;
  return desired !== undefined && !isSame(desired, stored);
}

function isSame(a: Availability, b: Availability | undefined): boolean {
  return a.status === b?.status && a.reason === b.reason && a.message === b.message;
}

async function writeAvailability(context: AvailabilityDependencies, name: string): Promise<void> {
  const desired = desiredFor(context, name);
  if (desired === undefined) return;
  const { client, registry, clock } = context;
  const { apiVersion, kind } = resourceOf(APIService, registry.vocabulary);
  const live = await client.find<APIService>({ apiVersion, kind: kind.name, name });
  if (live === undefined) return;
  const conditions = live.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === "Available");
  if (before !== undefined && isSame(desired, before as Availability)) return;
  const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
  const lastTransitionTime = before?.status === desired.status ? (before.lastTransitionTime ?? now) : now;
  const condition = { type: "Available", ...desired, lastTransitionTime };
  const others = conditions.filter(({ type }) => type !== "Available");
  const status = { ...live.status, conditions: [...others, condition] };
  // If another write comes first, the listener is called with it and checks again.
  await unlessRaced(() => client.update({ ...live, status }, "status"));
}
