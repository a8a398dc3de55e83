import { setImmediate } from "node:timers/promises";
import type { Clock, Timer } from "../../base/clock.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import { decodeEntry } from "../stored.ts";
import type { ServiceAllocation } from "./service-allocation.ts";

/** How many services are read at a time. */
const pageSize = 500;

/** A claim that no service needs, and still none after this time, was left behind. */
const staleMs = 60_000;

/** What the repair works with. */
interface Setup {
  readonly allocation: ServiceAllocation;
  readonly store: Store;
  /** Where the services are stored. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}

/** Releases, in the background, the claims on addresses and node ports that a crash left behind. */
export class ServiceClaimRepair {
  private running: Promise<void> | undefined;
  private timer: Timer | undefined;
  private closed = false;

  constructor(private readonly setup: Setup) {}

  /** Begins; nobody needs to wait for it. */
  start(): void {
    this.running = this.guarded(async () => {
      const suspects = await this.audit();
      if (suspects.size === 0 || this.closed) return;
      this.timer = this.setup.clock.setTimer(() => {
        this.running = this.guarded(() => this.releaseOf(suspects));
      }, staleMs);
    });
  }

  /** Resolves when nothing is being repaired any more. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.running;
  }

  /** Releases the suspected claims that no service needs now either. */
  private async releaseOf(suspects: Awaited<ReturnType<ServiceAllocation["audit"]>>): Promise<void> {
    const still = await this.audit();
    if (this.closed) return;
    const stale = [...still].filter(([name, owner]) => suspects.get(name) === owner);
    await this.setup.allocation.release(new Map(stale));
  }

  private audit(): ReturnType<ServiceAllocation["audit"]> {
    return this.setup.allocation.audit(() => this.services());
  }

  private async *services(): AsyncGenerator<ApiObject> {
    const { store, prefix } = this.setup;
    let after: string | undefined;
    while (!this.closed) {
      const page = await store.range({ prefix, after, limit: pageSize });
      for (const entry of page.entries) yield decodeEntry(entry);
      if (!page.more) return;
      after = page.entries.at(-1)!.key;
      await setImmediate();
    }
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.closed) this.setup.failed(error);
    }
  }
}
