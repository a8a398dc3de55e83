import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import type { Frame, Watching } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { subscribe } from "../subscriptions-support.ts";
import { createGrant } from "../views-support.ts";
import {
  definition,
  definitions,
  group,
  order,
  orderSchema,
  served,
  version,
  whenServed,
} from "./support.ts";

const server = useServer({ users: [{ name: "ann" }] });
const crd = `${definitions}/orders.${group}`;
const schema = { openAPIV3Schema: structuredClone(orderSchema) };
Object.assign(schema.openAPIV3Schema.properties.spec.properties, { later: { type: "string" } });
const orders = (at: string) => `/apis/${group}/${at}/namespaces/default/orders`;
let after: string;

const versions = (storage: string) =>
  ["v1", "v2"].map((name) => version(name, { storage: name === storage, schema }));

const seen = (frames: readonly Frame[]) =>
  frames
    .filter(({ type }) => type !== "BOOKMARK")
    .map(({ type, object }) => `${type} ${object["apiVersion"]} ${JSON.stringify(object["spec"])}`);

/** Opens a watch of each kind: of both versions, of a view, and a subscription. */
async function openWatches(): Promise<Watching[]> {
  const query = `watch=true&allowWatchBookmarks=true&resourceVersion=${after}`;
  return [
    await server.admin.watch(`${orders("v1")}?${query}`),
    await server.admin.watch(`${orders("v1")}?${query}&labelSelector=!absent`),
    await server.as("ann").watch(`${orders("v1")}?${query}&view=mine`),
    await subscribe(server.admin, [`${group}/v1/orders`, "configmaps"], { resourceVersion: after }),
    await subscribe(server.as("ann"), [`${group}/v1/orders`], { resourceVersion: after, view: "mine" }),
  ];
}

beforeEach(async () => {
  const both = ["v1", "v2"].map((name) => version(name, { storage: name === "v1" }));
  await served(server.admin, definition({ versions: both }));
  const rules = [{ verbs: ["get"], apiGroups: [group], resources: ["orders"] }];
  const subject = { kind: "User", apiGroup: "rbac.authorization.platform.io", name: "ann" };
  await createGrant(server.admin, { name: "orders", namespace: "default", kind: "Role", rules, subject });
  const created = await ok(server.admin.post(orders("v1"), order("one", { size: 1, nested: {} })));
  after = created.body.metadata.resourceVersion;
});

afterEach(async () => {
  await server.admin.delete(crd);
  for (const kind of ["roles", "rolebindings"])
    await server.admin.delete(`/apis/rbac.authorization.platform.io/v1/namespaces/default/${kind}/orders`);
  while ((await server.admin.get(crd)).status !== 404) await new Promise((resolve) => setImmediate(resolve));
});

describe("watches of custom resources end and are resumed with the next definition", () => {
  test("when the storage version and a schema change", async () => {
    const watches = await openWatches();
    await ok(server.admin.patch(`${orders("v1")}/one`, { spec: { size: 2 } }));
    await ok(server.admin.patch(crd, { spec: { versions: versions("v2") } }));
    for (const watch of watches) {
      const frames = await watch.toEnd();
      expect(seen(frames)).toHaveLength(1);
      expect(seen(frames)[0]).toMatch(new RegExp(`^MODIFIED ${group}/v1 .*"size":2`));
      expect(frames.map(({ type }) => type)).not.toContain("ERROR");
    }
    await ok(server.admin.patch(`${orders("v2")}/one`, { spec: { size: 3, later: "new" } }));
    for (const resumed of await openWatches()) {
      const frames = [await resumed.next(), await resumed.next()];
      expect(seen(frames)[0]).toMatch(new RegExp(`^MODIFIED ${group}/v1 .*"size":2`));
      expect(seen(frames)[1]).toMatch(new RegExp(`^MODIFIED ${group}/v1 .*"later":"new".*"size":3`));
      resumed.close();
    }
  });

  test("when the definition is deleted and another one has its name", async () => {
    const watches = await openWatches();
    await ok(server.admin.delete(crd));
    for (const watch of watches) {
      const frames = await watch.toEnd();
      expect(seen(frames).map((text) => text.split(" ")[0])).toEqual(["DELETED"]);
      expect(frames.map(({ type }) => type)).not.toContain("ERROR");
    }
    while ((await server.admin.get(crd)).status !== 404)
      await new Promise((resolve) => setImmediate(resolve));
    const other = definition({ versions: [version("v1")] }, "orders", "Other");
    await ok(server.admin.post(definitions, other));
    await whenServed(server.admin, other);
    const resumed = await server.admin.watch(`${orders("v1")}?watch=true`);
    await ok(server.admin.post(orders("v1"), { ...order("two"), kind: "Other" }));
    expect((await resumed.next()).object["kind"]).toBe("Other");
    resumed.close();
  });

  test("but not when only labels or the status of the definition change", async () => {
    const watches = await openWatches();
    await ok(server.admin.patch(crd, { metadata: { labels: { a: "b" } } }));
    await ok(server.admin.patch(`${orders("v1")}/one`, { spec: { size: 4 } }));
    for (const watch of watches) {
      expect(seen([await watch.next()])[0]).toMatch(/"size":4/);
      expect(watch.ended).toBe(false);
      watch.close();
    }
  });
});
