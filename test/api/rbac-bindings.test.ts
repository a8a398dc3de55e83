import { describe, expect, test } from "vitest";
import type { Api } from "../support/api.ts";
import {
  RBAC,
  account,
  clusterRole,
  clusterRoleBinding,
  grant,
  group,
  ok,
  rbacGroup,
  refTo,
  role,
  roleBinding,
  user,
  type PolicyRule,
} from "./support.ts";
import { inA, reads, useRbacServer } from "./rbac-support.ts";

const { server, can } = useRbacServer();

async function watchOnce(api: Api, path: string): Promise<{ status: number }> {
  const watching = await api.watch(path);
  watching.close();
  return { status: watching.status };
}

describe("permissions granted by bindings", () => {
  test("A-5-02 A-5-03 A-2.4-10 every subject has every rule of every bound role; no rule removes permissions", async () => {
    await ok(
      server.admin.post(`${inA}/roles`, role("maps", [reads("configmaps"), reads("secrets", ["list"])])),
    );
    await ok(server.admin.post(`${inA}/roles`, role("accounts", [reads("serviceaccounts")])));
    await ok(
      server.admin.post(
        `${inA}/rolebindings`,
        roleBinding("many", refTo("Role", "maps"), [user("bob"), group("staff"), account("a", "robot")]),
      ),
    );
    await ok(
      server.admin.post(`${inA}/rolebindings`, roleBinding("more", refTo("Role", "accounts"), [user("bob")])),
    );
    for (const path of ["configmaps", "configmaps/one", "secrets", "serviceaccounts"]) {
      expect((await server.as("bob").get(`/api/v1/namespaces/a/${path}`)).status, path).toBe(200);
    }
    expect((await server.as("ann").get("/api/v1/namespaces/a/configmaps")).status).toBe(200);
    expect((await server.as("ann").get("/api/v1/namespaces/a/serviceaccounts")).status).toBe(403);
    const robot = {
      user: "system:serviceaccount:a:robot",
      resourceAttributes: { verb: "get", resource: "configmaps", namespace: "a" },
    };
    expect((await can(robot)).allowed).toBe(true);
  });

  test("A-5-04 A-2.4-29 C-4.1-06 a RoleBinding grants nothing outside its namespace", async () => {
    for (const path of [
      "/api/v1/namespaces/b/configmaps",
      "/api/v1/configmaps",
      "/api/v1/namespaces/b",
      "/api/v1/namespaces",
    ]) {
      expect((await server.as("bob").get(path)).status, path).toBe(403);
    }
  });

  test("A-2.4-09 A-2.4-30 a ClusterRole grants in the namespace of a RoleBinding, or everywhere through a ClusterRoleBinding", async () => {
    await ok(server.admin.post(`${RBAC}/clusterroles`, clusterRole("maps", [reads("configmaps")])));
    await ok(
      server.admin.post(
        `${inA}/rolebindings`,
        roleBinding("carl", refTo("ClusterRole", "maps"), [user("carl")]),
      ),
    );
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("dora", refTo("ClusterRole", "maps"), [user("dora")]),
      ),
    );
    expect((await server.as("carl").get("/api/v1/namespaces/a/configmaps")).status).toBe(200);
    expect((await server.as("carl").get("/api/v1/namespaces/b/configmaps")).status).toBe(403);
    expect((await server.as("dora").get("/api/v1/namespaces/b/configmaps")).status).toBe(200);
    expect((await server.as("dora").get("/api/v1/configmaps")).status).toBe(200);
  });

  test("an administrator of one namespace has no permission in another one", async () => {
    await ok(
      server.admin.post(
        `${inA}/rolebindings`,
        roleBinding("root-of-a", refTo("ClusterRole", "cluster-admin"), [user("jo")]),
      ),
    );
    const jo = server.as("jo");
    expect((await jo.get("/api/v1/namespaces/a")).status).toBe(200);
    for (const path of [
      "/api/v1/namespaces/b",
      "/api/v1/namespaces/a/namespaces/b",
      "/api/v1/namespaces/a/namespaces",
      "/api/v1/namespaces/a%2F..%2Fb",
    ]) {
      const { status, body } = await jo.get(path);
      expect([403, 404], path).toContain(status);
      expect(body.kind).toBe("Status");
    }
    expect((await jo.delete("/api/v1/namespaces/a/namespaces/b")).status).toBe(404);
    expect((await server.admin.get("/api/v1/namespaces/b")).body.status.phase).toBe("Active");
  });

  test.each<[string, PolicyRule, string, boolean]>([
    ["A-2.4-01 the empty group is the core group", reads("configmaps"), "/api/v1/configmaps", true],
    [
      "A-2.4-01 another group is not",
      { ...reads("configmaps"), apiGroups: ["apps"] },
      "/api/v1/configmaps",
      false,
    ],
    ["A-2.4-01 * is every group", { ...reads("configmaps"), apiGroups: ["*"] }, "/api/v1/configmaps", true],
    ["A-2.4-02 several groups", { ...reads("roles"), apiGroups: ["", rbacGroup] }, `${RBAC}/roles`, true],
    ["A-2.4-03 * is every resource", reads("*"), "/api/v1/secrets", true],
    ["A-2.4-04 * is every verb", reads("secrets", ["*"]), "/api/v1/secrets", true],
    ["A-2.4-04 another verb is not", reads("secrets", ["get"]), "/api/v1/secrets", false],
    [
      "A-2.4-05 a listed name",
      { ...reads("configmaps"), resourceNames: ["one"] },
      "/api/v1/namespaces/b/configmaps/one",
      true,
    ],
    [
      "A-2.4-05 an unlisted name",
      { ...reads("configmaps"), resourceNames: ["one"] },
      "/api/v1/namespaces/b/configmaps/two",
      false,
    ],
    [
      "A-2.4-05 names hold for no list",
      { ...reads("configmaps"), resourceNames: ["one"] },
      "/api/v1/configmaps",
      false,
    ],
    ["A-2.4-06 a path", { verbs: ["get"], nonResourceURLs: ["/version/x"] }, "/version/x", true],
    ["A-2.4-06 the last segment *", { verbs: ["get"], nonResourceURLs: ["/apps/*"] }, "/apps/one", true],
    ["A-2.4-06 another path", { verbs: ["get"], nonResourceURLs: ["/apps/*"] }, "/other", false],
  ])("%s", async (_what, rule, path, granted) => {
    await grant(server.admin, "ed", [rule]);
    const { status } = await server.as("ed").get(path);
    expect(status === 403).toBe(!granted);
    await ok(server.admin.delete(`${RBAC}/clusterrolebindings/grant-ed`));
    await ok(server.admin.delete(`${RBAC}/clusterroles/grant-ed`));
  });

  test("A-2.4-07 nonResourceURLs grant nothing through a RoleBinding", async () => {
    await ok(
      server.admin.post(
        `${RBAC}/clusterroles`,
        clusterRole("paths", [{ verbs: ["get"], nonResourceURLs: ["/secret-path"] }]),
      ),
    );
    await ok(
      server.admin.post(
        `${inA}/rolebindings`,
        roleBinding("paths", refTo("ClusterRole", "paths"), [user("kim")]),
      ),
    );
    expect((await server.as("kim").get("/secret-path")).status).toBe(403);
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("paths", refTo("ClusterRole", "paths"), [user("kim")]),
      ),
    );
    expect((await server.as("kim").get("/secret-path")).status).toBe(404);
  });

  test("A-5-05 C-4.2-02 each operation on roles needs its own verb", async () => {
    const list = `${inA}/roles`;
    const operations: [string, () => Promise<{ status: number }>][] = [
      ["create", () => server.as("fay").post(list, role("fays", []))],
      ["get", () => server.as("fay").get(`${list}/fays`)],
      ["list", () => server.as("fay").get(list)],
      ["watch", () => watchOnce(server.as("fay"), list)],
      ["update", () => server.as("fay").put(`${list}/fays`, role("fays", []))],
      ["patch", () => server.as("fay").patch(`${list}/fays`, {})],
      ["delete", () => server.as("fay").delete(`${list}/fays`)],
      ["deletecollection", () => server.as("fay").delete(`${list}?labelSelector=none`)],
    ];
    for (const [verb, operation] of operations) {
      expect((await operation()).status, verb).toBe(403);
      await ok(
        server.admin.put(
          `${inA}/roles/fay-may`,
          role("fay-may", [{ verbs: [verb], apiGroups: ["apps"], resources: ["roles"] }]),
        ),
      );
      await ok(
        server.admin.put(
          `${inA}/rolebindings/fay-may`,
          roleBinding("fay-may", refTo("Role", "fay-may"), [user("fay")]),
        ),
      );
      expect((await operation()).status, verb).toBe(403);
      await ok(
        server.admin.put(
          `${inA}/roles/fay-may`,
          role("fay-may", [{ verbs: [verb], apiGroups: [rbacGroup], resources: ["roles"] }]),
        ),
      );
      expect((await operation()).status, verb).toBeLessThan(300);
      await ok(server.admin.delete(`${inA}/rolebindings/fay-may`));
    }
  });

  test("C-5.9-04 anonymous callers have only the permissions granted to them", async () => {
    const anonymous = server.as(undefined);
    const { status, body } = await anonymous.get("/api/v1/configmaps");
    expect([status, body.message]).toEqual([
      403,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" at the cluster scope',
    ]);
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("anonymous", refTo("ClusterRole", "maps"), [group("system:unauthenticated")]),
      ),
    );
    expect((await anonymous.get("/api/v1/configmaps")).status).toBe(200);
    await ok(server.admin.delete(`${RBAC}/clusterrolebindings/anonymous`));
    expect((await anonymous.get("/api/v1/configmaps")).status).toBe(403);
  });
});
