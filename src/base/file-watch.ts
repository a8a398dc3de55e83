import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Clock, Timer } from "./clock.ts";

/** How often files are looked at. */
const intervalMs = 10_000;

/**
 * Looks at some files from time to time, and calls when one of them has changed. It looks at what they hold, so it
 * doesn't matter how they are replaced, or on what sort of disk they are.
 */
export class FileWatch {
  private timer: Timer | undefined;
  private looking: Promise<void> = Promise.resolve();
  private closed = false;
  private last: string | undefined;

  /**
   * @param files which they are now.
   * @param changed takes in the change; it is called again at the next change only, whether it fails or not.
   * @param failed told when `changed` fails.
   */
  constructor(
    private readonly files: () => readonly string[],
    private readonly clock: Clock,
    private readonly changed: () => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Begins; what the files hold now is known already. */
  async start(): Promise<void> {
    if (this.files().length === 0) return;
    this.last = await this.digest();
    this.schedule();
  }

  /** Resolves when nothing is under way any more. */
  close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    return this.looking;
  }

  private schedule(): void {
    if (this.closed) return;
    this.timer = this.clock.setTimer(() => {
      this.looking = this.look().then(() => this.schedule());
    }, intervalMs);
  }

  private async look(): Promise<void> {
    const now = await this.digest();
    if (now === this.last) return;
    this.last = now;
    try {
      await this.changed();
    } catch (error) {
      this.failed(error);
    }
  }

  /** A file that can't be read now counts as a content of its own. */
  private async digest(): Promise<string> {
    const digests = this.files().map(async (file) => {
      try {
        return createHash("sha256")
          .update(await readFile(file))
          .digest("base64");
      } catch (error) {
        return String((error as NodeJS.ErrnoException).code);
      }
    });
    return (await Promise.all(digests)).join();
  }
}
