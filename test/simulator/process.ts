/** The program that runs simulations: its argument has the options of one simulation after the other, its output a report per line. */
import { simulate, type SimulationOptions } from "./simulation.ts";

/** Resolves when the line is written; a pipe may be full. */
function writeLine(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

// The process that started this one has ended.
process.stdout.on("error", () => process.exit(1));
for (const options of JSON.parse(process.argv[2] ?? "[]") as SimulationOptions[])
  await writeLine(JSON.stringify(await simulate(options)));
// Servers that were abandoned leave nothing open that must end.
process.exit(0);
