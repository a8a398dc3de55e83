import type { JsonObject } from "../../base/json/value.ts";

/** How objects are applied or deleted. */
export interface OperationOptions {
  readonly fieldManager: string;
  readonly force?: boolean | undefined;
  readonly delete?: boolean | undefined;
}

/** An operation of a preview. */
export type PreviewOperation =
  | {
      readonly verb: "apply";
      readonly fieldManager: string;
      readonly force: boolean;
      readonly object: JsonObject;
    }
  | {
      readonly verb: "delete";
      readonly apiVersion: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string;
      readonly propagationPolicy: string;
    };

/** Returns objects in the order in which they are applied: namespaces, definitions, then the others as they are; reversed for a deletion. */
export function previewOrder<T>(
  objects: readonly T[],
  kindOf: (one: T) => unknown,
  { delete: deletes = false }: Pick<OperationOptions, "delete">,
): T[] {
  const ranks = new Map<unknown, number>([
    ["Namespace", 0],
    ["CustomResourceDefinition", 1],
  ]);
  const rankOf = (one: T) => ranks.get(kindOf(one)) ?? ranks.size;
  const ordered = objects.toSorted((one, other) => rankOf(one) - rankOf(other));
  return deletes ? ordered.toReversed() : ordered;
}

/** Returns the operation that applies or deletes an object. */
export function previewOperation(
  object: JsonObject,
  { fieldManager, force = false, delete: deletes = false }: OperationOptions,
): PreviewOperation {
  if (!deletes) return { verb: "apply", fieldManager, force, object };
  const { apiVersion, kind, metadata } = object;
  const { name = "", namespace } = (metadata ?? {}) as {
    readonly name?: string;
    readonly namespace?: string;
  };
  return {
    verb: "delete",
    apiVersion: String(apiVersion),
    kind: String(kind),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    propagationPolicy: "Background",
  };
}
