import type { Clock, Timer } from "../base/clock.ts";
import type { Client } from "../resources/clients/client.ts";
import { isRaced } from "../resources/clients/races.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { RunningController } from "./controller.ts";

/** How long leadership lasts, in milliseconds. */
export interface LeaderTimes {
  /** Others take over when the lease hasn't been renewed for this time. */
  readonly leaseMs: number;
  /** A leader that can't renew for this time stops; shorter than `leaseMs`, so that it has stopped before others begin. */
  readonly deadlineMs: number;
  /** How often a leader renews. */
  readonly renewMs: number;
  /** How often others look whether the lease is free. */
  readonly retryMs: number;
}

/** The reference's times, but for the renewals, which are writes. */
export const defaultLeaderTimes: LeaderTimes = {
  leaseMs: 15_000,
  deadlineMs: 10_000,
  renewMs: 4000,
  retryMs: 2000,
};

/** Who stands for leadership, and what the leader does. */
export interface Candidate {
  /** Names this server for as long as it runs, and no other one. */
  readonly identity: string;
  /** Whether a holder of the lease has ended for certain, so that its lease needs no waiting for. */
  hasEnded(identity: string): boolean;
  /**
   * Begins the leader's work. What it writes is written only while `holds` says so. Throwing gives the lease back.
   */
  lead(holds: () => boolean): Promise<RunningController>;
  /** Told of failures; they are tried again. */
  failed(error: unknown): void;
  /** Another server was seen to hold the lease. */
  otherLeads?(): void;
  /** Told when leadership begins and ends. */
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

/** The Lease by which servers choose the one that runs the controllers. */
export function controllersLease({ groupSuffix, systemNamespace: namespace, components }: Vocabulary) {
  const name = `${components.apiServer}-controllers`;
  return { apiVersion: `coordination.${groupSuffix}/v1`, kind: "Lease", namespace, name };
}

/** A point in time by both clocks, in milliseconds. */
interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/**
 * Has one of several servers over a store lead, by a Lease in the system's namespace. A free lease is taken at once. That of a
 * server that crashed is taken when it hasn't changed for its duration by this server's own clock, so that the servers' clocks
 * needn't agree.
 */
export class LeaderElection {
  /** The lease as last seen, and when that was, in monotonic milliseconds of this server. */
  private seen: { readonly version: string; readonly atMs: number } | undefined;
  /** Begin of the last renewal that succeeded; undefined while another one leads. */
  private renewedAt: Moment | undefined;
  /** The end of the leader's work that began last; a new one waits for it. */
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
   * Takes the lease if it is free, and then the leader's work has begun when the promise resolves. Otherwise it is waited for
   * in the background.
   *
   * @throws what `lead` throws this first time.
   */
  async start(): Promise<void> {
    await this.takeOrRenew().catch((error: unknown) => this.candidate.failed(error));
    if (this.holds()) await this.begin();
    this.schedule();
  }

  /**
   * Whether this server may act as the leader now. Both clocks must say so: the monotonic one can't be set back, and the wall
   * clock goes on while the machine sleeps.
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

  /** Ends the leader's work, then gives the lease back. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await this.turn;
    const held = this.holds();
    await this.end();
    if (held) await this.release().catch((error: unknown) => this.candidate.failed(error));
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
    // A leader that was away for too long, as on a machine that slept, has stopped before it asks again.
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

  /** Ends the leader's work at the deadline though a renewal is still waited for. */
  private watchdog(): Timer | undefined {
    if (this.renewedAt === undefined) return undefined;
    const leftMs = this.renewedAt.monotonicMs + this.times.deadlineMs - this.clock.monotonicNow();
    return this.clock.setTimer(() => {
      this.end().catch((error: unknown) => this.candidate.failed(error));
    }, leftMs);
  }

  private async begin(): Promise<void> {
    // A renewal may succeed late, while the work that the watchdog ended is still ending.
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
    // A failure is reported by the caller of this method, not by whoever waits for the end.
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
      // Another server was faster.
      if (!isRaced(error)) throw error;
    }
  }

  /** Whether the lease is this server's, nobody's, or of a server that is gone. */
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
