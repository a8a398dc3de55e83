import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** A file system of its own that can be filled. */
export class SmallDisk {
  static readonly missing: string | undefined = SmallDisk.probe();

  constructor(readonly path: string) {
    this.resize("size=24m");
  }

  /** Writes a file until no byte is free; the result removes it. */
  fill(): () => void {
    const file = path.join(this.path, "filler");
    const descriptor = openSync(file, "w");
    try {
      for (const bytes of [64 * 1024, 1]) writeUntilFull(descriptor, Buffer.alloc(bytes));
    } finally {
      closeSync(descriptor);
    }
    return () => rmSync(file);
  }

  enlarge(): void {
    this.resize("remount,size=64m");
  }

  remove(): void {
    spawnSync("umount", [this.path]);
  }

  private resize(options: string): void {
    const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", this.path]);
    if (status !== 0) throw new Error(`mount: ${stderr.toString()}`);
  }

  /** Why there can be none on this machine. */
  private static probe(): string | undefined {
    const folder = temporaryFolder();
    try {
      new SmallDisk(folder.path).remove();
      return undefined;
    } catch (error) {
      return `no file system can be mounted here: ${String(error)}`;
    } finally {
      folder.remove();
    }
  }
}

function writeUntilFull(descriptor: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(descriptor, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}
