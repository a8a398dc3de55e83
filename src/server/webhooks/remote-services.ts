import {
  ConfigurationFault,
  readClientConfiguration,
  type ClientConfiguration,
} from "../../remote/client-configuration.ts";
import { RemoteService, type ServiceLimits } from "../../remote/remote-service.ts";
import { FileWatch } from "../../base/files/file-watch.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Minimum interval in milliseconds of log lines about an unreachable remote service. */
export const outageLogIntervalMs = 5000;

/** A remote service with its current client configuration. */
export type ConfiguredService = Pick<RemoteService, "post" | "deliver" | "close">;

/**
 * Creates a client for the remote service of a client configuration file; the service needn't be reachable yet. The
 * file and the CA, certificate and key files that it names are reloaded when they change; if new files can't be used,
 * the previous ones stay.
 *
 * @throws {OptionsError} if the configuration can't be used; the message names the flag, the file and the field.
 */
export function remoteService(
  options: Pick<ServerOptions, "clock" | "log">,
  flag: string,
  file: string,
  limits?: ServiceLimits,
): Promise<ConfiguredService> {
  return configuredService(options, { name: flag, read: () => configurationOf(flag, file) }, limits);
}

/** A client configuration. */
interface ConfigurationSource {
  /** Flag or field, for the log. */
  readonly name: string;
  /** @throws {OptionsError} if it can't be used. */
  read(): Promise<ClientConfiguration>;
}

/** As {@link remoteService}, for a configuration that isn't one file. */
export async function configuredService(
  { clock, log }: Pick<ServerOptions, "clock" | "log">,
  { name, read }: ConfigurationSource,
  limits?: ServiceLimits,
): Promise<ConfiguredService> {
  let configuration = await read();
  const service = new RemoteService(configuration, clock, limits);
  const changed = async () => {
    configuration = await read();
    service.renew(configuration);
    log.info({ files: configuration.files }, `${name}: the client configuration was read again`);
  };
  const watch = new FileWatch(
    () => configuration.files,
    clock,
    changed,
    (error) =>
      log.error(
        { error: (error as Error).message },
        "the changed client configuration can't be used; keeping the previous one",
      ),
  );
  await watch.start();
  return {
    post: (question) => service.post(question),
    deliver: (json) => service.deliver(json),
    async close() {
      await watch.close();
      await service.close();
    },
  };
}

function configurationOf(flag: string, file: string): Promise<ClientConfiguration> {
  return readForOptions(`${flag} ${file}`, () => readClientConfiguration(file));
}

/**
 * Reads a configuration.
 *
 * @param errorPrefix flag and file, or field.
 * @throws {OptionsError} if it can't be used.
 */
export async function readForOptions<T>(errorPrefix: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ConfigurationFault) throw new OptionsError(`${errorPrefix}: ${error.message}`);
    throw error;
  }
}
