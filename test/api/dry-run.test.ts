import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { RBAC, configMap, grant, namespace, ok, podReader, role, roleKinds } from "./support.ts";

const path = "/api/v1/namespaces/default/configmaps";

const server = useServer({ users: [{ name: "reader" }, { name: "editor" }] });
beforeAll(async () => {
  await ok(server.admin.post(path, configMap("stands", { a: "b" })));
});

const merge = (body: object) => ({ body, contentType: "application/merge-patch+json" });
/** Runs a write and expects that it stored nothing. */
async function leavesNoTrace<T>(write: () => Promise<T>): Promise<T> {
  const version = async () =>
    (await server.admin.get("/api/v1/configmaps")).body.metadata.resourceVersion as string;
  const before = await version();
  const result = await write();
  expect(await version()).toBe(before);
  return result;
}

describe("C-4.9-02 C-4.9-03 dryRun=All answers like the real request and stores nothing", () => {
  test("POST: 201 with the object", async () => {
    const { status, body } = await leavesNoTrace(() =>
      server.admin.post(`${path}?dryRun=All`, configMap("dry")),
    );
    expect(status).toBe(201);
    expect(body).toMatchObject({
      kind: "ConfigMap",
      metadata: { name: "dry", namespace: "default" },
      data: { key: "value" },
    });
    expect((await server.admin.get(`${path}/dry`)).status).toBe(404);
  });

  test("POST accepts a resourceVersion in the object, which a real create refuses after validation", async () => {
    const sent = configMap("dry", {}, { resourceVersion: 'a"b' });
    const { status, body } = await leavesNoTrace(() => server.admin.post(`${path}?dryRun=All`, sent));
    expect([status, body.metadata.resourceVersion]).toEqual([201, 'a"b']);
    const invalid = configMap("no/name", {}, { resourceVersion: "1" });
    expect((await server.admin.post(path, invalid)).status).toBe(422);
    expect((await server.admin.post(path, sent)).status).toBe(400);
  });

  test("C-4.9-07 POST with generateName: a generated name, uid and time that a later request needn't repeat", async () => {
    const { body } = await leavesNoTrace(() =>
      server.admin.post(`${path}?dryRun=All`, { metadata: { generateName: "g-" } }),
    );
    expect(body.metadata).toMatchObject({ name: expect.stringMatching(/^g-.{5}$/), uid: expect.any(String) });
  });

  test("PUT: 200 with the object, and 201 where it would create", async () => {
    const sent = configMap("stands", { a: "changed" });
    const { status, body } = await leavesNoTrace(() => server.admin.put(`${path}/stands?dryRun=All`, sent));
    expect([status, body.data]).toEqual([200, { a: "changed" }]);
    expect((await server.admin.get(`${path}/stands`)).body.data).toEqual({ a: "b" });
    const created = await leavesNoTrace(() =>
      server.admin.put(`${RBAC}/clusterroles/dry?dryRun=All`, roleKinds[0].make("dry")),
    );
    expect(created.status).toBe(201);
    expect((await server.admin.get(`${RBAC}/clusterroles/dry`)).status).toBe(404);
  });

  test("PATCH: 200 with the object", async () => {
    const { status, body } = await leavesNoTrace(() =>
      server.admin.ask("PATCH", `${path}/stands?dryRun=All`, merge({ data: { c: "d" } })),
    );
    expect([status, body.data]).toEqual([200, { a: "b", c: "d" }]);
  });

  test("DELETE: 200 with a Status, or 200 with the object if it has finalizers", async () => {
    expect((await leavesNoTrace(() => server.admin.delete(`${path}/stands?dryRun=All`))).status).toBe(200);
    expect(
      (await leavesNoTrace(() => server.admin.delete(`${path}/stands`, { body: { dryRun: ["All"] } })))
        .status,
    ).toBe(200);
    await ok(server.admin.post(path, configMap("held", {}, { finalizers: ["example.com/a"] })));
    const held = await leavesNoTrace(() => server.admin.delete(`${path}/held?dryRun=All`));
    expect(held.status).toBe(200);
    expect(held.body.metadata.deletionTimestamp).toBeTypeOf("string");
    expect((await server.admin.get(`${path}/held`)).body.metadata).not.toHaveProperty("deletionTimestamp");
  });

  test("DELETE of a collection: 200 with a Status", async () => {
    expect((await leavesNoTrace(() => server.admin.delete(`${path}?dryRun=All`))).status).toBe(200);
    expect((await server.admin.get(path)).body.items.length).toBeGreaterThan(1);
  });

  test("subresources and the deletion of a namespace: the same answer, and nothing is stored", async () => {
    const changed = { ...namespace("default"), status: { conditions: [] } };
    expect(
      (await leavesNoTrace(() => server.admin.put("/api/v1/namespaces/default/status?dryRun=All", changed)))
        .status,
    ).toBe(200);
    await ok(server.admin.post("/api/v1/namespaces", namespace("alive")));
    expect(
      (await leavesNoTrace(() => server.admin.delete("/api/v1/namespaces/alive?dryRun=All"))).status,
    ).toBe(200);
    expect((await server.admin.get("/api/v1/namespaces/alive")).body.status.phase).toBe("Active");
  });
});

describe("C-4.9-01 C-4.9-06 a dry run is rejected like the real request", () => {
  test.each([
    ["a name that is taken", "POST", path, configMap("stands"), 409],
    ["a name that is none", "POST", path, configMap("No Name"), 422],
    ["a missing namespace (admission)", "POST", "/api/v1/namespaces/none/configmaps", configMap("x"), 404],
    ["a wrong type", "POST", path, { metadata: { name: "x" }, data: 5 }, 400],
    ["a missing object", "PUT", `${path}/none`, configMap("none"), 404],
    ["an old version", "PUT", `${path}/stands`, configMap("stands", {}, { resourceVersion: "1" }), 409],
    ["a missing object", "DELETE", `${path}/none`, undefined, 404],
    ["a kept namespace (admission)", "DELETE", "/api/v1/namespaces/default", undefined, 403],
    ["a precondition", "DELETE", `${path}/stands`, { preconditions: { uid: "x" } }, 409],
  ])("%s: %s %s", async (_what, method, at, body, status) => {
    const real = await server.admin.ask(method, at, { body });
    const dry = await leavesNoTrace(() => server.admin.ask(method, `${at}?dryRun=All`, { body }));
    expect([dry.status, dry.body.reason, dry.body.message]).toEqual([
      real.status,
      real.body.reason,
      real.body.message,
    ]);
    expect(dry.status).toBe(status);
  });

  test("C-4.9-09 a dry run needs the same permission", async () => {
    await grant(server.admin, "reader", [
      { verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] },
    ]);
    const reader = server.as("reader");
    expect((await reader.post(`${path}?dryRun=All`, configMap("x"))).status).toBe(403);
    expect((await reader.put(`${path}/stands?dryRun=All`, configMap("stands"))).status).toBe(403);
    expect((await reader.ask("PATCH", `${path}/stands?dryRun=All`, merge({}))).status).toBe(403);
    expect((await reader.delete(`${path}/stands?dryRun=All`)).status).toBe(403);
    expect((await reader.delete(`${path}?dryRun=All`)).status).toBe(403);
  });

  test("C-4.9-01 a dry run of privilege escalation is 403", async () => {
    await grant(server.admin, "editor", [
      { verbs: ["create"], apiGroups: ["rbac.authorization.platform.io"], resources: ["roles"] },
    ]);
    const escalating = role("more", [podReader]);
    expect(
      (await server.as("editor").post(`${RBAC}/namespaces/default/roles?dryRun=All`, escalating)).status,
    ).toBe(403);
  });
});

describe("C-4.3-08 values of dryRun", () => {
  test.each(["true", "all", "None", "All,All", "All&dryRun=Some"])(
    "%j is refused on every modifying verb",
    async (value) => {
      const query = `?dryRun=${value}`;
      const answers = [
        await server.admin.post(`${path}${query}`, configMap("x")),
        await server.admin.put(`${path}/stands${query}`, configMap("stands")),
        await server.admin.ask("PATCH", `${path}/stands${query}`, merge({ data: { x: "y" } })),
        await server.admin.delete(`${path}/stands${query}`),
        await server.admin.delete(`${path}${query}`),
      ];
      expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422]);
      expect(answers[0]!.body.details.causes[0].field).toBe("dryRun");
      expect((await server.admin.get(`${path}/stands`)).body.data).toEqual({ a: "b" });
    },
  );

  test.each(["dryRun", "dryRun="])("C-4.9-04 ?%s is a normal request", async (query) => {
    const name = `real-${query.length}`;
    await ok(server.admin.post(`${path}?${query}`, configMap(name)));
    await ok(server.admin.ask("PATCH", `${path}/${name}?${query}`, merge({ data: { x: "y" } })));
    expect((await server.admin.get(`${path}/${name}`)).body.data.x).toBe("y");
    await ok(server.admin.delete(`${path}/${name}?${query}`));
    expect((await server.admin.get(`${path}/${name}`)).status).toBe(404);
  });
});

test.each(roleKinds)(
  "A-4.2-24 A-4.2-28 every modifying verb of a $kind supports dryRun",
  async ({ list, make }) => {
    await ok(server.admin.post(list, make("real")));
    expect((await server.admin.post(`${list}?dryRun=All`, make("dry"))).status).toBe(201);
    expect(
      (await server.admin.put(`${list}/real?dryRun=All`, make("real", { labels: { a: "b" } }))).status,
    ).toBe(200);
    expect(
      (
        await server.admin.ask(
          "PATCH",
          `${list}/real?dryRun=All`,
          merge({ metadata: { labels: { a: "b" } } }),
        )
      ).status,
    ).toBe(200);
    expect((await server.admin.delete(`${list}/real?dryRun=All`)).status).toBe(200);
    expect((await server.admin.delete(`${list}?dryRun=All`)).status).toBe(200);
    expect((await server.admin.get(`${list}/real`)).body.metadata).not.toHaveProperty("labels");
    expect((await server.admin.get(`${list}/dry`)).status).toBe(404);
  },
);
