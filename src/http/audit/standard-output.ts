import type { Writable } from "node:stream";
import type { ByteTarget } from "./blocking-output.ts";

/** Bytes that a reader may be behind; what is more is lost. */
const maxBacklogBytes = 16 * 1024 * 1024;

/** A stream of the process as a target of lines. It isn't ended with the audit. */
export class StandardOutput implements ByteTarget {
  /** @param failed called when what was taken couldn't be written after all. */
  constructor(
    private readonly stream: Writable,
    private readonly failed: (error: Error) => void,
  ) {
    stream.on("error", failed);
  }

  write(bytes: Buffer): void {
    if (this.stream.writableLength > maxBacklogBytes) throw new Error("standard output isn't read");
    this.stream.write(bytes);
  }

  /** Resolves when what was taken is written, or can't be. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.stream.write("", () => resolve()));
    this.stream.off("error", this.failed);
  }
}
