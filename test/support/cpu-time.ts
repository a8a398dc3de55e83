import { existsSync, readFileSync } from "node:fs";

/**
 * Measures milliseconds of this process's processor time, which other programs on the machine don't lengthen much.
 *
 * @returns how much was used since the call.
 */
export function cpuStopwatch(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

/** One clock tick of `/proc`, in milliseconds: 100 a second on Linux. */
const tickMs = 10;

/**
 * Returns milliseconds of processor time that ended child processes used, with the children that those waited for; 0 where `/proc` is absent.
 */
export function childCpuMs(): number {
  if (!existsSync("/proc/self/stat")) return 0;
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The program's name is in parentheses and may contain spaces; the field after them is the third.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [children, ofSystem] = [fields[13], fields[14]];
  return (Number(children) + Number(ofSystem)) * tickMs;
}
