import { formatQuantity } from "../base/quantity.ts";
import type { QuotaFacts } from "../admission/plugins/resource-quota/quota-facts.ts";
import type { NamespaceUsage } from "../admission/plugins/resource-quota/namespace-usage.ts";
import { detach, type MaybePromise } from "../base/maybe-promise.ts";
import type { NewObject } from "../resources/client.ts";
import { isRaced } from "../resources/races.ts";
import type { Controller, ControllerContext } from "./controller.ts";
import { WorkQueue, type QueueObserver } from "./work-queue.ts";

/** A first change is shown after this time, so that what comes with it is shown at once. */
const delayMs = 20;
/** The status of a namespace's quotas isn't written more often than this, nor than this for each of many quotas. */
const intervalMs = 100;
const intervalMsOfEach = 25;
/** How long before it is tried again to follow quotas that could not be loaded. */
const retryMs = 1000;

/**
 * Keeps the status of quotas: what they limit, and what is used of it. Nothing depends on it but those who read it: the
 * admission plugin counts by itself.
 */
export const resourceQuotas: Controller = {
  name: "resourcequota",
  start(context) {
    const { quotas } = context;
    const statuses = new QuotaStatuses(context, this.name, context.queueObserver?.("resourcequota_primary"));
    const listening = quotas.listen((namespace) => statuses.changed(namespace));
    const follower = new Following(context, (error) => context.failed(this.name, "", error));
    follower.start();
    return {
      failing: () => quotas.failing,
      close() {
        listening.close();
        follower.close();
        return statuses.close();
      },
    };
  },
};

/**
 * Writes the status of quotas after writes of this process that were charged to them, where the controller `resourcequota` is off:
 * another one then keeps the status, and the reference's relies on the admission of the server for what is created or grows.
 */
export const resourceQuotaCharges: Controller = {
  name: "resourcequota-charges",
  onEveryServer: true,
  start(context) {
    const statuses = new QuotaStatuses(context, this.name, context.queueObserver?.(this.name));
    const listening = context.quotas.listenToCharges((namespace) => statuses.changed(namespace));
    return {
      close() {
        listening.close();
        return statuses.close();
      },
    };
  },
};

/** Writes the status of the quotas of namespaces: soon after a change, all changes of a moment at once. */
class QuotaStatuses {
  /** Before these times, by the monotonic clock, namespaces aren't written again. */
  private readonly nextWrites = new Map<string, number>();
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: ControllerContext,
    controller: string,
    observer: QueueObserver | undefined,
  ) {
    this.queue = new WorkQueue(
      context.clock,
      (namespace) => this.write(namespace),
      (namespace, error) => context.failed(controller, namespace, error),
      observer,
    );
  }

  /** What is used or limited in a namespace may have changed. */
  changed(namespace: string): void {
    const waitMs = (this.nextWrites.get(namespace) ?? 0) - this.context.clock.monotonicNow();
    this.queue.addLater(namespace, Math.max(delayMs, waitMs));
  }

  close(): Promise<void> {
    return this.queue.close();
  }

  private async write(namespace: string): Promise<void> {
    const { clock, quotas } = this.context;
    await quotas.sync();
    const usage = quotas.in(namespace);
    if (usage === undefined) return;
    this.rest(namespace, Math.max(intervalMs, intervalMsOfEach * usage.quotas.length));
    await usage.syncAll();
    const written = await Promise.all(usage.quotas.map((quota) => writeStatus(this.context, usage, quota)));
    if (written.includes(false)) this.changed(namespace);
    const ends = usage.nextChange;
    if (ends !== Infinity) this.queue.addLater(namespace, Math.max(intervalMs, ends - clock.now() + 1));
  }

  /** Puts off the next write of a namespace, and forgets those whose time has come. */
  private rest(namespace: string, ms: number): void {
    const now = this.context.clock.monotonicNow();
    this.nextWrites.delete(namespace);
    this.nextWrites.set(namespace, now + ms);
    for (const [one, at] of this.nextWrites) {
      if (at > now) break;
      this.nextWrites.delete(one);
    }
  }
}

/** Has quotas be followed from the start on. */
class Following {
  private closed = false;
  constructor(
    private readonly context: Pick<ControllerContext, "clock" | "quotas">,
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    if (this.closed) return;
    try {
      detach(this.context.quotas.sync() as MaybePromise<unknown>, (error) => this.again(error));
    } catch (error) {
      this.again(error);
    }
  }

  close(): void {
    this.closed = true;
  }

  private again(error: unknown): void {
    if (this.closed) return;
    this.failed(error);
    this.context.clock.setTimer(() => this.start(), retryMs);
  }
}

/**
 * Writes the status of a quota unless it is right.
 *
 * @returns false if somebody else wrote the quota at the same time.
 */
async function writeStatus(
  { client }: ControllerContext,
  usage: NamespaceUsage,
  quota: QuotaFacts,
): Promise<boolean> {
  const { object } = quota;
  if (object.metadata.deletionTimestamp !== undefined) return true;
  const status = statusOf(usage, quota);
  if (sameAmounts(status.hard, object.status?.hard) && sameAmounts(status.used, object.status?.used))
    return true;
  try {
    await client.update({ ...structuredClone(object), status } as unknown as NewObject, "status");
    return true;
  } catch (error) {
    if (!isRaced(error)) throw error;
    return false;
  }
}

type Amounts = Readonly<Record<string, string>>;

function statusOf(usage: NamespaceUsage, quota: QuotaFacts): { hard: Amounts; used: Amounts } {
  const names = [...quota.hard.keys()].toSorted();
  const amounts = (chosen: readonly string[], text: (name: string) => string): Amounts =>
    Object.fromEntries(chosen.map((name) => [name, text(name)]));
  return {
    hard: amounts(names, (name) => formatQuantity(quota.hard.get(name)!)),
    used: amounts(
      names.filter((name) => usage.measures(name)),
      (name) => formatQuantity(usage.stored(quota, name)),
    ),
  };
}

function sameAmounts(wanted: Amounts, found: Amounts = {}): boolean {
  const names = Object.keys(wanted);
  return names.length === Object.keys(found).length && names.every((name) => wanted[name] === found[name]);
}
