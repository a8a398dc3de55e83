import type { EventOutput } from "./backend.ts";

/** Writes bytes in order. Written bytes are with the operating system when the call returns. */
export interface ByteTarget {
  /** @throws {Error} the bytes, or a part of them, couldn't be written. */
  write(bytes: Buffer): void;
  close(): Promise<void>;
}

/** Maximum number of characters that wait until the end of the turn. */
const maxPending = 64 * 1024;

/**
 * Writes events as lines by the end of the event loop turn in which they are recorded; urgent ones at once, so that a
 * request whose receipt is recorded isn't processed before. Lines of one turn are one write.
 */
export class BlockingOutput implements EventOutput {
  private lines: string[] = [];
  private size = 0;
  private timer: NodeJS.Immediate | undefined;

  /** @param lost called with the number of lost events and the reason. */
  constructor(
    private readonly target: ByteTarget,
    private readonly lost: (events: number, error: unknown) => void,
  ) {}

  write(text: string, urgent: boolean): boolean {
    this.lines.push(text);
    this.size += text.length;
    if (urgent || this.size > maxPending) return this.flush();
    this.timer ??= setImmediate(() => this.flush());
    return true;
  }

  async close(): Promise<void> {
    this.flush();
    await this.target.close();
  }

  private flush(): boolean {
    clearImmediate(this.timer);
    this.timer = undefined;
    const { lines } = this;
    if (lines.length === 0) return true;
    this.lines = [];
    this.size = 0;
    try {
      this.target.write(linesOf(lines));
      return true;
    } catch (error) {
      this.lost(lines.length, error);
      return false;
    }
  }
}

/** Returns texts as lines, encoded. */
function linesOf(texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.join("\n")}\n`);
}
