import type { KindContext } from "../../schema/context.ts";
import { decode } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Resource } from "../registry/registry.ts";

/** Converts an object to the storage version, without filling in its defaults. May change the argument. */
export function toStored({ kind, stored }: Resource, object: ApiObject, context: KindContext): ApiObject {
  if (kind.conversion === undefined) return object;
  const canonical = decode(stored.kind.type, kind.conversion.toStored(object, context)).value as ApiObject;
  canonical.apiVersion = stored.apiVersion;
  canonical.kind = stored.kind.name;
  return canonical;
}

/** Converts a stored object to the version of a resource type. May change the argument. */
export function fromStored(
  { kind, apiVersion }: Resource,
  object: ApiObject,
  context: KindContext,
): ApiObject {
  if (kind.conversion === undefined) return object;
  const converted = kind.conversion.fromStored(object, context);
  const canonical = decode(kind.type, converted).value as ApiObject;
  canonical.apiVersion = apiVersion;
  canonical.kind = kind.name;
  return canonical;
}
