import type { Metadata } from "../model/metadata.ts";
import { matches, selectorOf } from "../model/label-selectors.ts";
import { referencesOf, usersOf, type KnownTypes } from "../model/references.ts";
import { pathOf, type ResourceType } from "../model/resource-types.ts";
import { ApiError, getJson } from "./client.ts";
import type { ApiObject } from "./objects.ts";
import { inParallel } from "./parallel.ts";

/** An object that refers to another one, or selects it. */
export interface UserOfObject {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  /** Path of the field with the reference; `selects it` for a selector. */
  readonly path: string;
}

export interface UserSearch {
  readonly users: readonly UserOfObject[];
  /** Types of which not all objects were searched: too many, or the user may not list them. */
  readonly incomplete: readonly ResourceType[];
}

/** An item of a list, which has neither `apiVersion` nor `kind`. */
interface ListedObject {
  readonly metadata: Metadata;
  readonly [field: string]: unknown;
}

interface ObjectList {
  readonly items: readonly ListedObject[];
  readonly metadata: { readonly continue?: string };
}

/** Objects of a type that are searched. */
const limit = 200;
const parallel = 4;

/** Searches the objects that refer to an object or select it, in its namespace; for an object of the cluster in all. */
export async function findUsers(
  target: ResourceType,
  { metadata: { namespace = "", name, labels = {} } }: ApiObject,
  types: KnownTypes,
  signal: AbortSignal,
): Promise<UserSearch> {
  const users: UserOfObject[] = [];
  const incomplete: ResourceType[] = [];
  await inParallel(usersOf(target, types), parallel, async (type) => {
    // A node has pods without end; the server finds its own.
    const ofNode =
      target.kind === "Node" && type.kind === "Pod" ? { fieldSelector: `spec.nodeName=${name}` } : {};
    const query = new URLSearchParams({ limit: String(limit), ...ofNode });
    try {
      const scope = type.namespaced ? namespace : "";
      const list = await getJson<ObjectList>(`${pathOf(type, scope)}?${query.toString()}`, { signal });
      if ((list.metadata.continue ?? "") !== "") incomplete.push(type);
      for (const item of list.items) {
        const path = pathToTarget(item) ?? selectionOf(item);
        if (path === undefined) continue;
        users.push({ type, namespace: item.metadata.namespace ?? "", name: item.metadata.name, path });
      }
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError)) throw error;
      incomplete.push(type);
    }
  });
  return { users: users.toSorted((one, other) => (textOf(one) < textOf(other) ? -1 : 1)), incomplete };

  function pathToTarget(item: ListedObject): string | undefined {
    return referencesOf(item, types).find(
      (one) =>
        one.type === target && one.name === name && (!target.namespaced || one.namespace === namespace),
    )?.path;
  }
  function selectionOf(item: ListedObject): string | undefined {
    if (target.group !== "" || target.kind !== "Pod" || item.metadata.namespace !== namespace)
      return undefined;
    const selector = selectorOf(item);
    return selector !== undefined && matches(selector, labels) ? "selects it" : undefined;
  }
}

function textOf({ type, namespace, name }: UserOfObject): string {
  return `${type.kind} ${namespace} ${name}`;
}
