import { expect, test } from "vitest";
import { Follower } from "../../../src/resources/followers/follower.ts";
import { RevisionCompactedError, StoreUnavailableError } from "../../../src/storage/store.ts";
import { settle } from "../../api/support.ts";
import { UnsteadyStore } from "../../support/unsteady-store.ts";

const prefix = "/core/configmaps/";

async function follow() {
  const unsteady = new UnsteadyStore();
  const keys = new Set<string>();
  const failures: unknown[] = [];
  const handler = {
    put: ({ key }: { key: string }) => void keys.add(key),
    remove: (key: string) => void keys.delete(key),
    failed: (error: unknown) => void failures.push(error),
  };
  const follower = new Follower(unsteady.shown, prefix, handler, unsteady.clock);
  await follower.start();
  return { unsteady, keys, failures, follower };
}

test("sync throws StoreUnavailableError before the first load", () => {
  const { shown, clock } = new UnsteadyStore();
  const handler = { put: () => undefined, remove: () => undefined, failed: () => undefined };
  const follower = new Follower(shown, prefix, handler, clock);
  expect(() => follower.sync()).toThrow(StoreUnavailableError);
});

test("sync waits for a reload that is running", async () => {
  const { unsteady, keys, follower } = await follow();
  let release = (): void => undefined;
  unsteady.held = new Promise((resolve) => (release = resolve));
  unsteady.endSubscription();
  await unsteady.create(`${prefix}a/late`);
  let synced = false;
  const sync = Promise.resolve(follower.sync()).then(() => (synced = true));
  await settle();
  expect(synced).toBe(false);
  release();
  await sync;
  expect([...keys]).toEqual([`${prefix}a/late`]);
  follower.close();
});

test("sync throws while the reload fails, and the reload is retried each second", async () => {
  const { unsteady, keys, failures, follower } = await follow();
  unsteady.away = true;
  unsteady.endSubscription();
  await expect(async () => follower.sync()).rejects.toThrow(StoreUnavailableError);
  await unsteady.create(`${prefix}a/late`);
  await unsteady.clock.advance(2500);
  expect(failures).toHaveLength(3);
  await expect(async () => follower.sync()).rejects.toThrow(StoreUnavailableError);
  unsteady.away = false;
  await unsteady.clock.advance(500);
  await follower.sync();
  expect([...keys]).toEqual([`${prefix}a/late`]);
  follower.close();
});

test("a closed follower does not reload", async () => {
  const { unsteady, follower } = await follow();
  unsteady.away = true;
  unsteady.endSubscription();
  await settle();
  follower.close();
  const { reads } = unsteady;
  await unsteady.clock.advance(10_000);
  expect(unsteady.reads).toBe(reads);
});

test("a background load yields to other work between pages", async () => {
  const unsteady = new UnsteadyStore();
  for (let number = 0; number < 2000; number++) await unsteady.create(`${prefix}a/${number}`);
  let known = 0;
  const seen = new Set<number>();
  const handler = { put: () => void known++, remove: () => undefined, failed: () => undefined };
  const follower = new Follower(unsteady.shown, prefix, handler, unsteady.clock);
  follower.startInBackground();
  const look = () => {
    seen.add(known);
    if (known < 2000) setImmediate(look);
  };
  look();
  await follower.sync();
  expect(known).toBe(2000);
  expect(seen.size).toBeGreaterThan(5);
  follower.close();
});

test("the first load begins again if history is compacted between two pages, a few times at most", async () => {
  const unsteady = new UnsteadyStore();
  for (let number = 0; number < 1500; number++) await unsteady.create(`${prefix}a/${number}`);
  const keys = new Set<string>();
  const handler = {
    put: ({ key }: { key: string }) => void keys.add(key),
    remove: (key: string) => void keys.delete(key),
    failed: () => undefined,
  };
  let compactions = 0;
  unsteady.isCompacted = ({ after }) => after !== undefined && ++compactions <= 2;
  const follower = new Follower(unsteady.shown, prefix, handler, unsteady.clock);
  await follower.start();
  expect([keys.size, compactions]).toEqual([1500, 3]);
  follower.close();
  unsteady.isCompacted = ({ after }) => after !== undefined;
  const failing = new Follower(unsteady.shown, prefix, handler, unsteady.clock);
  await expect(failing.start()).rejects.toThrow(RevisionCompactedError);
  failing.close();
});
