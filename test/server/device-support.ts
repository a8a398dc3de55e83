import { expect } from "vitest";
import { ok as succeed } from "../api/support.ts";
import type { useServer } from "../support/use-server.ts";

const group = "/apis/resource.platform.io";
/** Paths of the kinds of devices. */
export const collections = {
  class: `${group}/v1/deviceclasses`,
  claim: `${group}/v1/namespaces/default/resourceclaims`,
  template: `${group}/v1/namespaces/default/resourceclaimtemplates`,
  slice: `${group}/v1/resourceslices`,
} as const;

/** Returns the object of a successful request. */
export async function ok(request: Parameters<typeof succeed>[0]) {
  return (await succeed(request)).body;
}

let count = 0;
/** Returns an object with a new name. */
export const named = (spec: object) => ({ metadata: { name: `object-${count++}` }, spec });

/** Creates an object; returns the fields with faults, sorted. */
export async function faultsOf(
  server: ReturnType<typeof useServer>,
  collection: keyof typeof collections,
  spec: object,
): Promise<string[]> {
  const path = `${collections[collection]}?fieldValidation=Strict`;
  const { status, body } = await server.admin.post(path, named(spec));
  if (status === 201) return [];
  expect(status, JSON.stringify(body)).toBe(422);
  return faultsIn(body);
}

/** Returns the fields with faults of an answer, sorted. */
export function faultsIn(body: Readonly<Record<string, unknown>>): string[] {
  const { causes } = body["details"] as { causes: { reason: string; field: string }[] };
  return causes.map(({ reason, field }) => `${field} ${reason.replace("FieldValue", "")}`).toSorted();
}

/** Returns a list of equal items. */
export function repeated(length: number, item: object): object[] {
  return Array.from({ length }, () => item);
}
