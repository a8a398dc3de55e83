/** What the tests of kept history share. */
import { expect } from "vitest";
import { keepHistory, type HistoryOptions } from "../../../src/storage/history/history-store.ts";
import { createMemoryStore, type MemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { CollectionRetention, Version } from "../../../src/storage/store-history.ts";
import type { Origin, Store } from "../../../src/storage/store.ts";
import { ManualClock } from "../support.ts";

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const collection = "/g/r/";
export const keyOf = (name: string) => `${collection}n/${name}`;

export interface Subject {
  readonly clock: ManualClock;
  /** The store without the history. */
  readonly inner: MemoryStore;
  readonly store: Store;
  readonly failures: unknown[];
}

export async function open(options: Partial<HistoryOptions> = {}, over?: Subject): Promise<Subject> {
  const clock = over?.clock ?? new ManualClock();
  const inner = over?.inner ?? createMemoryStore({ clock });
  const failures: unknown[] = [];
  const store = await keepHistory(inner, {
    clock,
    collections: new Map([[collection, { ms: hourMs }]]),
    drops: true,
    failed: (error) => failures.push(error),
    ...options,
  });
  return { clock, inner, store, failures };
}

export const keeping = (retention: CollectionRetention): Partial<HistoryOptions> => ({
  collections: new Map([[collection, retention]]),
});

/** Drops the store's own past up to now. */
export async function forget({ clock, inner }: Subject): Promise<void> {
  clock.advance(1000);
  await inner.compact(clock.now());
}

export async function versionsOf(store: Store, key: string): Promise<Version[]> {
  const { versions, next } = await store.history!.versions(key, { limit: 100 });
  expect(next).toBeUndefined();
  return [...versions];
}

export const stepsOf = (versions: readonly Version[]) =>
  versions.map(({ revision, deleted, previous }) => `${previous}>${revision}${deleted ? " deleted" : ""}`);

export const origin = (fields: Partial<Origin> = {}): Origin => ({
  user: "mara",
  manager: "kubectl",
  verb: "apply",
  requestId: "0c0d7b5e-1f2a-4f5e-8a4b-0123456789ab",
  time: 1_700_000_000_123,
  ...fields,
});
