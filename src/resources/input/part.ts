import { deepClone } from "../../base/json/value.ts";
import type { KindContext } from "../../schema/context.ts";
import type { ApiObject, ObjectMetaValue, PartSubresource } from "../../schema/kind.ts";
import { keepMember, keepServerMetadata } from "./metadata.ts";

/**
 * The object after a write to one of its parts, such as `status`: part and metadata are those of the write, everything else is that of the
 * live object (spec: conventions 4.2).
 */
export function mergePart(
  part: PartSubresource,
  written: ApiObject,
  live: ApiObject,
  context: KindContext,
): ApiObject {
  const object = deepClone(live);
  object.metadata = mergeMetadata(part, written.metadata, object.metadata);
  keepServerMetadata(object, live);
  part.merge(object, written, context);
  return object;
}

/** The metadata of the write, with the live values of members that the part can't change. */
function mergeMetadata(
  { keepsMetadata = [] }: PartSubresource,
  written: ObjectMetaValue,
  live: ObjectMetaValue,
): ObjectMetaValue {
  if (keepsMetadata !== "all") {
    const metadata = { ...written };
    for (const name of keepsMetadata) keepMember(metadata, live, name);
    return metadata;
  }
  // Managed fields are recorded for every write, and a uid is a precondition.
  const { uid, managedFields } = written;
  return { ...live, ...(uid && { uid }), ...(managedFields && { managedFields }) };
}
