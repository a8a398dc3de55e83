import { type FSWatcher, watch } from "node:fs";
import type { Clock, Timer } from "../../base/clock.ts";

/** Interval of polling for a new revision without file notifications; a poll costs about a microsecond. */
const pollMs = 250;

/**
 * Calls back when another process may have committed. LMDB writes a commit's last page to the data file when the commit
 * becomes visible, so `fs.watch` on that file fires at the right moment. A slow poll covers file systems without
 * notifications.
 */
export class ChangeWatch {
  private watcher: FSWatcher | undefined;
  private timer: Timer | undefined;
  private stopped = false;

  /** @param onChange must not throw. */
  constructor(
    file: string,
    private readonly clock: Clock,
    private readonly onChange: () => void,
  ) {
    try {
      this.watcher = watch(file, { persistent: false }, onChange);
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
  }

  private poll(): void {
    if (this.stopped) return;
    this.timer = this.clock.setTimer(() => {
      this.onChange();
      this.poll();
    }, pollMs);
  }
}
