import type { Clock, Timer } from "../../base/clock.ts";
import type { Entry, Revision, Store } from "../../storage/store.ts";
import type { ClaimName } from "./claims.ts";
import type { ServiceAllocation } from "./service-allocation.ts";

/** How many services are read at a time. */
const pageSize = 500;
/** From one audit to the next where all claims are needed. */
const intervalMs = 3 * 60_000;
/** A claim that no service needs, and still none after this time, was left behind. */
const staleMs = 60_000;
/** From a release or an audit that failed to the next audit; doubled with each audit that fails. */
const retryMs = 1000;

/** What the repair works with. */
interface Setup {
  readonly allocation: ServiceAllocation;
  readonly store: Store;
  /** Where the services are stored. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly failed: (error: unknown) => void;
}

/** A claim that no service needed when it was first looked for. */
interface Suspect {
  readonly revision: Revision;
  /** By the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * Releases, in the background, the claims on addresses and node ports that a crash or a failure of the store left behind. Every
 * three minutes, and soon after a release has failed, all claims are compared with all services. Several servers may do that at
 * the same time.
 */
export class ServiceClaimRepair {
  private suspects: ReadonlyMap<ClaimName, Suspect> = new Map();
  private running: Promise<void> | undefined;
  private next: { readonly atMs: number; readonly timer: Timer } | undefined;
  private failures = 0;
  private closed = false;

  constructor(private readonly setup: Setup) {}

  /** Begins the first audit; nobody needs to wait for it. */
  start(): void {
    this.run();
  }

  /** Audits soon: a claim could not be released. */
  request(): void {
    this.schedule(this.backOffMs);
  }

  /** Resolves when nothing is being repaired any more. */
  async close(): Promise<void> {
    this.closed = true;
    this.next?.timer.cancel();
    await this.running;
  }

  private get backOffMs(): number {
    return Math.min(intervalMs, retryMs * 2 ** Math.min(this.failures, 10));
  }

  /** Audits after a time; of several times the earliest counts. */
  private schedule(delayMs: number): void {
    const { clock } = this.setup;
    const atMs = clock.monotonicNow() + delayMs;
    if (this.closed || (this.next !== undefined && this.next.atMs <= atMs)) return;
    this.next?.timer.cancel();
    const timer = clock.setTimer(() => {
      this.next = undefined;
      this.run();
    }, delayMs);
    this.next = { atMs, timer };
  }

  /** Audits after the audit that is under way, if any, and schedules the next one. */
  private run(): void {
    this.running = (this.running ?? Promise.resolve()).then(() => this.attempt());
  }

  private async attempt(): Promise<void> {
    if (this.closed) return;
    try {
      await this.repair();
      this.failures = 0;
      this.schedule(this.suspects.size > 0 ? staleMs : intervalMs);
    } catch (error) {
      if (this.closed) return;
      this.setup.failed(error);
      this.schedule(this.backOffMs);
      this.failures++;
    }
  }

  /** Releases the suspects that no service needs now either, and notes those that are new. */
  private async repair(): Promise<void> {
    const { allocation, clock } = this.setup;
    const unneeded = await allocation.audit(() => this.services());
    if (this.closed) return;
    const now = clock.monotonicNow();
    const suspects = new Map<ClaimName, Suspect>();
    for (const [name, claim] of unneeded) {
      const before = this.suspects.get(name);
      // A claim of another revision was taken again in between.
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
    const { store, prefix } = this.setup;
    let after: string | undefined;
    while (!this.closed) {
      const page = await store.range({ prefix, after, limit: pageSize });
      yield* page.entries;
      if (!page.more) return;
      after = page.entries.at(-1)!.key;
    }
  }
}
