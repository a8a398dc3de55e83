import { ExtensionError } from "../base/extension.ts";
import type { Authorizer } from "../authorization/authorizer.ts";
import type { SigningAuthorities } from "../controllers/certificates/authorities.ts";
import { builtInControllers } from "../controllers/all.ts";
import type { Controller, RunningController } from "../controllers/controller.ts";
import { enabledControllers, UnknownControllerError } from "../controllers/enabled.ts";
import type { QuotaIndex } from "../admission/plugins/resource-quota/quota-index.ts";
import type { Client } from "../resources/client.ts";
import { Informer } from "../resources/informer.ts";
import type { Registry, Resource } from "../resources/registry.ts";
import type { Store } from "../storage/store.ts";
import { OptionsError } from "./options-error.ts";
import { stackOf } from "../base/logger.ts";
import type { ServerOptions } from "./options.ts";

/**
 * The controllers that the options ask for.
 *
 * @throws {OptionsError} they name one that there isn't.
 */
export function chosenControllers(
  { enabledControllers: wanted = ["*"] }: ServerOptions,
  extensions: readonly Controller[],
): readonly Controller[] {
  try {
    return enabledControllers(wanted, [...builtInControllers, ...extensions]);
  } catch (error) {
    if (error instanceof UnknownControllerError) throw new OptionsError(`--controllers: ${error.message}`);
    throw error;
  }
}

interface ControllerSetup {
  readonly chosen: readonly Controller[];
  readonly options: ServerOptions;
  readonly registry: Registry;
  readonly store: Store;
  readonly client: Client;
  /** PEM of the authority that clients are to trust; undefined where none is known. */
  readonly rootCertificate: () => string | undefined;
  readonly quotas: QuotaIndex;
  readonly authorizer: Authorizer;
  readonly signing: SigningAuthorities;
}

/** Starts the chosen controllers; they and their informers know everything that is stored when the promise resolves. */
export async function startControllers({
  chosen,
  options,
  registry,
  store,
  client,
  ...rest
}: ControllerSetup): Promise<RunningController> {
  const informers = new Map<Resource, Informer>();
  const { clock, log, eventLifeMs } = options;
  const started: Promise<void>[] = [];
  const informer = (resource: Resource) => {
    let found = informers.get(resource);
    if (found === undefined) {
      found = new Informer(store, resource, clock, (error) =>
        log.error({ error: stackOf(error), resource: resource.name }, "following failed"),
      );
      informers.set(resource, found);
      started.push(found.start());
    }
    return found;
  };
  const failed = (controller: string, key: string, error: unknown) => {
    log.warn({ controller, key, error: String(error) }, "a controller's work failed and will be tried again");
  };
  const noted = (controller: string, key: string, message: string) => log.warn({ controller, key }, message);
  const running: RunningController[] = [];
  const close = async () => {
    await Promise.all(running.map((one) => one.close()));
    for (const one of informers.values()) one.close();
  };
  try {
    const context = {
      client,
      registry,
      store,
      clock,
      eventLifeMs,
      ...rest,
      informer,
      failed,
      noted,
    };
    for (const one of chosen) running.push(one.start(context));
    await Promise.all(started);
    return { close };
  } catch (error) {
    await close();
    if (error instanceof ExtensionError)
      throw new OptionsError(`controllers: ${error.message}`, { cause: error });
    throw error;
  }
}
