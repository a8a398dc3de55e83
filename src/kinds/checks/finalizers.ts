import { qualifiedNameFaults } from "../../base/names.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Holds an object until its dependents have been let go. */
export const orphanFinalizer = "orphan";
/** Holds an object until its dependents are deleted. */
export const foregroundFinalizer = "foregroundDeletion";

/** What is wrong with a finalizer: it has a domain before a slash, unless it is one of the server's own. */
export function finalizerFaults(name: string, { namespaceFinalizer }: Vocabulary): readonly string[] {
  const faults = qualifiedNameFaults(name);
  const isOwn = [orphanFinalizer, foregroundFinalizer, namespaceFinalizer].includes(name);
  if (name.includes("/") || isOwn) return faults;
  return [...faults, "name is neither a standard finalizer name nor is it fully qualified"];
}
