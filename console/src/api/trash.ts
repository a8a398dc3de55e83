import type { OwnerReference } from "../model/metadata.ts";
import { apiVersionOf, pathOf, type ResourceType } from "../model/resource-types.ts";
import {
  deletedObject,
  newestFirst,
  recreation,
  type DeletedObject,
  type ObjectState,
  type PresentOwner,
  type Recreation,
} from "../model/trash.ts";
import { ApiError, getJson } from "./client.ts";
import { fieldManager } from "./apply.ts";
import { inParallel } from "./parallel.ts";

/** Deleted objects of a type beyond this number are not shown. */
const maxPerType = 200;
const parallelReads = 6;

/** What can come back. */
export interface Trash {
  /** The last deleted first. */
  readonly objects: readonly DeletedObject[];
  /** Types whose history is kept, and that the user may list. */
  readonly types: readonly ResourceType[];
  /** Types with more deleted objects than are shown. */
  readonly incomplete: readonly ResourceType[];
}

interface DeletedList {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly ObjectState[];
}

/** Reads the deleted objects of the types whose history the server keeps. @throws as `send` */
export async function readTrash(
  types: readonly ResourceType[],
  groupSuffix: string,
  signal: AbortSignal,
): Promise<Trash> {
  const objects: DeletedObject[] = [];
  const [kept, incomplete]: [ResourceType[], ResourceType[]] = [[], []];
  await inParallel(types, parallelReads, async (type) => {
    const list = await readDeleted(type, signal);
    if (list === undefined) return;
    kept.push(type);
    for (const item of list.items) objects.push(deletedObject(type, item, groupSuffix));
    if ((list.metadata.continue ?? "") !== "") incomplete.push(type);
  });
  return { objects: newestFirst(objects), types: kept, incomplete };
}

/** Undefined if the server doesn't keep the history of the type, or the user may not read it. */
async function readDeleted(type: ResourceType, signal: AbortSignal): Promise<DeletedList | undefined> {
  try {
    return await getJson<DeletedList>(`${pathOf(type, "")}?deleted=true&limit=${maxPerType}`, { signal });
  } catch (error) {
    if (error instanceof ApiError && [400, 403, 404, 405].includes(error.status)) return undefined;
    throw error;
  }
}

/** Returns a deleted object as it can be created again, with its owners as they are now. @throws as `send` */
export async function recreationOf(
  deleted: DeletedObject,
  types: readonly ResourceType[],
  groupSuffix: string,
): Promise<Recreation> {
  const owners: PresentOwner[] = [];
  for (const reference of deleted.object.metadata.ownerReferences ?? [])
    owners.push({ reference, uid: await presentUid(reference, types, deleted.namespace) });
  return recreation(deleted, owners, groupSuffix);
}

async function presentUid(
  { apiVersion, kind, name }: OwnerReference,
  types: readonly ResourceType[],
  namespace: string,
): Promise<string | undefined> {
  const type = types.find((one) => apiVersionOf(one) === apiVersion && one.kind === kind);
  if (type === undefined) return undefined;
  try {
    const owner = await getJson<ObjectState>(pathOf(type, type.namespaced ? namespace : "", name));
    return owner.metadata.uid;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** Creates a deleted object again. @param dryRun runs all checks and writes nothing. @throws as `send` */
export function recreate(
  { type, namespace }: DeletedObject,
  object: object,
  dryRun: boolean,
): Promise<ObjectState> {
  const query = `?fieldManager=${fieldManager}${dryRun ? "&dryRun=All" : ""}`;
  return getJson<ObjectState>(`${pathOf(type, namespace)}${query}`, { method: "POST", body: object });
}
