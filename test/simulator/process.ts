/** The program that runs simulations: its argument has the options of one simulation after the other, its output a report per line. */
import { simulate, type SimulationOptions } from "./simulation.ts";

for (const options of JSON.parse(process.argv[2] ?? "[]") as SimulationOptions[])
  process.stdout.write(`${JSON.stringify(await simulate(options))}\n`);
// Servers that were abandoned leave nothing open that must end.
process.exit(0);
