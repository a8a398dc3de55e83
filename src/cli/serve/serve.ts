import { rm } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../../base/files/folders.ts";
import { writePrivateFile } from "../../base/files/private-file.ts";
import { defaultRelease } from "../../base/releases.ts";
import { featuresOf } from "../../server/features/features.ts";
import { OptionsError } from "../../server/options/options-error.ts";
import { warnOfReadableSecrets } from "../../server/options/secret-files.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import type { Server } from "../../server/server.ts";
import { StoreTimeoutError } from "../../storage/store.ts";
import { acceptedFlags, acceptedHelp, acceptFlags } from "../flags/accepted-flags.ts";
import { administratorFile, administratorFileBeside, isOfRunningServer } from "./administrator-file.ts";
import { refuseDamagedStore } from "../store/check-apart.ts";
import { prepareDataFolder, prepareFolder } from "./data-folder.ts";
import { helpText, type Command } from "../command.ts";
import { featureHelp } from "../flags/feature-help.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { serveFlags } from "../flags/flags.ts";
import { warnOfDeprecated } from "../flags/flag-life-cycles.ts";
import { serveOptions, type ServeOptions, warnOfVariables } from "./serve-options.ts";
import { startServerProcess, usablePort } from "./server-process.ts";
import { invokedAs } from "../invocation.ts";
import { startMessage, type StartFacts } from "./start-message.ts";
import { usesColor } from "../terminal/terminal.ts";
import { stopSignal } from "./stop.ts";
import { sendPulses } from "../workers/pulse.ts";
import { announceMessage, optionsOfWorker, readyMessage, takeRole, type Role } from "../workers/role.ts";

/** Runs a server until SIGINT or SIGTERM. */
export const serveCommand: Command = {
  flags: serveFlags,
  help: () =>
    helpText("plinth serve [FLAGS]", "Runs the server until SIGINT or SIGTERM.", serveFlags) +
    featureHelp(featuresOf(defaultRelease)) +
    acceptedHelp(),
  async run(words) {
    const flags = parseFlags(allFlags, words);
    const serve = await serveOptions(flags, process.env);
    const role = takeRole();
    if (role !== undefined) return await runRole(serve, role);
    const { server: options, dataDir } = serve;
    acceptFlags(new FlagReader(allFlags, flags), options.log);
    warnOfVariables(process.env, options.log);
    if (serve.flagDeprecationWarnings) warnOfDeprecated([...flags.keys()], options.log);
    const port = await usablePort(serve);
    prepareDataFolder(dataDir);
    if (serve.kubeconfigFile !== undefined)
      prepareFolder("--write-kubeconfig", path.dirname(serve.kubeconfigFile));
    const isEmbedded = "engine" in options.storage && options.storage.engine === "embedded";
    if (isEmbedded) await refuseDamagedStore(options.storage.dir, dataDir, options.log);
    return await withBackups(serve, async () => {
      if (serve.workers === 1) return await serveUntilStopped(serve, true);
      await warnOfReadableSecrets(options);
      const { superviseWorkers } = await import("../workers/supervisor.ts");
      return await superviseWorkers({
        workers: serve.workers,
        needsCommitter: isEmbedded,
        port,
        log: options.log,
      });
    });
  },
};

/** Makes scheduled backups, if there are any, while the server runs. */
async function withBackups(serve: ServeOptions, run: () => Promise<number>): Promise<number> {
  const { backups, dataDir } = serve;
  if (backups === undefined) return await run();
  prepareFolder("--backup-dir", backups.dir);
  const { ScheduledBackups } = await import("../backups/scheduled-backups.ts");
  const { backUpApart } = await import("../backups/backup-process.ts");
  const { clock, log } = serve.server;
  const backUp = (target: string, signal: AbortSignal) => backUpApart(dataDir, target, signal);
  const scheduled = new ScheduledBackups({ ...backups, clock, log, backUp });
  try {
    return await run();
  } finally {
    await scheduled.stop();
  }
}

/** Runs one of several processes until its parent stops it. */
async function runRole(serve: ServeOptions, role: Role): Promise<number> {
  const ready = () => {
    process.send!(readyMessage);
    sendPulses();
  };
  try {
    if (role.kind === "worker") {
      const { WorkerValues } = await import("../workers/worker-values.ts");
      const values = new WorkerValues((error) =>
        serve.server.log.warn(
          { error: stackOf(error) },
          "metrics or audit events could not be collected for another process",
        ),
      );
      const options = optionsOfWorker(serve, role, values);
      return await serveUntilStopped(options, role.announces, async () => {
        const request = nextMessage(announceMessage);
        ready();
        await request;
      });
    }
    const { runCommitter } = await import("../workers/committer-process.ts");
    return await runCommitter(serve, role.socket, ready);
  } catch (error) {
    // Otherwise the end of the channel ends the process with code 0.
    const { default: cluster } = await import("node:cluster");
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
    throw error;
  } finally {
    // The channel to the parent would keep the process running.
    if (process.connected) process.disconnect();
  }
}

/** Resolves when the parent process sends a message. */
function nextMessage(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.on("message", (message) => {
      if (message === text) resolve();
    });
  });
}

/**
 * Serves until SIGINT or SIGTERM.
 *
 * @param announces whether the administrator's kubeconfig is written and the start message printed.
 * @param ready called when the server accepts connections; resolves when that may be announced.
 */
async function serveUntilStopped(
  serve: ServeOptions,
  announces: boolean,
  ready?: () => Promise<void>,
): Promise<number> {
  const { server: options, dataDir, kubeconfigFile } = serve;
  const defaultFile = kubeconfigFile ?? administratorFile(dataDir);
  // Checked before the start, so that a server that responds is another one.
  const beside = announces && kubeconfigFile === undefined && (await isOfRunningServer(defaultFile));
  const server = await startServerProcess(serve);
  const file = beside ? administratorFileBeside(dataDir, server.url!) : defaultFile;
  const stop = stopSignal();
  // Before the other workers start: clients read the file as soon as the server is ready.
  if (announces) await writeAdministrator(file, server, options.log);
  const mayAnnounce = ready?.();
  if (announces) await Promise.race([stop, announceAfter(mayAnnounce, server, options, file)]);
  await stop;
  options.log.info({}, "stopping");
  await server.close().catch(endAtOnce);
  if (beside) await rm(file, { force: true });
  return 0;
}

/** Prints the start message when the start may be announced. */
async function announceAfter(
  mayAnnounce: Promise<void> | undefined,
  server: Server,
  options: ServeOptions["server"],
  file: string,
): Promise<void> {
  await mayAnnounce;
  const isTerminal = process.stdout.isTTY;
  const console = await consoleAddress(server, isTerminal, options.log);
  process.stdout.write(
    startMessage(
      {
        url: server.url!,
        publicUrl: server.publicUrl,
        certificateHosts: server.certificateHosts,
        hasOperatorCertificate: options.certificateFiles !== undefined,
        vocabulary: options.vocabulary,
        kubeconfig: file,
        console,
        program: invokedAs(),
      },
      isTerminal && usesColor(process.env),
    ),
  );
}

/** For how many minutes the console's address on a terminal signs the administrator in. */
const signInMinutes = 5;

/**
 * Returns the address of the console. On a terminal it signs the administrator in, once; in a file or pipe it would be a credential in a
 * log.
 */
async function consoleAddress(
  server: Server,
  isTerminal: boolean,
  log: Logger,
): Promise<StartFacts["console"]> {
  if (isTerminal) {
    try {
      const url = await server.consoleUrl(signInMinutes * 60_000);
      return url === undefined ? undefined : { url, minutes: signInMinutes };
    } catch (error) {
      // The server serves reads although its store accepts no writes.
      log.warn({ error: String(error) }, "no address that signs in to the console could be created");
    }
  }
  const url = await server.consoleUrl();
  return url === undefined ? undefined : { url, minutes: undefined };
}

const allFlags = [...serveFlags, ...acceptedFlags];

/** Exits at once: an orderly exit would wait for a thread that waits for another process's write lock. */
function endAtOnce(error: unknown): void {
  if (!(error instanceof StoreTimeoutError)) throw error;
  process.stderr.write(`plinth: ${error.message}\n`);
  process.kill(process.pid, "SIGKILL");
}

/**
 * Writes the administrator's kubeconfig. A full disk only logs an error, because the server can still serve reads;
 * the old file stays.
 */
async function writeAdministrator(file: string, server: Server, log: Logger): Promise<void> {
  try {
    makeFolder(path.dirname(file));
    writePrivateFile(file, server.durableKubeconfig());
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!["ENOSPC", "EDQUOT"].includes(code)) {
      await server.close();
      throw new OptionsError(`${file} can't be written (see --write-kubeconfig): ${message}`);
    }
    log.error({ error: message }, `the disk is full: ${file} can't be written`);
  }
}
