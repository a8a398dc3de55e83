import type { ObjectMetaValue } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Holds a definition until its objects are gone. */
export function cleanupFinalizer({ groupSuffix }: Vocabulary): string {
  return `customresourcecleanup.apiextensions.${groupSuffix}`;
}

/** Marks a definition whose deletion begins: it waits for its objects. Changes the copy. */
export function beginDeletion(copy: { metadata: ObjectMetaValue }, vocabulary: Vocabulary): void {
  const { metadata } = copy;
  const finalizer = cleanupFinalizer(vocabulary);
  const before = metadata.finalizers ?? [];
  if (!before.includes(finalizer)) metadata.finalizers = [...before, finalizer];
}
