import { type FSWatcher, watch } from "node:fs";
import type { Clock, Timer } from "../../base/time/clock.ts";

/** Interval of polling for a new revision without file notifications; a poll costs about a microsecond. */
const pollMs = 250;
/** Delays of further looks after a notification, which can come before the commit is visible to readers; on a busy machine long before. */
const furtherLooksMs = [5, 50] as const;

/**
 * Calls back when another process may have committed. LMDB writes a commit's last page to the data file just before the
 * commit becomes visible, so `fs.watch` on that file fires at about the right moment; further looks follow soon. A slow poll covers file
 * systems without notifications.
 */
export class ChangeWatch {
  private watcher: FSWatcher | undefined;
  private timer: Timer | undefined;
  private furtherLook: NodeJS.Timeout | undefined;
  /** Whether a notification has come since the further look was planned. */
  private notified = false;
  private stopped = false;

  /** @param onChange must not throw. */
  constructor(
    file: string,
    private readonly clock: Clock,
    private readonly onChange: () => void,
  ) {
    try {
      this.watcher = watch(file, { persistent: false }, () => this.changed());
      this.watcher.on("error", () => this.watcher?.close());
    } catch {
      // No notifications (watch limit reached, remote file system): rely on the poll.
      this.watcher = undefined;
    }
    this.poll();
  }

  stop(): void {
    this.stopped = true;
    this.watcher?.close();
    this.timer?.cancel();
    clearTimeout(this.furtherLook);
  }

  private changed(): void {
    this.onChange();
    this.notified = true;
    if (this.furtherLook === undefined) this.lookAgain(0);
  }

  /** Plans a further look. The timer is one of the machine, whatever the clock is: the other process commits in real time. */
  private lookAgain(index: number): void {
    const delayMs = furtherLooksMs[index];
    this.furtherLook = undefined;
    if (delayMs === undefined || this.stopped) return;
    if (index === 0) this.notified = false;
    this.furtherLook = setTimeout(() => {
      this.onChange();
      this.lookAgain(this.notified ? 0 : index + 1);
    }, delayMs).unref();
  }

  private poll(): void {
    if (this.stopped) return;
    this.timer = this.clock.setTimer(() => {
      this.onChange();
      this.poll();
    }, pollMs);
  }
}
