import path from "node:path";
import { describe, expect, test } from "vitest";
import { namespace, ok } from "../support.ts";
import { TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
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

const server = useServer({ enabledControllers: ["namespace", "garbagecollector"] });

const conditionsOf = async (name: string) => {
  const { body } = await server.admin.get(`${definitions}/${name}`);
  return Object.fromEntries(
    (body.status.conditions ?? []).map(({ type, status, reason }: Record<string, string>) => [
      type,
      [status, reason],
    ]),
  );
};
const one = (name: string, spec: object = { size: 1 }) => order(name, spec);

describe("a definition", () => {
  test("is served once its names are accepted: in discovery, and under its paths", async () => {
    const spec = { names: { plural: "orders", kind: "Order", shortNames: ["or"], categories: ["all"] } };
    const orders = await served(server.admin, definition(spec));
    expect(await conditionsOf(`orders.${group}`)).toEqual({
      NamesAccepted: ["True", "NoConflicts"],
      Established: ["True", "InitialNamesAccepted"],
    });
    const { body } = await server.admin.get(`${definitions}/orders.${group}`);
    expect(body.status).toMatchObject({
      acceptedNames: { plural: "orders", singular: "order", kind: "Order", listKind: "OrderList" },
      storedVersions: ["v1"],
    });
    expect((await server.admin.get(`/apis/${group}`)).body).toMatchObject({
      kind: "APIGroup",
      preferredVersion: { groupVersion: `${group}/v1` },
    });
    expect((await server.admin.get(`/apis/${group}/v1`)).body.resources).toEqual([
      expect.objectContaining({
        name: "orders",
        singularName: "order",
        kind: "Order",
        namespaced: true,
        shortNames: ["or"],
        categories: ["all"],
      }),
    ]);
    expect((await server.admin.get("/apis")).body.groups.map(({ name }: { name: string }) => name)).toContain(
      group,
    );
    expect((await server.admin.get("/")).body.paths).toContain(`/apis/${group}/v1`);
    await ok(server.admin.post(orders, one("a")));
    expect((await server.admin.get(`/apis/${group}/v1/orders`)).body.items).toHaveLength(1);
    expect((await server.admin.get(`/apis/${group}/v2/orders`)).status).toBe(404);
    expect((await server.admin.get(`/apis/${group}/v3`)).status).toBe(404);
  });

  test("is not served while another one of its group has its names, and is once that is deleted", async () => {
    await served(server.admin, definition({}, "firsts", "Same"));
    await ok(server.admin.post(definitions, definition({}, "seconds", "Same")));
    await expect
      .poll(() => conditionsOf(`seconds.${group}`))
      .toEqual({ NamesAccepted: ["False", "ListKindConflict"], Established: ["False", "NotAccepted"] });
    expect((await server.admin.get(`/apis/${group}/v1/seconds`)).status).toBe(404);
    await ok(server.admin.delete(`${definitions}/firsts.${group}`));
    await whenServed(server.admin, definition({}, "seconds", "Same"));
  });

  test("changes apply to the next request", async () => {
    const things = await served(server.admin, definition({}, "things", "Thing"));
    const thing = (name: string, spec: object) => ({ ...one(name, spec), kind: "Thing" });
    expect((await server.admin.post(things, thing("a", { size: 20 }))).status).toBe(422);
    for (const maximum of [20, 5, 30]) {
      const schema = structuredClone(orderSchema);
      schema.properties.spec.properties.size.maximum = maximum;
      await ok(
        server.admin.patch(`${definitions}/things.${group}`, {
          spec: { versions: [version("v1", { schema: { openAPIV3Schema: schema } })] },
        }),
      );
      expect((await server.admin.post(things, thing(`a${maximum}`, { size: maximum }))).status).toBe(201);
      expect((await server.admin.post(things, thing("b", { size: maximum + 1 }))).status).toBe(422);
    }
  });

  test("is deleted together with its objects, also those with finalizers", async () => {
    const goners = await served(server.admin, definition({}, "goners", "Goner"));
    for (const name of ["a", "b", "c"]) await ok(server.admin.post(goners, { ...one(name), kind: "Goner" }));
    const held = {
      ...one("held"),
      kind: "Goner",
      metadata: { name: "held", finalizers: ["example.com/hold"] },
    };
    await ok(server.admin.post(goners, held));
    const answer = await server.admin.delete(`${definitions}/goners.${group}`);
    expect([answer.status, answer.body.kind, answer.body.metadata.finalizers]).toEqual([
      200,
      "CustomResourceDefinition",
      ["customresourcecleanup.apiextensions.platform.io"],
    ]);
    expect((await server.admin.post(goners, { ...one("late"), kind: "Goner" })).status).toBe(405);
    await expect
      .poll(async () => (await server.admin.get(goners)).body.items.map((i: typeof held) => i.metadata.name))
      .toEqual(["held"]);
    await ok(server.admin.patch(`${goners}/held`, { metadata: { finalizers: null } }));
    await expect
      .poll(async () => (await server.admin.get(`${definitions}/goners.${group}`)).status, { timeout: 5000 })
      .toBe(404);
    expect((await server.admin.get(goners)).status).toBe(404);
    // A recreated definition has none of its former objects.
    expect(
      (await server.admin.get(await served(server.admin, definition({}, "goners", "Goner")))).body.items,
    ).toEqual([]);
  });

  test("of cluster scope has no namespaces in its paths", async () => {
    const wides = await served(server.admin, definition({ scope: "Cluster" }, "wides", "Wide"));
    await ok(server.admin.post(wides, { ...one("a"), kind: "Wide" }));
    expect((await server.admin.get(`/apis/${group}/v1/namespaces/default/wides`)).status).toBe(404);
  });

  test("in a protected group requires an approval annotation", async () => {
    const protectedGroup = { group: "sample.platform.io" };
    const object = {
      ...definition(protectedGroup),
      metadata: { name: "orders.sample.platform.io", annotations: {} },
    };
    expect((await server.admin.post(definitions, object)).status).toBe(422);
    object.metadata.annotations = { "api-approved.platform.io": "https://example.com/review" };
    await ok(server.admin.post(definitions, object));
    await expect
      .poll(() => conditionsOf("orders.sample.platform.io"))
      .toMatchObject({ PlatformAPIApprovalPolicyConformant: ["True", "ApprovedAnnotation"] });
  });
});

describe("versions", () => {
  const versions = [
    version("v1", { storage: false, deprecated: true }),
    version("v1beta1", { deprecated: true, deprecationWarning: "versioned things are old" }),
    version("v2", { served: false, storage: false }),
    version("v3alpha1", { storage: false }),
    version("v1beta2", { storage: false, served: false }),
  ];
  const base = `/apis/${group}`;
  const at = (name: string, object: string) => `${base}/${name}/namespaces/default/versioneds/${object}`;

  test("an object is the same in each version; the preferred version is the most stable", async () => {
    await served(server.admin, definition({ versions }, "versioneds", "Versioned"));
    const object = { ...one("a"), kind: "Versioned" };
    const made = await server.admin.post(`${base}/v1/namespaces/default/versioneds`, object);
    expect([made.status, made.body.apiVersion]).toEqual([201, `${group}/v1`]);
    expect(made.warnings).toEqual([`${group}/v1 Versioned is deprecated`]);
    const read = await server.admin.get(at("v1beta1", "a"));
    expect([read.body.apiVersion, read.body.spec, read.warnings]).toEqual([
      `${group}/v1beta1`,
      made.body.spec,
      ["versioned things are old"],
    ]);
    expect((await server.admin.get(at("v2", "a"))).status).toBe(404);
    const { body } = await server.admin.get(base);
    expect(
      body.versions.map((one: { version: string }) => one.version).filter((name: string) => name !== "v2"),
    ).toEqual(["v1", "v1beta1", "v3alpha1"]);
    const list = await server.admin.get(`${base}/v3alpha1/namespaces/default/versioneds`);
    expect([list.body.apiVersion, list.body.items[0].apiVersion]).toEqual([
      `${group}/v3alpha1`,
      `${group}/v3alpha1`,
    ]);
  });

  test("objects of a former storage version are read in the new one", async () => {
    const moved = versions.map((one) => ({ ...one, storage: one.name === "v1" }));
    await ok(server.admin.patch(`${definitions}/versioneds.${group}`, { spec: { versions: moved } }));
    const { body } = await server.admin.get(`${definitions}/versioneds.${group}`);
    expect(body.status.storedVersions).toEqual(["v1beta1", "v1"]);
    for (const name of ["v1", "v1beta1", "v3alpha1"]) {
      expect((await server.admin.get(at(name, "a"))).body.apiVersion).toBe(`${group}/${name}`);
      const list = await server.admin.get(`${base}/${name}/namespaces/default/versioneds`);
      expect(list.body.items[0].apiVersion).toBe(`${group}/${name}`);
    }
    const patched = await server.admin.patch(at("v1", "a"), { spec: { size: 2 } });
    expect([patched.status, patched.body.apiVersion]).toEqual([200, `${group}/v1`]);
    expect((await server.admin.get(at("v1beta1", "a"))).body).toMatchObject({
      apiVersion: `${group}/v1beta1`,
      spec: { size: 2 },
    });
  });
});

describe("other features support custom resources", () => {
  test("the deletion of a namespace deletes them", async () => {
    await served(server.admin, definition({}, "nesteds", "Nested"));
    await ok(server.admin.post("/api/v1/namespaces", namespace("ends")));
    const nesteds = `/apis/${group}/v1/namespaces/ends/nesteds`;
    await ok(server.admin.post(nesteds, { ...one("a"), kind: "Nested" }));
    await ok(server.admin.delete("/api/v1/namespaces/ends"));
    await expect
      .poll(async () => (await server.admin.get("/api/v1/namespaces/ends")).status, { timeout: 5000 })
      .toBe(404);
    expect((await server.admin.get(nesteds)).body.items).toEqual([]);
  });

  test("they can be owners and dependents", async () => {
    const owners = await served(server.admin, definition({}, "owners", "Owner"));
    const { body } = await server.admin.post(owners, { ...one("o"), kind: "Owner" });
    const { uid } = body.metadata;
    const ownerReferences = [{ apiVersion: `${group}/v1`, kind: "Owner", name: "o", uid }];
    const maps = "/api/v1/namespaces/default/configmaps";
    await ok(server.admin.post(maps, { metadata: { name: "owned", ownerReferences } }));
    await ok(
      server.admin.post(owners, {
        ...one("below"),
        kind: "Owner",
        metadata: { name: "below", ownerReferences },
      }),
    );
    await ok(server.admin.delete(`${owners}/o`));
    for (const at of [`${maps}/owned`, `${owners}/below`]) {
      await expect.poll(async () => (await server.admin.get(at)).status, { timeout: 5000 }).toBe(404);
    }
  });

  test("quotas count them, also kinds defined later", async () => {
    const quotas = "/api/v1/namespaces/default/resourcequotas";
    const hard = { [`count/counteds.${group}`]: "1" };
    await ok(server.admin.post(quotas, { metadata: { name: "counted" }, spec: { hard } }));
    const counteds = await served(server.admin, definition({}, "counteds", "Counted"));
    await ok(server.admin.post(counteds, { ...one("a"), kind: "Counted" }));
    const { status, body } = await server.admin.post(counteds, { ...one("b"), kind: "Counted" });
    expect([status, body.message]).toEqual([403, expect.stringContaining("exceeded quota: counted")]);
    await ok(server.admin.delete(`${quotas}/counted`));
  });

  test("OpenAPI v2 and v3 describe them", async () => {
    await served(server.admin, definition({}, "describeds", "Described"));
    const v3 = await server.admin.get(`/openapi/v3/apis/${group}/v1`);
    const name = "com.example.shop.v1.Described";
    const { properties } = v3.body.components.schemas[name];
    expect(properties.spec).toMatchObject({
      properties: { color: { default: "red" }, maybe: { nullable: true } },
    });
    expect(Object.keys(properties)).toEqual(["apiVersion", "kind", "metadata", "spec", "status"]);
    const v2 = await server.admin.get("/openapi/v2");
    const shown = v2.body.definitions[name].properties.spec.properties;
    expect([shown.color, shown.maybe]).toEqual([{ type: "string", enum: ["red", "green"] }, {}]);
    expect(v2.body.paths[`/apis/${group}/v1/namespaces/{namespace}/describeds`].post).toBeDefined();
  });

  test("PATCH of a custom resource has no strategic merge patch in OpenAPI v2 and v3", async () => {
    const subresources = {
      status: {},
      scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.ready" },
    };
    const patchables = definition({ versions: [version("v1", { subresources })] }, "patchables", "Patchable");
    const path = await served(server.admin, patchables);
    const expected = [
      "application/json-patch+json",
      "application/merge-patch+json",
      "application/apply-patch+yaml",
    ];
    const base = `${path.replace("/default/", "/{namespace}/")}/{name}`;
    const v2 = (await server.admin.get("/openapi/v2")).body.paths;
    const v3 = (await server.admin.get(`/openapi/v3/apis/${group}/v1`)).body.paths;
    for (const at of [base, `${base}/status`, `${base}/scale`]) {
      expect(v2[at].patch.consumes).toEqual(expected);
      expect(Object.keys(v3[at].patch.requestBody.content)).toEqual(expected);
    }
    const builtIn = v2["/api/v1/namespaces/{namespace}/configmaps/{name}"].patch.consumes;
    expect(builtIn).toContain("application/strategic-merge-patch+json");
  });

  test("metrics count their objects", async () => {
    const { text } = await server.admin.get("/metrics");
    expect(text).toMatch(new RegExp(`apiserver_storage_objects\\{resource="orders\\.${group}"\\} 1`));
  });
});

test("another server with the same data serves a definition immediately", async () => {
  const folder = temporaryFolder();
  const storage = { engine: "embedded", dir: path.join(folder.path, "data") } as const;
  const [first, second] = [
    await TestServer.start({ storage, enabledControllers: [] }),
    await TestServer.start({ storage, enabledControllers: [] }),
  ];
  try {
    const orders = await served(first.admin, definition());
    await ok(second.admin.post(orders, one("a")));
    const versions = [version("v1", { schema: { openAPIV3Schema: { type: "object" } } })];
    await ok(first.admin.patch(`${definitions}/orders.${group}`, { spec: { versions } }));
    const { body } = await second.admin.post(orders, one("b"));
    expect(body.spec).toBeUndefined();
  } finally {
    await first.close();
    await second.close();
    folder.remove();
  }
});

test("a definition that existed at the start of the server leaves discovery when it is deleted", async () => {
  const folder = temporaryFolder();
  const storage = { engine: "embedded", dir: path.join(folder.path, "data") } as const;
  const before = await TestServer.start({ storage, enabledControllers: [] });
  await served(before.admin, definition());
  await before.close();
  const after = await TestServer.start({ storage, enabledControllers: [] });
  try {
    expect((await after.admin.get(`/apis/${group}/v1`)).body.resources).toHaveLength(1);
    await ok(after.admin.delete(`${definitions}/orders.${group}`));
    for (const gone of [`/apis/${group}`, `/apis/${group}/v1`])
      await expect.poll(async () => (await after.admin.get(gone)).status).toBe(404);
    expect((await after.admin.get("/")).body.paths).not.toContain(`/apis/${group}/v1`);
  } finally {
    await after.close();
    folder.remove();
  }
});
