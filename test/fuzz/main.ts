/** `npm run fuzz`: a search for inputs of decoders, and for requests, that violate what the server promises. */
import "./engine/start-coverage.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFlags, runCommand } from "../support/long-run.ts";
import { addToCorpus, readCorpus } from "./corpus.ts";
import { search, type SearchReport } from "./engine/search.ts";
import { fuzzServers } from "./requests/long-run.ts";
import type { Target } from "./target.ts";
import { targets } from "./targets/all.ts";

const usage = `npm run fuzz -- [OPTIONS]

Gives mutated inputs to every decoder of bytes from outside; inputs that reach new code are mutated further. Failing inputs are
minimized and written into test/fuzz/corpus/.

  --minutes N     time for each target (default 1)
  --target T      only this target; otherwise each in a process of its own
  --seed S        seed of the mutations (default: random)
  --requests N    instead: number of random requests to servers with either vocabulary
  --keep          add inputs that reach new code to the corpus in the repository
`;

/** Corpus inputs are at most this long, in bytes, when they are added to the repository. */
const maxKeptBytes = 400;

await runCommand(usage, async (args) => {
  const { minutes, target, requests, seed, keep } = readFlags(args, {
    minutes: 1,
    target: "",
    requests: 0,
    seed: Math.floor(Math.random() * 1e6) + 1,
    keep: false,
  });
  if (requests > 0) return fuzzServers(requests, seed);
  if (target === "") return fuzzAll(args);
  const chosen = targets.find(({ name }) => name === target);
  if (chosen === undefined) {
    throw new Error(`--target: ${target} is none of ${targets.map(({ name }) => name).join(", ")}`);
  }
  await fuzz(chosen, { minutes, seed, keep });
});

/** Fuzzes all targets, one after the other, each in a process of its own: a target that ends its process doesn't end the others. */
async function fuzzAll(args: readonly string[]): Promise<void> {
  const failed: string[] = [];
  for (const { name } of targets) {
    const child = spawn(
      process.execPath,
      [...process.execArgv, process.argv[1]!, ...args, "--target", name],
      {
        stdio: "inherit",
      },
    );
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) failed.push(name);
  }
  if (failed.length > 0) throw new Error(`targets with failures: ${failed.join(", ")}`);
}

interface FuzzOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly keep: boolean;
}

async function fuzz(target: Target, { minutes, seed, keep }: FuzzOptions): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  const corpus = [...readCorpus(target.name).values()];
  const goOn = () => performance.now() < end;
  const report = await search(target, { seed, corpus, goOn });
  const lines = [lineOf(target, seed, report)];
  for (const { input, error } of report.failures) {
    const file = addToCorpus(target.name, "failure", input);
    lines.push(`failure: ${error instanceof Error ? error.stack : String(error)}\n  input: ${file}`);
  }
  for (const { repetition, bytes, ms } of report.growths) {
    const file = addToCorpus(target.name, "growth", repetition.input);
    const times = ms.map((time, index) => `${bytes[index]} bytes ${time.toFixed(1)} ms`).join(", ");
    lines.push(
      `growth: ${times}; repeated ${JSON.stringify(repetition.first)}, ${JSON.stringify(repetition.second)} of ${file}`,
    );
  }
  process.stdout.write(`${lines.join("\n")}\n`);
  if (keep) keepCorpus(target, report.corpus.slice(target.seeds.length));
  const found = report.failures.length + report.growths.length;
  if (found > 0) throw new Error(`${target.name}: ${found} failures`);
}

function keepCorpus(target: Target, inputs: readonly Buffer[]): void {
  for (const input of inputs) if (input.length <= maxKeptBytes) addToCorpus(target.name, "input", input);
}

function lineOf({ name }: Target, seed: number, report: SearchReport): string {
  const { executions, corpus, coveredRanges, slowest, failures, growths } = report;
  const slow =
    slowest === undefined
      ? "no input of 256 bytes needs 1 ms"
      : `slowest ${slowest.ms.toFixed(1)} ms for ${slowest.input.length} bytes`;
  return (
    `${name} (seed ${seed}): ${executions} executions, ${corpus.length} inputs in the corpus, ` +
    `${coveredRanges} ranges covered, ${slow}; ${failures.length} failures, ${growths.length} fast growths`
  );
}
