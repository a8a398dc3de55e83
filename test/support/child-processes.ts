import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Returns the child processes of a process, in the order of their start. */
export function childrenOf(parent: number): number[] {
  const isChild = (pid: string) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(ppid) === parent && state !== "Z";
    } catch {
      // The process has ended.
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isChild(name))
    .map(Number)
    .toSorted((a, b) => a - b);
}

/** Returns the role of a process of a server with `--workers`: `committer` or `worker`; undefined if it has ended. */
export function roleOf(pid: number): string | undefined {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const role = environment.find((one) => one.startsWith("PLINTH_PROCESS_ROLE="));
    return role && (JSON.parse(role.slice(role.indexOf("=") + 1)) as { kind: string }).kind;
  } catch {
    // The process has ended.
    return undefined;
  }
}

/** Whether a process has a listening Unix socket whose path ends in `end`. */
export function listensAt(pid: number, end: string): boolean {
  const listening = "00010000";
  const sockets = new Set<string>();
  for (const line of readFileSync("/proc/net/unix", "utf8").split("\n")) {
    const [, , , flags, , , inode, name] = line.trim().split(/\s+/);
    if (flags === listening && name?.endsWith(end) === true) sockets.add(`socket:[${inode}]`);
  }
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch (error) {
      // It was closed meanwhile.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
      throw error;
    }
  });
}
