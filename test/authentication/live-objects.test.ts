import { describe, expect, test } from "vitest";
import { LiveObjects, type TokenResource } from "../../src/authentication/live-objects.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import type { Entry, Store } from "../../src/storage/store.ts";
import { platform } from "../../src/vocabulary/platform.ts";

const registry = new Registry(builtInKinds, platform, () => true);

/** Objects over a store that is a map, and the keys that were read. */
function liveObjects(maxCached?: number) {
  const entries = new Map<string, Entry>();
  const keys: string[] = [];
  const store = {
    get(key: string) {
      keys.push(key);
      return entries.get(key);
    },
  } as unknown as Store;
  const put = (key: string, revision: number, metadata: object) =>
    entries.set(key, { key, revision, body: Buffer.from(JSON.stringify({ metadata })) } as unknown as Entry);
  return { live: new LiveObjects(store, registry, maxCached), entries, keys, put };
}

describe("the object to which a token refers", () => {
  test.each<[TokenResource, string, string]>([
    ["serviceaccounts", "ci", "/core/serviceaccounts/ci/it"],
    ["pods", "ci", "/core/pods/ci/it"],
    ["secrets", "ci", "/core/secrets/ci/it"],
    ["nodes", "", "/core/nodes//it"],
  ])("of the type %s is read from the store", (type, namespace, key) => {
    const { live, put } = liveObjects();
    expect(live.identity(type, namespace, "it")).toBeUndefined();
    expect(live.object(type, namespace, "it")).toBeUndefined();
    put(key, 1, { uid: "u1", deletionTimestamp: "2030-01-01T00:00:00Z" });
    expect(live.identity(type, namespace, "it")).toEqual({ uid: "u1", deletionTimeMs: Date.UTC(2030) });
    expect(live.object(type, namespace, "it")).toMatchObject({ metadata: { uid: "u1" } });
  });

  test.each<[string, TokenResource, string, string]>([
    ["a name with a slash", "secrets", "ci", "a/b"],
    ["a namespace with a slash", "secrets", "ci/a", "b"],
    ["an empty name", "secrets", "ci", ""],
    ["no namespace", "secrets", "", "a"],
    ["a node in a namespace", "nodes", "ci", "a"],
    ["a node with a slash in its name", "nodes", "", "a/b"],
  ])("doesn't exist, without a read of the store: %s", (_what, type, namespace, name) => {
    const { live, keys } = liveObjects();
    expect(live.identity(type, namespace, name)).toBeUndefined();
    expect(live.object(type, namespace, name)).toBeUndefined();
    expect(keys).toEqual([]);
  });

  test("is decoded once per revision", () => {
    const { live, put, entries } = liveObjects();
    const key = "/core/pods/ci/it";
    put(key, 1, { uid: "u1" });
    const first = live.identity("pods", "ci", "it");
    expect(live.identity("pods", "ci", "it")).toBe(first);
    put(key, 2, { uid: "u2" });
    expect(live.identity("pods", "ci", "it")).toEqual({ uid: "u2", deletionTimeMs: undefined });
    entries.delete(key);
    expect(live.identity("pods", "ci", "it")).toBeUndefined();
    put(key, 2, { uid: "u3" });
    expect(live.identity("pods", "ci", "it")).toMatchObject({ uid: "u3" });
  });

  test("is forgotten when more objects than the limit were decoded later", () => {
    const { live, put } = liveObjects(2);
    for (const name of ["a", "b", "c"]) put(`/core/pods/ci/${name}`, 1, { uid: name });
    const [a, b] = ["a", "b"].map((name) => live.identity("pods", "ci", name));
    expect(live.identity("pods", "ci", "a")).toBe(a);
    void live.identity("pods", "ci", "c");
    expect(live.identity("pods", "ci", "b")).toBe(b);
    expect(live.identity("pods", "ci", "a")).not.toBe(a);
  });
});
