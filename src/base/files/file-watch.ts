import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Clock, Timer } from "../time/clock.ts";
import type { MaybePromise } from "../turns/maybe-promise.ts";

/** Polling interval. */
const intervalMs = 10_000;
/** Bytes of a file that are compared. */
const comparedBytes = 16 * 1024 * 1024;

/**
 * Polls files and calls a function when the content of one has changed. It compares content, so it works with every way of
 * replacing a file and with every file system.
 */
export class FileWatch {
  private timer: Timer | undefined;
  private looking: Promise<void> = Promise.resolve();
  private closed = false;
  private last: string | undefined;

  /**
   * @param files returns the current paths; must not fail.
   * @param changed handles the change. It is not retried before the next change, even if it fails.
   * @param failed is called with the error if `changed` fails.
   */
  constructor(
    private readonly files: () => MaybePromise<readonly string[]>,
    private readonly clock: Clock,
    private readonly changed: () => Promise<void>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Starts polling. The current content is the baseline. */
  async start(): Promise<void> {
    if ((await this.files()).length === 0) return;
    this.last = await this.digest();
    this.schedule();
  }

  /** Stops polling. Resolves when a running check has ended. */
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

  /** Returns a digest of all files. */
  private async digest(): Promise<string> {
    return (await Promise.all((await this.files()).map(digestOf))).join();
  }
}

/** Returns a digest of a file in constant memory. For an unreadable file, the error code takes the place of its content. */
async function digestOf(file: string): Promise<string> {
  try {
    // Opening a named pipe would wait for its writer.
    if (!(await stat(file)).isFile()) return "not a file";
    const hash = createHash("sha256");
    const content = createReadStream(file, { end: comparedBytes - 1 });
    for await (const chunk of content) hash.update(chunk as Buffer);
    return hash.digest("base64");
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
