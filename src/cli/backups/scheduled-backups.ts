import { rename, rm, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Clock, Timer } from "../../base/time/clock.ts";
import { makeFolder, syncFile } from "../../base/files/folders.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import { backupName, backupsIn, deleteBackupsBefore } from "./series.ts";
import { hostname } from "node:os";

/** Settings of scheduled backups, in milliseconds. */
export interface BackupSettings {
  /** Folder of the series. */
  readonly dir: string;
  readonly intervalMs: number;
  readonly retentionMs: number;
}

/** Longest time from the start to the first attempt: a server that fails at the start makes no backup. */
const firstMs = 60_000;
/** How long after a failure, or while another process makes a backup, the next attempt begins at the latest. */
const retryMs = 60_000;

interface BackupSetup extends BackupSettings {
  readonly clock: Clock;
  readonly log: Logger;
  /** Writes a backup into an empty folder. Rejects with a message for the operator. */
  readonly backUp: (target: string, signal: AbortSignal) => Promise<void>;
}

/**
 * Makes a backup at each interval, counted from the newest backup of the folder, also over restarts, and deletes those older than the
 * retention. Of several processes with the same folder one makes it. A failure is logged and tried again; it does not affect the server.
 */
export class ScheduledBackups {
  private timer: Timer | undefined;
  private running: Promise<void> = Promise.resolve();
  private readonly stopping = new AbortController();

  constructor(private readonly setup: BackupSetup) {
    this.schedule(Math.min(firstMs, setup.intervalMs));
  }

  /** Ends a running backup without a result. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.timer?.cancel();
    await this.running;
  }

  private schedule(inMs: number): void {
    if (this.stopping.signal.aborted) return;
    this.timer = this.setup.clock.setTimer(() => {
      this.running = this.attempt().then((next) => this.schedule(next));
    }, inMs);
  }

  /** Returns the milliseconds until the next attempt; never rejects. */
  private async attempt(): Promise<number> {
    const { dir, intervalMs, log } = this.setup;
    try {
      return await this.turn();
    } catch (error) {
      if (!this.stopping.signal.aborted)
        log.error({ folder: dir, error: stackOf(error) }, "the scheduled backup failed");
      return Math.min(intervalMs, retryMs);
    }
  }

  private async turn(): Promise<number> {
    const { dir, intervalMs, retentionMs, clock, log } = this.setup;
    makeFolder(dir);
    const newest = (await backupsIn(dir)).at(-1);
    const now = clock.now();
    // A backup of the future was made with another clock.
    const dueMs = newest === undefined || newest.timeMs > now ? 0 : newest.timeMs + intervalMs - now;
    if (dueMs > 0) return dueMs;
    const claim = await BackupClaim.take(dir, now);
    if (claim === undefined) return Math.min(intervalMs, retryMs);
    try {
      await this.makeBackup(claim.target, path.join(dir, backupName(now)));
    } finally {
      await claim.release();
    }
    const deleted = await deleteBackupsBefore(dir, clock.now() - retentionMs);
    if (deleted.length > 0) log.info({ folders: deleted }, "deleted backups older than --backup-retention");
    return Math.max(0, now + intervalMs - clock.now());
  }

  private async makeBackup(target: string, final: string): Promise<void> {
    const { backUp, clock, log, dir } = this.setup;
    const start = clock.monotonicNow();
    const { signal } = this.stopping;
    signal.throwIfAborted();
    await backUp(target, signal);
    // A backup of the same second can only be left by another clock.
    await rm(final, { recursive: true, force: true });
    await rename(target, final);
    await syncFile(dir);
    log.info({ folder: final, durationMs: Math.round(clock.monotonicNow() - start) }, "made a backup");
  }
}

/** Folder of the backup that is being made. Its name is hidden, so that it isn't taken for a backup. */
const claimFolder = ".running";
const ownerFile = "owner";

/** Age after which a claim of a process on another machine is void. */
const abandonedMs = 24 * 60 * 60_000;

/** The right to make a backup in the folder of a series, which one process of all has at a time. */
class BackupClaim {
  private constructor(private readonly dir: string) {}

  /**
   * Takes the claim; undefined if another process has it. The claim of a process that has ended is void.
   *
   * @param now milliseconds since 1970.
   */
  static async take(seriesDir: string, now: number): Promise<BackupClaim | undefined> {
    const dir = path.join(seriesDir, claimFolder);
    if (await isAbandoned(dir, now)) await rm(dir, { recursive: true, force: true });
    try {
      await mkdir(dir, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
      throw error;
    }
    await writeFile(path.join(dir, ownerFile), `${hostname()} ${process.pid}\n`, { mode: 0o600 });
    return new BackupClaim(dir);
  }

  /** The folder for the backup; it doesn't exist. */
  get target(): string {
    return path.join(this.dir, "backup");
  }

  async release(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}

async function isAbandoned(dir: string, now: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(dir);
    if (now - mtimeMs > abandonedMs) return true;
    const [host, pid] = (await readFile(path.join(dir, ownerFile), "utf8")).trim().split(" ");
    return host === hostname() && !isAlive(Number(pid));
  } catch (error) {
    // Another process has just ended its claim, or hasn't written its name yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  // A process of a container that was restarted often has the same id.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
