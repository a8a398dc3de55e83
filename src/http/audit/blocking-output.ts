import type { EventOutput } from "./backend.ts";

/** Takes bytes in order; what it takes is with the operating system when the call returns. */
export interface ByteTarget {
  /** @throws {Error} the bytes, or some of them, couldn't be written. */
  write(bytes: Buffer): void;
  close(): Promise<void>;
}

/** Characters that wait for the end of the turn at most. */
const maxPending = 64 * 1024;

/**
 * Writes events as lines, each by the end of the turn in which it is recorded, the urgent ones at once: a request of which
 * the policy records that it came isn't worked on before that is written. Lines of one turn go out in one write.
 */
export class BlockingOutput implements EventOutput {
  private lines: string[] = [];
  private size = 0;
  private timer: NodeJS.Immediate | undefined;

  /** @param lost called with how many events couldn't be written, and why. */
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

/** Texts as lines, in bytes. */
export function linesOf(texts: readonly string[]): Buffer {
  return Buffer.from(`${texts.join("\n")}\n`);
}
