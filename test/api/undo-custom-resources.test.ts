import { afterAll, beforeAll, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ok, until } from "./support.ts";
import { changeBy, undo, withUndos } from "./undo-support.ts";

const folder = temporaryFolder();
let server: TestServer;
const start = async () => {
  server = await TestServer.start({ ...withUndos, storage: { engine: "embedded", dir: folder.path } });
};
beforeAll(start);
afterAll(async () => {
  await server.close();
  folder.remove();
});

const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions";
const orders = "/apis/shop.example.com/v1/namespaces/default/orders";
const item = {
  type: "object",
  properties: { name: { type: "string" }, count: { type: "integer" } },
  required: ["name"],
};
const spec = {
  type: "object",
  properties: {
    note: { type: "string" },
    items: {
      type: "array",
      items: item,
      "x-platform-list-type": "map",
      "x-platform-list-map-keys": ["name"],
    },
  },
};
const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
});
const definition = {
  metadata: { name: "orders.shop.example.com" },
  spec: {
    group: "shop.example.com",
    scope: "Namespaced",
    names: { plural: "orders", singular: "order", kind: "Order" },
    versions: [version("v1", true), version("v1beta1", false)],
  },
};

test("undo works on custom resources in the embedded store, also after a restart", async () => {
  const created = await changeBy(server.admin, "POST", definitions, definition);
  await until(
    async () => (await server.admin.get(orders)).status,
    (status) => status === 200,
  );
  const body = (note: string, ...items: object[]) => ({
    apiVersion: "shop.example.com/v1",
    kind: "Order",
    metadata: { name: "a" },
    spec: { note, items },
  });
  await ok(server.admin.post(orders, body("old", { name: "x", count: 1 }, { name: "y", count: 1 })));
  const change = await changeBy(server.admin, "PATCH", `${orders}/a`, {
    spec: {
      note: "new",
      items: [
        { name: "x", count: 2 },
        { name: "y", count: 1 },
      ],
    },
  });
  const beta = orders.replace("/v1/", "/v1beta1/");
  await changeBy(
    server.admin,
    "PATCH",
    `${beta}/a`,
    { spec: { items: [{ name: "x", count: 2 }, { name: "y", count: 5 }, { name: "z" }] } },
    "other",
  );
  const used = await undo(server.admin, { change: created });
  expect([used.status, used.body.message]).toEqual([
    409,
    expect.stringContaining('contains orders.shop.example.com "a" in namespace "default"'),
  ]);
  await server.close();
  await start();
  const { body: answer } = await ok(undo(server.admin, { change, resources: ["orders.shop.example.com"] }));
  expect(answer.status.objects[0].fields).toEqual([
    { path: '.spec.items[name="x"].count', from: "2", to: "1" },
    { path: ".spec.note", from: '"new"', to: '"old"' },
  ]);
  expect((await ok(server.admin.get(`${orders}/a`))).body.spec).toEqual({
    note: "old",
    items: [{ name: "x", count: 1 }, { name: "y", count: 5 }, { name: "z" }],
  });
});
