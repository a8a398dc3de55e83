import { isDeepStrictEqual } from "node:util";
import type { DefaultObject } from "../../flow/default-objects.ts";
import type { Client, NewObject } from "../../resources/clients/client.ts";

/** A stored FlowSchema or PriorityLevelConfiguration. */
export interface StoredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly spec: object;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

/** A write that brings a default object to its desired state. */
export type Change =
  | { readonly action: "create"; readonly object: NewObject }
  | { readonly action: "update"; readonly object: NewObject };

/**
 * Returns the change that brings a default object to the state of this release; undefined if there is none. A mandatory
 * object is always updated. A suggested one is updated while its annotation is `true` or, without the annotation, while
 * its spec has not been changed; the annotation is then set.
 *
 * @param type apiVersion and kind of a new object.
 */
export function changeFor(
  {
    object: { metadata, spec },
    mandatory,
  }: DefaultObject<{ readonly metadata: { name: string }; spec: object }>,
  existing: StoredObject | undefined,
  type: { readonly apiVersion: string; readonly kind: string },
  annotation: string,
): Change | undefined {
  const { name } = metadata;
  if (existing === undefined) {
    const annotations = { [annotation]: "true" };
    return { action: "create", object: { ...type, metadata: { name, annotations }, spec } };
  }
  const annotationValue = existing.metadata.annotations?.[annotation];
  const isMaintained =
    mandatory ||
    (annotationValue === undefined ? existing.metadata.generation === 1 : annotationValue === "true");
  const desiredSpec = isMaintained ? keepExemptShares(spec, existing.spec) : existing.spec;
  if (annotationValue === String(isMaintained) && isDeepStrictEqual(desiredSpec, existing.spec))
    return undefined;
  const annotations = { ...existing.metadata.annotations, [annotation]: String(isMaintained) };
  const updated = { ...existing, metadata: { ...existing.metadata, annotations }, spec: desiredSpec };
  return { action: "update", object: updated as NewObject };
}

/** Returns the default spec with the shares of the stored level `exempt`, which an administrator may change. */
function keepExemptShares(spec: object, stored: { readonly exempt?: unknown }): object {
  return "exempt" in spec && stored.exempt !== undefined ? { ...spec, exempt: stored.exempt } : spec;
}

export async function writeChange(client: Client, { action, object }: Change): Promise<void> {
  if (action === "create") await client.add(object);
  else await client.update(object);
}

/**
 * Returns the flow schema with the condition `Dangling`, which reports whether its priority level is missing; undefined
 * if the stored condition is already right.
 *
 * @param now RFC 3339.
 */
export function danglingUpdate(
  schema: StoredObject,
  level: string,
  exists: boolean,
  now: string,
): NewObject | undefined {
  const conditions = schema.status?.conditions ?? [];
  const status = exists ? "False" : "True";
  if (conditions.find(({ type }) => type === "Dangling")?.status === status) return undefined;
  const condition = {
    type: "Dangling",
    status,
    lastTransitionTime: now,
    reason: exists ? "Found" : "NotFound",
    message: exists
      ? `the priority level ${JSON.stringify(level)} exists`
      : `there is no priority level ${JSON.stringify(level)}; requests are not assigned by this flow schema`,
  };
  const others = conditions.filter(({ type }) => type !== "Dangling");
  return { ...schema, status: { ...schema.status, conditions: [...others, condition] } } as NewObject;
}
