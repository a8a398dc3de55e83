import { deepClone } from "../../base/json/value.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { engineInVersion, fromStored } from "../engine/conversion.ts";
import { kindContext, type Engine, type Target, type WriteOptions } from "../engine/engine.ts";
import type { Conversions } from "../registry/versioned-storage.ts";

/** The context of one write, created at the start of a verb, which works with the stored version only. */
export interface WriteContext<O extends WriteOptions = WriteOptions> {
  readonly engine: Engine;
  /** The object or collection in its stored version (spec: conventions 9). */
  readonly target: Target;
  /** The same in the version of the request; identical to `target` if that is the stored version. */
  readonly requestTarget: Target;
  readonly options: O;
  /** Conversions of the objects of this write; undefined unless a webhook converts its resource type. */
  readonly conversions: Conversions | undefined;
}

/** @param requestTarget the object or collection in the version of the request. */
export function writeContext<O extends WriteOptions>(
  engine: Engine,
  requestTarget: Target,
  options: O,
): WriteContext<O> {
  const { resource } = requestTarget;
  const { stored } = resource;
  const target = stored === resource ? requestTarget : storedTarget(requestTarget);
  const conversions = resource.storage?.newConversions?.();
  return { engine: engineInVersion(engine, resource), target, requestTarget, options, conversions };
}

/** Must be awaited between two steps of a write unless undefined; see {@link WorkPace.step}. */
export function nextStep({ options: { pace } }: WriteContext): MaybePromise<void> {
  return pace?.step();
}

function storedTarget(requestTarget: Target): Target {
  const { group, stored } = requestTarget.resource;
  const elsewhere = group === stored.group ? {} : { requestGroup: group };
  return { ...requestTarget, resource: stored, ...elsewhere };
}

/** Converts a stored object to the version of the request; returns the object itself if that is the stored version. */
export function inRequestVersion(write: WriteContext, object: ApiObject): ApiObject {
  const { engine, target, requestTarget } = write;
  if (requestTarget === target) return object;
  return fromStored(requestTarget.resource, deepClone(object), kindContext(engine, target));
}
