import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { lmdbMagic, lockFile } from "./files.ts";

/** Offset of the writer mutex: after the header and the reader mutex, which take one cache line. */
const writerMutexAt = 64;
/** Offset of the owner thread in glibc's mutex layout. */
const ownerAt = writerMutexAt + 8;

/** Reads which process has the write lock of a folder. Never acquires or changes it. */
export class WriterLock {
  private file: number | undefined;

  constructor(private readonly dir: string) {}

  /**
   * Returns the process that has the write lock, for messages, such as `process 123 (T (stopped))`; undefined if none has it, or
   * the system's lock layout is different.
   */
  holder(): string | undefined {
    const thread = this.owner();
    return thread === undefined || thread === 0 ? undefined : describeProcess(thread);
  }

  /** Like {@link holder}, but only if that process is stopped (by SIGSTOP or a debugger). */
  stoppedHolder(): string | undefined {
    const holder = this.holder();
    return holder !== undefined && /state [Tt]\b/.test(holder) ? holder : undefined;
  }

  /**
   * Closes the file. Must be called after the environment is closed: closing any descriptor of a file releases all
   * record locks of the process on it, and LMDB uses these locks to detect live readers.
   */
  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    this.file = undefined;
  }

  private owner(): number | undefined {
    if (process.platform !== "linux") return undefined;
    const head = Buffer.alloc(ownerAt + 4);
    try {
      this.file ??= openSync(join(this.dir, lockFile), "r");
      if (readSync(this.file, head, 0, head.length, 0) < head.length) return undefined;
    } catch (error) {
      process.emitWarning(`cannot determine which process writes to ${this.dir}: ${String(error)}`);
      return undefined;
    }
    return head.readUInt32LE(0) === lmdbMagic ? head.readUInt32LE(ownerAt) : undefined;
  }
}

/** Describes the process of a thread and its state. For a process in another container only the id is known. */
function describeProcess(thread: number): string {
  let status: string;
  try {
    status = readFileSync(`/proc/${thread}/status`, "utf8");
  } catch {
    return `process ${thread}, which this one can't see`;
  }
  const lines = status.split("\n").map((line) => line.split(":\t", 2));
  const field = (name: string) => lines.find(([key]) => key === name)?.[1]?.trim();
  return `process ${field("Tgid")} (${field("Name")}, state ${field("State")})`;
}
