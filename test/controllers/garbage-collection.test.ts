import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createServer, type NewObject } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import type { ApiObject, OwnerReferenceValue } from "../../src/schema/kind.ts";
import { configMap, ManualClock, namespace, until } from "../api/support.ts";

let server: Server;
beforeEach(async () => {
  server = await createServer({ port: false });
  await server.client.create(namespace("x"));
});
afterEach(() => server.close());

const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, namespace: "x" });
const find = (name: string) => server.client.find(map(name));
const ownedBy = (owner: ApiObject, more: Partial<OwnerReferenceValue> = {}): OwnerReferenceValue => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name!,
  uid: owner.metadata.uid!,
  ...more,
});

function make(name: string, ...ownerReferences: OwnerReferenceValue[]): Promise<ApiObject> {
  return server.client.create({ ...configMap(name), metadata: { name, namespace: "x", ownerReferences } });
}

const gone = (name: string) =>
  until(
    () => find(name),
    (found) => found === undefined,
  );

test("an object and its dependents are deleted when its only owner is deleted", async () => {
  const owner = await make("owner");
  const child = await make("child", ownedBy(owner));
  await make("grandchild", ownedBy(child));
  await server.client.delete(map("owner"));
  await gone("child");
  await gone("grandchild");
});

test("an object with another owner stays, and the reference to the deleted owner is removed", async () => {
  const [a, b] = [await make("a"), await make("b")];
  await make("child", ownedBy(a), ownedBy(b));
  await server.client.delete(map("a"));
  const child = await until(
    () => find("child"),
    (found) => found?.metadata.ownerReferences?.length === 1,
  );
  expect(child?.metadata.ownerReferences).toEqual([ownedBy(b)]);
});

test("an object is deleted when its owner reference has a uid that does not exist", async () => {
  const owner = await make("owner");
  await make("stray", { ...ownedBy(owner), uid: "00000000-0000-4000-8000-000000000000" });
  await gone("stray");
  expect(await find("owner")).toBeDefined();
});

test("an object stays when the kind of its owner is unknown", async () => {
  const owner = await make("owner");
  await make("child", { ...ownedBy(owner), apiVersion: "example.com/v1", kind: "Unheard" });
  await make("marker", { ...ownedBy(owner), uid: "00000000-0000-4000-8000-000000000000" });
  await gone("marker");
  expect(await find("child")).toBeDefined();
});

test("orphan deletion keeps a dependent that is updated while its owner reference is removed", async () => {
  await server.close();
  let conflicts = 0;
  server = await createServer({
    port: false,
    admissionPlugins: [
      {
        name: "writer",
        concerns: (operation, { resource }) => operation === "UPDATE" && resource.name === "configmaps",
        async validate({ object, live }) {
          const orphaned = live?.metadata.ownerReferences !== undefined && !object?.metadata.ownerReferences;
          if (!orphaned || conflicts === 3) return;
          conflicts++;
          await server.client.patch(map("child"), { data: { written: String(conflicts) } });
        },
      },
    ],
  });
  await server.client.create(namespace("x"));
  const owner = await make("owner");
  await make("child", ownedBy(owner));
  await server.client.delete(map("owner"), {}, "Orphan");
  await gone("owner");
  const child = (await find("child")) as (ApiObject & { data?: unknown }) | undefined;
  expect([conflicts, child?.metadata.ownerReferences, child?.data]).toEqual([
    3,
    undefined,
    { key: "value", written: "3" },
  ]);
});

test("orphan deletion keeps the dependents and removes their owner reference", async () => {
  const owner = await make("owner");
  await make("child", ownedBy(owner));
  expect(await server.client.delete(map("owner"), {}, "Orphan")).toBe(false);
  await gone("owner");
  expect((await find("child"))?.metadata.ownerReferences).toBeUndefined();
});

test("foreground deletion deletes the blocking dependents before the owner", async () => {
  const owner = await make("owner");
  await server.client.create({
    ...configMap("child"),
    metadata: {
      name: "child",
      namespace: "x",
      finalizers: ["example.com/hold"],
      ownerReferences: [ownedBy(owner, { blockOwnerDeletion: true })],
    },
  });
  expect(await server.client.delete(map("owner"), {}, "Foreground")).toBe(false);
  await until(
    () => find("child"),
    (found) => found?.metadata.deletionTimestamp !== undefined,
  );
  expect((await find("owner"))?.metadata.finalizers).toEqual(["foregroundDeletion"]);
  await server.client.patch(map("child"), { metadata: { finalizers: null } });
  await gone("child");
  await gone("owner");
});

test("foreground deletion does not wait for dependents without blockOwnerDeletion", async () => {
  const owner = await make("owner");
  await make("child", ownedBy(owner));
  await server.client.delete(map("owner"), {}, "Foreground");
  await gone("owner");
  await gone("child");
});

test("a cluster-scoped object with a namespaced owner stays, and an Event OwnerRefInvalidNamespace is recorded", async () => {
  const owner = await make("owner");
  await server.client.create({
    apiVersion: "rbac.authorization.platform.io/v1",
    kind: "ClusterRole",
    metadata: { name: "owned", ownerReferences: [ownedBy(owner)] },
    rules: [],
  });
  await make("marker", { ...ownedBy(owner), uid: "00000000-0000-4000-8000-000000000000" });
  await gone("marker");
  const role = { apiVersion: "rbac.authorization.platform.io/v1", kind: "ClusterRole", name: "owned" };
  const found = await server.client.find(role);
  expect(found).toBeDefined();
  const events = await until(
    async () => (await server.client.list({ apiVersion: "v1", kind: "Event", namespace: "default" })).items,
    (items) => items.length === 1,
  );
  expect(events[0]).toMatchObject({
    type: "Warning",
    reason: "OwnerRefInvalidNamespace",
    source: { component: "garbage-collector-controller" },
    involvedObject: { kind: "ClusterRole", name: "owned", uid: found?.metadata.uid },
    message: expect.stringContaining(owner.metadata.uid!),
  });
});

test("an object whose owner is in another namespace is deleted, and an Event OwnerRefInvalidNamespace is recorded", async () => {
  const owner = await make("owner");
  await server.client.create(namespace("y"));
  const child = { apiVersion: "v1", kind: "ConfigMap", name: "child", namespace: "y" };
  await server.client.create({
    ...configMap("child"),
    metadata: { name: "child", namespace: "y", ownerReferences: [ownedBy(owner)] },
  });
  await until(
    () => server.client.find(child),
    (found) => found === undefined,
  );
  const events = await until(
    async () => (await server.client.list({ apiVersion: "v1", kind: "Event", namespace: "y" })).items,
    (items) => items.length === 1,
  );
  expect(events[0]).toMatchObject({
    type: "Warning",
    reason: "OwnerRefInvalidNamespace",
    involvedObject: { kind: "ConfigMap", name: "child", namespace: "y" },
    message: expect.stringContaining('does not exist in namespace "y"'),
  });
});

test("no Event is recorded when the owner of an object was deleted", async () => {
  const owner = await make("owner");
  await make("child", ownedBy(owner));
  await server.client.delete(map("owner"));
  await gone("child");
  await make("other", { ...ownedBy(owner), uid: "00000000-0000-4000-8000-000000000000" });
  await gone("other");
  expect((await server.client.list({ apiVersion: "v1", kind: "Event" })).items).toEqual([]);
});

test("foreground deletion waits for the dependents of dependents", async () => {
  const a = await make("a");
  const b = await make("b", ownedBy(a, { blockOwnerDeletion: true }));
  await make("c", ownedBy(b, { blockOwnerDeletion: true }));
  await server.client.patch(map("c"), { metadata: { finalizers: ["example.com/stays"] } });
  await server.client.delete(map("a"), {}, "Foreground");
  await until(
    () => server.client.get(map("c")),
    ({ metadata }) => metadata.deletionTimestamp !== undefined,
  );
  // What isn't yet decided would be by now.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await server.client.find(map("a"))).toBeDefined();
  expect(await server.client.find(map("b"))).toBeDefined();
  await server.client.patch(map("c"), { metadata: { finalizers: null } });
  await gone("c");
  await gone("b");
  await gone("a");
});

test("foreground deletion deletes objects that own each other", async () => {
  const [a, b] = [await make("a"), await make("b")];
  for (const [name, owner] of [
    ["a", b],
    ["b", a],
  ] as const) {
    const ownerReferences = [ownedBy(owner, { blockOwnerDeletion: true })];
    await server.client.patch(map(name), { metadata: { ownerReferences } });
  }
  await server.client.delete(map("a"), {}, "Foreground");
  await gone("a");
  await gone("b");
});

test("orphan deletion removes the references of all dependents before the owner is deleted, also after a restart", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-orphans-"));
  const storage = { engine: "embedded", dir: folder } as const;
  const first = await createServer({ port: false, storage });
  await first.client.create(namespace("x"));
  const owner = await first.client.create({
    ...configMap("owner"),
    metadata: { name: "owner", namespace: "x" },
  });
  const metadata = (name: string) => ({ name, namespace: "x", ownerReferences: [ownedBy(owner)] });
  const names = Array.from({ length: 1500 }, (_, i) => `c${i}`);
  for (let at = 0; at < names.length; at += 100) {
    const some = names.slice(at, at + 100);
    await Promise.all(
      some.map((name) => first.client.create({ ...configMap(name), metadata: metadata(name) })),
    );
  }
  const deleting = first.client.delete(map("owner"), {}, "Orphan");
  await deleting;
  await first.close();
  const second = await createServer({ port: false, storage });
  await until(
    () => second.client.find(map("owner")),
    (found) => found === undefined,
  );
  const { items } = await second.client.list({ apiVersion: "v1", kind: "ConfigMap", namespace: "x" });
  expect(items).toHaveLength(names.length);
  expect(items.filter((one) => one.metadata.deletionTimestamp !== undefined)).toEqual([]);
  await second.close();
  rmSync(folder, { recursive: true });
});

test("the owner of a custom kind is looked up once its definition exists", async () => {
  const clock = new ManualClock(Date.now());
  const own = await createServer({ port: false, clock });
  try {
    const { client } = own;
    await client.create(namespace("x"));
    const ofLater = (name: string, uid: string) => ({
      apiVersion: "example.com/v1",
      kind: "Later",
      name,
      uid,
    });
    const child = (name: string, owner: OwnerReferenceValue) =>
      client.create({ ...configMap(name), metadata: { name, namespace: "x", ownerReferences: [owner] } });
    await child("orphaned", ofLater("none", "00000000-0000-4000-8000-000000000000"));
    const definition: NewObject = {
      apiVersion: "apiextensions.platform.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "laters.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "laters", kind: "Later" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    };
    await client.create(definition);
    const later: NewObject = {
      apiVersion: "example.com/v1",
      kind: "Later",
      metadata: { name: "owner", namespace: "x" },
    };
    const owner = await until(
      () => client.create(later).catch(() => undefined),
      (made) => made !== undefined,
    );
    await child("kept", ofLater("owner", owner!.metadata.uid!));
    expect(await client.find(map("orphaned"))).toBeDefined();
    await clock.advance(30_000);
    await until(
      () => client.find(map("orphaned")),
      (found) => found === undefined,
    );
    expect(await client.find(map("kept"))).toBeDefined();
  } finally {
    await own.close();
  }
});
