import { formatQuantity } from "../base/quantity.ts";
import type { QuotaFacts } from "../admission/plugins/resource-quota/quota-facts.ts";
import type { NamespaceUsage } from "../admission/plugins/resource-quota/namespace-usage.ts";
import { detach, type MaybePromise } from "../base/maybe-promise.ts";
import type { NewObject } from "../resources/client.ts";
import { unlessRaced } from "../resources/races.ts";
import type { Controller, ControllerContext } from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

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
    const { clock, quotas } = context;
    const nextWrites = new Map<string, number>();
    const queue = new WorkQueue(
      clock,
      async (namespace) => {
        const usage = quotas.in(namespace);
        if (usage === undefined) return void nextWrites.delete(namespace);
        const interval = Math.max(intervalMs, intervalMsOfEach * usage.quotas.length);
        nextWrites.set(namespace, clock.now() + interval);
        await usage.syncAll();
        await Promise.all(usage.quotas.map((quota) => writeStatus(context, usage, quota)));
        const ends = usage.nextEnd;
        if (ends !== Infinity) queue.addLater(namespace, Math.max(intervalMs, ends - clock.now() + 1));
      },
      (namespace, error) => context.failed(this.name, namespace, error),
      context.queueObserver?.("resourcequota_primary"),
    );
    const listening = quotas.listen((namespace) => {
      const next = nextWrites.get(namespace) ?? 0;
      queue.addLater(namespace, Math.max(delayMs, next - clock.now()));
    });
    const follower = new Following(context, (error) => context.failed(this.name, "", error));
    follower.start();
    return {
      failing: () => quotas.failing,
      close() {
        listening.close();
        follower.close();
        return queue.close();
      },
    };
  },
};

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

/** Writes the status of a quota unless it is right. */
async function writeStatus(
  { client }: ControllerContext,
  usage: NamespaceUsage,
  quota: QuotaFacts,
): Promise<void> {
  const { object } = quota;
  if (object.metadata.deletionTimestamp !== undefined) return;
  const status = statusOf(usage, quota);
  if (sameAmounts(status.hard, object.status?.hard) && sameAmounts(status.used, object.status?.used)) return;
  await unlessRaced(() =>
    client.update({ ...structuredClone(object), status } as unknown as NewObject, "status"),
  );
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
