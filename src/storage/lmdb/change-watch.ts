import { type FSWatcher, watch } from "node:fs";
import type { Clock, Timer } from "../../base/clock.ts";

/** How often the revision is looked at when the system gives no notice; a look costs about a microsecond. */
const pollMs = 250;

/**
 * Tells when another process may have committed. LMDB writes a commit's last page to the data file when the commit
 * becomes visible, so a watch on that file fires at the right moment and nobody has to write a notification. A slow
 * poll stands in where the file system gives no notice.
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
      // No notice to be had (no watches left, a remote file system): the poll remains.
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
