import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";

const group = "/apis/storagemigration.platform.io";
const definitions = "/apis/apiextensions.platform.io/v1/customresourcedefinitions";
const widgets = "/apis/example.com/v1/namespaces/default/widgets";

/** Returns a definition with the versions that are named; the first one is the storage version. */
function definition(...versions: string[]) {
  const schema = {
    openAPIV3Schema: { type: "object", properties: { size: { type: "integer" } } },
  };
  return {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget" },
      versions: versions.map((name, index) => ({ name, served: true, storage: index === 0, schema })),
    },
  };
}

async function isServed(server: TestServer, path: string): Promise<void> {
  await expect.poll(async () => (await server.admin.get(path)).status).toBe(200);
}

async function replaceVersions(server: TestServer, ...versions: string[]): Promise<void> {
  const path = `${definitions}/widgets.example.com`;
  await ok(server.admin.patch(path, { spec: { versions: definition(...versions).spec.versions } }));
}

interface ListedMigration {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const { spec: widgetsSpec } = definition("v1");
const gadgets = {
  metadata: { name: "gadgets.example.com" },
  spec: { ...widgetsSpec, names: { plural: "gadgets", singular: "gadget", kind: "Gadget" } },
};

describe.each([
  ["1.30", "v1alpha1", { version: "v1" }],
  ["1.35", "v1beta1", {}],
  ["1.37", "v1", {}],
] as const)("release %s", (release, version, more) => {
  let server: TestServer;
  const migrations = `${group}/${version}/storageversionmigrations`;
  beforeAll(async () => {
    server = await TestServer.start({
      release,
      featureGates: "StorageVersionMigrator=true",
      runtimeConfig: `storagemigration.platform.io/${version}=true`,
    });
  });
  afterAll(() => server.close());

  const migrate = async (name: string, resource: object) => {
    await ok(
      server.admin.post(migrations, { metadata: { name }, spec: { resource: { ...more, ...resource } } }),
    );
    const state = async () => {
      const { body } = await server.admin.get(`${migrations}/${name}`);
      return (body.status?.conditions ?? []) as { type: string; status: string }[];
    };
    await expect.poll(state).toContainEqual(expect.objectContaining({ type: "Running", status: "False" }));
    return (await ok(server.admin.get(`${migrations}/${name}`))).body;
  };

  test("objects are readable after their first version was removed", async () => {
    await ok(server.admin.post(definitions, definition("v1")));
    await isServed(server, widgets);
    const names = Array.from({ length: 40 }, (_, index) => `w${index}`);
    for (const [size, name] of names.entries())
      await ok(server.admin.post(widgets, { metadata: { name }, size }));
    await replaceVersions(server, "v2", "v1");
    const later = widgets.replace("/v1/", "/v2/");
    await isServed(server, later);
    const before = (await ok(server.admin.get(`${later}/w0`))).body.metadata.resourceVersion;

    const { status } = await migrate("widgets", { group: "example.com", resource: "widgets" });
    expect(status.conditions).toContainEqual(
      expect.objectContaining({
        type: "Succeeded",
        status: "True",
        reason: "StorageVersionMigrationSucceeded",
      }),
    );
    expect(Number(status.resourceVersion)).toBeGreaterThanOrEqual(Number(before));
    const after = (await ok(server.admin.get(`${later}/w0`))).body.metadata.resourceVersion;
    expect(Number(after)).toBeGreaterThan(Number(before));

    const path = `${definitions}/widgets.example.com`;
    if (release === "1.37") {
      const { body } = await ok(server.admin.get(path));
      expect(body.status.storedVersions).toEqual(["v2"]);
      expect(body.status.conditions).toContainEqual(
        expect.objectContaining({ type: "StorageMigrating", status: "False", reason: "MigrationSucceeded" }),
      );
    } else {
      expect((await ok(server.admin.get(path))).body.status.storedVersions).toEqual(["v1", "v2"]);
      await ok(server.admin.patch(`${path}/status`, { status: { storedVersions: ["v2"] } }));
    }
    await replaceVersions(server, "v2");
    await expect.poll(async () => (await server.admin.get(widgets)).status).toBe(404);
    const { items } = (await ok(server.admin.get(later))).body;
    expect(items).toHaveLength(names.length);
    expect(items.map((one: { size: number }) => one.size).toSorted((a: number, b: number) => a - b)).toEqual(
      names.map((_, index) => index),
    );
    const again = (await ok(server.admin.get(`${later}/w0`))).body;
    expect(again).toMatchObject({ apiVersion: "example.com/v2", size: 0 });
    expect(again.metadata.resourceVersion).toBe(after);
  });

  test("objects in the storage version are not written again", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    await ok(server.admin.post(path, { metadata: { name: "same" } }));
    const before = (await ok(server.admin.get(`${path}/same`))).body;
    const { status } = await migrate("maps", { group: "", resource: "configmaps" });
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Succeeded", status: "True" }));
    expect((await ok(server.admin.get(`${path}/same`))).body).toEqual(before);
  });

  test("migrations of a resource run one after the other, also after one that waits is deleted", async () => {
    const resource = { ...more, group: "example.com", resource: "gadgets" };
    const create = (name: string) =>
      ok(server.admin.post(migrations, { metadata: { name }, spec: { resource } }));
    const statesOf = async (name: string) => {
      const { status } = (await ok(server.admin.get(`${migrations}/${name}`))).body as ListedMigration;
      return (status?.conditions ?? []).filter((one) => one.status === "True").map(({ type }) => type);
    };
    // It waits for the resource, and the others for it.
    await create("one");
    await expect.poll(() => statesOf("one"), { timeout: 10_000 }).toEqual(["Running"]);
    for (const name of ["two", "three", "four"]) await create(name);
    await ok(server.admin.delete(`${migrations}/two`));
    expect(await statesOf("three")).toEqual([]);
    await ok(server.admin.post(definitions, gadgets));
    for (const name of ["one", "three", "four"])
      await expect.poll(() => statesOf(name), { timeout: 10_000 }).toEqual(["Succeeded"]);
  });

  test("a resource without lists and updates fails at once", async () => {
    const { status } = await migrate("reviews", {
      group: "authentication.platform.io",
      resource: "tokenreviews",
    });
    expect(status.conditions).toContainEqual({
      type: "Failed",
      status: "True",
      reason: "StorageVersionMigrationFailed",
      message: expect.stringContaining("does not support discovery operations: [update patch list]"),
      [release === "1.30" ? "lastUpdateTime" : "lastTransitionTime"]: expect.any(String),
    });
    expect(status.resourceVersion).toBeUndefined();
  });
});
