import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { ManualClock, configMap, namespace, ok, until } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
let server: TestServer;
let clock: ManualClock;
beforeAll(async () => {
  clock = new ManualClock();
  server = await TestServer.start({ clock });
});
afterAll(() => server.close());

const held = (name: string, finalizers: readonly string[]) => configMap(name, {}, { finalizers });

describe("finalizers", () => {
  test("C-3.1-01 DELETE keeps an object with finalizers, terminating, and answers 200 with it", async () => {
    await ok(server.admin.post(configMaps, held("kept", ["example.com/a"])));
    const { status, body } = await server.admin.delete(`${configMaps}/kept`);
    expect([status, body.kind]).toEqual([200, "ConfigMap"]);
    expect(Date.parse(body.metadata.deletionTimestamp)).toBe(Math.floor(clock.now() / 1000) * 1000);
    expect(body.metadata.deletionGracePeriodSeconds).toBe(0);
    await clock.advance(5000);
    const again = await server.admin.delete(`${configMaps}/kept`);
    expect([again.status, again.body]).toEqual([200, body]);
    expect((await server.admin.get(`${configMaps}/kept`)).body).toEqual(body);
  });

  test("DELETE answers 202 only with orphanDependents=false, which deletes dependents in the background", async () => {
    const finalizers = ["example.com/a"];
    for (const name of ["by-query", "by-body"])
      await ok(server.admin.post(configMaps, held(name, finalizers)));
    const byQuery = await server.admin.delete(`${configMaps}/by-query?orphanDependents=false`);
    const byBody = await server.admin.ask("DELETE", `${configMaps}/by-body`, {
      body: { orphanDependents: false },
    });
    expect([byQuery.status, byBody.status]).toEqual([202, 202]);
    expect([byQuery.body.metadata.finalizers, byBody.body.metadata.finalizers]).toEqual([
      finalizers,
      finalizers,
    ]);
  });

  test("C-3.1-02 C-3.1-03 finalizers are removed in any order, and the object with the last one", async () => {
    await ok(
      server.admin.post(configMaps, held("ordered", ["example.com/a", "example.com/b", "example.com/c"])),
    );
    await ok(server.admin.delete(`${configMaps}/ordered`));
    const left = async (finalizers: string[]) =>
      server.admin.patch(`${configMaps}/ordered`, { metadata: { finalizers } });
    expect((await left(["example.com/a", "example.com/c"])).status).toBe(200);
    expect((await left(["example.com/c"])).status).toBe(200);
    const last = await left([]);
    expect(last.status).toBe(200);
    expect(last.body.metadata).not.toHaveProperty("finalizers");
    expect((await server.admin.get(`${configMaps}/ordered`)).status).toBe(404);
  });

  test("C-2.2-06 a user with update permission may reorder finalizers", async () => {
    await ok(server.admin.post(configMaps, held("reordered", ["example.com/a", "example.com/b"])));
    const turned = await ok(
      server.admin.put(`${configMaps}/reordered`, held("reordered", ["example.com/b", "example.com/a"])),
    );
    expect(turned.body.metadata.finalizers).toEqual(["example.com/b", "example.com/a"]);
  });

  test("a terminating object can't get new finalizers and can't be restored", async () => {
    await ok(server.admin.post(configMaps, held("late", ["example.com/a"])));
    await ok(server.admin.delete(`${configMaps}/late`));
    const more = await server.admin.patch(`${configMaps}/late`, {
      metadata: { finalizers: ["example.com/a", "example.com/b"] },
    });
    expect([more.status, more.body.details.causes[0].reason]).toEqual([422, "FieldValueForbidden"]);
    const back = await ok(
      server.admin.patch(`${configMaps}/late`, { metadata: { deletionTimestamp: null } }),
    );
    expect(back.body.metadata.deletionTimestamp).toBeTypeOf("string");
  });

  test("a deleted collection keeps objects with finalizers as terminating", async () => {
    await ok(server.admin.post(configMaps, held("held-1", ["example.com/a"])));
    await ok(server.admin.delete(`${configMaps}?fieldSelector=metadata.name%3Dheld-1`));
    expect((await server.admin.get(`${configMaps}/held-1`)).body.metadata.deletionTimestamp).toBeTypeOf(
      "string",
    );
  });
});

describe("preconditions", () => {
  test.each([
    ["another uid", { uid: "other" }, 409],
    ["another version", { resourceVersion: "1" }, 409],
  ])("DELETE with %s is %d", async (_what, preconditions, status) => {
    await server.admin.post(configMaps, configMap("conditional"));
    const answer = await server.admin.delete(`${configMaps}/conditional`, { body: { preconditions } });
    expect([answer.status, answer.body.reason]).toEqual([status, "Conflict"]);
    expect((await server.admin.get(`${configMaps}/conditional`)).status).toBe(200);
  });

  test("deletion succeeds with the object's own uid and resourceVersion", async () => {
    const { uid, resourceVersion } = (await server.admin.get(`${configMaps}/conditional`)).body.metadata;
    await ok(
      server.admin.delete(`${configMaps}/conditional`, { body: { preconditions: { uid, resourceVersion } } }),
    );
  });
});

describe("options", () => {
  test.each([
    ["propagationPolicy=Sideways", 422],
    ["gracePeriodSeconds=soon", 400],
    ["dryRun=Some", 422],
    ["propagationPolicy=Orphan&orphanDependents=true", 422],
  ])("%s is refused with %d", async (query, status) => {
    await server.admin.post(configMaps, configMap("stays"));
    expect((await server.admin.delete(`${configMaps}/stays?${query}`)).status).toBe(status);
    expect((await server.admin.get(`${configMaps}/stays`)).status).toBe(200);
  });

  test("an unknown propagationPolicy is reported with a cause, and orphanDependents is true unless it is false or 0", async () => {
    await server.admin.post(configMaps, configMap("orphaned"));
    const { body } = await server.admin.delete(`${configMaps}/orphaned?propagationPolicy=Sideways`);
    expect(body.details).toMatchObject({
      kind: "DeleteOptions",
      causes: [{ reason: "FieldValueNotSupported", field: "propagationPolicy" }],
    });
    const orphaned = await server.admin.delete(`${configMaps}/orphaned?orphanDependents=yes`);
    expect(orphaned.body.metadata.finalizers).toEqual(["orphan"]);
  });

  test.each([
    ["another kind", { kind: "ConfigMap" }, 400],
    ["a wrong type", { gracePeriodSeconds: "now" }, 400],
    ["a list", [], 400],
    ["an unknown policy", { propagationPolicy: "Sideways" }, 422],
    ["an unknown dry run", { dryRun: ["Some"] }, 422],
  ])("a body with %s is refused", async (_what, body, status) => {
    expect((await server.admin.delete(`${configMaps}/stays`, { body })).status).toBe(status);
    expect((await server.admin.get(`${configMaps}/stays`)).status).toBe(200);
  });

  test("a DELETE with a Content-Type and no body has no options", async () => {
    const headers = { "content-type": "application/json" };
    expect((await server.admin.ask("DELETE", `${configMaps}/stays`, { headers })).status).toBe(200);
  });

  test("DELETE of a ServiceAccount answers 200 with the object", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await ok(server.admin.post(accounts, { metadata: { name: "robot" } }));
    const { status, body } = await server.admin.delete(`${accounts}/robot`);
    expect([status, body.kind, body.metadata.name]).toEqual([200, "ServiceAccount", "robot"]);
  });
});

describe("3.1 deleting a namespace deletes its content", () => {
  const gone = (path: string) =>
    until(
      () => server.admin.get(path),
      ({ status }) => status === 404,
    );

  test("an empty namespace is deleted immediately, another one after its content", async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("full")));
    for (const name of ["a", "b"])
      await ok(server.admin.post("/api/v1/namespaces/full/configmaps", configMap(name)));
    const { status, body } = await server.admin.delete("/api/v1/namespaces/full");
    expect([status, body.status.phase]).toEqual([200, "Terminating"]);
    await gone("/api/v1/namespaces/full");
    expect((await server.admin.get("/api/v1/namespaces/full/configmaps")).body.items).toEqual([]);
  });

  test("content with finalizers keeps the namespace terminating with conditions, and new objects are refused", async () => {
    const path = "/api/v1/namespaces/slow";
    await ok(server.admin.post("/api/v1/namespaces", namespace("slow")));
    await ok(server.admin.post(`${path}/configmaps`, held("stuck", ["example.com/a"])));
    await ok(server.admin.post(`${path}/configmaps`, configMap("loose")));
    await ok(server.admin.delete(path));
    const { body } = await until(
      () => server.admin.get(path),
      (one) => one.body.status.conditions !== undefined,
    );
    const conditions = Object.fromEntries(
      body.status.conditions.map((one: { type: string }) => [one.type, one]),
    );
    expect(conditions.NamespaceContentRemaining).toMatchObject({
      status: "True",
      reason: "SomeResourcesRemain",
      message: "Some resources are remaining: configmaps has 1 resource instances",
    });
    expect(conditions.NamespaceFinalizersRemaining).toMatchObject({
      status: "True",
      reason: "SomeFinalizersRemain",
      message:
        "Some content in the namespace has finalizers remaining: example.com/a in 1 resource instances",
    });
    expect((await server.admin.get(`${path}/configmaps/loose`)).status).toBe(404);
    const late = await server.admin.post(`${path}/configmaps`, configMap("late"));
    expect([late.status, late.body.reason]).toEqual([403, "Forbidden"]);
    expect(late.body.message).toContain("because it is being terminated");
    expect(late.body.details.causes).toEqual([
      {
        reason: "NamespaceTerminating",
        message: "namespace slow is being terminated",
        field: "metadata.namespace",
      },
    ]);
    expect(
      (await server.admin.patch(`${path}/configmaps/stuck`, { data: { still: "writable" } })).status,
    ).toBe(200);
    await ok(server.admin.patch(`${path}/configmaps/stuck`, { metadata: { finalizers: [] } }));
    await until(
      async () => {
        await clock.advance(1000);
        return server.admin.get(path);
      },
      ({ status }) => status === 404,
    );
    await ok(server.admin.post("/api/v1/namespaces", namespace("slow")));
  });

  test("a custom finalizer in its spec keeps the namespace until finalize removes it", async () => {
    const path = "/api/v1/namespaces/guarded";
    const spec = { finalizers: ["example.com/guard"] };
    const made = await ok(server.admin.post("/api/v1/namespaces", { ...namespace("guarded"), spec }));
    expect(made.body.spec.finalizers).toEqual(["example.com/guard", "platform"]);
    await ok(server.admin.delete(path));
    await until(
      () => server.admin.get(path),
      ({ body }) => body.spec.finalizers.length === 1,
    );
    expect((await server.admin.put(path, namespace("guarded"))).body.spec.finalizers).toEqual([
      "example.com/guard",
    ]);
    await ok(server.admin.put(`${path}/finalize`, namespace("guarded")));
    expect((await server.admin.get(path)).status).toBe(404);
  });

  test.each(["default", "platform-system", "platform-public"])("%s cannot be deleted", async (name) => {
    const { status, body } = await server.admin.delete(`/api/v1/namespaces/${name}`);
    expect([status, body.message]).toEqual([
      403,
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    ]);
  });
});
