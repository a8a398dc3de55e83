/** `npm run simulate`: many servers, clients and faults in virtual time. */
import { readFlags, runCommand } from "../support/long-run.ts";
import { bundle } from "./bundle.ts";
import { branchDefects } from "./planted/branch-defects.ts";
import { clusterDefects, productDefects } from "./planted/defects.ts";
import { searchDefect, type SearchOptions } from "./planted/search.ts";
import { transactionDefects, watchDefects } from "./planted/watch-defects.ts";
import { runSimulations } from "./run.ts";
import type { SimulationReport } from "./simulation.ts";

const engines = ["etcd", "memory"] as const;

const usage = `npm run simulate -- [OPTIONS]

Runs servers over a simulated etcd cluster, with clients and faults, in virtual time. A seed repeats a simulation exactly.

  --hours N      virtual time in hours (default 10)
  --seeds N      number of seeds; overrides --hours
  --seed N       first seed (default: random)
  --servers N    number of servers, 1 to 3 (default: each seed decides)
  --engine NAME  store of the servers, etcd or memory (default: each seed decides)
  --minutes N    virtual minutes with faults of each seed (default 60)
  --planted      plants one defect after the other, and counts the seeds until it is found (at most --seeds, default 40)
  --only TEXT    with --planted: only defects with this text in their names
  --trace N      number of events printed for a seed with violations (default 0)
`;

/** Searches all planted defects, and prints a line for each. */
async function searchAll(options: SearchOptions, only: string): Promise<void> {
  for (const defect of [
    ...productDefects,
    ...watchDefects,
    ...transactionDefects,
    ...branchDefects,
    ...clusterDefects,
  ]) {
    if (!defect.name.includes(only)) continue;
    const { found, seeds, processorMs } = await searchDefect(defect, options);
    const result = found === undefined ? "NOT FOUND" : `seed ${found.seed}, ${found.law}`;
    process.stdout.write(
      `${defect.name}: ${result} (${seeds} seeds, ${(processorMs / 1000).toFixed(1)} s)\n`,
    );
    if (found === undefined) process.exitCode = 1;
  }
}

/** Sums of the reports of many seeds. */
class Totals {
  violations = 0;
  private simulatedMs = 0;
  private processorMs = 0;
  private seeds = 0;
  private readonly faults = new Map<string, number>();

  add({ simulatedMs, processorMs, violations, faults }: SimulationReport): void {
    this.seeds++;
    this.simulatedMs += simulatedMs;
    this.processorMs += processorMs;
    this.violations += violations.length;
    for (const [name, times] of Object.entries(faults))
      this.faults.set(name, (this.faults.get(name) ?? 0) + times);
  }

  text(): string {
    const hours = this.simulatedMs / hourMs;
    const perHour = Math.round(hours / (this.processorMs / hourMs));
    const faults = [...this.faults].toSorted().map(([name, times]) => `  ${name}: ${times}\n`);
    return (
      `${this.seeds} seeds, ${hours.toFixed(1)} simulated hours in ${seconds(this.processorMs)} processor seconds ` +
      `(${perHour} per processor hour), ${this.violations} violations; faults:\n${faults.join("")}`
    );
  }
}

const hourMs = 3_600_000;

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function reportText(report: SimulationReport, minutes: number): string {
  const { seed, simulatedMs, processorMs, tasks, revisions, violations, trace } = report;
  const hours = (simulatedMs / hourMs).toFixed(2);
  const head = `seed ${seed}: ${hours} h in ${seconds(processorMs)} s, ${tasks} tasks, ${revisions} revisions`;
  if (violations.length === 0) return `${head}\n`;
  const lines = violations.map(({ law, text, atMs }) => `  ${law} (at ${atMs.toFixed(3)} ms): ${text}`);
  const again = `  again: npm run simulate -- --seed ${seed} --seeds 1 --minutes ${minutes} --trace 1000`;
  return `${[...trace, `${head}, ${violations.length} violations`, ...lines, again].join("\n")}\n`;
}

await runCommand(usage, async (args) => {
  const flags = readFlags(args, {
    hours: 10,
    seeds: 0,
    seed: 0,
    servers: 0,
    engine: "",
    minutes: 60,
    trace: 0,
    planted: false,
    only: "",
  });
  const { minutes } = flags;
  const seed = flags.seed || Math.floor(Math.random() * 1e6) + 1;
  if (flags.planted) return searchAll({ firstSeed: seed, maxSeeds: flags.seeds || 40, minutes }, flags.only);
  const count = flags.seeds || Math.ceil((flags.hours * 60) / minutes);
  const servers = flags.servers || undefined;
  const engine = flags.engine === "" ? undefined : engines.find((name) => name === flags.engine);
  if (flags.engine !== "" && engine === undefined)
    throw new Error(`--engine: ${flags.engine} is none of ${engines.join(", ")}`);
  const options = Array.from({ length: count }, (_, index) => ({
    seed: seed + index,
    servers,
    engine,
    minutes,
    traceLines: flags.trace,
  }));
  const totals = new Totals();
  for await (const report of runSimulations(await bundle("simulate"), options)) {
    totals.add(report);
    process.stdout.write(reportText(report, minutes));
  }
  process.stdout.write(totals.text());
  if (totals.violations > 0) process.exitCode = 1;
});
