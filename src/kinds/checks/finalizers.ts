import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Holds an object until its dependents have been let go. */
export const orphanFinalizer = "orphan";
/** Holds an object until its dependents are deleted. */
export const foregroundFinalizer = "foregroundDeletion";

/** What is wrong with a finalizer that isn't qualified. */
export const notQualified = "name is neither a standard finalizer name nor is it fully qualified";

/** Whether a finalizer has a domain before a slash, or is one of the server's own. */
export function isQualifiedFinalizer(name: string, { namespaceFinalizer }: Vocabulary): boolean {
  return name.includes("/") || [orphanFinalizer, foregroundFinalizer, namespaceFinalizer].includes(name);
}
