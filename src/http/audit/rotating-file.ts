import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import type { Clock } from "../../base/time/clock.ts";
import { makeFolder } from "../../base/files/folders.ts";
import { OldFiles, type Retention } from "./old-files.ts";
import type { ByteTarget } from "./blocking-output.ts";

/** Path, size and retention of a log. */
export interface RotatingFileOptions extends Retention {
  readonly file: string;
  /** A write that would exceed this size starts a new file. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Called when rotated files can't be compressed or removed. */
  readonly failed: (error: unknown) => void;
}

/**
 * A log file that is rotated when it is full: it is renamed with the time of rotation
 * (`audit-2026-01-02T03-04-05.678.log`), and a new file is started. Only its owner can read it.
 */
export class RotatingFile implements ByteTarget {
  private handle: number;
  private size: number;
  private midLine = false;
  private readonly old: OldFiles;

  /** @throws {Error} the file can't be opened. */
  constructor(private readonly options: RotatingFileOptions) {
    makeFolder(path.dirname(options.file));
    this.handle = openSync(options.file, "a", 0o600);
    this.size = fstatSync(this.handle).size;
    this.old = new OldFiles(options);
    this.tidy();
  }

  write(bytes: Buffer): void {
    if (this.size > 0 && this.size + bytes.length > this.options.maxBytes) this.rotate();
    // After a partial write, a line break separates the rest from the next line.
    const all = this.midLine ? Buffer.concat([Buffer.from("\n"), bytes]) : bytes;
    let at = 0;
    try {
      while (at < all.length) at += writeSync(this.handle, all, at);
    } finally {
      this.size += at;
      if (at > 0) this.midLine = at < all.length;
    }
  }

  async close(): Promise<void> {
    closeSync(this.handle);
    await this.old.settled;
  }

  private rotate(): void {
    const { file } = this.options;
    renameSync(file, this.nameForOld());
    const fresh = openSync(file, "a", 0o600);
    closeSync(this.handle);
    this.handle = fresh;
    this.size = 0;
    this.midLine = false;
    this.tidy();
  }

  /** Returns an unused name for the rotated file. */
  private nameForOld(): string {
    for (let at = this.options.clock.now(); ; at++) {
      const name = this.old.nameFor(at);
      if (!existsSync(name) && !existsSync(`${name}.gz`)) return name;
    }
  }

  private tidy(): void {
    this.old.tidy(this.options.clock.now());
  }
}
