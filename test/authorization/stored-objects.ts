import { builtInKinds } from "../../src/kinds/all.ts";
import { encodeObject } from "../../src/resources/objects/stored.ts";
import { keyOf, resourceOf, type Resource } from "../../src/resources/registry/registry.ts";
import type { ApiObject } from "../../src/schema/kind.ts";
import type { Revision, Store } from "../../src/storage/store.ts";
import { platform } from "../../src/vocabulary/platform.ts";

/** A built-in resource type by its name. */
export function typeNamed(name: string): Resource {
  for (const kind of builtInKinds) {
    const resource = resourceOf(kind, platform);
    if (resource.name === name && resource.stored.storePrefix === resource.storePrefix) return resource;
  }
  throw new Error(`no resource type ${name}`);
}

/** Creates or replaces an object in a store, without a server. */
export async function writeObject(
  store: Store,
  resource: Resource,
  namespace: string,
  name: string,
  content: object,
): Promise<Revision> {
  const key = keyOf(resource, namespace, name);
  const { metadata, ...members } = content as { metadata?: object };
  const object = {
    apiVersion: resource.group === "" ? resource.version : `${resource.group}/${resource.version}`,
    kind: resource.kind.name,
    metadata: { ...metadata, name, ...(namespace === "" ? {} : { namespace }) },
    ...members,
  } as unknown as ApiObject;
  const draft = encodeObject(resource, object);
  const current = await store.get(key);
  const result = await store.commit(
    current === undefined
      ? { kind: "create", key, draft }
      : { kind: "update", key, expected: current.revision, draft },
  );
  if (!result.ok) throw new Error(`${key} changed meanwhile`);
  return result.revision;
}

/** Deletes an object from a store; returns undefined if there is none. */
export async function removeObject(
  store: Store,
  resource: Resource,
  namespace: string,
  name: string,
): Promise<Revision | undefined> {
  const key = keyOf(resource, namespace, name);
  const current = await store.get(key);
  if (current === undefined) return undefined;
  const result = await store.commit({ kind: "delete", key, expected: current.revision });
  if (!result.ok) throw new Error(`${key} changed meanwhile`);
  return result.revision;
}
