import { afterEach, beforeEach, expect, test } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import type { ApiObject, OwnerReferenceValue } from "../../src/schema/kind.ts";
import { configMap, namespace, until } from "../api/support.ts";

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

test("what has lost its only owner goes, and what depends on that goes with it", async () => {
  const owner = await make("owner");
  const child = await make("child", ownedBy(owner));
  await make("grandchild", ownedBy(child));
  await server.client.delete(map("owner"));
  await gone("child");
  await gone("grandchild");
});

test("what has another owner stays, without the reference to the one that is gone", async () => {
  const [a, b] = [await make("a"), await make("b")];
  await make("child", ownedBy(a), ownedBy(b));
  await server.client.delete(map("a"));
  const child = await until(
    () => find("child"),
    (found) => found?.metadata.ownerReferences?.length === 1,
  );
  expect(child?.metadata.ownerReferences).toEqual([ownedBy(b)]);
});

test("an owner that never was, or was made anew with another uid, is as good as gone", async () => {
  const owner = await make("owner");
  await make("stray", { ...ownedBy(owner), uid: "00000000-0000-4000-8000-000000000000" });
  await gone("stray");
  expect(await find("owner")).toBeDefined();
});

test("an owner of a kind that nobody knows is left alone", async () => {
  const owner = await make("owner");
  await make("child", { ...ownedBy(owner), apiVersion: "example.com/v1", kind: "Unheard" });
  await make("marker", { ...ownedBy(owner), uid: "00000000-0000-4000-8000-000000000000" });
  await gone("marker");
  expect(await find("child")).toBeDefined();
});

test("a deletion that orphans lets the dependents live, without owner", async () => {
  const owner = await make("owner");
  await make("child", ownedBy(owner));
  expect(await server.client.delete(map("owner"), {}, "Orphan")).toBe(false);
  await gone("owner");
  expect((await find("child"))?.metadata.ownerReferences).toBeUndefined();
});

test("a deletion in the foreground takes the dependents first", async () => {
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

test("a deletion in the foreground doesn't wait for what doesn't block it", async () => {
  const owner = await make("owner");
  await make("child", ownedBy(owner));
  await server.client.delete(map("owner"), {}, "Foreground");
  await gone("owner");
  await gone("child");
});
