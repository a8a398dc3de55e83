import { afterAll, beforeAll, expect, test } from "vitest";
import { createServer, type Controller } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";
import { until } from "../support/answers.ts";

let server: Server;
beforeAll(async () => void (server = await createServer({ port: false, runtimeConfig: "api/alpha=true" })));
afterAll(() => server.close());
const shop = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } } as const;
const reference = { apiVersion: "v1", kind: "Namespace", name: "shop" } as const;

test("a workspace has objects of its own until it is deleted", async () => {
  const one = await server.workspace("one");
  await one.client.create(shop);
  expect(await server.client.find(reference)).toBeUndefined();
  expect(await (await server.workspace("one")).client.find(reference)).toBeDefined();
  await one.delete();
  await using again = await server.workspace("one");
  expect(await again.client.find(reference)).toBeUndefined();
  expect(again.url).toBeUndefined();
});

test("a branch has those of the server, which a user sees who may read them there", async () => {
  await server.client.create(shop);
  await using branch = await server.workspace("branch", {});
  expect(await branch.client.find(reference)).toBeDefined();
  await expect(branch.as("devi")).rejects.toThrow(/cannot access resource "workspaces"/);
  const group = "rbac.authorization.platform.io";
  const role = { apiVersion: `${group}/v1`, kind: "ClusterRole", metadata: { name: "enter" } } as const;
  const rules = [{ verbs: ["access"], apiGroups: ["tenancy.platform.io"], resources: ["workspaces"] }];
  await server.client.create({ ...role, rules });
  const subjects = [{ kind: "User", apiGroup: group, name: "devi" }];
  const roleRef = { apiGroup: group, kind: "ClusterRole", name: "enter" };
  await server.client.create({ ...role, kind: "ClusterRoleBinding", roleRef, subjects });
  const admin = {
    ...role,
    kind: "ClusterRoleBinding",
    roleRef: { ...roleRef, name: "cluster-admin" },
    subjects,
  } as const;
  await branch.client.create({ ...admin, metadata: { name: "devi" } });
  const devi = await branch.as("devi");
  expect(await devi.find(reference)).toBeUndefined();
  await devi.create({ ...shop, metadata: { name: "own" } });
  expect(await devi.find({ ...reference, name: "own" })).toBeDefined();
});

test("a server without workspaces says which option is missing", async () => {
  await using plain = await createServer({ port: false });
  await expect(plain.workspace("x")).rejects.toThrow(/runtimeConfig: "api\/alpha=true"/);
});

test("the controllers of a workspace begin with its first write, so that reading a branch doesn't read all of its base", async () => {
  let starts = 0;
  const recorder: Controller = {
    name: "recorder",
    start: () => {
      starts++;
      return { close: () => Promise.resolve() };
    },
  };
  await using own = await createServer({
    port: false,
    runtimeConfig: "api/alpha=true",
    controllers: [recorder],
  });
  await own.client.create(shop);
  const before = starts;
  await using branch = await own.workspace("branch", {});
  const account = { apiVersion: "v1", kind: "ServiceAccount", name: "default", namespace: "own" } as const;
  expect(await branch.client.find(reference)).toBeDefined();
  // What controllers do for another namespace takes longer than their start.
  await own.client.create({ ...shop, metadata: { name: "later" } });
  await until(
    () => own.client.find({ ...account, namespace: "later" }),
    (object) => object !== undefined,
  );
  expect(starts).toBe(before);
  await branch.client.create({ ...shop, metadata: { name: "own" } });
  await until(
    () => starts,
    (count) => count === before + 1,
  );
  await until(
    () => branch.client.find(account),
    (object) => object !== undefined,
  );
});
