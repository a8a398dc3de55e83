import { fullName, pathOf, type ResourceType } from "../model/resource-types.ts";
import type { Metadata, MetadataList, OwnerReference } from "../model/metadata.ts";
import { byOwner, type ObjectsByOwner, type OwnedObject } from "../model/owned-objects.ts";
import { getJson, send } from "./client.ts";
import { countAll } from "./counts.ts";
import { inParallel } from "./parallel.ts";

/** Any object of the API. */
export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

/** Gets one object. @throws as `send` */
export function getObject(
  type: ResourceType,
  namespace: string,
  name: string,
  signal?: AbortSignal,
): Promise<ApiObject> {
  return getJson<ApiObject>(pathOf(type, namespace, name), { signal });
}

/** Deletes an object. @param propagation as in DeleteOptions. @throws as `send` */
export async function deleteObject(
  type: ResourceType,
  namespace: string,
  name: string,
  propagation: "Background" | "Foreground" | "Orphan",
  uid: string | undefined,
): Promise<void> {
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  const body = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: propagation, ...preconditions };
  await send(pathOf(type, namespace, name), { method: "DELETE", body });
}

/** Changes labels or annotations of an object; null removes one. @param uid of the object that the user has seen. @throws as `send` */
export async function patchMetadata(
  type: ResourceType,
  namespace: string,
  name: string,
  metadata: object,
  uid: string | undefined,
): Promise<void> {
  await send(`${pathOf(type, namespace, name)}?fieldManager=plinth-console`, {
    method: "PATCH",
    contentType: "application/merge-patch+json",
    body: { metadata: { ...metadata, ...(uid !== undefined && { uid }) } },
  });
}

/** Objects of a type beyond this number are not searched for owners. */
const maxSearched = 5000;
const chunkSize = 500;

export interface OwnedSearch {
  readonly owned: ObjectsByOwner;
  /** Types of which not all objects were searched: too many, or the user may not list them. */
  readonly incomplete: readonly ResourceType[];
}

/**
 * Searches the objects that have owners, in a namespace or, if it is empty, in all. Each type is listed once.
 *
 * @param metaGroup group of the kind PartialObjectMetadataList.
 */
export async function findOwned(
  types: readonly ResourceType[],
  metaGroup: string,
  namespace: string,
  signal: AbortSignal,
): Promise<OwnedSearch> {
  const objects: OwnedObject[] = [];
  const incomplete: ResourceType[] = [];
  const searched = types.filter(
    ({ verbs, namespaced }) =>
      verbs.includes("list") && verbs.includes("delete") && (namespaced || namespace === ""),
  );
  const search = async (type: ResourceType) => {
    const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=${metaGroup}`;
    let next = "";
    for (let count = 0; count < maxSearched; count += chunkSize) {
      const parameters = new URLSearchParams({ limit: String(chunkSize), ...(next && { continue: next }) });
      const list: MetadataList = await getJson<MetadataList>(
        `${pathOf(type, namespace)}?${parameters.toString()}`,
        { accept, signal },
      );
      for (const { metadata } of list.items) {
        const owners = metadata.ownerReferences ?? [];
        if (owners.length > 0) objects.push(ownedObject(type, metadata, owners));
      }
      next = list.metadata.continue ?? "";
      if (next === "") return;
    }
    incomplete.push(type);
  };
  await inParallel(searched, 6, (type) =>
    search(type).catch((error: unknown) => {
      if (signal.aborted) throw error;
      incomplete.push(type);
    }),
  );
  return { owned: byOwner(objects), incomplete };
}

function ownedObject(
  type: ResourceType,
  { namespace = "", name, uid = "" }: Metadata,
  owners: readonly OwnerReference[],
): OwnedObject {
  return { type, namespace, name, uid, owners: owners.map((owner) => owner.uid) };
}

/** Returns the number of objects of each type in a namespace, without types that have none or can't be listed. */
export async function countIn(
  types: readonly ResourceType[],
  metaGroup: string,
  namespace: string,
  signal: AbortSignal,
): Promise<readonly { readonly type: ResourceType; readonly count: number }[]> {
  const namespaced = types.filter((type) => type.namespaced && type.verbs.includes("list"));
  const byName = await countAll(namespaced, metaGroup, signal, { namespace });
  const counts = namespaced
    .map((type) => ({ type, count: byName.get(fullName(type)) ?? 0 }))
    .filter(({ count }) => count > 0);
  return counts.toSorted((one, other) => other.count - one.count);
}
