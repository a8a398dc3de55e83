import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { configMap, group, namespace, role, refTo, roleBinding, user } from "../api/support.ts";

let server: Server;
const inShop = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop" } as const;
const all = ["get", "list", "watch", "create", "update", "patch", "delete"];

beforeAll(async () => {
  server = await createServer({ port: false });
  const { client } = server;
  const rule = (verbs: string[], resourceNames?: string[]) => [
    { verbs, apiGroups: [""], resources: ["configmaps"], ...(resourceNames && { resourceNames }) },
  ];
  await client.create(namespace("shop"));
  const within = { namespace: "shop" };
  await client.create(role("developer", rule(all), within));
  await client.create(role("reader", rule(["get", "list", "watch"], ["public"]), within));
  await client.create(role("updater", rule(["update", "patch"]), within));
  await client.create(
    roleBinding("developers", refTo("Role", "developer"), [group("shop-developers")], within),
  );
  await client.create(roleBinding("readers", refTo("Role", "reader"), [user("rita")], within));
  await client.create(roleBinding("updaters", refTo("Role", "updater"), [user("uma")], within));
  await client.create(configMap("public", {}, within));
  await client.create(configMap("secret", {}, within));
});
afterAll(() => server.close());

const forbidden = { name: "StatusError", reason: "Forbidden", code: 403 };

describe("a client of a user", () => {
  test("reads and writes what a group of the user allows", async () => {
    const devi = server.as("devi", ["shop-developers"]);
    const created = await devi.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "mine", namespace: "shop" },
    });
    expect(created.data).toBeUndefined();
    const updated = await devi.update({ ...created, data: { a: "1" } });
    expect(updated.data).toEqual({ a: "1" });
    const patched = await devi.patch({ ...inShop, name: "mine" }, { data: { b: "2" } });
    expect(patched.data).toEqual({ a: "1", b: "2" });
    expect(await devi.get({ ...inShop, name: "mine" })).toEqual(patched);
    expect(await devi.find({ ...inShop, name: "mine" })).toEqual(patched);
    expect((await devi.list(inShop)).items.map(({ metadata }) => metadata.name)).toContain("mine");
    expect(await devi.delete({ ...inShop, name: "mine" })).toBe(true);
  });

  test("rejects every verb that nothing allows, with the message of the API", async () => {
    const devi = server.as("devi");
    const object = { ...inShop, metadata: { name: "public", namespace: "shop" } };
    const reference = { ...inShop, name: "public" };
    const calls: Record<string, () => Promise<unknown>> = {
      get: () => devi.get(reference),
      "get ": () => devi.find(reference),
      list: () => devi.list(inShop),
      create: () => devi.create({ ...inShop, metadata: { name: "new", namespace: "shop" } }),
      "create ": () => devi.add({ ...inShop, metadata: { name: "new", namespace: "shop" } }),
      update: () => devi.update(object),
      patch: () => devi.patch(reference, { data: { a: "1" } }),
      delete: () => devi.delete(reference),
    };
    for (const [verb, call] of Object.entries(calls)) {
      await expect(call(), verb).rejects.toMatchObject(forbidden);
      await expect(call(), verb).rejects.toThrow(
        `User "devi" cannot ${verb.trim()} resource "configmaps" in API group "" in the namespace "shop"`,
      );
    }
    const { data } = await server.client.get(reference);
    expect(data).toBeUndefined();
  });

  test("may list and watch a single object by name if its permission names it", async () => {
    const rita = server.as("rita");
    await expect(rita.list(inShop)).rejects.toMatchObject(forbidden);
    const { items, resourceVersion } = await rita.list({ ...inShop, fieldSelector: "metadata.name=public" });
    expect(items).toHaveLength(1);
    const ended = await new Promise<Error>((resolve) => {
      rita.watch({ ...inShop, resourceVersion }, () => undefined, resolve);
    });
    expect(ended).toMatchObject(forbidden);
    const event = new Promise((resolve) => {
      const selected = { ...inShop, fieldSelector: "metadata.name=public", resourceVersion };
      rita.watch(selected, ({ type, object }) => resolve([type, object.data]));
    });
    await server.client.patch({ ...inShop, name: "public" }, { data: { seen: "yes" } });
    expect(await event).toEqual(["MODIFIED", { seen: "yes" }]);
  });

  test("prints a warning for a denied watch without a listener for its end", async () => {
    const { resourceVersion } = await server.client.list(inShop);
    const warning = new Promise<Error>((resolve) => void process.once("warning", resolve));
    server.as("rita").watch({ ...inShop, resourceVersion }, () => undefined);
    expect(await warning).toMatchObject(forbidden);
  });

  test("receives no event of a watch that is closed at once", async () => {
    const devi = server.as("devi", ["shop-developers"]);
    const { resourceVersion } = await devi.list(inShop);
    let events = 0;
    devi.watch({ ...inShop, resourceVersion }, () => events++).close();
    await server.client.create(configMap("later", {}, { namespace: "shop" }));
    await server.client.delete({ ...inShop, name: "later" });
    expect(events).toBe(0);
  });

  test("needs the permission to create for an update that would create the object", async () => {
    const lease = (name: string) => ({
      apiVersion: "coordination.platform.io/v1",
      kind: "Lease",
      metadata: { name, namespace: "shop" },
    });
    const rules = [{ verbs: ["update"], apiGroups: ["*"], resources: ["leases"] }];
    await server.client.create(role("lessee", rules, { namespace: "shop" }));
    const binding = roleBinding("lessees", refTo("Role", "lessee"), [user("uma")], { namespace: "shop" });
    await server.client.create(binding);
    const uma = server.as("uma");
    await expect(uma.update(lease("new"))).rejects.toThrow(/cannot create resource "leases"/);
    const stored = await server.client.update(lease("new"));
    await expect(uma.update(stored)).resolves.toMatchObject({ metadata: { name: "new" } });
  });

  test("is authorized for a namespace within the namespace", async () => {
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["namespaces"] }];
    await server.client.create(role("namespace-reader", rules, { namespace: "shop" }));
    const reference = refTo("Role", "namespace-reader");
    await server.client.create(roleBinding("nora", reference, [user("nora")], { namespace: "shop" }));
    const nora = server.as("nora");
    const shop = await nora.get({ apiVersion: "v1", kind: "Namespace", name: "shop" });
    expect(shop.metadata.name).toBe("shop");
    const other = nora.get({ apiVersion: "v1", kind: "Namespace", name: "default" });
    await expect(other).rejects.toMatchObject(forbidden);
  });

  test("is not restricted if the user is in the group of administrators", async () => {
    const root = server.as("root", ["system:masters"]);
    expect((await root.list({ apiVersion: "v1", kind: "Namespace" })).items.length).toBeGreaterThan(0);
  });

  test.each([
    ["system:serviceaccount:shop:robot", "system:serviceaccounts:shop"],
    ["devi", "system:authenticated"],
    ["system:anonymous", "system:unauthenticated"],
  ])("of %s has the group %s", async (name, added) => {
    const within = { namespace: "shop" };
    const binding = `group-${added.replaceAll(":", "-")}`;
    const client = server.as(name);
    await expect(client.get({ ...inShop, name: "secret" })).rejects.toMatchObject(forbidden);
    await server.client.create(roleBinding(binding, refTo("Role", "developer"), [group(added)], within));
    await expect(client.get({ ...inShop, name: "secret" })).resolves.toBeDefined();
    const reference = { apiVersion: "rbac.authorization.platform.io/v1", kind: "RoleBinding" } as const;
    await server.client.delete({ ...reference, name: binding, ...within });
  });

  test("of system:anonymous is not in system:authenticated", async () => {
    const within = { namespace: "shop" };
    const everyone = [group("system:authenticated")];
    await server.client.create(roleBinding("everyone", refTo("Role", "developer"), everyone, within));
    await expect(server.as("system:anonymous").get({ ...inShop, name: "secret" })).rejects.toMatchObject(
      forbidden,
    );
    const reference = { apiVersion: "rbac.authorization.platform.io/v1", kind: "RoleBinding" } as const;
    await server.client.delete({ ...reference, name: "everyone", ...within });
  });

  test("passes the user to admission", async () => {
    const seen: string[] = [];
    const watching = await createServer({
      port: false,
      admissionPlugins: [
        {
          name: "observer",
          concerns: () => true,
          validate: ({ user: { name, groups } }) => void seen.push(`${name} ${groups.join(",")}`),
        },
      ],
    });
    const root = watching.as("root", ["system:masters"]);
    await root.create(configMap("m", {}, { namespace: "default" }));
    expect(seen).toContain("root system:masters,system:authenticated");
    await watching.close();
  });

  test.each([[""], [undefined], [1]])("needs a user name, not %j", (name) => {
    expect(() => server.as(name as string)).toThrow(TypeError);
  });

  test("needs a list of groups", () => {
    expect(() => server.as("devi", "shop-developers" as unknown as string[])).toThrow(
      'the groups of a user are a list of texts, not "shop-developers"',
    );
  });
});
