import {
  ConfigurationFault,
  readClientConfiguration,
  type ClientConfiguration,
} from "../../remote/client-configuration.ts";
import { RemoteService, type ServiceLimits } from "../../remote/remote-service.ts";
import { FileWatch } from "../../base/file-watch.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** How often the log says at most that a service of others can't be asked, in milliseconds. */
export const outageLogMs = 5000;

/** A service of others, asked as its client configuration says now. */
export type ConfiguredService = Pick<RemoteService, "post" | "deliver" | "close">;

/**
 * The service of others that a client configuration names. It needn't be there yet. The configuration, and the files of
 * authorities, certificate and key that it names, may change while the server runs; what can't be used changes nothing.
 *
 * @throws {OptionsError} which names the flag, the file and the field.
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
        "a changed client configuration can't be used; the one of before stays",
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
