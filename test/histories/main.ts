/** `npm run verify`: records histories of servers under faults and judges them. */
import { tmpdir } from "node:os";
import path from "node:path";
import { readFlags, runCommand } from "../support/long-run.ts";
import { searchDefects } from "../support/planted-program.ts";
import { SmallDisk } from "../support/small-disk.ts";
import { violationOf, workerDefects } from "./world/planted.ts";
import { verify, writeHistory, type VerifyReport } from "./world/verify.ts";

const usage = `npm run verify -- [OPTIONS]

Starts servers over one store, lets clients write, read, list and watch while servers and etcd members are killed and frozen, and
judges the recorded history: linearizability, lists, watches, decisions, quotas, allocations, leaders, and the separation of workspaces.

  --minutes N    duration (default 10)
  --engine NAME  etcd (default), postgres or lmdb; with lmdb there is one server
  --servers N    number of servers over etcd or PostgreSQL (default 3)
  --members N    number of etcd members (default 3)
  --workers N    with lmdb: number of processes that serve requests (default 1)
  --kept         keeps the history of all resources
  --workspaces N number of workspaces in which clients work too, and in branches of them (default 1)
  --clients N    number of clients that send requests (default 12)
  --round N      seconds between two judgements (default 30)
  --seed N       seed of requests and faults (default: random)
  --planted      plants one defect after the other into a server with three workers, and searches each for four minutes
  --only TEXT    with --planted: only defects with this text in their names

On a violation it writes the history to a file and ends with exit code 1.
`;

function line(report: VerifyReport): string {
  const {
    rounds,
    uncoveredRounds,
    operations,
    inWorkspaces,
    branches,
    merges,
    unanswered,
    watches,
    gone,
    events,
    terms,
    faults,
    violations,
    judgeMs,
  } = report;
  const injected = [...faults].map(([name, times]) => `${times} ${name}`).join(", ");
  return (
    `${rounds} rounds, ${uncoveredRounds} of them not covered by watches: ${operations} operations, ${inWorkspaces} of them in workspaces and ${branches} branches, ${merges} merges, ${unanswered} without an answer; ${watches} watches with ${events} events; ${gone} times 410; ` +
    `${terms} leader terms; faults: ${injected || "none"}; ${violations.length} violations; judged in ${Math.round(judgeMs)} ms\n`
  );
}

await runCommand(usage, async (args) => {
  const flags = readFlags(args, {
    minutes: 10,
    engine: "etcd",
    servers: 3,
    members: 3,
    clients: 12,
    round: 30,
    workers: 1,
    workspaces: 1,
    kept: false,
    planted: false,
    only: "",
    seed: Math.floor(Math.random() * 1e6) + 1,
  });
  const { minutes, engine, round, seed } = flags;
  if (engine !== "etcd" && engine !== "postgres" && engine !== "lmdb")
    throw new Error(`--engine: ${JSON.stringify(engine)} is not etcd, postgres or lmdb`);
  process.stdout.write(`seed ${seed}\n`);
  if (flags.planted) return searchDefects(workerDefects, flags.only, (program) => violationOf(program, seed));
  if (engine === "lmdb" && SmallDisk.missing !== undefined)
    process.stdout.write(`the disk is never full: ${SmallDisk.missing}\n`);
  let nextReportMs = performance.now();
  const { report, history } = await verify({
    ...flags,
    engine,
    keepsHistory: flags.kept,
    seconds: minutes * 60,
    roundSeconds: round,
    onRound(soFar) {
      if (performance.now() < nextReportMs) return;
      nextReportMs = performance.now() + 60_000;
      process.stdout.write(line(soFar));
    },
  });
  process.stdout.write(line(report));
  if (history === undefined) return;
  const file = path.join(tmpdir(), `plinth-history-${seed}.jsonl`);
  writeHistory(file, history);
  const messages = report.violations.map(({ law, message }) => `${law}: ${message}`);
  throw new Error(`${messages.join("\n")}\nThe history is in ${file}; the seed is ${seed}.`);
});
