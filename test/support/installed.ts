import { spawnSync } from "node:child_process";

/** Whether a program is on the PATH. */
export function isInstalled(command: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
}
