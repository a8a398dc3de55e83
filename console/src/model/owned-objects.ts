import type { ResourceType } from "./resource-types.ts";

/** An object that has owners. */
export interface OwnedObject {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** UIDs of its owners. */
  readonly owners: readonly string[];
}

/** Objects by the UID of each of their owners. */
export type ObjectsByOwner = ReadonlyMap<string, readonly OwnedObject[]>;

export function byOwner(objects: readonly OwnedObject[]): ObjectsByOwner {
  const result = new Map<string, OwnedObject[]>();
  for (const object of objects) {
    for (const owner of new Set(object.owners)) {
      const list = result.get(owner);
      if (list === undefined) result.set(owner, [object]);
      else list.push(object);
    }
  }
  return result;
}

/** Returns the objects that are deleted with an object, at any depth: those whose owners are all deleted. */
export function deletedWith(uid: string, objects: ObjectsByOwner): OwnedObject[] {
  const deleted: OwnedObject[] = [];
  const remaining = new Map<string, number>();
  const seen = new Set([uid]);
  for (const queue = [uid]; queue.length > 0;) {
    for (const object of objects.get(queue.pop()!) ?? []) {
      const count = (remaining.get(object.uid) ?? new Set(object.owners).size) - 1;
      remaining.set(object.uid, count);
      if (count > 0 || seen.has(object.uid)) continue;
      seen.add(object.uid);
      deleted.push(object);
      queue.push(object.uid);
    }
  }
  return deleted;
}
