import { ExtensionError, inTime, isRecord, type ExtensionGuard } from "../base/extension.ts";
import type { ObjectInformer } from "../resources/followers/informer.ts";
import type { Controller, ControllerContext, RunningController } from "./controller.ts";

/**
 * Guards the server against a controller of the embedding program. A failed start is thrown with the controller's name.
 * Exceptions of its listeners are logged, and so is a `close` that fails or takes too long.
 */
export function guardedController(controller: Controller, guard: ExtensionGuard): Controller {
  const { name, onlyByName = false, onEveryServer = false } = controller;
  const extension = `controller ${JSON.stringify(name)}`;
  return {
    name,
    onlyByName,
    onEveryServer,
    start(context) {
      const running = startGuarded(controller, guardedContext(context, extension, guard));
      return {
        async close() {
          try {
            await inTime(guard.clock, Promise.resolve(running.close()), "close");
          } catch (error) {
            guard.failed(extension, error);
          }
        },
      };
    },
  };
}

/** @throws {ExtensionError} */
function startGuarded(controller: Controller, context: ControllerContext): RunningController {
  try {
    const running: unknown = controller.start(context);
    if (isRecord(running) && typeof running["close"] === "function") {
      return running as unknown as RunningController;
    }
  } catch (error) {
    throw new ExtensionError(`${controller.name}: start failed: ${String(error)}`, { cause: error });
  }
  throw new ExtensionError(`${controller.name}: start must return an object with the method close`);
}

function guardedContext(
  context: ControllerContext,
  extension: string,
  guard: ExtensionGuard,
): ControllerContext {
  const { client, registry, store, clock, failed } = context;
  return {
    client,
    registry,
    store,
    clock,
    failed,
    informer(resource) {
      const informer = context.informer(resource);
      const guarded: ObjectInformer = {
        sync: () => informer.sync(),
        get: (namespace, name) => informer.get(namespace, name),
        list: () => informer.list(),
        listen: (listener) =>
          informer.listen((key, object, before) => {
            try {
              listener(key, object, before);
            } catch (error) {
              guard.failed(extension, error);
            }
          }),
      };
      return guarded;
    },
  };
}
