import { describe, expect, test } from "vitest";
import { createServer, manualClock, type ApiObject, type Server } from "../../src/index.ts";
import { seededRandom } from "../../src/base/random.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const startMs = Date.parse("2030-01-01T00:00:00Z");
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const folder = useTemporaryFolders();
const start = (seed: number | undefined) => createServer({ port: false, seed, clock: manualClock(startMs) });
const generated = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { generateName: "a-", namespace: "default" },
};

/** All stored objects without what is secret and what depends on the order of concurrent writes. */
async function objectsOf(server: Server): Promise<Map<string, ApiObject>> {
  const kinds = [
    ["v1", "Namespace"],
    ["v1", "ConfigMap"],
    ["v1", "Service"],
    ["v1", "ServiceAccount"],
    ["v1", "Pod"],
    ["rbac.authorization.platform.io/v1", "ClusterRole"],
    ["rbac.authorization.platform.io/v1", "ClusterRoleBinding"],
  ] as const;
  const objects = new Map<string, ApiObject>();
  for (const [apiVersion, kind] of kinds) {
    const { items } = await server.client.list({ apiVersion: apiVersion as string, kind });
    for (const object of items) {
      const { resourceVersion: _resourceVersion, ...metadata } = object.metadata;
      const holdsCertificates = kind === "ConfigMap" && object.metadata.generateName === undefined;
      const shown = { ...object, metadata, ...(holdsCertificates ? { data: {} } : {}) };
      objects.set(`${kind} ${metadata.namespace ?? ""}/${metadata.name}`, shown);
    }
  }
  return objects;
}

/** Creates objects with generated names, addresses and volumes. */
async function fill(server: Server): Promise<void> {
  const { client } = server;
  await Promise.all([client.create(generated), client.create(generated), client.create(generated)]);
  await client.create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { type: "NodePort", ports: [{ port: 80 }] },
  });
  const account = {
    apiVersion: "v1",
    kind: "ServiceAccount",
    name: "default",
    namespace: "default",
  } as const;
  await client.waitFor(account, (object) => object !== undefined);
  await server.clock.advance(60_000);
  await client.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "pod-", namespace: "default" },
    spec: { containers: [{ name: "a", image: "a" }] },
  });
}

describe("seed", () => {
  test("gives the same objects in each run, with other keys", async () => {
    await using first = await start(1);
    await using second = await start(1);
    await fill(first);
    // Other objects don't change the values of these.
    await second.client.create({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a", namespace: "default" },
    });
    await fill(second);
    const [one, other] = [await objectsOf(first), await objectsOf(second)];
    expect(one.size).toBeGreaterThan(80);
    expect(Object.fromEntries(one)).toEqual(Object.fromEntries(other));
    const uids = [...one.values()].map(({ metadata }) => metadata.uid!);
    expect(new Set(uids).size).toBe(uids.length);
    expect(uids.filter((uid) => !uuid.test(uid))).toEqual([]);
    expect(first.adminToken).not.toBe(second.adminToken);
  });

  test("gives other objects with another seed, and without one", async () => {
    const uidOf = async (seed: number | undefined) => {
      await using server = await start(seed);
      return (await server.client.create(generated)).metadata.uid;
    };
    const uids = await Promise.all([uidOf(1), uidOf(1), uidOf(2), uidOf(undefined), uidOf(undefined)]);
    expect(new Set(uids).size).toBe(4);
  });

  test("gives an object that is created again another uid", async () => {
    await using server = await start(1);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } };
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "default" };
    const before = await server.client.create(object);
    await server.client.delete(reference);
    const after = await server.client.create(object);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
    await using fork = await server.fork();
    await fork.client.delete(reference);
    const inFork = await fork.client.create(object);
    expect([before, after].map(({ metadata }) => metadata.uid)).not.toContain(inFork.metadata.uid);
  });

  test.each([[1.5], ["1"], [Number.NaN]])("must be a safe integer, not %j", async (seed) => {
    await expect(createServer({ port: false, seed: seed as number })).rejects.toThrow(
      /^seed: .* is not a safe integer/,
    );
  });

  test("needs objects in memory", async () => {
    const storage = { engine: "embedded", dir: folder() } as const;
    await expect(createServer({ port: false, seed: 1, storage })).rejects.toThrow(
      'seed: needs the storage engine "memory"',
    );
  });
});

describe("a seeded source", () => {
  test("has a sequence for each purpose", () => {
    const [one, other] = [seededRandom(1), seededRandom(1)];
    const sequence = [one.below(1000, "a"), one.below(1000, "a"), one.below(1000, "a")];
    other.uuid("b");
    expect([other.below(1000, "a"), other.below(1000, "a"), other.below(1000, "a")]).toEqual(sequence);
    expect(new Set(sequence).size).toBeGreaterThan(1);
  });

  test("spreads its integers over the range", () => {
    const random = seededRandom(7);
    const counts = Array.from({ length: 5 }, () => 0);
    for (let draw = 0; draw < 5000; draw++) counts[random.below(5, "dice")]!++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
