import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Api } from "../support/api.ts";
import type { Dice } from "../support/dice.ts";
import { plinth, program as builtProgram, ServerProcess } from "../support/process.ts";
import { BranchWriter } from "./branch-writer.ts";
import { GroupWriter } from "./group-writer.ts";
import { Writer, type KilledClient } from "./writer.ts";

/** Options of {@link killRepeatedly}. */
export interface KillOptions {
  /** Data folder of the server; it may be new. */
  readonly dataDir: string;
  readonly kills: number;
  /** Number of clients that write at the same time. */
  readonly writers: number;
  readonly dice: Dice;
  /** Path of the program; the built one by default. */
  readonly program?: string;
  /** Is called after each kill with the report so far. */
  readonly onKill?: (report: KillReport) => void;
}

/** What happened in a run. */
export interface KillReport {
  readonly kills: number;
  /** Writes that were answered with success. */
  readonly acknowledged: number;
  /** Writes that had no answer when the server was killed. */
  readonly unanswered: number;
  /** Of the unanswered writes, those that had taken effect. */
  readonly unansweredButDone: number;
  /** Time of each start after a kill, from the start of the process until it serves, in milliseconds. */
  readonly startMs: readonly number[];
}

/** Longest time from the first acknowledged write to the kill, in milliseconds. */
const maxLifeMs = 600;
/** Kills between two runs of `plinth check`. */
const checkEvery = 100;
/** Of this many clients one writes in transactions, and one in branches. */
const writersPerGroup = 4;
/** Time for which history is kept; branches are read after it too. */
const retentionSeconds = 5;
/** Name of the user of all clients. */
const user = "root";

/**
 * Starts a server, lets clients write, kills the process with SIGKILL at a random moment, and repeats this over the same data folder.
 * After each start every client compares its objects with the writes that were acknowledged. Every fourth client writes several objects in
 * transactions, and their history is kept; as many write in workspaces and branches.
 *
 * @throws {Error} if an acknowledged write or its author is lost, a write or transaction is half done, a revision was used twice, or the
 *   server doesn't start.
 */
export async function killRepeatedly({
  dataDir,
  kills,
  writers,
  dice,
  program = builtProgram,
  onKill,
}: KillOptions): Promise<KillReport> {
  const tokens = path.join(path.dirname(dataDir), "tokens.csv");
  writeFileSync(tokens, `admin,${user},1,system:masters\n`);
  const flags = [
    `--token-auth-file=${tokens}`,
    "--runtime-config=transactions.platform.io/v1alpha1=true,tenancy.platform.io/v1alpha1=true",
    `--history-retention=${retentionSeconds}s,secrets=1h`,
  ];
  const clients = Array.from({ length: writers }, (_, index) => clientOf(index));
  const startMs: number[] = [];
  const start = async () => {
    const begin = performance.now();
    const server = await ServerProcess.startProgram(program, dataDir, ...flags);
    startMs.push(performance.now() - begin);
    return server;
  };
  let server = await start();
  startMs.length = 0;
  try {
    for (let kill = 1; kill <= kills; kill++) {
      let onAcknowledged = (): void => undefined;
      const acknowledged = new Promise<void>((resolve) => (onAcknowledged = resolve));
      const writing = writeUntilKilled(clients, server.as("admin"), onAcknowledged);
      // Not before the first answer: a busy machine may take long for it. A wrong answer ends the run before the kill.
      await Promise.race([writing, acknowledged.then(() => setTimeout(dice.below(maxLifeMs)))]);
      await server.stop("SIGKILL");
      await writing;
      if (kill % checkEvery === 0) expectSound(dataDir);
      server = await start();
      const api = server.as("admin");
      await Promise.all(clients.map((client) => client.compare(api)));
      onKill?.(reportOf(clients, kill, startMs));
    }
  } finally {
    await server.stop();
  }
  expectSound(dataDir);
  return reportOf(clients, kills, startMs);
}

/** Of every four clients one writes in transactions, and one in branches. */
function clientOf(index: number): KilledClient {
  const kind = index % writersPerGroup;
  if (kind === 0) return new GroupWriter(`group-${index}`, user);
  return kind === 1 ? new BranchWriter(`workspace-${index}`) : new Writer(`writer-${index}`);
}

function reportOf(clients: readonly KilledClient[], kills: number, startMs: readonly number[]): KillReport {
  const sum = (count: (client: KilledClient) => number) =>
    clients.reduce((total, client) => total + count(client), 0);
  return {
    kills,
    acknowledged: sum((client) => client.acknowledged),
    unanswered: sum((client) => client.unanswered),
    unansweredButDone: sum((client) => client.unansweredButDone),
    startMs,
  };
}

/** Resolves when no client gets answers any more. */
async function writeUntilKilled(
  clients: readonly KilledClient[],
  api: Api,
  onAcknowledged: () => void,
): Promise<void> {
  await Promise.all(clients.map((client) => client.writeUntilUnanswered(api, onAcknowledged)));
}

function expectSound(dataDir: string): void {
  const { code, stdout, stderr } = plinth("check", `--data-dir=${dataDir}`);
  if (code !== 0) throw new Error(`the check ended with ${code}: ${stderr}${stdout}`);
}
