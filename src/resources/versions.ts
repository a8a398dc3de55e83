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
  const { conversion } = target.resource.kind;
  if (conversion === undefined) return object;
  const { stored } = target.resource;
  const converted = conversion.toStored(object, kindContext(engine, target));
  const canonical = decode(stored.kind.type, converted).value as ApiObject;
  canonical.apiVersion = stored.apiVersion;
  canonical.kind = stored.kind.name;
  fillDefaults(engine, storedTarget(target), canonical);
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
