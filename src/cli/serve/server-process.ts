import type { Server } from "../../server/server.ts";
import { startServer } from "../../server/server.ts";
import { renamedOptions } from "../../server/options/library-options.ts";
import { dataFolderError, dataFolderFailure } from "./data-folder.ts";
import type { ServeOptions } from "./serve-options.ts";

/** Thrown if the server can't start on this machine; the message says what to change. */
class StartError extends Error {
  override name = "StartError";
}

/**
 * Starts a server that keeps running after uncaught exceptions of single requests.
 *
 * @throws {StartError} if the address can't be used.
 * @throws {OptionsError} if an option or the data folder can't be used.
 */
export async function startServerProcess({
  server: options,
  dataDir,
  sources,
}: ServeOptions): Promise<Server> {
  try {
    const server = await startServer(options);
    surviveDefects(server);
    return server;
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

/**
 * Keeps the process running after an uncaught exception, because it serves other clients too. Handlers that a peer's
 * bytes reach are guarded where they are registered, and close that peer's connection
 * (`src/http/transport/http-exchange.ts`).
 */
function surviveDefects(server: Server): void {
  process.on("uncaughtException", (error) => server.reportDefect(error, "uncaughtException"));
  process.on("unhandledRejection", (error) => server.reportDefect(error, "unhandledRejection"));
}
