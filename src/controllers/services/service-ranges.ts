import { isIPv4 } from "node:net";
import { isInside } from "../../kinds/checks/addresses.ts";
import { networking } from "../../kinds/groups.ts";
import type { ServiceCIDRV1 } from "../../kinds/networking/service-cidr.ts";
import { Timestamps } from "../../base/time/timestamps.ts";
import { createYielder, nextTurn } from "../../base/turns/yielding.ts";
import { unlessRaced } from "../../resources/clients/races.ts";
import { Follower } from "../../resources/followers/follower.ts";
import { namesOf, type Resource } from "../../resources/registry/registry.ts";
import { groupName } from "../../schema/kind.ts";
import type { Entry } from "../../storage/store.ts";
import type { Controller } from "../controller.ts";
import { reconcileMatching, type ReconciliationDependencies } from "../reconcile-matching.ts";
import {
  withCondition,
  type StoredCondition,
  type WrittenCondition,
} from "../storage-migration/conditions.ts";
import { setFinalizer } from "../volumes/finalizers.ts";
import { isUsable } from "./usable-ranges.ts";

/** How long a deleted range stays, so that writes that began before its deletion have ended. */
const graceMs = 10_000;
/** Number of addresses in one read. */
const pageSize = 1000;

/**
 * Protects ServiceCIDRs with a finalizer and sets their condition Ready. A deleted one stays while addresses exist that no other one
 * contains.
 */
export const serviceRanges: Controller<ReconciliationDependencies> = {
  name: "service-cidr-controller",
  start(context) {
    const { registry } = context;
    const group = groupName(networking, registry.vocabulary);
    const [ranges] = registry.versionsOf(group, "servicecidrs");
    const [addresses] = registry.versionsOf(group, "ipaddresses");
    if (ranges === undefined || addresses === undefined) return { close: () => Promise.resolve() };
    const protection = new Protection(context, ranges, addresses.stored);
    const { blocked } = protection;
    const wake = () => {
      for (const name of blocked) running.add("", name);
      blocked.clear();
    };
    const running = reconcileMatching<ServiceCIDRV1>(context, {
      controller: this.name,
      kind: ranges.kind,
      matters: () => true,
      async reconcile(range) {
        if (range.metadata.deletionTimestamp !== undefined) return protection.release(range);
        await protection.protect(range);
        wake();
        return undefined;
      },
      removed: (_, name) => blocked.delete(name),
    });
    const following = new Follower(
      context.store,
      addresses.stored.storePrefix,
      {
        matters: () => false,
        put: () => undefined,
        remove: wake,
        reloaded: wake,
        failed: (error) => context.failed(this.name, "ipaddresses", error),
      },
      context.clock,
    );
    following.startInBackground();
    return {
      failing: () => running.failing() || following.failing,
      close() {
        following.close();
        return running.close();
      },
    };
  },
};

/** Sets and removes the finalizer and the condition of ranges. */
class Protection {
  /** Deleted ranges with addresses, by name. */
  readonly blocked = new Set<string>();
  private readonly finalizer: string;

  /**
   * @param ranges the resource type of ranges.
   * @param addresses the resource type of addresses in the stored version.
   */
  constructor(
    private readonly context: ReconciliationDependencies,
    private readonly ranges: Resource,
    private readonly addresses: Resource,
  ) {
    this.finalizer = `${ranges.group}/service-cidr-finalizer`;
  }

  /** Sets the condition Ready, and adds the finalizer. */
  async protect(range: ServiceCIDRV1): Promise<void> {
    await setFinalizer(this.context, range, this.finalizer, true);
    const message = "Service CIDR is ready";
    if (!isUsable(range)) await this.setReady(range, { status: "True", reason: "", message });
  }

  /**
   * Removes the finalizer of a deleted range, unless addresses need it.
   *
   * @returns after how many milliseconds to try again.
   */
  async release(range: ServiceCIDRV1): Promise<number | undefined> {
    const { name = "", deletionTimestamp, finalizers = [] } = range.metadata;
    if (!finalizers.includes(this.finalizer)) return undefined;
    // Registered before the addresses are read, so that no deletion is missed.
    this.blocked.add(name);
    if (await this.isNeeded(range)) {
      const message =
        "addresses of the range are in use; delete them, or create another ServiceCIDR that contains them";
      await this.setReady(range, { status: "False", reason: "Terminating", message });
      return undefined;
    }
    this.blocked.delete(name);
    const leftMs = Date.parse(deletionTimestamp!) + graceMs - this.context.clock.now();
    if (leftMs > 0) return leftMs;
    await setFinalizer(this.context, range, this.finalizer, false);
    return undefined;
  }

  private async setReady(
    range: ServiceCIDRV1,
    ready: Pick<WrittenCondition, "status" | "reason" | "message">,
  ): Promise<void> {
    const { client, clock } = this.context;
    const { apiVersion, kind } = this.ranges;
    const name = range.metadata.name!;
    const current = await client.find<ServiceCIDRV1>({ apiVersion, kind: kind.name, name });
    if (current === undefined) return;
    const before = (current.status?.conditions ?? []) as readonly StoredCondition[];
    if (before.some((one) => one.type === "Ready" && one.status === ready.status)) return;
    const conditions = withCondition(before, { type: "Ready", ...ready }, new Timestamps(clock).now());
    const metadata = { ...current.metadata };
    await unlessRaced(() => client.update({ ...current, metadata, status: { conditions } }, "status"));
  }

  /** Whether an address exists that only this range contains. */
  private async isNeeded(range: ServiceCIDRV1): Promise<boolean> {
    const { client, store } = this.context;
    const { apiVersion, kind } = this.ranges;
    const { items } = await client.list<ServiceCIDRV1>({ apiVersion, kind: kind.name });
    const others = items
      .filter(({ metadata }) => metadata.name !== range.metadata.name)
      .flatMap(({ spec }) => spec?.cidrs ?? []);
    const needed = (range.spec?.cidrs ?? []).filter(
      (cidr) => !others.some((other) => other === cidr || isInside(cidr, other)),
    );
    if (needed.length === 0) return false;
    let after: string | undefined;
    const yieldIfDue = createYielder();
    for (;;) {
      const page = await store.range({ prefix: this.addresses.storePrefix, after, limit: pageSize });
      for (const entry of page.entries) {
        if (isOrphan(entry, needed, others)) return true;
        await yieldIfDue();
      }
      if (!page.more) return false;
      after = page.entries.at(-1)!.key;
      await nextTurn();
    }
  }
}

/** Whether an address is in one of the ranges, and in none of the others. */
function isOrphan({ key }: Entry, ranges: readonly string[], others: readonly string[]): boolean {
  const { name } = namesOf(key);
  const host = `${name}/${isIPv4(name) ? 32 : 128}`;
  const isIn = (range: string) => isInside(host, range);
  return ranges.some(isIn) && !others.some(isIn);
}
