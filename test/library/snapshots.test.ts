import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createServer, OptionsError, type Server, type Snapshot, type WatchEvent } from "../../src/index.ts";
import { configMap, namespace, role, refTo, roleBinding, settle, until, user } from "../api/support.ts";
import { definitionOfThings, thing } from "./support.ts";

const maps = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop" } as const;
const inShop = { namespace: "shop" };

let server: Server;
let start: Snapshot;

beforeAll(async () => {
  server = await createServer({ port: false });
  await server.client.create(namespace("shop"));
  for (const name of ["changed", "deleted", "replaced", "same"])
    await server.client.create(configMap(name, { value: "old" }, inShop));
  await until(accounts, (items) => items.length > 0);
  start = server.snapshot();
});
beforeEach(() => server.restore(start));
afterAll(() => server.close());

async function accounts() {
  return (await server.client.list({ apiVersion: "v1", kind: "ServiceAccount", namespace: "shop" })).items;
}

async function everything(of: Server = server): Promise<string[]> {
  const lists = await Promise.all(
    ["Namespace", "ConfigMap", "ServiceAccount", "Secret", "Service"].map((kind) =>
      of.client.list({ apiVersion: "v1", kind }),
    ),
  );
  return lists.flatMap(({ items }) =>
    items.map(({ kind, metadata, data }) =>
      JSON.stringify([kind, metadata.namespace, metadata.name, metadata.uid, data]),
    ),
  );
}

/** Changes objects in each of the possible ways. */
async function change(): Promise<void> {
  const { client } = server;
  await client.patch({ ...maps, name: "changed" }, { data: { value: "new" } });
  await client.delete({ ...maps, name: "deleted" });
  await client.delete({ ...maps, name: "replaced" });
  await client.create(configMap("replaced", { value: "another" }, inShop));
  await client.create(configMap("added", {}, inShop));
}

describe("restore", () => {
  test("brings back exactly the objects of the snapshot, with their uids", async () => {
    const before = await everything();
    await change();
    expect(await everything()).not.toEqual(before);
    await server.restore(start);
    expect(await everything()).toEqual(before);
  });

  test("can be repeated, and writes nothing when nothing has changed", async () => {
    const revision = async () => (await server.client.list(maps)).resourceVersion;
    await change();
    await server.restore(start);
    const restored = await revision();
    await server.restore(start);
    expect(await revision()).toBe(restored);
    await change();
    await server.restore(start);
    expect(Number(await revision())).toBeGreaterThan(Number(restored));
  });

  test("goes forward to a later snapshot too", async () => {
    await change();
    const later = server.snapshot();
    const changed = await everything();
    await server.restore(start);
    await server.restore(later);
    expect(await everything()).toEqual(changed);
    expect(Number(later.resourceVersion)).toBeGreaterThan(Number(start.resourceVersion));
  });

  test("brings back a deleted namespace with its objects", async () => {
    const before = await everything();
    await server.client.delete({ apiVersion: "v1", kind: "Namespace", name: "shop" });
    await until(
      () => server.client.find({ apiVersion: "v1", kind: "Namespace", name: "shop" }),
      (found) => found === undefined,
    );
    await server.restore(start);
    expect(await everything()).toEqual(before);
    await settle();
    await server.client.create(configMap("after", {}, inShop));
  });

  test("removes an added namespace, in which nothing can be created afterwards", async () => {
    await server.client.create(namespace("added"));
    await server.restore(start);
    const error = { reason: "NotFound", message: expect.stringContaining("added") as string };
    await expect(server.client.create(configMap("a", {}, { namespace: "added" }))).rejects.toMatchObject(
      error,
    );
  });

  test("an open watch receives ordinary events, with growing resource versions", async () => {
    const { items, resourceVersion } = await server.client.list(maps);
    expect(items).toHaveLength(4);
    const events: WatchEvent<(typeof items)[number]>[] = [];
    const watch = server.client.watch({ ...maps, resourceVersion }, (event) => void events.push(event));
    await change();
    const changes = events.length;
    await server.restore(start);
    watch.close();
    expect(events.slice(changes).map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      "DELETED added",
      "MODIFIED changed",
      "ADDED deleted",
      "DELETED replaced",
      "ADDED replaced",
    ]);
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
  });

  test("an update with a version from before or after the change is a conflict", async () => {
    const reference = { ...maps, name: "changed" };
    const before = await server.client.get(reference);
    const after = await server.client.patch(reference, { data: { value: "new" } });
    await server.restore(start);
    for (const old of [before, after])
      await expect(server.client.update(old)).rejects.toMatchObject({ reason: "Conflict" });
    const same = await server.client.get({ ...maps, name: "same" });
    await server.client.update({ ...same, data: { value: "new" } });
    await server.client.update({ ...(await server.client.get(reference)), data: { value: "new" } });
  });

  test("a read at a revision from before the restore has the objects of then", async () => {
    await change();
    const { resourceVersion } = await server.client.list(maps);
    await server.restore(start);
    const events: string[] = [];
    const watch = server.client.watch(
      { ...maps, resourceVersion },
      ({ type, object }) => void events.push(`${type} ${object.metadata.name}`),
    );
    watch.close();
    expect(events).toHaveLength(5);
  });

  test("authorization decides by the restored roles at once", async () => {
    const { client } = server;
    const reader = server.as("rita");
    const allowed = await allowRita();
    await reader.list(maps);
    await server.restore(start);
    await expect(reader.list(maps)).rejects.toMatchObject({ reason: "Forbidden" });
    await server.restore(allowed);
    await reader.list(maps);
    await client.delete({ ...roleType, kind: "RoleBinding", name: "readers" });
    await expect(reader.list(maps)).rejects.toMatchObject({ reason: "Forbidden" });
    await server.restore(allowed);
    await reader.list(maps);
  });

  test("quotas count the restored objects", async () => {
    const { client } = server;
    const hard = { "count/configmaps": "6" };
    await client.create({
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "maps", ...inShop },
      spec: { hard },
    });
    await until(
      () => client.get({ apiVersion: "v1", kind: "ResourceQuota", namespace: "shop", name: "maps" }),
      ({ status }) => status?.used?.["count/configmaps"] !== undefined,
    );
    const limited = server.snapshot();
    const fill = async () => {
      const { items } = await client.list(maps);
      for (let index = items.length; index < 6; index++)
        await client.create(configMap(`filler-${index}`, {}, inShop));
      await expect(client.create(configMap("excess", {}, inShop))).rejects.toMatchObject({
        reason: "Forbidden",
      });
    };
    await fill();
    await server.restore(limited);
    await fill();
    await server.restore(start);
    await client.create(configMap("excess", {}, inShop));
  });

  test("custom kinds come and go with their definitions", async () => {
    const { client } = server;
    await client.create(definitionOfThings());
    await served();
    await client.create(thing("one"));
    const withThings = server.snapshot();
    await server.restore(start);
    await expect(client.list(things)).rejects.toMatchObject({
      reason: "NotFound",
    });
    await server.restore(withThings);
    expect((await client.get({ ...things, name: "one" })).metadata.name).toBe("one");
    await client.create(thing("two"));
  });

  test("an equally old other schema of a definition is replaced by that of the snapshot", async () => {
    const { client } = server;
    const definition = { ...definitionType, name: "things.example.com" };
    await client.create(definitionOfThings());
    await served();
    const bare = server.snapshot();
    const setPattern = (pattern: string) =>
      client.patch(
        definition,
        [
          {
            op: "add",
            path: "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/size/pattern",
            value: pattern,
          },
        ],
        "json",
      );
    await setPattern("^small$");
    await client.create(thing("small", "small"));
    const small = server.snapshot();
    await server.restore(bare);
    await setPattern("^large$");
    await expect(client.create(thing("other", "small"))).rejects.toMatchObject({ reason: "Invalid" });
    await server.restore(small);
    await client.create(thing("other", "small"));
    await expect(client.create(thing("large", "large"))).rejects.toMatchObject({ reason: "Invalid" });
  });

  test("writes in progress end with or without success, and the store stays consistent", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `flight-${index}`);
    const writes = names.map(async (name, index) => {
      for (let turn = 0; turn < index % 5; turn++) await Promise.resolve();
      return server.client.create(configMap(name, {}, inShop));
    });
    const updates = ["changed", "same"].map((name) =>
      server.client.patch({ ...maps, name }, { data: { value: "flight" } }),
    );
    await Promise.resolve();
    await server.restore(start);
    const results = await Promise.allSettled([...writes, ...updates]);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toMatchObject({ name: "StatusError" });
    const listed = (await server.client.list(maps)).items.map(({ metadata }) => metadata.name);
    for (const name of listed) await server.client.get({ ...maps, name: name! });
    await server.restore(start);
    expect((await server.client.list(maps)).items).toHaveLength(4);
  });
});

describe("snapshot", () => {
  test("doesn't change when objects are written afterwards", async () => {
    const before = await everything();
    const snapshot = server.snapshot();
    await change();
    expect(JSON.stringify(snapshot)).toBe(`{"resourceVersion":"${snapshot.resourceVersion}"}`);
    await server.restore(snapshot);
    expect(await everything()).toEqual(before);
  });

  test("of an unrelated server isn't restored", async () => {
    const other = await createServer({ port: false });
    try {
      await expect(other.restore(start)).rejects.toThrow(TypeError);
      await expect(other.restore({ resourceVersion: "1" })).rejects.toThrow("must be a result of snapshot()");
    } finally {
      await other.close();
    }
  });

  test("of a server with another storage is an error that names the option", async () => {
    const dir = mkdtempSync(join(tmpdir(), "plinth-snapshots-"));
    const stored = await createServer({ port: false, storage: { engine: "embedded", dir } });
    try {
      expect(() => stored.snapshot()).toThrow(OptionsError);
      expect(() => stored.snapshot()).toThrow(/^storage: .*"memory"/);
      await expect(stored.reset()).rejects.toThrow(OptionsError);
      await expect(stored.restore(start)).rejects.toThrow(OptionsError);
      await expect(stored.fork()).rejects.toThrow(OptionsError);
    } finally {
      await stored.close();
    }
  });

  test("of a closed server is an error", async () => {
    const closed = await createServer({ port: false });
    await closed.close();
    expect(() => closed.snapshot()).toThrow("closed");
    await expect(closed.reset()).rejects.toThrow("closed");
  });
});

describe("reset", () => {
  test("brings a server back to its state after the start", async () => {
    const other = await createServer({ port: false });
    try {
      const before = await everything(other);
      expect(before.length).toBeGreaterThan(4);
      await other.client.create(namespace("team"));
      await other.client.delete({
        ...roleType,
        namespace: "",
        kind: "ClusterRoleBinding",
        name: "cluster-admin",
      });
      await other.reset();
      expect(await everything(other)).toEqual(before);
      await other.client.get({
        ...roleType,
        namespace: "",
        kind: "ClusterRoleBinding",
        name: "cluster-admin",
      });
    } finally {
      await other.close();
    }
  });
});

const roleType = { apiVersion: "rbac.authorization.platform.io/v1", namespace: "shop" };
const definitionType = {
  apiVersion: "apiextensions.platform.io/v1",
  kind: "CustomResourceDefinition",
} as const;
const things = { apiVersion: "example.com/v1", kind: "Thing", namespace: "shop" };

/** Lets Rita read config maps; returns a snapshot of that. */
async function allowRita(): Promise<Snapshot> {
  const rule = { verbs: ["list"], apiGroups: [""], resources: ["configmaps"] };
  await server.client.create(role("reader", [rule], inShop));
  await server.client.create(roleBinding("readers", refTo("Role", "reader"), [user("rita")], inShop));
  return server.snapshot();
}

/** Waits until the kind of {@link definitionOfThings} is served. */
async function served(): Promise<void> {
  const found = () => server.client.find({ ...things, name: "absent" });
  const isServed = async () => {
    try {
      await server.client.list(things);
      return true;
    } catch {
      return false;
    }
  };
  await until(isServed, (value) => value);
  await found();
}
