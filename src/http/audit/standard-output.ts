import type { Writable } from "node:stream";
import type { ByteTarget } from "./blocking-output.ts";

/** Maximum number of unread bytes; further ones are lost. */
const maxBacklogBytes = 16 * 1024 * 1024;

/** Writes lines to a stream of the process, which stays open when the audit is closed. */
export class StandardOutput implements ByteTarget {
  /** @param failed called when accepted bytes couldn't be written. */
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

  /** Resolves when the accepted bytes are written or lost. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => this.stream.write("", () => resolve()));
    this.stream.off("error", this.failed);
  }
}
