import { tmpdir } from "node:os";
import { runProgram } from "../../src/cli/program.ts";
import type { Finished } from "./process.ts";
import { program } from "./root.ts";

/**
 * Runs `plinth` with these words to its end in this process, which takes a tenth of the time of a process of its own. For command lines
 * that are refused, and commands that print or ask a server; one at a time.
 */
export async function plinthHere(...words: readonly string[]): Promise<Finished> {
  const { stdout, stderr } = process;
  const outputs = [stdout, stderr];
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
  // Each run adds some, which a process of its own would take with it.
  const listeners = outputs.map((output) => output.listeners("error"));
  const { argv, execArgv } = process;
  const folder = process.cwd();
  stdout.write = taking("stdout");
  stderr.write = taking("stderr");
  // Messages name the file of the program, and some commands start it again.
  process.argv = [process.execPath, program];
  process.execArgv = [];
  process.chdir(tmpdir());
  try {
    return { code: await runProgram(words), ...written };
  } finally {
    process.chdir(folder);
    process.execArgv = execArgv;
    process.argv = argv;
    stdout.write = writeOut;
    stderr.write = writeErr;
    outputs.forEach((output, at) => {
      for (const one of output.listeners("error"))
        if (!listeners[at]!.includes(one)) output.off("error", one as (error: Error) => void);
    });
  }
}
