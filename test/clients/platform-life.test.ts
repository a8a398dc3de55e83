import { afterAll, beforeAll, expect, it } from "vitest";
import { TestServer, type Api } from "../support/api.ts";

/** The object lifecycle in the platform vocabulary, with plain requests. */
let server: TestServer;
let api: Api;

beforeAll(async () => {
  server = await TestServer.start();
  api = server.admin;
});
afterAll(() => server?.close());

const group = "rbac.authorization.platform.io";
const rolesOf = (namespace: string) => `/apis/${group}/v1/namespaces/${namespace}`;

it("a client creates, reads, lists, replaces, patches and deletes objects", async () => {
  expect((await api.post("/api/v1/namespaces", { metadata: { name: "life" } })).status).toBe(201);
  const path = "/api/v1/namespaces/life/configmaps";
  const made = await api.post(path, { metadata: { name: "one" }, data: { a: "1" } });
  expect(made).toMatchObject({
    status: 201,
    body: { kind: "ConfigMap", apiVersion: "v1", data: { a: "1" } },
  });
  expect((await api.get(`${path}/one`)).body).toEqual(made.body);
  expect((await api.get(path)).body).toMatchObject({ kind: "ConfigMapList", items: [{ data: { a: "1" } }] });
  expect((await api.put(`${path}/one`, { ...made.body, data: { a: "2" } })).status).toBe(200);
  expect((await api.put(`${path}/one`, made.body)).body).toMatchObject({
    kind: "Status",
    reason: "Conflict",
    code: 409,
  });
  expect((await api.patch(`${path}/one`, { data: { b: "3" } })).body.data).toEqual({ a: "2", b: "3" });
  expect((await api.patch(`${path}/one`, [{ op: "remove", path: "/data/a" }], "json")).body.data).toEqual({
    b: "3",
  });
  expect((await api.patch(`${path}/one`, { data: { b: null, c: "4" } }, "strategic")).body.data).toEqual({
    c: "4",
  });
  expect((await api.delete(`${path}/one`)).body).toMatchObject({ kind: "Status", status: "Success" });
  expect((await api.get(`${path}/one`)).body).toMatchObject({ reason: "NotFound", code: 404 });
});

it("a client creates roles and bindings, and reviews access", async () => {
  expect((await api.post("/api/v1/namespaces", { metadata: { name: "granting" } })).status).toBe(201);
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  await api.post(`${rolesOf("granting")}/roles`, { metadata: { name: "reader" }, rules });
  const subjects = [{ kind: "User", name: "ann" }];
  const roleRef = { apiGroup: group, kind: "Role", name: "reader" };
  const bound = await api.post(`${rolesOf("granting")}/rolebindings`, {
    metadata: { name: "reader" },
    subjects,
    roleRef,
  });
  expect(bound.body.subjects).toEqual([{ kind: "User", apiGroup: group, name: "ann" }]);
  const may = async (verb: string) => {
    const spec = { user: "ann", resourceAttributes: { namespace: "granting", verb, resource: "configmaps" } };
    const review = await api.post("/apis/authorization.platform.io/v1/subjectaccessreviews", { spec });
    return (review.body as { status: { allowed: boolean } }).status.allowed;
  };
  expect([await may("get"), await may("delete")]).toEqual([true, false]);
  await api.delete(`${rolesOf("granting")}/rolebindings/reader`);
  expect(await may("get")).toBe(false);
});

it("a client watches, and resumes from the last resourceVersion", async () => {
  await api.post("/api/v1/namespaces", { metadata: { name: "watching" } });
  const path = "/api/v1/namespaces/watching/configmaps";
  const { metadata } = (await api.get(path)).body as { metadata: { resourceVersion: string } };
  const first = await api.watch(`${path}?resourceVersion=${metadata.resourceVersion}`);
  await api.post(path, { metadata: { name: "a" } });
  const added = await first.next();
  expect(added).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
  first.close();
  await api.delete(`${path}/a`);
  await api.post(path, { metadata: { name: "b" } });
  const second = await api.watch(`${path}?resourceVersion=${added.object.metadata.resourceVersion}`);
  expect((await second.next()).type).toBe("DELETED");
  expect(await second.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
  second.close();
});
