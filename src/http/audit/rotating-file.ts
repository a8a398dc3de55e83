import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { makeFolder } from "../../base/folders.ts";
import { OldFiles, type KeptFiles } from "./old-files.ts";
import type { ByteTarget } from "./blocking-output.ts";

/** Where a log is written, and how much of it stays. */
export interface RotatingFileOptions extends KeptFiles {
  readonly file: string;
  /** A write that would make the file larger begins a new one. */
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Told when old files can't be compressed or removed. */
  readonly failed: (error: unknown) => void;
}

/**
 * A log file that is set aside when it is full, under a name with the time at which that was
 * (`audit-2026-01-02T03-04-05.678.log`), and begun anew. It can be read by its owner alone.
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
    // What was cut off before must not run into the next line.
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

  /** A name that no file has yet. */
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
