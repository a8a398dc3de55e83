import { nextTurn } from "../base/turns/yielding.ts";
import { Event } from "../kinds/core/event.ts";
import { resourceOf } from "../resources/registry/registry.ts";
import { decodeEntry } from "../resources/objects/stored.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Entry } from "../storage/store.ts";
import type { Controller, ControllerContext, QueueDependencies } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** Number of events that are read without a pause for other work. */
const pageSize = 200;
/** Number of sweeps in the lifetime of an event. */
const roundsPerLife = 10;

/** Dependencies of {@link eventExpiry}. */
export interface EventExpiryDependencies
  extends QueueDependencies, Pick<ControllerContext, "registry" | "store"> {
  /** How long an event stays after it was last seen, in milliseconds. */
  readonly eventLifeMs: number;
}

/** Deletes events that were last seen longer than `eventLifeMs` ago. */
export const eventExpiry: Controller<EventExpiryDependencies> = {
  name: "event-expiry",
  start(context) {
    const { clock, eventLifeMs } = context;
    const queue = new WorkQueue(
      clock,
      async (key, closing) => {
        await sweep(context, closing);
        queue.addLater(key, eventLifeMs / roundsPerLife);
      },
      (key, error) => context.failed(this.name, key, error),
      context.queueObserver?.(this.name),
    );
    queue.addLater("all", eventLifeMs / roundsPerLife);
    return { close: () => queue.close() };
  },
};

async function sweep(
  { store, registry, clock, eventLifeMs }: EventExpiryDependencies,
  closing: AbortSignal,
): Promise<void> {
  const { storePrefix } = resourceOf(Event, registry.vocabulary);
  const before = clock.now() - eventLifeMs;
  let after: string | undefined;
  while (!closing.aborted) {
    const page = await store.range({ prefix: storePrefix, after, limit: pageSize });
    const old = page.entries.filter((entry) => lastSeenMs(decodeEntry(entry), clock.now()) < before);
    // The delete fails if the event was changed since the read; then it was seen again and stays.
    await Promise.all(
      old.map(({ key, revision }: Entry) => store.commit({ kind: "delete", key, expected: revision })),
    );
    if (!page.more) return;
    after = page.entries.at(-1)!.key;
    await nextTurn();
  }
}

/** Returns the latest of an event's times that isn't in the future, in milliseconds since 1970. */
function lastSeenMs({ metadata, ...event }: ApiObject, now: number): number {
  const { lastTimestamp, firstTimestamp, eventTime, series } = event as {
    lastTimestamp?: string | null;
    firstTimestamp?: string | null;
    eventTime?: string | null;
    series?: { lastObservedTime?: string | null };
  };
  const times = [
    metadata.creationTimestamp,
    lastTimestamp,
    firstTimestamp,
    eventTime,
    series?.lastObservedTime,
  ];
  // A future time is a client's mistake and doesn't keep the event for ever.
  const seen = times.filter((time) => typeof time === "string").map(Date.parse);
  return Math.max(0, ...seen.filter((at) => at <= now));
}
