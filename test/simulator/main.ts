/** `npm run simulate`: many servers, clients and faults in virtual time. */
import { readFlags, runCommand } from "../support/long-run.ts";
import { bundle } from "./bundle.ts";
import { clusterDefects, productDefects } from "./planted/defects.ts";
import { searchDefect, type SearchOptions } from "./planted/search.ts";
import { runSimulations } from "./run.ts";

const usage = `npm run simulate -- [OPTIONS]

Runs servers over a simulated etcd cluster, with clients and faults, in virtual time. A seed repeats a simulation exactly.

  --hours N      virtual time in hours (default 10)
  --seeds N      number of seeds; overrides --hours
  --seed N       first seed (default: random)
  --servers N    number of servers, 1 to 3 (default: each seed decides)
  --minutes N    virtual minutes with faults of each seed (default 60)
  --planted      plants one defect after the other, and counts the seeds until it is found (at most --seeds, default 40)
  --only TEXT    with --planted: only defects with this text in their names
  --trace N      number of events printed for a seed with violations (default 0)
`;

/** Searches all planted defects, and prints a line for each. */
async function searchAll(options: SearchOptions, only: string): Promise<void> {
  for (const defect of [...productDefects, ...clusterDefects]) {
    if (!defect.name.includes(only)) continue;
    const { found, seeds, processorMs } = await searchDefect(defect, options);
    const result = found === undefined ? "NOT FOUND" : `seed ${found.seed}, ${found.law}`;
    process.stdout.write(
      `${defect.name}: ${result} (${seeds} seeds, ${(processorMs / 1000).toFixed(1)} s)\n`,
    );
    if (found === undefined) process.exitCode = 1;
  }
}

await runCommand(usage, async (args) => {
  const flags = readFlags(args, {
    hours: 10,
    seeds: 0,
    seed: 0,
    servers: 0,
    minutes: 60,
    trace: 0,
    planted: false,
    only: "",
  });
  const seed = flags.seed || Math.floor(Math.random() * 1e6) + 1;
  if (flags.planted)
    return searchAll({ firstSeed: seed, maxSeeds: flags.seeds || 40, minutes: flags.minutes }, flags.only);
  const count = flags.seeds || Math.ceil((flags.hours * 60) / flags.minutes);
  const program = await bundle("simulate");
  const options = Array.from({ length: count }, (_, index) => ({
    seed: seed + index,
    servers: flags.servers || undefined,
    minutes: flags.minutes,
    traceLines: flags.trace,
  }));
  const totals = { simulatedMs: 0, processorMs: 0, violations: 0 };
  const faults = new Map<string, number>();
  for await (const report of runSimulations(program, options)) {
    totals.simulatedMs += report.simulatedMs;
    totals.processorMs += report.processorMs;
    totals.violations += report.violations.length;
    for (const [name, times] of Object.entries(report.faults))
      faults.set(name, (faults.get(name) ?? 0) + times);
    const { revisions, tasks, violations } = report;
    process.stdout.write(
      `seed ${report.seed}: ${(report.simulatedMs / 3_600_000).toFixed(2)} h in ${(report.processorMs / 1000).toFixed(1)} s, ` +
        `${tasks} tasks, ${revisions} revisions, ${violations.length} violations\n`,
    );
    if (violations.length > 0 && flags.trace > 0) process.stdout.write(`${report.trace.join("\n")}\n`);
    for (const { law, text, atMs } of violations)
      process.stdout.write(`  ${law} (at ${atMs.toFixed(3)} ms): ${text}\n`);
  }
  const hours = totals.simulatedMs / 3_600_000;
  process.stdout.write(
    `${count} seeds from ${seed}, ${hours.toFixed(1)} simulated hours in ${(totals.processorMs / 1000).toFixed(0)} processor seconds ` +
      `(${Math.round(hours / (totals.processorMs / 3_600_000))} per processor hour), ${totals.violations} violations\n`,
  );
  for (const [name, times] of [...faults].toSorted()) process.stdout.write(`  ${name}: ${times}\n`);
  if (totals.violations > 0) process.exitCode = 1;
});
