import type { Clock } from "../base/clock.ts";
import { ConfigurationFault, readClientConfiguration } from "../remote/client-configuration.ts";
import { RemoteService, type ServiceLimits } from "../remote/remote-service.ts";
import { OptionsError } from "./options.ts";

/** How often the log says at most that a service of others can't be asked, in milliseconds. */
export const outageLogMs = 5000;

/**
 * The service of others that a client configuration names. It needn't be there yet.
 *
 * @throws {OptionsError} which names the flag, the file and the field.
 */
export async function remoteService(
  flag: string,
  file: string,
  clock: Clock,
  limits?: ServiceLimits,
): Promise<RemoteService> {
  try {
    return new RemoteService(await readClientConfiguration(file), clock, limits);
  } catch (error) {
    if (error instanceof ConfigurationFault) throw new OptionsError(`${flag} ${file}: ${error.message}`);
    throw error;
  }
}
