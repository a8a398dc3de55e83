import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Finalizer that keeps an object until its dependents have been orphaned. */
export const orphanFinalizer = "orphan";
/** Finalizer that keeps an object until its dependents have been deleted. */
export const foregroundFinalizer = "foregroundDeletion";

/** Message for a finalizer that isn't qualified. */
export const notQualified = "name is neither a standard finalizer name nor is it fully qualified";

/** Returns true if a finalizer has a domain before a slash, or is one of the server's. */
export function isQualifiedFinalizer(name: string, { namespaceFinalizer }: Vocabulary): boolean {
  return name.includes("/") || [orphanFinalizer, foregroundFinalizer, namespaceFinalizer].includes(name);
}
