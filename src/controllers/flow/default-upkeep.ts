import { isDeepStrictEqual } from "node:util";
import type { DefaultObject } from "../../flow/default-objects.ts";
import type { Client, NewObject } from "../../resources/clients/client.ts";

/** A configuration object of flow control as it is stored. */
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

/** What is to be written so that a default object is as it should be; undefined: nothing. */
export type Change =
  | { readonly action: "create"; readonly object: NewObject }
  | { readonly action: "update"; readonly object: NewObject };

/**
 * How a default object is brought to what this release gives it. A mandatory one always is. A suggested one is while its
 * annotation says so, or (without the annotation) while nobody has changed its spec; the annotation then says which.
 *
 * @param apiVersion of objects that are created.
 */
export function upkeepOf(
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
  const said = existing.metadata.annotations?.[annotation];
  const kept = mandatory || (said === undefined ? existing.metadata.generation === 1 : said === "true");
  const wanted = kept ? spec : existing.spec;
  if (said === String(kept) && isDeepStrictEqual(wanted, existing.spec)) return undefined;
  const annotations = { ...existing.metadata.annotations, [annotation]: String(kept) };
  const updated = { ...existing, metadata: { ...existing.metadata, annotations }, spec: wanted };
  return { action: "update", object: updated as NewObject };
}

/** Writes a change. */
export async function writeChange(client: Client, { action, object }: Change): Promise<void> {
  if (action === "create") await client.add(object);
  else await client.update(object);
}

/**
 * The flow schema with the condition that tells whether its priority level is missing; undefined where it tells already.
 *
 * @param now the time as objects have it.
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
