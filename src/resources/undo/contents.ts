import type { ApiObject } from "../../schema/kind.ts";
import type { Engine, Target } from "../engine/engine.ts";
import { namesOf, prefixOf, storePrefixOf, type Resource } from "../registry/registry.ts";
import type { PlannedWrite } from "./planned-write.ts";
import { describe } from "./undo-plan.ts";

/**
 * Finds an object that would be deleted with a namespace or custom resource definition, although the plan doesn't delete it.
 *
 * @param deleted keys of the objects that are deleted too.
 * @returns the object in words; undefined if there is none.
 */
export async function contentsOf(
  engine: Engine,
  { target, now }: Pick<PlannedWrite, "target" | "now">,
  deleted: ReadonlySet<string>,
): Promise<string | undefined> {
  for (const { resource, prefix } of collectionsIn(engine, target, now!)) {
    // Of more objects than are deleted, at least one is another.
    const limit = deleted.size + automaticObjects + 1;
    const { entries } = await engine.store.range({ prefix, limit });
    const other = entries.find(({ key }) => !deleted.has(key) && !isAutomatic(engine, resource, key));
    if (other !== undefined) return describe({ resource, ...namesOf(other.key), subresource: "" });
  }
  return undefined;
}

interface Collection {
  readonly resource: Resource;
  readonly prefix: string;
}

function collectionsIn(
  { registry }: Engine,
  { resource: { group, name: type, kind }, name }: Target,
  object: ApiObject,
): Collection[] {
  if (group === "" && type === "namespaces") {
    const within = registry.stored().filter(({ namespaced }) => namespaced);
    return within.map((resource) => ({ resource, prefix: prefixOf(resource, name) }));
  }
  if (kind.name !== "CustomResourceDefinition" || type !== "customresourcedefinitions") return [];
  const spec = object["spec"] as { readonly group: string; readonly names: { readonly plural: string } };
  const prefix = storePrefixOf(spec.group, spec.names.plural);
  const resource = registry.stored().find(({ storePrefix }) => storePrefix === prefix);
  return resource === undefined ? [] : [{ resource, prefix }];
}

/** Number of objects of one kind that controllers create in a namespace. */
const automaticObjects = 1;

/** Whether controllers create the object in every namespace. */
function isAutomatic({ vocabulary }: Engine, { group, name: type }: Resource, key: string): boolean {
  const { name } = namesOf(key);
  if (group !== "") return false;
  if (type === "serviceaccounts") return name === "default";
  return type === "configmaps" && name === vocabulary.rootAuthorityConfigMap;
}
