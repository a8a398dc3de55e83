import type { Server } from "../../server/server.ts";
import { checkAddress } from "../../server/start/address-check.ts";
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
    const failure = dataFolderFailure(dataDir, error);
    if (failure !== undefined) throw dataFolderError(dataDir, failure);
    throw addressError(options, error) ?? renamedOptions(error, sources);
  }
}

/**
 * Checks that the server can listen on its address, before it reads or writes anything.
 *
 * @returns its port; a free one if any may be used.
 * @throws {StartError} if the address can't be used.
 */
export async function usablePort({ server: options }: ServeOptions): Promise<number> {
  try {
    return await checkAddress(options.host, options.port);
  } catch (error) {
    throw addressError(options, error) ?? error;
  }
}

/** Returns the error of an address that can't be listened on; undefined for any other error. */
function addressError(
  { host, port }: Pick<ServeOptions["server"], "host" | "port">,
  error: unknown,
): StartError | undefined {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return new StartError(
        `port ${port} of ${host} is in use; stop what uses it or choose another --secure-port`,
      );
    case "EADDRNOTAVAIL":
      return new StartError(`--bind-address ${host}: this machine has no such address`);
    case "EACCES":
      return new StartError(`--secure-port ${port}: not allowed to listen on it`);
    default:
      return undefined;
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
