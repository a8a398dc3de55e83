import { type FSWatcher, watch } from "node:fs";
import type { Clock, Timer } from "../../base/time/clock.ts";

/** Interval of polling for a new revision without file notifications; a poll costs about a microsecond. */
const pollMs = 250;
/** Delay of a second look after a notification, which can come before the commit is visible to readers. */
const secondLookMs = 5;

/**
 * Calls back when another process may have committed. LMDB writes a commit's last page to the data file just before the
 * commit becomes visible, so `fs.watch` on that file fires at about the right moment; a second look follows soon. A slow poll covers file
 * systems without notifications.
 */
export class ChangeWatch {
  private watcher: FSWatcher | undefined;
  private timer: Timer | undefined;
  private secondLook: NodeJS.Timeout | undefined;
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
    clearTimeout(this.secondLook);
  }

  private changed(): void {
    this.onChange();
    // A timer of the machine, whatever the clock is: the other process commits in real time.
    this.secondLook ??= setTimeout(() => {
      this.secondLook = undefined;
      this.onChange();
    }, secondLookMs).unref();
  }

  private poll(): void {
    if (this.stopped) return;
    this.timer = this.clock.setTimer(() => {
      this.onChange();
      this.poll();
    }, pollMs);
  }
}
