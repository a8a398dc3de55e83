import { deepEqual, type JsonValue } from "../../base/json/value.ts";
import { dropDisabledFields } from "../../schema/gates.ts";
import type { ApiObject } from "../../schema/kind.ts";
import { kindContext, type Engine, type Target } from "../engine/engine.ts";
import { keepServerMetadata } from "../input/metadata.ts";
import { mergePart } from "../input/part.ts";

/** Merges the parts that the write may change into the live object, by the rules of the kind or the subresource. */
export function mergeWrite(engine: Engine, target: Target, written: ApiObject, live: ApiObject): ApiObject {
  const { kind } = target.resource;
  const subresource = target.subresource === "" ? undefined : kind.subresources[target.subresource];
  // Views and actions have changed a copy of the live object already.
  if (subresource?.shape === "view" || subresource?.shape === "action") return written;
  if (subresource !== undefined && subresource.shape === undefined) {
    return mergePart(subresource, written, live, kindContext(engine, target));
  }
  keepServerMetadata(written, live);
  return written;
}

/** Whether a write is of the whole object, not of a subresource. */
export function isWhole({ resource, subresource }: Target): boolean {
  return resource.kind.subresources[subresource] === undefined;
}

/** The object with the live status, if status is a subresource and the write is of the whole object. */
export function withStatusOf(target: Target, object: ApiObject, live: ApiObject): ApiObject {
  if (!isWhole(target) || !Object.hasOwn(target.resource.kind.subresources, "status")) return object;
  const { status: _, ...rest } = object as ApiObject & { status?: unknown };
  const { status } = live as ApiObject & { status?: unknown };
  return status === undefined ? rest : Object.assign(rest, { status });
}

/** Applies the update strategy and the gates of the kind to a whole object. Changes `object`. */
export function prepareWhole(engine: Engine, target: Target, object: ApiObject, live: ApiObject): void {
  const { kind } = target.resource;
  dropDisabledFields(kind.type, object, live, engine.featureEnabled);
  kind.prepareUpdate?.(object, live, kindContext(engine, target));
}

/** Re-applies the update strategy after mutating admission. Changes `object`. */
export function reapplyStrategy(engine: Engine, target: Target, object: ApiObject, live: ApiObject): void {
  const merged = mergeWrite(engine, target, object, live);
  if (isWhole(target)) prepareWhole(engine, target, merged, live);
  if (merged === object) return;
  for (const member of Object.keys(object)) delete object[member];
  Object.assign(object, merged);
}

/** Increments `metadata.generation` if the desired state changes; most subresources don't count, such as the binding of a pod. */
export function countGeneration({ resource, subresource }: Target, object: ApiObject, live: ApiObject): void {
  const { generationOf, subresources } = resource.kind;
  const part = subresources[subresource];
  const isPart = part !== undefined && part.shape === undefined;
  const isIgnored = part?.shape === "action" || (isPart && part.incrementsGeneration !== true);
  if (generationOf === undefined || isIgnored) return;
  // Ignores the order of members, as defaults are appended.
  const same = deepEqual(generationOf(object) as JsonValue, generationOf(live) as JsonValue);
  object.metadata.generation = (live.metadata.generation ?? 1) + (same ? 0 : 1);
}

/**
 * Whether an update removes the object: it is terminating, has no (further) grace period, and the new object has no finalizers (spec:
 * conventions 3.1). During a grace period only a DELETE with a shorter one removes it.
 */
export function shouldDeleteDuringUpdate(
  target: Target,
  object: ApiObject,
  { metadata: live }: ApiObject,
): boolean {
  if (live.deletionTimestamp === undefined || (live.deletionGracePeriodSeconds ?? 0) > 0) return false;
  return isFinalized(target, object);
}

/** Whether neither finalizers nor the kind prevent the removal. */
export function isFinalized(target: Target, object: ApiObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return false;
  return target.resource.kind.isFinalized?.(object) ?? true;
}
