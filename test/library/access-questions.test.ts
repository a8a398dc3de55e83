import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { group, namespace, refTo, role, roleBinding } from "../api/support.ts";

let server: Server;
const shop = { namespace: "shop" };

beforeAll(async () => {
  server = await createServer({ port: false });
  const { client } = server;
  await client.create(namespace("shop"));
  const rules = [
    { verbs: ["get"], apiGroups: [""], resources: ["configmaps", "pods/log"], resourceNames: ["one"] },
    { verbs: ["list"], apiGroups: [""], resources: ["configmaps"] },
    { verbs: ["create"], apiGroups: ["events.platform.io"], resources: ["events"] },
  ];
  await client.create(role("reader", rules, shop));
  await client.create(roleBinding("readers", refTo("Role", "reader"), [group("readers")], shop));
});
afterAll(() => server.close());

describe("can", () => {
  test("decides for the user of the client", async () => {
    const rita = server.as("rita", ["readers"]);
    expect(await rita.can("list", "configmaps", shop)).toBe(true);
    expect(await rita.can("list", "configmaps")).toBe(false);
    expect(await rita.can("get", "configmaps", shop)).toBe(false);
    expect(await rita.can("get", "configmaps", { ...shop, name: "one" })).toBe(true);
    expect(await server.client.can("delete", "nodes")).toBe(true);
  });

  test("decides for another user, with the groups that authentication adds", async () => {
    const { client } = server;
    expect(await client.can("list", "configmaps", { ...shop, user: "rita", groups: ["readers"] })).toBe(true);
    expect(await client.can("list", "configmaps", { ...shop, user: "rita" })).toBe(false);
    expect(await client.can("get", "/version", { user: "rita" })).toBe(true);
  });

  test("decides about subresources", async () => {
    const rita = server.as("rita", ["readers"]);
    const one = { ...shop, name: "one" };
    expect(await rita.can("get", "pods/log", one)).toBe(true);
    expect(await rita.can("get", "pods", { ...one, subresource: "log" })).toBe(true);
    expect(await rita.can("get", "pods", one)).toBe(false);
  });

  test("decides about paths", async () => {
    expect(await server.as("rita").can("get", "/metrics")).toBe(false);
    expect(await server.client.can("get", "/metrics")).toBe(true);
  });

  test("ignores the namespace of a resource without namespaces", async () => {
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["nodes"] }];
    await server.client.create(role("nodes", rules, shop));
    await server.client.create(roleBinding("nodes", refTo("Role", "nodes"), [group("nodes")], shop));
    expect(await server.as("nora", ["nodes"]).can("get", "nodes", shop)).toBe(false);
  });

  test("finds the group of custom resources", async () => {
    await server.client.create({
      apiVersion: "apiextensions.platform.io/v1",
      kind: "CustomResourceDefinition" as string,
      metadata: { name: "orders.shop.example.com" },
      spec: {
        group: "shop.example.com",
        scope: "Namespaced",
        names: { plural: "orders", kind: "Order", singular: "order" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    });
    await expect.poll(() => server.client.can("get", "orders").catch(() => false)).toBe(true);
    const rules = [{ verbs: ["get"], apiGroups: ["shop.example.com"], resources: ["orders"] }];
    await server.client.create(role("orders", rules, shop));
    await server.client.create(roleBinding("orders", refTo("Role", "orders"), [group("clerks")], shop));
    expect(await server.as("carl", ["clerks"]).can("get", "orders", shop)).toBe(true);
  });

  test("rejects a resource of several groups, and one of none", async () => {
    const rita = server.as("rita", ["readers"]);
    await expect(rita.can("create", "events", shop)).rejects.toThrow(
      'the groups "" and "events.platform.io" have a resource "events": set the option group',
    );
    expect(await rita.can("create", "events", { ...shop, group: "events.platform.io" })).toBe(true);
    expect(await rita.can("create", "events", { ...shop, group: "" })).toBe(false);
    await expect(rita.can("get", "configmap", shop)).rejects.toMatchObject({
      reason: "NotFound",
      message:
        'this server has no resource "configmap" (did you mean "configmaps"?): ' +
        "set the option group for a resource that it doesn't serve",
    });
    expect(await server.client.can("impersonate", "users", { group: "" })).toBe(true);
  });

  test("rejects unusable arguments", async () => {
    const { client } = server;
    await expect(client.can("", "configmaps")).rejects.toThrow(TypeError);
    await expect(client.can("get", "")).rejects.toThrow("a resource or a path is needed");
    await expect(client.can("get", "configmaps", { groups: ["a"] })).rejects.toThrow(
      "the option groups needs the option user",
    );
  });
});

describe("why", () => {
  test("names the binding and rule that allow the action", async () => {
    const answer = await server.as("rita", ["readers"]).why("list", "configmaps", shop);
    expect(answer).toMatchObject({ allowed: true, decidedBy: "RBAC" });
    expect(answer.text.split("\n")).toEqual([
      "yes: rita (readers, system:authenticated): list configmaps in the namespace shop",
      expect.stringContaining("allowed by RBAC: "),
      "",
      "granted by:",
      "  RoleBinding shop/readers of Role shop/reader to Group readers",
      '    rule 1: verbs list; groups ""; resources configmaps',
      "",
    ]);
  });

  test("names what comes closest if the action isn't allowed", async () => {
    const options = { ...shop, user: "rita", groups: ["readers"] };
    const { allowed, text, nearMisses } = await server.client.why("update", "configmaps", options);
    expect(allowed).toBe(false);
    expect(nearMisses?.[0]?.binding).toEqual({ kind: "RoleBinding", namespace: "shop", name: "readers" });
    expect(text).toContain(
      "no: rita (readers, system:authenticated): update configmaps in the namespace shop",
    );
    expect(text).toContain("lacks: ");
  });

  test("explains paths", async () => {
    const { text } = await server.as("rita").why("get", "/metrics");
    expect(text).toContain("no: rita (system:authenticated): get /metrics\n");
  });
});
