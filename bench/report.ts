/** Prints the table and writes the JSON. */
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "./options.ts";
import type { LoadFacts, Row } from "./rows.ts";

const columns = [
  "scenario",
  "product",
  "limit",
  "",
  "aim",
  "met",
  "p50 ms",
  "p99 ms",
  "turn ms",
  "µs",
  "client",
] as const;
const widths = [52, 18, 18, 8, 8, 5, 16, 17, 13, 26, 11];

export function printHead(): void {
  console.log(line(columns));
  console.log(widths.map((width) => "-".repeat(width - 1)).join(" "));
}

/** Prints one row; with a limit, columns of the load give product / limit. */
export function printRow(row: Row): void {
  const { name, unit, product, limit, compared, compare, aim, met, cpuRatio, load, times, longestTurnMs } =
    row;
  const sign = compare === "difference" && compared !== undefined && compared >= 0 ? "+" : "";
  const both = (read: (facts: LoadFacts) => number | undefined, digits: number): string =>
    load === undefined
      ? ""
      : [load.product, load.limit]
          .flatMap((facts) => (facts === undefined ? [] : [read(facts)?.toFixed(digits) ?? "?"]))
          .join(" / ");
  const cpu = cpuRatio === undefined ? "" : ` (${cpuRatio.toFixed(2)})`;
  console.log(
    line([
      name,
      `${figure(product)} ${unit}`,
      limit === undefined ? "" : `${figure(limit)} ${unit}`,
      compared === undefined ? "" : `${sign}${compare === "ratio" ? compared.toFixed(2) : figure(compared)}`,
      aim === undefined ? "" : `${aim.kind === "at least" ? ">=" : "<="} ${aim.value}`,
      met === undefined ? "" : met ? "yes" : "NO",
      times?.p50.toFixed(2) ?? both(({ p50 }) => p50, 2),
      times?.p99.toFixed(2) ?? both(({ p99 }) => p99, 2),
      load === undefined ? (longestTurnMs?.toFixed(0) ?? "") : both(({ longestTurnMs: turn }) => turn, 0),
      both(({ serverMicros }) => serverMicros, 1) + cpu,
      both(({ clientBusy }) => clientBusy, 2),
    ]),
  );
}

/** What the columns say. */
export const legend = `
met: whether the aim is reached. µs: processor time of the server for each unit, product / limit (limit over product).
turn ms: the longest turn of the server's event loop, in any round, product / limit; up to 2 ms too long.
client: share of a processor that the load generator took, product / limit; near 1 it hides what the server could do.
Ratios are medians over rounds in which limit and product took turns.`;

function line(cells: readonly string[]): string {
  return cells
    .map((cell, index) => `${cell} `.padEnd(widths[index]!))
    .join("")
    .trimEnd();
}

function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** What the figures depend on. */
function machineFacts(): object {
  return {
    node: process.version,
    platform: process.platform,
    release: release(),
    processor: cpus()[0]?.model ?? "unknown",
    processors: availableParallelism(),
    memoryBytes: totalmem(),
  };
}

export function writeResults(rows: readonly Row[], options: Options): string {
  const file = fileURLToPath(new URL("results/latest.json", import.meta.url));
  const { rounds, seconds, full, target, vocabulary } = options;
  const how = { rounds, seconds, full, vocabulary, target: target?.url.href };
  mkdirSync(dirname(file), { recursive: true });
  const report = { at: new Date().toISOString(), machine: machineFacts(), how, rows };
  writeFileSync(file, `${JSON.stringify(report, undefined, 2)}\n`);
  return file;
}
