import { ExtensionError } from "../base/extension.ts";
import { stackOf } from "../base/logger.ts";
import type { Controller, ControllerContext, RunningController } from "../controllers/controller.ts";
import { Informer } from "../resources/informer.ts";
import type { Resource } from "../resources/registry.ts";
import { OptionsError } from "./options-error.ts";
import type { ServerOptions } from "./options.ts";

/** What controllers work with, but for the informers and the log, which each set of them has of its own. */
export type ControllerParts = Omit<ControllerContext, "informer" | "failed" | "noted">;

/**
 * Starts controllers; they and their informers know everything that is stored when the promise resolves.
 *
 * @throws {OptionsError} a controller of the embedding program can't be started.
 */
export async function runControllers(
  controllers: readonly Controller[],
  parts: ControllerParts,
  { log }: Pick<ServerOptions, "log">,
): Promise<RunningController> {
  const { store, clock } = parts;
  const informers = new Map<Resource, Informer>();
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
    const context = { ...parts, informer, failed, noted };
    for (const one of controllers) running.push(one.start(context));
    await Promise.all(started);
    return { close };
  } catch (error) {
    await close();
    if (error instanceof ExtensionError)
      throw new OptionsError(`controllers: ${error.message}`, { cause: error });
    throw error;
  }
}
