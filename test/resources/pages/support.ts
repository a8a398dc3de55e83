import { expect } from "vitest";
import type { ItemForm } from "../../../src/resources/pages/joined-bodies.ts";
import type { Draft, Store } from "../../../src/storage/store.ts";

export const prefix = "/core/configmaps/";

export const form: ItemForm = "bare";

export const beginning = '{"kind":"ConfigMap","apiVersion":"v1",';

export function draft(text: string): Draft {
  const beforeRevision = `${beginning}"metadata":{"resourceVersion":"`;
  const body = Buffer.from(`${beforeRevision}"},"t":"${text}"}`);
  return { header: Buffer.from("{}"), body, revisionAt: beforeRevision.length };
}

export async function put(store: Store, key: string, text: string): Promise<void> {
  const standing = await store.get(key);
  const result =
    standing === undefined
      ? await store.commit({ kind: "create", key, draft: draft(text) })
      : await store.commit({ kind: "update", key, expected: standing.revision, draft: draft(text) });
  expect(result.ok).toBe(true);
}

export async function remove(store: Store, key: string): Promise<void> {
  const standing = await store.get(key);
  if (standing === undefined) return;
  await store.commit({ kind: "delete", key, expected: standing.revision });
}

export const keyOf = (name: number): string => `${prefix}${name % 2 === 0 ? "a" : "b"}/n${name}`;
