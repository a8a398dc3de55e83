import {
  ConfigurationFault,
  readClientConfiguration,
  type ClientConfiguration,
} from "../../remote/client-configuration.ts";
import { RemoteService, type ServiceLimits } from "../../remote/remote-service.ts";
import { FileWatch } from "../../base/file-watch.ts";
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
export async function remoteService(
  { clock, log }: Pick<ServerOptions, "clock" | "log">,
  flag: string,
  file: string,
  limits?: ServiceLimits,
): Promise<ConfiguredService> {
  let configuration = await configurationOf(flag, file);
  const service = new RemoteService(configuration, clock, limits);
  const changed = async () => {
    configuration = await configurationOf(flag, file);
    service.renew(configuration);
    log.info({ files: configuration.files }, `${flag}: the client configuration was read again`);
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

async function configurationOf(flag: string, file: string): Promise<ClientConfiguration> {
  try {
    return await readClientConfiguration(file);
  } catch (error) {
    if (error instanceof ConfigurationFault) throw new OptionsError(`${flag} ${file}: ${error.message}`);
    throw error;
  }
}
