import type { KindContext } from "../schema/context.ts";
import { decode } from "../schema/decode.ts";
import type { ApiObject } from "../schema/kind.ts";
import { kindContext, type Engine, type Target } from "./engine.ts";
import type { Resource } from "./registry.ts";
import { fillDefaults } from "./input-defaults.ts";

/** The same object or collection in the version in which it is stored (spec: conventions 9). */
export function storedTarget(target: Target): Target {
  const { stored } = target.resource;
  return stored === target.resource ? target : { ...target, resource: stored, requested: target.resource };
}

/** An object of the target's version in the stored one, with that version's defaults. The input may be taken apart. */
export function toStored(engine: Engine, target: Target, object: ApiObject): ApiObject {
  if (target.resource.kind.conversion === undefined) return object;
  const canonical = inStoredVersion(target.resource, object, kindContext(engine, target));
  fillDefaults(engine, storedTarget(target), canonical);
  return canonical;
}

/** As {@link toStored}, without the defaults of the stored version. */
export function inStoredVersion(
  { kind, stored }: Resource,
  object: ApiObject,
  context: KindContext,
): ApiObject {
  if (kind.conversion === undefined) return object;
  const canonical = decode(stored.kind.type, kind.conversion.toStored(object, context)).value as ApiObject;
  canonical.apiVersion = stored.apiVersion;
  canonical.kind = stored.kind.name;
  return canonical;
}

/** A stored object in a resource type's version. The input may be taken apart. */
export function fromStored(resource: Resource, object: ApiObject, context: KindContext): ApiObject {
  const { kind, apiVersion } = resource;
  if (kind.conversion === undefined) return object;
  const converted = kind.conversion.fromStored(object, context);
  const canonical = decode(kind.type, converted).value as ApiObject;
  canonical.apiVersion = apiVersion;
  canonical.kind = kind.name;
  return canonical;
}
