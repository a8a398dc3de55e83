import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { lmdbMagic, lockFile } from "./files.ts";

/** Where the writers' mutex lies: behind the table's head, which takes one cache line with the readers' mutex. */
const writerMutexAt = 64;
/** The thread that holds a mutex, in glibc's layout of it. */
const ownerAt = writerMutexAt + 8;

/** Tells which process holds the right to write to a folder. It never takes or changes it. */
export class WriterLock {
  private file: number | undefined;

  constructor(private readonly dir: string) {}

  /**
   * The process that writes at present, in words for a log, such as `process 123 (T (stopped))`; undefined where none does,
   * or where the system keeps the lock in another way.
   */
  holder(): string | undefined {
    const thread = this.owner();
    return thread === undefined || thread === 0 ? undefined : describeProcess(thread);
  }

  /** As {@link holder}, where that process has been stopped (by SIGSTOP, or a debugger). */
  stoppedHolder(): string | undefined {
    const holder = this.holder();
    return holder !== undefined && /state [Tt]\b/.test(holder) ? holder : undefined;
  }

  /**
   * Closes the file. Only when the environment is closed: the system drops a process's record locks on a file with
   * whichever descriptor of it is closed first, and LMDB tells by them which readers live.
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

/** Which process a thread belongs to and what it does; of a process in another container only the number is known. */
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
