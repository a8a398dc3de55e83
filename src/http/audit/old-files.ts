import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, unlink } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

/** Retention of rotated files. */
export interface Retention {
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
export class OldFiles {
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
