import { formatQuantity } from "../base/quantity.ts";
import type { QuotaFacts } from "../admission/plugins/resource-quota/quota-facts.ts";
import type { QuotaIndex } from "../admission/plugins/resource-quota/quota-index.ts";
import type { NamespaceUsage } from "../admission/plugins/resource-quota/namespace-usage.ts";
import { detach, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { isRaced } from "../resources/clients/races.ts";
import type { Controller, ControllerContext, QueueDependencies } from "./controller.ts";
import { WorkQueue, type QueueObserver } from "./work-queue.ts";

/** Delay of a write after the first change, so that one write covers the changes that follow shortly. */
const delayMs = 20;
/**
 * Minimum time between two writes of the statuses of a namespace: the larger of the first value, and the second value times the number
 * of its quotas.
 */
const intervalMs = 100;
const intervalMsOfEach = 25;
/** Delay before quotas that could not be loaded are loaded again. */
const retryMs = 1000;

/** Dependencies of {@link resourceQuotas} and {@link resourceQuotaCharges}. */
export interface QuotaDependencies extends QueueDependencies, Pick<ControllerContext, "client"> {
  readonly quotas: QuotaIndex;
}

/** Maintains the status of quotas: limits and usage. Only clients read it; the admission plugin doesn't depend on it. */
export const resourceQuotas: Controller<QuotaDependencies> = {
  name: "resourcequota",
  start(context) {
    const { quotas } = context;
    const statuses = new QuotaStatuses(context, this.name, context.queueObserver?.("resourcequota_primary"));
    const listening = quotas.listen((namespace) => statuses.changed(namespace));
    const follower = new Following(context, (error) => context.failed(this.name, "", error));
    follower.start();
    // A server that becomes leader may have loaded quotas that don't change any more.
    for (const { name } of quotas.all()) statuses.changed(name);
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
 * Writes the status of quotas after charged writes of this process, if the controller `resourcequota` is off. Then
 * another program maintains the status, and the reference's controller relies on the server for objects that are
 * created or grow.
 */
export const resourceQuotaCharges: Controller<QuotaDependencies> = {
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

/** Writes the status of the quotas of a namespace {@link delayMs} after a change; one write covers all changes in this time. */
class QuotaStatuses {
  /** The earliest time of the next write of each namespace, in monotonic milliseconds. */
  private readonly nextWrites = new Map<string, number>();
  private readonly queue: WorkQueue;

  constructor(
    private readonly context: QuotaDependencies,
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

  /** Called when usage or limits of a namespace may have changed. */
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
    this.postpone(namespace, Math.max(intervalMs, intervalMsOfEach * usage.quotas.length));
    await usage.syncAll();
    const results = await Promise.all(usage.quotas.map((quota) => writeStatus(this.context, usage, quota)));
    if (results.includes(false)) this.changed(namespace);
    const ends = usage.nextChange;
    if (ends !== Infinity) this.queue.addLater(namespace, Math.max(intervalMs, ends - clock.now() + 1));
  }

  /** Sets the earliest time of the next write of a namespace, and removes the times that have passed. */
  private postpone(namespace: string, ms: number): void {
    const now = this.context.clock.monotonicNow();
    this.nextWrites.delete(namespace);
    this.nextWrites.set(namespace, now + ms);
    for (const [one, at] of this.nextWrites) {
      if (at > now) break;
      this.nextWrites.delete(one);
    }
  }
}

/** Makes the quota index follow the quotas, and retries if that fails. */
class Following {
  private closed = false;
  constructor(
    private readonly context: Pick<QuotaDependencies, "clock" | "quotas">,
    private readonly failed: (error: unknown) => void,
  ) {}

  start(): void {
    if (this.closed) return;
    try {
      detach(this.context.quotas.sync() as MaybePromise<unknown>, (error) => this.retry(error));
    } catch (error) {
      this.retry(error);
    }
  }

  close(): void {
    this.closed = true;
  }

  private retry(error: unknown): void {
    if (this.closed) return;
    this.failed(error);
    this.context.clock.setTimer(() => this.start(), retryMs);
  }
}

/**
 * Writes the status of a quota unless it is up to date.
 *
 * @returns false if another client wrote the quota at the same time.
 */
async function writeStatus(
  { client }: QuotaDependencies,
  usage: NamespaceUsage,
  quota: QuotaFacts,
): Promise<boolean> {
  const { object } = quota;
  if (object.metadata.deletionTimestamp !== undefined) return true;
  const status = statusOf(usage, quota);
  if (sameAmounts(status.hard, object.status?.hard) && sameAmounts(status.used, object.status?.used))
    return true;
  try {
    await client.update({ ...structuredClone(object), status }, "status");
    return true;
  } catch (error) {
    if (!isRaced(error)) throw error;
    return false;
  }
}

type Amounts = Readonly<Record<string, string>>;

function statusOf(usage: NamespaceUsage, quota: QuotaFacts): { hard: Amounts; used: Amounts } {
  const names = [...quota.hard.keys()].toSorted();
  const amounts = (included: readonly string[], text: (name: string) => string): Amounts =>
    Object.fromEntries(included.map((name) => [name, text(name)]));
  return {
    hard: amounts(names, (name) => formatQuantity(quota.hard.get(name)!)),
    used: amounts(
      names.filter((name) => usage.measures(name)),
      (name) => formatQuantity(usage.stored(quota, name)),
    ),
  };
}

function sameAmounts(desired: Amounts, existing: Amounts = {}): boolean {
  const names = Object.keys(desired);
  return (
    names.length === Object.keys(existing).length && names.every((name) => desired[name] === existing[name])
  );
}
