import { rm } from "node:fs/promises";
import { features } from "../server/features/features.ts";
import { OptionsError } from "../server/options/options-error.ts";
import type { Logger } from "../base/logger.ts";
import { renamedOptions } from "../server/options/library-options.ts";
import { startServer, type Server } from "../server/server.ts";
import { StoreTimeoutError } from "../storage/store.ts";
import { acceptedFlags, acceptedHelp, acceptFlags } from "./accepted-flags.ts";
import {
  administratorFile,
  administratorFileBeside,
  leadsToLivingServer,
  writePrivately,
} from "./administrator-file.ts";
import { refuseDamagedStore } from "./check-apart.ts";
import { dataFolderError, dataFolderFailure, prepareDataFolder } from "./data-folder.ts";
import { helpText, type Command } from "./command.ts";
import { featureHelp } from "./feature-help.ts";
import { FlagReader, parseFlags } from "./flag-reader.ts";
import { serveFlags } from "./flags.ts";
import { warnOfDeprecated } from "./flag-life-cycles.ts";
import { serveOptions, type ServeOptions } from "./serve-options.ts";

/** Runs a server until it is told to stop. */
export const serveCommand: Command = {
  flags: serveFlags,
  help: () =>
    helpText("plinth serve [FLAGS]", "Runs the server until SIGINT or SIGTERM.", serveFlags) +
    featureHelp(features) +
    acceptedHelp(),
  async run(words) {
    const flags = parseFlags(knownFlags, words);
    const serve = await serveOptions(flags, process.env);
    const { server: options, dataDir, kubeconfigFile } = serve;
    acceptFlags(new FlagReader(knownFlags, flags), options.log);
    if (serve.flagDeprecationWarnings) warnOfDeprecated([...flags.keys()], options.log);
    prepareDataFolder(dataDir);
    if ("engine" in options.storage && options.storage.engine === "embedded")
      await refuseDamagedStore(options.storage.dir, dataDir, options.log);
    const usual = kubeconfigFile ?? administratorFile(dataDir);
    // Before the start, so that a server which answers is another one.
    const beside = kubeconfigFile === undefined && (await leadsToLivingServer(usual));
    const server = await start(serve);
    surviveDefects(server);
    const file = beside ? administratorFileBeside(dataDir, server.url!) : usual;
    await writeAdministrator(file, server, options.log);
    const stop = stopSignal();
    process.stdout.write(
      `plinth serves ${options.vocabulary.name} names at ${server.url}\nadministrator: ${file}\n`,
    );
    await stop;
    options.log.info({}, "stopping");
    await server.close().catch(endAtOnce);
    if (beside) await rm(file, { force: true });
    return 0;
  },
};

const knownFlags = [...serveFlags, ...acceptedFlags];

/** The server can't be started as things are on this machine; the message says what to change. */
class StartError extends Error {
  override name = "StartError";
}

async function start({ server: options, dataDir, sources }: ServeOptions): Promise<Server> {
  try {
    return await startServer(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const { host, port } = options;
    const failure = dataFolderFailure(dataDir, error);
    if (failure !== undefined) throw dataFolderError(dataDir, failure);
    if (code === "EADDRINUSE") {
      throw new StartError(
        `port ${port} of ${host} is in use; stop what uses it or choose another --secure-port`,
      );
    }
    if (code === "EADDRNOTAVAIL")
      throw new StartError(`--bind-address ${host}: this machine has no such address`);
    if (code === "EACCES") throw new StartError(`--secure-port ${port}: not allowed to listen on it`);
    throw renamedOptions(error, sources);
  }
}

/** Ends the process while one of its threads waits for another process to write, which an orderly end would wait for. */
function endAtOnce(error: unknown): void {
  if (!(error instanceof StoreTimeoutError)) throw error;
  process.stderr.write(`plinth: ${error.message}\n`);
  process.kill(process.pid, "SIGKILL");
}

/** A full disk keeps nobody from reading, so it doesn't end the server either; the file of before is left as it is. */
async function writeAdministrator(file: string, server: Server, log: Logger): Promise<void> {
  try {
    await writePrivately(file, server.durableKubeconfig());
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!["ENOSPC", "EDQUOT"].includes(code)) {
      await server.close();
      throw new OptionsError(`${file} can't be written (see --write-kubeconfig): ${message}`);
    }
    log.error({ error: message }, `there is no room to write ${file}`);
  }
}

/**
 * From now on an exception that nothing caught doesn't end the process: it serves others who have no part in it. Handlers
 * that a peer's bytes reach are guarded where they are registered, and end that peer's connection (`src/http/transport/guard.ts`).
 */
function surviveDefects(server: Server): void {
  process.on("uncaughtException", (error) => server.reportDefect(error, "uncaughtException"));
  process.on("unhandledRejection", (error) => server.reportDefect(error, "unhandledRejection"));
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
