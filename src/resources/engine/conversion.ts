import type { KindContext } from "../../schema/context.ts";
import { decode } from "../../schema/decode.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Resource } from "../registry/registry.ts";

/** An object in the stored version, without that version's defaults. The input may be taken apart. */
export function toStored({ kind, stored }: Resource, object: ApiObject, context: KindContext): ApiObject {
  if (kind.conversion === undefined) return object;
  const canonical = decode(stored.kind.type, kind.conversion.toStored(object, context)).value as ApiObject;
  canonical.apiVersion = stored.apiVersion;
  canonical.kind = stored.kind.name;
  return canonical;
}

/** A stored object in a resource type's version. The input may be taken apart. */
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
