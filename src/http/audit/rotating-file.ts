import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
  writeSync,
  createReadStream,
  createWriteStream,
} from "node:fs";
import path from "node:path";
import type { Clock } from "../../base/time/clock.ts";
import { makeFolder } from "../../base/files/folders.ts";
import type { ByteTarget } from "./blocking-output.ts";
import { readdir, rename, unlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

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

/** Retention of rotated files. */
interface Retention {
  /** Maximum number; 0 for no limit. */
  readonly maxBackups: number;
  /** Maximum age; 0 for no limit. */
  readonly maxAgeMs: number;
  /** Whether they are compressed. */
  readonly compress: boolean;
}

/** A rotated file. */
interface OldFile {
  readonly file: string;
  readonly at: number;
  readonly packed: boolean;
}

/** The rotated files of a log. */
class OldFiles {
  /** Resolves when no work on the files is pending. */
  settled: Promise<void> = Promise.resolve();
  private readonly folder: string;
  private readonly stem: string;
  private readonly ending: string;

  constructor(
    private readonly options: Retention & {
      readonly file: string;
      readonly failed: (error: unknown) => void;
    },
  ) {
    const { dir, name, ext } = path.parse(options.file);
    this.folder = dir === "" ? "." : dir;
    this.stem = `${name}-`;
    this.ending = ext;
  }

  /** Returns the name of a file that is rotated at this time, in milliseconds since 1970. */
  nameFor(at: number): string {
    const time = new Date(at).toISOString().slice(0, 23).replaceAll(":", "-");
    return path.join(this.folder, `${this.stem}${time}${this.ending}`);
  }

  /** Removes files beyond the limits, and compresses the others if configured. Calls run one after the other. */
  tidy(now: number): void {
    this.settled = this.settled.then(() => this.tidyUp(now)).catch(this.options.failed);
  }

  private async tidyUp(now: number): Promise<void> {
    const { maxBackups, maxAgeMs, compress } = this.options;
    if (maxBackups === 0 && maxAgeMs === 0 && !compress) return;
    const files = await this.oldFiles();
    const times = [...new Set(files.map(({ at }) => at))];
    const retained = new Set(maxBackups === 0 ? times : times.slice(0, maxBackups));
    for (const one of files) {
      if (!retained.has(one.at) || (maxAgeMs > 0 && now - one.at > maxAgeMs)) await unlink(one.file);
      else if (compress && !one.packed) await pack(one.file);
    }
  }

  /** Returns all rotated files, newest first. */
  private async oldFiles(): Promise<OldFile[]> {
    const files: OldFile[] = [];
    for (const name of await readdir(this.folder)) {
      const packed = name.endsWith(".gz");
      const plain = packed ? name.slice(0, -3) : name;
      if (!plain.startsWith(this.stem) || !plain.endsWith(this.ending)) continue;
      const time = plain.slice(this.stem.length, plain.length - this.ending.length);
      const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(time);
      if (match === null) continue;
      const at = Date.parse(`${match[1]}:${match[2]}:${match[3]}Z`);
      files.push({ file: path.join(this.folder, name), at, packed });
    }
    return files.toSorted((one, other) => other.at - one.at);
  }
}

/** Compresses a file; the compressed file appears under its name only when it is complete. */
async function pack(file: string): Promise<void> {
  const fresh = `${file}.gz.new`;
  await pipeline(createReadStream(file), createGzip(), createWriteStream(fresh, { mode: 0o600 }));
  await rename(fresh, `${file}.gz`);
  await unlink(file);
}
