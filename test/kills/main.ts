/** `npm run kills`: many kills of a server, and images of its data after a loss of power. */
import path from "node:path";
import { Dice } from "../support/dice.ts";
import { quantile, readFlags, runCommand } from "../support/long-run.ts";
import { searchDefects } from "../support/planted-program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { losePowerWithDeferredSyncs } from "./deferred-power-loss.ts";
import { losePower } from "./power-loss.ts";
import { killRepeatedly, type KillOptions, type KillReport } from "./killed-server.ts";
import { storeDefects } from "./planted.ts";

const usage = `npm run kills -- [OPTIONS]

Starts a server, lets clients write, kills it with SIGKILL, and compares what is stored with what was acknowledged.

  --kills N      number of kills (default 1000)
  --writers N    number of clients that write at the same time (default 16)
  --images N     number of images of the data file after a loss of power (default 1000)
  --seed N       seed of the moments (default: random)
  --planted      plants one defect after the other into the server, and searches each with --kills kills (default 200)
  --only TEXT    with --planted: only defects with this text in their names
`;

function line({ kills, acknowledged, unanswered, unansweredButDone, startMs }: KillReport): string {
  const [median, p99, max] = [0.5, 0.99, 1].map((part) => Math.round(quantile(startMs, part)));
  return (
    `${kills} kills, ${acknowledged} writes acknowledged, none lost; ${unanswered} without an answer, ` +
    `${unansweredButDone} of them done; start p50 ${median} ms, p99 ${p99} ms, max ${max} ms\n`
  );
}

/** Kills a program; returns what it lost, undefined if it lost nothing. */
async function lossOf(
  program: string,
  { kills, writers, seed }: Pick<KillOptions, "kills" | "writers"> & { readonly seed: number },
): Promise<string | undefined> {
  const folder = temporaryFolder();
  try {
    const dataDir = path.join(folder.path, "data");
    await killRepeatedly({ dataDir, kills, writers, dice: new Dice(seed), program });
    return undefined;
  } catch (error) {
    return String(error);
  } finally {
    folder.remove();
  }
}

await runCommand(usage, async (args) => {
  const flags = readFlags(args, {
    kills: 0,
    writers: 16,
    images: 1000,
    seed: Math.floor(Math.random() * 1e6) + 1,
    planted: false,
    only: "",
  });
  const { writers, images, seed } = flags;
  if (flags.planted) {
    const options = { kills: flags.kills || 200, writers, seed };
    return searchDefects(storeDefects, flags.only, (program) => lossOf(program, options));
  }
  const kills = flags.kills || 1000;
  const folder = temporaryFolder();
  process.stdout.write(`seed ${seed}\n`);
  try {
    const { before, after } = await losePower({
      folder: path.join(folder.path, "power"),
      images,
      dice: new Dice(seed),
    });
    process.stdout.write(
      `${images} images after a loss of power, all sound: ${before} before and ${after} after the commit\n`,
    );
    const deferred = await losePowerWithDeferredSyncs({
      folder: path.join(folder.path, "deferred"),
      images,
      dice: new Dice(seed),
    });
    process.stdout.write(
      `${images} images while syncs are deferred, all sound: ${deferred.newest} with the newest state, ${deferred.older} with an earlier one\n`,
    );
    const dataDir = path.join(folder.path, "data");
    const onKill = (report: KillReport) => report.kills % 50 === 0 && process.stdout.write(line(report));
    process.stdout.write(
      line(await killRepeatedly({ dataDir, kills, writers, dice: new Dice(seed), onKill })),
    );
  } finally {
    folder.remove();
  }
});
