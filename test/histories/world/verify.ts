import { writeFileSync } from "node:fs";
import type { History, Operation, Violation } from "../history.ts";
import { judge } from "../judge/judge.ts";
import { isBranching } from "../judge/parts.ts";
import { isGone } from "../recording/recorder.ts";
import { mergerPrefix } from "../recording/merger.ts";
import { recordRound } from "../recording/round.ts";
import { Dice } from "../../support/dice.ts";
import { ControllerTerms } from "./controller-terms.ts";
import { injectFaults } from "./faults.ts";
import { World, type WorldOptions } from "./world.ts";

/** Options of {@link verify}. */
export interface VerifyOptions extends WorldOptions {
  readonly seed: number;
  /** Time of the whole run without the start of the processes, in seconds. */
  readonly seconds: number;
  /** Time of the workload of one round, in seconds. */
  readonly roundSeconds: number;
  /** Number of clients that send requests. */
  readonly clients: number;
  /** Is called after each round. */
  readonly onRound?: (report: VerifyReport) => void;
}

/** Figures of the rounds so far. */
export interface VerifyReport {
  readonly rounds: number;
  /** Rounds in which a watch was interrupted for longer than history is kept; several laws aren't judged in them. */
  readonly uncoveredRounds: number;
  readonly operations: number;
  /** Operations in workspaces. */
  readonly inWorkspaces: number;
  /** Branches in which clients worked. */
  readonly branches: number;
  /** Merges of branches that were answered. */
  readonly merges: number;
  /** Operations without an answer. */
  readonly unanswered: number;
  readonly watches: number;
  /** Watches and lists that were answered with 410. */
  readonly gone: number;
  readonly events: number;
  readonly terms: number;
  /** Number of faults by name. */
  readonly faults: ReadonlyMap<string, number>;
  readonly violations: readonly Violation[];
  /** Processor time that judging took, in milliseconds. */
  readonly judgeMs: number;
}

/** Lease time of the clients that elect a leader, in milliseconds. */
const leaseMs = 1000;
/** Longest time in which the watches must receive every event after a round, in milliseconds. */
const settleMs = 60_000;

/**
 * Runs clients against servers under random faults, in rounds, and judges the history of each round.
 *
 * @returns the report of all rounds; it ends after the first round with violations.
 * @throws {Error} if the processes can't be started.
 */
export async function verify(
  options: VerifyOptions,
): Promise<{ report: VerifyReport; history: History | undefined }> {
  const { seed, seconds, roundSeconds, clients, onRound } = options;
  const dice = new Dice(seed);
  const faults = new Map<string, number>();
  const onFault = (name: string) => faults.set(name, (faults.get(name) ?? 0) + 1);
  let report: VerifyReport = {
    rounds: 0,
    uncoveredRounds: 0,
    operations: 0,
    inWorkspaces: 0,
    branches: 0,
    merges: 0,
    unanswered: 0,
    watches: 0,
    gone: 0,
    events: 0,
    terms: 0,
    faults,
    violations: [],
    judgeMs: 0,
  };
  const world = await World.start(options);
  const endMs = performance.now() + seconds * 1000;
  const controllers = new ControllerTerms(world, new Dice(seed + 1));
  try {
    while (performance.now() < endMs) {
      const roundEndMs = Math.min(endMs, performance.now() + roundSeconds * 1000);
      const goesOn = () => performance.now() < roundEndMs;
      const roundDice = new Dice(dice.below(2 ** 31));
      const history = await recordRound({
        fleet: world.fleet,
        clients,
        workspaces: world.workspaces,
        seed: roundDice.below(2 ** 31),
        leaseMs,
        settleMs,
        goesOn,
        beside: async (watchers) => {
          const following = controllers.run(goesOn);
          await injectFaults(world, watchers, roundDice, goesOn, onFault);
          await following;
        },
      });
      report = added(report, history);
      onRound?.(report);
      if (report.violations.length > 0) return { report, history };
    }
    return { report, history: undefined };
  } finally {
    await world.close();
  }
}

function added(report: VerifyReport, history: History): VerifyReport {
  const begin = process.cpuUsage();
  const all = judge(history);
  const violations = all.filter(({ law }) => law !== "coverage");
  const { user, system } = process.cpuUsage(begin);
  const { operations, watches, terms } = history;
  return {
    ...report,
    rounds: report.rounds + 1,
    uncoveredRounds: report.uncoveredRounds + (all.length > violations.length ? 1 : 0),
    operations: report.operations + operations.length,
    inWorkspaces: report.inWorkspaces + operations.filter(({ workspace }) => workspace !== undefined).length,
    branches: report.branches + operations.filter(isBranching).length,
    merges: report.merges + new Set(operations.filter(isMerged).map(({ transaction }) => transaction)).size,
    unanswered: report.unanswered + operations.filter(({ answer }) => answer === undefined).length,
    watches: report.watches + watches.length,
    gone: report.gone + watches.filter(isGone).length + operations.filter(isRefusedAsGone).length,
    events: report.events + watches.reduce((sum, { frames }) => sum + frames.length, 0),
    terms: report.terms + terms.length,
    violations: [...report.violations, ...violations],
    judgeMs: report.judgeMs + (user + system) / 1000,
  };
}

function isMerged({ client, transaction, answer }: Operation): boolean {
  return transaction !== undefined && client.startsWith(mergerPrefix) && answer?.outcome === "object";
}

function isRefusedAsGone({ answer }: Operation): boolean {
  return answer?.outcome === "refused" && answer.refusal === "gone";
}

/** Writes a history as JSON lines: first the settings and the initial state, then operations, watches and terms. */
export function writeHistory(file: string, history: History): void {
  const { operations, watches, terms, ...head } = history;
  const records = [
    { record: "history", ...head },
    ...operations.map((one) => ({ record: "operation", ...one })),
    ...watches.map((one) => ({ record: "watch", ...one })),
    ...terms.map((one) => ({ record: "term", ...one })),
  ];
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
}
