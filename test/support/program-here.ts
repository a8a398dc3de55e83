import { runProgram } from "../../src/cli/program.ts";
import type { Finished } from "./process.ts";

/**
 * Runs `plinth` with these words to its end in this process, which takes a tenth of the time of a process of its own. For command lines
 * that are refused, and commands that print; one at a time.
 */
export async function plinthHere(...words: readonly string[]): Promise<Finished> {
  const { stdout, stderr } = process;
  const written = { stdout: "", stderr: "" };
  const taking = (name: "stdout" | "stderr"): typeof stdout.write => {
    return ((chunk: string | Uint8Array, ...rest: readonly unknown[]) => {
      written[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      const done = rest.find((one) => typeof one === "function") as (() => void) | undefined;
      done?.();
      return true;
    }) as typeof stdout.write;
  };
  const [writeOut, writeErr] = [stdout.write.bind(stdout), stderr.write.bind(stderr)];
  stdout.write = taking("stdout");
  stderr.write = taking("stderr");
  try {
    return { code: await runProgram(words), ...written };
  } finally {
    stdout.write = writeOut;
    stderr.write = writeErr;
  }
}
