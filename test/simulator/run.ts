import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { SimulationOptions, SimulationReport } from "./simulation.ts";

/** A large young generation saves a fifth of the processor time: most objects of a simulation live shortly. */
const memoryFlags = ["--max-semi-space-size=32"];

/**
 * Runs simulations in a process of their own, whose clocks and random values are replaced.
 *
 * @param program path of the bundle.
 * @returns the reports, as they come.
 * @throws {Error} if the process fails; the message has its output.
 */
export async function* runSimulations(
  program: string,
  options: readonly SimulationOptions[],
): AsyncGenerator<SimulationReport> {
  const flags = ["--enable-source-maps", ...memoryFlags];
  const child = spawn(process.execPath, [...flags, program, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const errors: Buffer[] = [];
  child.stderr.on("data", (bytes: Buffer) => errors.push(bytes));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  try {
    for await (const line of createInterface(child.stdout)) yield JSON.parse(line) as SimulationReport;
    const code = await ended;
    if (code !== 0)
      throw new Error(`the simulation ended with code ${code}: ${Buffer.concat(errors).toString()}`);
  } finally {
    child.kill("SIGKILL");
  }
}
