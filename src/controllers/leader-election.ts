import { groupVersion } from "../vocabulary/names.ts";
import type { Clock, Timer } from "../base/time/clock.ts";
import type { Client } from "../resources/clients/client.ts";
import { isRaced } from "../resources/clients/races.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { RunningController } from "./controller.ts";

/** Times of the leader election, in milliseconds. */
export interface LeaderTimes {
  /** Another server becomes leader if the lease wasn't renewed for this time. */
  readonly leaseMs: number;
  /**
   * A leader that can't renew for this time stops. Shorter than `leaseMs`, so that it has stopped before another one
   * starts.
   */
  readonly deadlineMs: number;
  /** Time between renewals by the leader. */
  readonly renewMs: number;
  /** Time between attempts of other servers to acquire the lease. */
  readonly retryMs: number;
}

/** The times of the reference, except that renewals are less frequent because they are writes. */
export const defaultLeaderTimes: LeaderTimes = {
  leaseMs: 15_000,
  deadlineMs: 10_000,
  renewMs: 4000,
  retryMs: 2000,
};

/** A server that takes part in the election. */
export interface Candidate {
  /** Unique name of this process, which doesn't change while it runs. */
  readonly identity: string;
  /** Returns true if the process with this identity has certainly ended, so that its lease can be acquired at once. */
  hasEnded(identity: string): boolean;
  /** Starts the leader's work, which must write only while `holds` returns true. If it throws, the lease is released. */
  lead(holds: () => boolean): Promise<RunningController>;
  /** Reports a failure that will be retried. */
  failed(error: unknown): void;
  /** Called when another server holds the lease. */
  otherLeads?(): void;
  /** Called when this server becomes leader and when it stops being leader. */
  changed(leads: boolean): void;
}

interface Lease extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string | null;
    readonly leaseDurationSeconds?: number | null;
    readonly leaseTransitions?: number | null;
    readonly acquireTime?: string | null;
  };
}

/** Returns the reference of the Lease that elects the server that runs the controllers. */
export function controllersLease({ groupSuffix, systemNamespace: namespace, components }: Vocabulary) {
  const name = `${components.apiServer}-controllers`;
  return { apiVersion: groupVersion(groupSuffix, "coordination", "v1"), kind: "Lease", namespace, name };
}

/** A point in time by the monotonic and by the wall clock, in milliseconds. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Elects one of several servers over a store as the leader, with a Lease in the system namespace. A free lease is
 * acquired at once. The lease of a crashed server is acquired after it hasn't changed for its duration, measured by
 * this server's clock, so that clocks of servers needn't agree.
 */
export class LeaderElection {
  /** The version of another server's lease, and the monotonic time at which this server first read it, in milliseconds. */
  private seen: { readonly version: string; readonly atMs: number } | undefined;
  /** Start of the last successful renewal; undefined while another server leads. */
  private renewedAt: Moment | undefined;
  /** Settles when the previous leadership's work has ended; the next one waits for it. */
  private ending: Promise<unknown> = Promise.resolve();
  private running: RunningController | undefined;
  private timer: Timer | undefined;
  private turn: Promise<void> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly client: Client,
    private readonly vocabulary: Vocabulary,
    private readonly clock: Clock,
    private readonly candidate: Candidate,
    private readonly times: LeaderTimes = defaultLeaderTimes,
  ) {}

  /**
   * Tries to acquire the lease. If that succeeds, the leader's work has started when the promise resolves; otherwise
   * this server retries in the background.
   *
   * @throws what `lead` throws at this first attempt.
   */
  async start(): Promise<void> {
    await this.takeOrRenew().catch((error: unknown) => this.candidate.failed(error));
    if (this.holds()) await this.begin();
    this.schedule();
  }

  /**
   * Returns true while this server may act as leader. Both clocks are checked: the monotonic one can't be set back, and
   * only the wall clock advances while the machine sleeps.
   */
  holds(): boolean {
    const { renewedAt } = this;
    if (renewedAt === undefined) return false;
    const { deadlineMs } = this.times;
    const present = this.moment();
    return (
      present.monotonicMs < renewedAt.monotonicMs + deadlineMs &&
      present.wallMs < renewedAt.wallMs + deadlineMs
    );
  }

  private moment(): Moment {
    return { monotonicMs: this.clock.monotonicNow(), wallMs: this.clock.now() };
  }

  /** Stops the leader's work, then releases the lease. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.turn;
    const wasLeader = this.holds();
    await this.end();
    if (wasLeader) await this.release().catch((error: unknown) => this.candidate.failed(error));
  }

  private schedule(): void {
    if (this.closed) return;
    const { renewMs, retryMs } = this.times;
    this.timer = this.clock.setTimer(
      () => {
        this.turn = this.step();
      },
      this.renewedAt === undefined ? retryMs : renewMs,
    );
  }

  private async step(): Promise<void> {
    // A leader that missed its deadline, for example on a machine that slept, stops before it tries to renew.
    if (this.running !== undefined && !this.holds()) await this.end();
    const watchdog = this.watchdog();
    try {
      await this.takeOrRenew();
    } catch (error) {
      this.candidate.failed(error);
    }
    watchdog?.cancel();
    try {
      if (!this.holds()) await this.end();
      else if (this.running === undefined && !this.closed) await this.begin();
    } catch (error) {
      this.candidate.failed(error);
      await this.release().catch((failure: unknown) => this.candidate.failed(failure));
    }
    this.schedule();
  }

  /** Stops the leader's work at the deadline, even if a renewal is still pending. */
  private watchdog(): Timer | undefined {
    if (this.renewedAt === undefined) return undefined;
    const leftMs = this.renewedAt.monotonicMs + this.times.deadlineMs - this.clock.monotonicNow();
    return this.clock.setTimer(() => {
      this.end().catch((error: unknown) => this.candidate.failed(error));
    }, leftMs);
  }

  private async begin(): Promise<void> {
    // A renewal may succeed late, while the work that the watchdog stopped is still ending.
    await this.ending;
    if (this.closed || !this.holds()) return;
    this.running = await this.candidate.lead(() => this.holds());
    this.candidate.changed(true);
  }

  private async end(): Promise<void> {
    const { running } = this;
    this.running = undefined;
    this.renewedAt = undefined;
    if (running === undefined) return;
    this.candidate.changed(false);
    const closing = running.close();
    // The caller of this method reports a failure; the next leadership only waits.
    this.ending = Promise.allSettled([closing]);
    await closing;
  }

  private async takeOrRenew(): Promise<void> {
    const beganAt = this.moment();
    const live = await this.client.find<Lease>(this.reference);
    if (live !== undefined && !this.isFree(live)) {
      this.renewedAt = undefined;
      this.candidate.otherLeads?.();
      return;
    }
    try {
      await this.write(live);
      this.renewedAt = beganAt;
    } catch (error) {
      // Another server acquired the lease first.
      if (!isRaced(error)) throw error;
    }
  }

  /** Returns true if the lease has no holder, is held by this server, or has expired. */
  private isFree({ metadata, spec = {} }: Lease): boolean {
    const { holderIdentity, leaseDurationSeconds } = spec;
    const holder = holderIdentity ?? "";
    if (holder === "" || holder === this.candidate.identity || this.candidate.hasEnded(holder)) return true;
    const version = metadata.resourceVersion ?? "";
    const now = this.clock.monotonicNow();
    if (this.seen?.version !== version) this.seen = { version, atMs: now };
    return now >= this.seen.atMs + Math.max((leaseDurationSeconds ?? 0) * 1000, this.times.leaseMs);
  }

  private async write(live: Lease | undefined): Promise<void> {
    const { identity } = this.candidate;
    const now = `${new Date(this.clock.now()).toISOString().slice(0, -1)}000Z`;
    const { holderIdentity, acquireTime, leaseTransitions } = live?.spec ?? {};
    const isOwn = holderIdentity === identity;
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.times.leaseMs / 1000),
      acquireTime: isOwn ? acquireTime : now,
      renewTime: now,
      leaseTransitions: (leaseTransitions ?? 0) + (isOwn || live === undefined ? 0 : 1),
    };
    const { apiVersion, kind, namespace, name } = this.reference;
    if (live === undefined) await this.client.add({ apiVersion, kind, metadata: { name, namespace }, spec });
    else await this.client.update({ ...live, metadata: { ...live.metadata }, spec });
  }

  private async release(): Promise<void> {
    this.renewedAt = undefined;
    const live = await this.client.find<Lease>(this.reference);
    if (live?.spec?.holderIdentity !== this.candidate.identity) return;
    try {
      const spec = { ...live.spec, holderIdentity: "", leaseDurationSeconds: 1 };
      await this.client.update({ ...live, metadata: { ...live.metadata }, spec });
    } catch (error) {
      if (!isRaced(error)) throw error;
    }
  }

  private get reference() {
    return controllersLease(this.vocabulary);
  }
}
