/** Runs a limit and the product alternately, so that changes of the machine's speed affect both. */
import type { GeneratorApi } from "./load/generator.ts";
import type { LoadPlan, LoadResult } from "./load/plan.ts";
import { startTurns, stopTurns } from "./meter.ts";
import { cpuMicrosOfTree, Helper } from "./processes.ts";
import { monotonicMicros, noteMeasured } from "./profile.ts";

/** One server under one kind of load. */
export interface Side {
  readonly name: string;
  readonly plan: LoadPlan;
  /** The pid of the server, if known. */
  readonly pid: number | undefined;
}

/** The result of one side in one round. */
export interface Sample extends LoadResult {
  /** Units per second, which are compared. */
  readonly rate: number;
  /** Processor time of the server for each unit, in microseconds. */
  readonly serverMicros: number | undefined;
  /** The longest turn of the server's event loop, in milliseconds. */
  readonly longestTurnMs: number | undefined;
}

/** Which count of a result is a unit of work. */
export type Unit = "answers" | "frames";

/** Enough time for the JIT compiler of each side. */
const warmUpSeconds = 2.5;

/** Measures all sides, round by round in this order; returns the samples of each side. */
export async function measureInTurns(
  sides: readonly Side[],
  unit: Unit,
  rounds: number,
  seconds: number,
): Promise<Sample[][]> {
  const generators = sides.map(() => Helper.start<GeneratorApi>("load/generator.ts"));
  try {
    for (const [index, { plan }] of sides.entries()) await generators[index]!.call("open", plan);
    const samples: Sample[][] = sides.map(() => []);
    for (let round = -1; round < rounds; round++) {
      for (const [index, side] of sides.entries()) {
        const sample = await measure(side, generators[index]!, unit, round < 0 ? warmUpSeconds : seconds);
        if (round >= 0) samples[index]!.push(sample);
      }
    }
    return samples;
  } finally {
    await Promise.all(generators.map((generator) => generator.close()));
  }
}

/** Runs the load of a generator for a while. */
export async function measure(
  { name, pid }: Pick<Side, "name" | "pid">,
  generator: Helper<GeneratorApi>,
  unit: Unit,
  seconds: number,
): Promise<Sample> {
  await startTurns(pid);
  const before = pid === undefined ? undefined : cpuMicrosOfTree(pid);
  const from = monotonicMicros();
  const result = await generator.call("run", { seconds });
  if (pid !== undefined) noteMeasured(pid, from, monotonicMicros());
  const after = pid === undefined ? undefined : cpuMicrosOfTree(pid);
  const longestTurnMs = await stopTurns(pid);
  if (result.failure !== undefined) throw new Error(`${name}: ${result.failure}`);
  const units = result[unit];
  const busy = before === undefined || after === undefined ? undefined : after - before;
  return {
    ...result,
    rate: units / result.seconds,
    serverMicros: busy === undefined || units === 0 ? undefined : busy / units,
    longestTurnMs,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle]!;
  return sorted.length % 2 === 1 ? upper : (sorted[middle - 1]! + upper) / 2;
}

/** Median of the rounds' own ratios. */
export function medianRatio(over: readonly Sample[], under: readonly Sample[]): number {
  return median(over.map(({ rate }, round) => rate / under[round]!.rate));
}
