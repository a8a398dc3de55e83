import type { Clock, Timer } from "../../base/time/clock.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { ClaimName } from "./claims.ts";
import type { ServiceAllocation } from "./service-allocation.ts";

/** Maximum number of services in one read. */
const pageSize = 500;
/** Interval of audits if all claims are needed. */
const intervalMs = 3 * 60_000;
/** A claim that no service has needed for this time is stale. */
const staleMs = 60_000;
/** Delay of an audit after a failed release or audit; doubled with each failed audit. */
const retryMs = 1000;

/** Dependencies of the repair. */
interface Dependencies {
  readonly allocation: ServiceAllocation;
  readonly store: Store;
  /** Store prefix of services. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}

/** A claim that no service needed in an audit. */
interface Suspect {
  readonly revision: Revision;
  /** Time of the first such audit, of the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * Releases in the background the claims on addresses and node ports that a crash or a failure of the store left behind. An audit compares
 * all claims with all services every three minutes, and soon after a failed release. Several servers may run audits at the same time.
 */
export class ServiceClaimRepair {
  private suspects: ReadonlyMap<ClaimName, Suspect> = new Map();
  private running: Promise<void> | undefined;
  private next: { readonly atMs: number; readonly timer: Timer } | undefined;
  private failures = 0;
  /** Whether objects of the last audit may have to be deleted later. */
  private hasRecentObjects = false;
  private closed = false;

  constructor(private readonly dependencies: Dependencies) {}

  /** Starts the first audit, without waiting for it. */
  start(): void {
    this.run();
  }

  /** Schedules an audit after a failed release. */
  request(): void {
    this.schedule(this.backOffMs);
  }

  /** Ends the repair; resolves after the current audit. */
  async close(): Promise<void> {
    this.closed = true;
    this.next?.timer.cancel();
    await this.running;
  }

  private get backOffMs(): number {
    return Math.min(intervalMs, retryMs * 2 ** Math.min(this.failures, 10));
  }

  /** Schedules an audit, unless an earlier one is scheduled. */
  private schedule(delayMs: number): void {
    const { clock } = this.dependencies;
    const atMs = clock.monotonicNow() + delayMs;
    if (this.closed || (this.next !== undefined && this.next.atMs <= atMs)) return;
    this.next?.timer.cancel();
    const timer = clock.setTimer(() => {
      this.next = undefined;
      this.run();
    }, delayMs);
    this.next = { atMs, timer };
  }

  /** Runs an audit after the current one, if any, and schedules the next one. */
  private run(): void {
    this.running = (this.running ?? Promise.resolve()).then(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    if (this.closed) return;
    try {
      await this.repair();
      this.failures = 0;
      this.schedule(this.suspects.size > 0 || this.hasRecentObjects ? staleMs : intervalMs);
    } catch (error) {
      if (this.closed) return;
      this.dependencies.failed(error);
      this.schedule(this.backOffMs);
      this.failures++;
    }
  }

  /** Runs an audit; releases stale claims and records new suspects. */
  private async repair(): Promise<void> {
    const { allocation, clock } = this.dependencies;
    const { unneeded, hasRecentObjects } = await allocation.audit(() => this.services(), clock.now());
    if (this.closed) return;
    this.hasRecentObjects = hasRecentObjects;
    const now = clock.monotonicNow();
    const suspects = new Map<ClaimName, Suspect>();
    for (const [name, claim] of unneeded) {
      const before = this.suspects.get(name);
      // A claim of another revision is a new claim.
      const sinceMs = before?.revision === claim.revision ? before.sinceMs : now;
      suspects.set(name, { revision: claim.revision, sinceMs });
    }
    this.suspects = suspects;
    for (const [name, { sinceMs }] of suspects) {
      if (this.closed) return;
      if (now - sinceMs < staleMs) continue;
      if (await allocation.releaseUnneeded(unneeded.get(name)!)) suspects.delete(name);
    }
  }

  private async *services(): AsyncGenerator<Entry> {
    const { store, prefix } = this.dependencies;
    let after: string | undefined;
    while (!this.closed) {
      const page = await store.range({ prefix, after, limit: pageSize });
      yield* page.entries;
      if (!page.more) return;
      after = page.entries.at(-1)!.key;
    }
  }
}
