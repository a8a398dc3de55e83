import { type FSWatcher, watch } from "node:fs";
import type { Clock, Timer } from "../../base/clock.ts";

/** Polling interval if the file system doesn't notify; a poll takes about a microsecond. */
const pollMs = 250;

/**
 * Reports possible commits of other processes. LMDB writes the last page of a commit to the data file when the commit becomes
 * visible, so a watch on that file is sufficient. A slow poll covers file systems without notifications.
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
      // No notifications (no watches left, or a remote file system): rely on polling.
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
