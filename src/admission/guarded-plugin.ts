import { ExtensionError, inTime, isPromise, isRecord, type ExtensionGuard } from "../base/extension.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { AdmissionRequest } from "../resources/engine/engine.ts";
import { decode } from "../schema/decode.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { AdmissionPlugin } from "./admission-chain.ts";

/**
 * An admission plugin of the program that embeds the server. Whatever it does beside throwing a {@link StatusError} is a
 * failure of the request: it is logged with the plugin's name and answered with 500. What it made of the object is checked
 * against the kind's declaration and made canonical before anything else sees it.
 */
export function guardedPlugin(plugin: AdmissionPlugin, guard: ExtensionGuard): AdmissionPlugin {
  const { name, sideEffects = false } = plugin;
  const extension = `admission plugin ${JSON.stringify(name)}`;
  const fail = (error: unknown): never => {
    if (error instanceof StatusError) throw error;
    guard.failed(extension, error);
    throw new StatusError("InternalError", `${extension} failed; see the log`);
  };
  const ask = (call: () => unknown, awaited: string, then: () => void): MaybePromise<void> => {
    try {
      const answer = call();
      if (!isPromise(answer)) return then();
      return inTime(guard.clock, answer, awaited).then(then).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
  const { mutate, validate } = phasesOf(plugin);
  return {
    name,
    sideEffects,
    concerns(operation, target) {
      try {
        return plugin.concerns(operation, target);
      } catch (error) {
        return fail(error);
      }
    },
    ...guardedSkips(plugin, fail),
    ...(mutate && {
      mutate(request) {
        const before = identityOf(request.object);
        const shown = shownTo(request, request.object);
        return ask(
          () => mutate(shown),
          "mutate",
          () => {
            if (shown.object !== request.object) {
              throw new ExtensionError("mutate replaced request.object, which it must change in place");
            }
            takeOver(request, before);
          },
        );
      },
    }),
    ...(validate && {
      validate(request) {
        const shown = shownTo(request, copyOf(request.object));
        return ask(
          () => validate(shown),
          "validate",
          () => undefined,
        );
      },
    }),
  };
}

function guardedSkips(
  plugin: AdmissionPlugin,
  fail: (error: unknown) => never,
): Pick<AdmissionPlugin, "skips"> {
  if (plugin.skips === undefined) return {};
  return {
    skips(request) {
      try {
        return plugin.skips!(request);
      } catch (error) {
        return fail(error);
      }
    },
  };
}

/** The request as a plugin sees it; its settlements and its conditions are the request's own. */
function shownTo(request: AdmissionRequest, object: ApiObject | undefined): AdmissionRequest {
  return {
    ...request,
    object,
    live: copyOf(request.live),
    get settlements() {
      return request.settlements;
    },
    set settlements(settlements) {
      request.settlements = settlements;
    },
  };
}

function phasesOf(plugin: AdmissionPlugin): Pick<AdmissionPlugin, "mutate" | "validate"> {
  return {
    ...(plugin.mutate && { mutate: (request) => plugin.mutate?.(request) }),
    ...(plugin.validate && { validate: (request) => plugin.validate?.(request) }),
  };
}

/** What a plugin may take apart without changing what the server works with. */
function copyOf(object: ApiObject | undefined): ApiObject | undefined {
  return object === undefined ? undefined : structuredClone(object);
}

/** What a plugin may not change: these name the object that is written. */
function identityOf(object: ApiObject | undefined): string {
  if (object === undefined) return "";
  const { apiVersion, kind, metadata } = object;
  const { name, generateName, namespace, uid, resourceVersion } = isRecord(metadata) ? metadata : {};
  return JSON.stringify([apiVersion, kind, name, generateName, namespace, uid, resourceVersion]);
}

/** @throws {Error} what the plugin made of the object isn't an object of its kind. */
function takeOver({ object, target }: AdmissionRequest, before: string): void {
  if (object === undefined) return;
  if (identityOf(object) !== before) {
    throw new ExtensionError(
      "mutate changed apiVersion, kind, name, generateName, namespace, uid or resourceVersion of the object",
    );
  }
  const { kind, apiVersion } = target.resource;
  // The body of an action or a view has a type of its own, which is read where it is used.
  if (object.kind !== kind.name || object.apiVersion !== apiVersion) return;
  const { value, unknownFields } = decode(kind.type, object);
  if (unknownFields.length > 0) {
    throw new ExtensionError(`mutate set fields that ${kind.name} doesn't have: ${unknownFields.join(", ")}`);
  }
  for (const member of Object.keys(object)) delete object[member];
  Object.assign(object, value);
}
