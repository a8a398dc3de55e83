import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

/**
 * Runs this program in a child process.
 *
 * @param words command and flags.
 */
export function spawnProgram(words: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, process.argv[1]!, ...words], options);
}
