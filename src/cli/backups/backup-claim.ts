import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";

/** Folder of the backup that is being made. Its name is hidden, so that it isn't taken for a backup. */
const claimFolder = ".running";
const ownerFile = "owner";

/** Age after which a claim of a process on another machine is void. */
const abandonedMs = 24 * 60 * 60_000;

/** The right to make a backup in the folder of a series, which one process of all has at a time. */
export class BackupClaim {
  private constructor(private readonly dir: string) {}

  /**
   * Takes the claim; undefined if another process has it. The claim of a process that has ended is void.
   *
   * @param now milliseconds since 1970.
   */
  static async take(seriesDir: string, now: number): Promise<BackupClaim | undefined> {
    const dir = path.join(seriesDir, claimFolder);
    if (await isAbandoned(dir, now)) await rm(dir, { recursive: true, force: true });
    try {
      await mkdir(dir, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
      throw error;
    }
    await writeFile(path.join(dir, ownerFile), `${hostname()} ${process.pid}\n`, { mode: 0o600 });
    return new BackupClaim(dir);
  }

  /** The folder for the backup; it doesn't exist. */
  get target(): string {
    return path.join(this.dir, "backup");
  }

  async release(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true });
  }
}

async function isAbandoned(dir: string, now: number): Promise<boolean> {
  try {
    const { mtimeMs } = await stat(dir);
    if (now - mtimeMs > abandonedMs) return true;
    const [host, pid] = (await readFile(path.join(dir, ownerFile), "utf8")).trim().split(" ");
    return host === hostname() && !isAlive(Number(pid));
  } catch (error) {
    // Another process has just ended its claim, or hasn't written its name yet.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  // A process of a container that was restarted often has the same id.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
