import { ExtensionError } from "../../base/extension.ts";
import { stackOf } from "../../base/logger.ts";
import type { Controller, ControllerContext, RunningController } from "../../controllers/controller.ts";
import { Informer } from "../../resources/followers/informer.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { ControllerStates } from "./controller-states.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The members of the context that {@link runControllers} adds to the dependencies. */
type Added = Pick<ControllerContext, "informer" | "failed">;

/** The smallest dependencies with which controllers are started. */
type Parts = Omit<ControllerContext, keyof Added>;

/**
 * Starts controllers. When the promise resolves, their informers have loaded all stored objects.
 *
 * @param parts the dependencies of all these controllers, without informers and the report of failures.
 * @throws {OptionsError} a controller of the embedding program can't be started.
 */
export async function runControllers<P extends Parts>(
  controllers: readonly Controller<P & Added>[],
  parts: P,
  { log }: Pick<ServerOptions, "log">,
  states?: ControllerStates,
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
  const running: RunningController[] = [];
  const fails = new Map<string, () => boolean>();
  const close = async () => {
    for (const { name } of controllers) states?.ended(name);
    await Promise.all(running.map((one) => one.close()));
    for (const one of informers.values()) one.close();
  };
  try {
    for (const one of controllers) {
      states?.begins(one.name);
      const used = new Set<Informer>();
      const own = (resource: Resource) => {
        const found = informer(resource);
        used.add(found);
        return found;
      };
      const begun = one.start({ ...parts, failed, informer: own });
      running.push(begun);
      fails.set(one.name, () => begun.failing?.() === true || [...used].some(({ failing }) => failing));
    }
    await Promise.all(started);
    for (const [name, failing] of fails) states?.runs(name, failing);
    return { close };
  } catch (error) {
    await close();
    for (const { name } of controllers) states?.begins(name);
    if (error instanceof ExtensionError)
      throw new OptionsError(`controllers: ${error.message}`, { cause: error });
    throw error;
  }
}
