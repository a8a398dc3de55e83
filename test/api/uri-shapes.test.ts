import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { AUTHN, AUTHZ, RBAC, configMap, namesIn, namespace, ok, role, roleKinds } from "./support.ts";

const podsOfTeam = "/api/v1/namespaces/team-a/pods";

const server = useServer({ runtimeConfig: "authentication.platform.io/v1alpha1" });
beforeAll(async () => {
  for (const name of ["team-a", "team-b"]) {
    await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
    await ok(server.admin.post(`${RBAC}/namespaces/${name}/roles`, role(`reader-${name}`)));
    await ok(server.admin.post(`/api/v1/namespaces/${name}/configmaps`, configMap("settings")));
  }
  for (const { list, make } of roleKinds) await ok(server.admin.post(list, make("shape")));
  const spec = { containers: [{ name: "a", image: "a" }] };
  await ok(server.admin.post(podsOfTeam, { metadata: { name: "shaped" }, spec }));
});

describe("paths that are served", () => {
  test.each([
    ["C-4.1-01 a cluster-scoped type of a named group", `${RBAC}/clusterroles`, "ClusterRoleList"],
    ["C-4.1-01 one object of it", `${RBAC}/clusterroles/view`, "ClusterRole"],
    ["C-4.1-02 a namespaced type, all namespaces", `${RBAC}/roles`, "RoleList"],
    ["C-4.1-03 a namespaced type, one namespace", `${RBAC}/namespaces/team-a/roles`, "RoleList"],
    ["C-4.1-03 one object of it", `${RBAC}/namespaces/team-a/roles/reader-team-a`, "Role"],
    ["C-4.1-04 a core type, all namespaces", "/api/v1/configmaps", "ConfigMapList"],
    ["C-4.1-04 a core type, one namespace", "/api/v1/namespaces/team-a/configmaps", "ConfigMapList"],
    ["C-4.1-04 one object of it", "/api/v1/namespaces/team-a/configmaps/settings", "ConfigMap"],
    ["C-4.1-05 a sub-resource in cluster scope", "/api/v1/namespaces/team-a/status", "Namespace"],
    ["C-4.1-05 a sub-resource in namespace scope", `${podsOfTeam}/shaped/status`, "Pod"],
    ["C-4.1-07 the namespaces", "/api/v1/namespaces", "NamespaceList"],
    ["C-4.1-07 one namespace", "/api/v1/namespaces/team-a", "Namespace"],
    ["a trailing slash changes nothing", "/api/v1/namespaces/", "NamespaceList"],
    ["a percent-encoded letter is that letter", "/api/v1/namespaces/team%2Da", "Namespace"],
  ])("%s: GET %s", async (_what, path, kind) => {
    const { status, body } = await server.admin.get(path);
    expect([status, body.kind]).toEqual([200, kind]);
  });

  test("C-4.1-02 and C-4.1-03 the list of all namespaces has the objects of each namespace", async () => {
    const one = await server.admin.get(`${RBAC}/namespaces/team-a/roles`);
    const all = await server.admin.get(`${RBAC}/roles`);
    expect(namesIn(one)).toEqual(["reader-team-a"]);
    expect(namesIn(all)).toEqual(expect.arrayContaining(["reader-team-a", "reader-team-b"]));
  });
});

describe("names that no object can have", () => {
  const team = "/api/v1/namespaces/team-a";
  test.each([
    ["GET", `${team}/configmaps/a%25b`],
    ["PUT", `${team}/configmaps/a%25b`],
    ["PATCH", `${team}/configmaps/a%25b`],
    ["DELETE", `${team}/configmaps/a%25b`],
    ["GET", "/api/v1/namespaces/a%25b"],
    ["GET", `${RBAC}/clusterroles/a%25b`],
    ["GET", `${team}/pods/a%25b/status`],
    ["GET", `${team}/pods/a%25b/log`],
    ["POST", `${team}/pods/a%25b/eviction`],
  ])("are 400: %s %s", async (method, path) => {
    const { status, body } = await server.admin.ask(method, path, method === "GET" ? {} : { body: {} });
    expect([status, body.reason]).toEqual([400, "BadRequest"]);
    expect(body.message).toContain("in the path is invalid: may not");
  });

  test.each([
    ["an encoded slash, which separates segments", `${team}/configmaps/a%2Fb`, 404],
    ["a % in the namespace", "/api/v1/namespaces/a%25b/configmaps/a", 404],
    ["a list", "/api/v1/namespaces/a%25b/configmaps", 200],
    ["a list by name", `${team}/configmaps?fieldSelector=metadata.name%3Da%25b`, 200],
  ])("are not refused for %s", async (_title, path, expected) => {
    expect((await server.admin.get(path)).status).toBe(expected);
  });
});

describe("paths that are not served", () => {
  test.each([
    ["GET", "/api/v1/nothings", 404],
    ["GET", "/apis/nobody.example.com/v1/roles", 404],
    ["GET", `${RBAC.replace("v1", "v1beta1")}/roles`, 404],
    ["GET", "/apis//v1/namespaces", 404],
    ["GET", "/api/v1//namespaces", 404],
    ["GET", `${RBAC}/namespaces/team-a/clusterroles`, 404],
    ["GET", `${RBAC}/namespaces/team-a/clusterroles/view`, 404],
    ["GET", `${RBAC}/roles/reader-team-a`, 404],
    ["GET", "/api/v1/namespaces/team-a/namespaces", 404],
    ["GET", "/api/v1/namespaces/team-a/namespaces/team-b", 404],
    ["GET", "/api/v1/namespaces/team-a/configmaps/settings/status", 404],
    ["GET", "/api/v1/namespaces/team-a/configmaps/settings/constructor", 404],
    ["GET", "/api/v1/namespaces/team-a/configmaps/settings/status/more", 404],
    ["GET", "/api/v1/namespaces/team-a/status/more", 404],
    ["GET", "/api/v2", 404],
    ["GET", "/nothing", 404],
    ["POST", "/version", 405],
    ["POST", "/api/v1/configmaps", 405],
    ["DELETE", "/api/v1/configmaps", 405],
    ["DELETE", "/api/v1/namespaces", 405],
    ["POST", "/api/v1/namespaces/team-a", 405],
    ["POST", "/api/v1/namespaces/team-a/configmaps/settings", 405],
    ["PUT", "/api/v1/namespaces/team-a/configmaps", 405],
    ["PATCH", "/api/v1/namespaces/team-a/configmaps", 405],
    ["OPTIONS", "/api/v1/namespaces", 405],
    ["GET", "/api/v1/bindings", 404],
    ["POST", "/api/v1/bindings", 404],
    ["GET", "/api/v1/namespaces/team-a/bindings", 405],
  ])("%s %s is %d", async (method, path, status) => {
    const answer = await server.admin.ask(method, path, method === "GET" ? {} : { body: {} });
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ kind: "Status", apiVersion: "v1", status: "Failure", code: status });
  });

  test("C-2.1-01 a verb that a subresource doesn't support is 405", async () => {
    const path = "/api/v1/namespaces/team-a";
    expect((await server.admin.get(`${path}/finalize`)).status).toBe(405);
    expect((await server.admin.delete(`${path}/status`)).status).toBe(405);
    expect((await server.admin.get(`${path}/status`)).status).toBe(200);
  });

  test("C-2.1-02 a collection of subresources is 404", async () => {
    expect((await server.admin.get("/api/v1/status")).status).toBe(404);
    expect((await server.admin.get("/api/v1/namespaces/*/status")).status).toBe(404);
  });
});

describe("A-4-01 API prefixes", () => {
  test.each([
    [
      AUTHZ,
      [
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "subjectaccessreviews",
      ],
    ],
    [AUTHN, ["selfsubjectreviews"]],
    [RBAC, ["clusterrolebindings", "clusterroles", "rolebindings", "roles"]],
  ])("%s lists its resources", async (prefix, resources) => {
    const { body } = await server.admin.get(prefix);
    expect(body).toMatchObject({ kind: "APIResourceList", groupVersion: prefix.slice("/apis/".length) });
    expect(body.resources.map((one: { name: string }) => one.name)).toEqual(resources);
  });
});

describe("the four role-based kinds", () => {
  test.each([
    ["A-4.2-01", "ClusterRole", `${RBAC}/clusterroles`],
    ["A-4.2-02", "ClusterRoleBinding", `${RBAC}/clusterrolebindings`],
    ["A-4.2-03", "Role", `${RBAC}/namespaces/default/roles`],
    ["A-4.2-04", "RoleBinding", `${RBAC}/namespaces/default/rolebindings`],
    ["A-4.2-05", "Role", `${RBAC}/roles`],
    ["A-4.2-06", "RoleBinding", `${RBAC}/rolebindings`],
  ])("%s %s has the collection %s", async (_id, kind, path) => {
    const { body } = await ok(server.admin.get(path));
    expect(body.kind).toBe(`${kind}List`);
    expect(body.items.length).toBeGreaterThan(0);
    const { name, namespace } = body.items[0].metadata;
    const one = `${RBAC}/${namespace === undefined ? "" : `namespaces/${namespace}/`}${path.split("/").at(-1)}/${name}`;
    expect((await ok(server.admin.get(one))).body.kind).toBe(kind);
  });

  test("A-4.2-05 and A-4.2-06 lists of all namespaces support the list parameters", async () => {
    for (const type of ["roles", "rolebindings"]) {
      const parameters =
        "limit=1&labelSelector=a%21%3Db&fieldSelector=metadata.name%21%3Dz&timeoutSeconds=5&pretty=true";
      const { body } = await ok(server.admin.get(`${RBAC}/${type}?${parameters}`));
      expect(body.items).toHaveLength(1);
      const next = encodeURIComponent(body.metadata.continue);
      expect((await server.admin.get(`${RBAC}/${type}?${parameters}&continue=${next}`)).status).toBe(200);
      const at = await server.admin.get(
        `${RBAC}/${type}?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`,
      );
      expect(at.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    }
  });

  test.each(roleKinds)("A-3-01 a $kind has no status and no status subresource", async ({ list, make }) => {
    const { body } = await ok(server.admin.post(list, { ...make("stateless"), status: { phase: "Active" } }));
    expect(body).not.toHaveProperty("status");
    expect((await server.admin.get(`${list}/stateless/status`)).status).toBe(404);
  });
});

test("a path through one namespace doesn't reach another one", async () => {
  const paths = ["team-b", "team-b/status", "team-b/finalize"];
  for (const path of paths) {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const { status } = await server.admin.ask(method, `/api/v1/namespaces/team-a/namespaces/${path}`);
      expect(status, `${method} ${path}`).toBe(404);
    }
  }
});
