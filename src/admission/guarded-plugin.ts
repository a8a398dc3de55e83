import { ExtensionError, inTime, isPromise, isRecord, type ExtensionGuard } from "../base/extension.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { AdmissionEffects, AdmissionRequest } from "../resources/engine/engine.ts";
import { decode } from "../schema/decode.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { AdmissionPlugin } from "./admission-chain.ts";

/**
 * Wraps an admission plugin of the program that embeds the server. An exception other than a {@link StatusError}, a violation of
 * the contract and a timeout are logged with the name of the plugin, and the request is answered with 500. After a mutation the
 * object is decoded again as its kind before other plugins see it.
 */
export function guardedPlugin(plugin: AdmissionPlugin, guard: ExtensionGuard): AdmissionPlugin {
  const { name, sideEffects = false } = plugin;
  const extension = `admission plugin ${JSON.stringify(name)}`;
  const fail = (error: unknown): never => {
    if (error instanceof StatusError) throw error;
    guard.failed(extension, error);
    throw new StatusError("InternalError", `${extension} failed; see the log`);
  };
  const run = (call: () => unknown, method: string, then: () => void): MaybePromise<void> => {
    try {
      const result = call();
      if (!isPromise(result)) return then();
      return inTime(guard.clock, result, method).then(then).catch(fail);
    } catch (error) {
      return fail(error);
    }
  };
  const effectsFor = (request: AdmissionRequest): AdmissionEffects =>
    guardedEffects(request.effects, (error) => guard.failed(extension, error));
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
        const shown = { ...request, live: copyOf(request.live), effects: effectsFor(request) };
        return run(
          () => mutate(shown),
          "mutate",
          () => {
            if (shown.object !== request.object) {
              throw new ExtensionError("mutate replaced request.object, which it must change in place");
            }
            checkMutation(request, before);
          },
        );
      },
    }),
    ...(validate && {
      validate(request) {
        const [object, live] = [copyOf(request.object), copyOf(request.live)];
        const shown = { ...request, object, live, effects: effectsFor(request) };
        return run(
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

/** The effects as the plugin sees them: a listener that throws doesn't affect the write, which is complete by then. */
function guardedEffects(effects: AdmissionEffects, failed: (error: unknown) => void): AdmissionEffects {
  return {
    warn: (text) => effects.warn(text),
    annotate: (key, value, level) => effects.annotate(key, value, level),
    took: (step, durationMs) => effects.took?.(step, durationMs),
    addCondition: (condition) => effects.addCondition(condition),
    onOutcome(listener) {
      effects.onOutcome((outcome) => {
        try {
          listener(outcome);
        } catch (error) {
          failed(error);
        }
      });
    },
    requestReinvocation: () => effects.requestReinvocation(),
    get reinvocationRequested() {
      return effects.reinvocationRequested;
    },
    state: (type) => effects.state(type),
  };
}

function phasesOf(plugin: AdmissionPlugin): Pick<AdmissionPlugin, "mutate" | "validate"> {
  return {
    ...(plugin.mutate && { mutate: (request) => plugin.mutate?.(request) }),
    ...(plugin.validate && { validate: (request) => plugin.validate?.(request) }),
  };
}

/** A deep copy, which the plugin may change without effect. */
function copyOf(object: ApiObject | undefined): ApiObject | undefined {
  return object === undefined ? undefined : structuredClone(object);
}

/** The members that identify the written object; a plugin must not change them. */
function identityOf(object: ApiObject | undefined): string {
  if (object === undefined) return "";
  const { apiVersion, kind, metadata } = object;
  const { name, generateName, namespace, uid, resourceVersion } = isRecord(metadata) ? metadata : {};
  return JSON.stringify([apiVersion, kind, name, generateName, namespace, uid, resourceVersion]);
}

/**
 * Decodes the mutated object again as its kind.
 *
 * @param before the result of {@link identityOf} for the object before the mutation.
 * @throws {ExtensionError} the plugin changed the identity or added unknown fields.
 * @throws {TypeFault} the object can't be decoded.
 */
function checkMutation({ object, target }: AdmissionRequest, before: string): void {
  if (object === undefined) return;
  if (identityOf(object) !== before) {
    throw new ExtensionError(
      "mutate changed apiVersion, kind, name, generateName, namespace, uid or resourceVersion of the object",
    );
  }
  const { kind, apiVersion } = target.resource;
  // The body of an action or a view has another type; the verb decodes it.
  if (object.kind !== kind.name || object.apiVersion !== apiVersion) return;
  const { value, unknownFields } = decode(kind.type, object);
  if (unknownFields.length > 0) {
    throw new ExtensionError(`mutate set fields that ${kind.name} doesn't have: ${unknownFields.join(", ")}`);
  }
  for (const member of Object.keys(object)) delete object[member];
  Object.assign(object, value);
}
