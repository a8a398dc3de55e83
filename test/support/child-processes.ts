import { readdirSync, readFileSync } from "node:fs";

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
