/** Measures work that needs preparation before each run; only the work counts. */
import { type Sample } from "./measure.ts";
import { startTurns, stopTurns } from "./meter.ts";
import { factsOf } from "./processes.ts";
import { monotonicMicros, noteMeasured } from "./profile.ts";

/** A server and its repeated work. */
export interface PreparedSide {
  readonly pid: number | undefined;
  /** Units of work in one run. */
  readonly units: number;
  prepare(): Promise<void>;
  run(): Promise<void>;
}

/** Enough time for the JIT compiler. */
const warmUpSeconds = 1;

/** Measures all sides round by round, each for this many seconds of its work; returns the samples of each side. */
export async function measurePrepared(
  sides: readonly PreparedSide[],
  rounds: number,
  seconds: number,
): Promise<Sample[][]> {
  const samples: Sample[][] = sides.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const sample = await measure(side, round < 0 ? warmUpSeconds : seconds);
      if (round >= 0) samples[index]!.push(sample);
    }
  }
  return samples;
}

async function measure({ pid, units, prepare, run }: PreparedSide, seconds: number): Promise<Sample> {
  const times: number[] = [];
  let spent = 0;
  let busy = 0;
  let own = 0;
  let longestTurnMs: number | undefined;
  while (spent < seconds * 1000) {
    await prepare();
    await startTurns(pid);
    const before = cpuOf(pid);
    const ownBefore = process.cpuUsage();
    const from = monotonicMicros();
    const begun = performance.now();
    await run();
    const took = performance.now() - begun;
    if (pid !== undefined) noteMeasured(pid, from, monotonicMicros());
    const turn = await stopTurns(pid);
    if (turn !== undefined) longestTurnMs = Math.max(longestTurnMs ?? 0, turn);
    const { user, system } = process.cpuUsage(ownBefore);
    busy += cpuOf(pid) - before;
    own += user + system;
    spent += took;
    times.push(took);
  }
  times.sort((a, b) => a - b);
  const answers = units * times.length;
  return {
    seconds: spent / 1000,
    answers,
    bytes: 0,
    frames: 0,
    p50: times[Math.floor(times.length / 2)]!,
    p99: times[Math.floor(times.length * 0.99)]!,
    cpuMicros: own,
    failure: undefined,
    rate: answers / (spent / 1000),
    serverMicros: pid === undefined || Number.isNaN(busy) ? undefined : busy / answers,
    longestTurnMs,
  };
}

function cpuOf(pid: number | undefined): number {
  return (pid === undefined ? undefined : factsOf(pid).cpuMicros) ?? Number.NaN;
}
