import { jsonOf, deepEqual } from "../../base/json/value.ts";
import { entriesOf, type ManagedFields } from "../../fields/apply/new-fields-text.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** The stored object before a write; its managed fields are beside it and not in its metadata. */
export interface LiveObject {
  readonly object: ApiObject;
  readonly managed: ManagedFields;
}

/** Whether two objects are equal, except for their resource versions and managed fields. */
export function sameButForVersion(a: ApiObject, b: ApiObject): boolean {
  const bare = (object: ApiObject) => ({
    ...object,
    metadata: { ...object.metadata, resourceVersion: undefined },
  });
  return deepEqual(jsonOf(bare(a)), jsonOf(bare(b)));
}

/** An object as clients see it, with its managed fields in its metadata. */
export function withManagedFields({ object, managed }: LiveObject): ApiObject {
  const { stored } = managed;
  if (stored === undefined) return object;
  return { ...object, metadata: { ...object.metadata, managedFields: entriesOf(stored) } };
}
