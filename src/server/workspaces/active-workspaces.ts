import { StatusError } from "../../base/status-error.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import { detach } from "../../base/turns/maybe-promise.ts";
import type { Clock, Timer } from "../../base/time/clock.ts";
import type { WorkspaceServer } from "./workspace-server.ts";

/** An unused workspace is closed after this time, in milliseconds. */
const idleMs = 5 * 60_000;
const sweepMs = 30_000;
/** The use of a workspace that stays in use is recorded at this interval. */
const recordMs = 60 * 60_000;
/** More workspaces than these are closed earlier, the least recently used first. */
const maxActive = 200;
/** Number of workspaces that may be in use at once, */
const maxInUse = 2000;
/** and of those that one user has opened. */
const maxOfUser = maxInUse / 2;

/** A workspace in memory. */
interface Active {
  readonly uid: string;
  /** Name of the user whose request has opened it; undefined if it was the server. */
  readonly user: string | undefined;
  readonly opening: Promise<WorkspaceServer>;
  /** Undefined until it is open. */
  server: WorkspaceServer | undefined;
  /** Requests in progress. */
  uses: number;
  lastUsedMs: number;
  /** When its use was recorded, or it was opened. */
  recordedMs: number;
  /** Whether something was written in it since then. */
  isChanged: boolean;
}

/** A use of a workspace. */
export interface WorkspaceUse {
  readonly server: WorkspaceServer;
  /** Ends the use; called once. */
  end(): void;
}

/** What is recorded of the use of a workspace. */
export interface RecordedUse {
  /** Milliseconds since it was used. */
  readonly unusedMs: number;
  /** Whether something was written in it since the last record, as far as this process follows its writes. */
  readonly isChanged: boolean;
}

/** The workspaces that are in memory, by the uid of their object. They are opened when they are used, and closed when they are idle. */
export class ActiveWorkspaces {
  /** Least recently used first. */
  private readonly active = new Map<string, Active>();
  private readonly closing = new Map<string, Promise<void>>();
  private timer: Timer | undefined;
  private leads = false;
  private closed = false;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly parts: {
      /** Whether something was written in a workspace. */
      readonly isWritten: (uid: string) => Promise<boolean>;
      /** Called when an unused workspace is closed, and hourly while it is in use. */
      readonly wasUsed: (uid: string, server: WorkspaceServer, use: RecordedUse) => Promise<void>;
    },
  ) {}

  /** Number of workspaces in memory. */
  get size(): number {
    return this.active.size;
  }

  has(uid: string): boolean {
    return this.active.has(uid);
  }

  /**
   * Begins the use of a workspace.
   *
   * @param user name of the user; undefined for the server itself.
   * @param open opens it if it isn't in memory.
   * @throws {StatusError} ServiceUnavailable if too many are in use, TooManyRequests if they are of this user; what `open` throws.
   */
  async use(
    uid: string,
    user: string | undefined,
    open: () => Promise<WorkspaceServer>,
  ): Promise<WorkspaceUse> {
    const one = this.active.get(uid) ?? this.open(uid, user, open);
    one.uses++;
    this.active.delete(uid);
    this.active.set(uid, one);
    const end = (): void => {
      one.uses--;
      one.lastUsedMs = this.clock.monotonicNow();
    };
    try {
      return { server: one.server ?? (await one.opening), end };
    } catch (error) {
      end();
      throw error;
    }
  }

  private open(uid: string, user: string | undefined, open: () => Promise<WorkspaceServer>): Active {
    if (this.closed) throw new StatusError("ServiceUnavailable", "the server is stopping");
    this.shrink();
    if (this.active.size >= maxInUse)
      throw new StatusError(
        "ServiceUnavailable",
        `more than ${maxInUse} workspaces are in use; try again later`,
      );
    if (user !== undefined && this.active.size >= maxOfUser && this.openedBy(user) >= maxOfUser)
      throw new StatusError(
        "TooManyRequests",
        `${maxOfUser} workspaces that the user has opened are in use, the maximum; end some watches, or try again later`,
      );
    // A failure to close it was logged, and doesn't concern those who use it again.
    const opening = (this.closing.get(uid) ?? Promise.resolve()).then(open, open);
    const lastUsedMs = this.clock.monotonicNow();
    const times = { lastUsedMs, recordedMs: lastUsedMs };
    const one: Active = { uid, user, opening, server: undefined, uses: 0, ...times, isChanged: false };
    this.active.set(uid, one);
    this.timer ??= this.clock.setTimer(() => this.sweep(), sweepMs);
    detach(
      opening.then((server) => {
        one.server = server;
        if (this.leads) this.startNeededControllers(uid, server);
      }),
      () => {
        if (this.active.get(uid) === one) this.active.delete(uid);
      },
    );
    return one;
  }

  private openedBy(user: string): number {
    return [...this.active.values()].filter((one) => one.user === user).length;
  }

  /** Starts the controllers of a workspace if something was written in it: what it began with is settled. */
  private startNeededControllers(uid: string, server: WorkspaceServer): void {
    const start = async (): Promise<void> => {
      if (!server.leads && (await this.parts.isWritten(uid))) await this.startControllers(server);
    };
    detach(start(), (error) => this.report(error));
  }

  private report(error: unknown): void {
    this.log.error({ error: stackOf(error) }, "the controllers of a workspace can't be started");
  }

  /** Starts the controllers of a workspace in memory, unless they run in another process. */
  async startControllers(server: WorkspaceServer): Promise<void> {
    if (this.leads) await server.lead();
  }

  /** Starts the controllers of a workspace in memory in which something was written. */
  written(uid: string): void {
    const one = this.active.get(uid);
    if (one === undefined) return;
    one.isChanged = true;
    const { server } = one;
    if (server !== undefined && !server.leads)
      detach(this.startControllers(server), (error) => this.report(error));
  }

  /** Starts the controllers of all workspaces in which something was written, and of those that are opened later. */
  lead(): void {
    this.leads = true;
    for (const { uid, server } of this.active.values())
      if (server !== undefined) this.startNeededControllers(uid, server);
  }

  /** Ends the controllers of all workspaces. */
  async follow(): Promise<void> {
    this.leads = false;
    await Promise.all([...this.active.values()].map(({ server }) => server?.follow()));
  }

  private isIdle({ server, uses }: Active): boolean {
    return uses === 0 && server?.isBusy === false;
  }

  private sweep(): void {
    this.timer = undefined;
    const nowMs = this.clock.monotonicNow();
    for (const one of this.active.values())
      if (one.lastUsedMs <= nowMs - idleMs && this.isIdle(one)) this.drop(one);
      else if (one.recordedMs <= nowMs - recordMs) this.record(one);
    if (this.active.size > 0 && !this.closed) this.timer = this.clock.setTimer(() => this.sweep(), sweepMs);
  }

  private shrink(): void {
    let excess = this.active.size + 1 - maxActive;
    if (excess <= 0) return;
    for (const one of this.active.values()) {
      if (excess <= 0) return;
      if (!this.isIdle(one)) continue;
      this.drop(one);
      excess--;
    }
  }

  private drop(one: Active): void {
    detach(this.end(one), (error) =>
      this.log.error({ error: stackOf(error) }, "a workspace could not be closed"),
    );
    this.record(one);
  }

  /** Records the use of a workspace. */
  private record(one: Active): void {
    const { uid, server, lastUsedMs, isChanged } = one;
    if (server === undefined) return;
    const nowMs = this.clock.monotonicNow();
    one.recordedMs = nowMs;
    one.isChanged = false;
    const unusedMs = this.isIdle(one) ? nowMs - lastUsedMs : 0;
    detach(this.parts.wasUsed(uid, server, { unusedMs, isChanged }), (error) =>
      this.log.warn({ error: String(error) }, "the use of a workspace could not be recorded"),
    );
  }

  /** Closes a workspace if it is in memory: its watches end, before this call returns if it is open, and its requests fail. */
  async close(uid: string): Promise<void> {
    const one = this.active.get(uid);
    if (one !== undefined) await this.end(one);
    await this.closing.get(uid);
  }

  /** Closes a workspace and runs work before it is opened again. */
  async exclusively<T>(uid: string, work: () => Promise<T>): Promise<T> {
    const one = this.active.get(uid);
    const ended = one === undefined ? this.closing.get(uid) : this.end(one);
    const result = (ended ?? Promise.resolve()).then(work);
    const done = result.then(nothing, nothing);
    this.closing.set(uid, done);
    try {
      return await result;
    } finally {
      if (this.closing.get(uid) === done) this.closing.delete(uid);
    }
  }

  /** Closes the workspaces that are open now. */
  async closeOpen(): Promise<void> {
    await Promise.all([...this.active.values()].map((one) => this.end(one)));
  }

  private async end(one: Active): Promise<void> {
    const { uid } = one;
    if (this.active.get(uid) === one) this.active.delete(uid);
    const closed =
      one.server?.close() ??
      one.opening.then(
        (server) => server.close(),
        () => undefined,
      );
    this.closing.set(uid, closed);
    try {
      await closed;
    } finally {
      if (this.closing.get(uid) === closed) this.closing.delete(uid);
    }
  }

  /** Closes all workspaces; none is opened afterwards. */
  async closeAll(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    await Promise.all([...this.active.values()].map((one) => this.end(one)));
    await Promise.all(this.closing.values());
  }
}

function nothing(): void {}
