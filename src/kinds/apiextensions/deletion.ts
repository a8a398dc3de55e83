import { apiGroup } from "../../vocabulary/names.ts";
import type { ObjectMetaValue } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Returns the finalizer that keeps a definition until its objects are deleted. */
export function cleanupFinalizer({ groupSuffix }: Vocabulary): string {
  return apiGroup(groupSuffix, "customresourcecleanup.apiextensions");
}

/** Marks a definition as terminating when it is deleted. Changes the copy. */
export function beginDeletion(copy: { metadata: ObjectMetaValue }, vocabulary: Vocabulary): void {
  const { metadata } = copy;
  const finalizer = cleanupFinalizer(vocabulary);
  const before = metadata.finalizers ?? [];
  if (!before.includes(finalizer)) metadata.finalizers = [...before, finalizer];
}
