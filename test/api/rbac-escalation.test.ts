import { beforeAll, describe, expect, test } from "vitest";
import {
  RBAC,
  clusterRole,
  clusterRoleBinding,
  grant,
  ok,
  rbacGroup,
  refTo,
  role,
  roleBinding,
  until,
  user,
  type PolicyRule,
} from "./support.ts";
import { inA, reads, useRbacServer } from "./rbac-support.ts";

const { server } = useRbacServer();

describe("privilege escalation", () => {
  beforeAll(async () => {
    const manage: PolicyRule = {
      verbs: ["create", "update", "patch", "get"],
      apiGroups: [rbacGroup],
      resources: ["*"],
    };
    await ok(server.admin.post(`${inA}/roles`, role("maps", [reads("secrets", ["list"])])));
    await grant(server.admin, "gus", [manage, reads("configmaps", ["get"])]);
  });

  test("a user can't write a role with permissions that they don't have", async () => {
    const gus = server.as("gus");
    expect((await gus.post(`${inA}/roles`, role("within", [reads("configmaps", ["get"])]))).status).toBe(201);
    const beyond = await gus.post(`${inA}/roles`, role("beyond", [reads("secrets", ["get"])]));
    expect([beyond.status, beyond.body.reason]).toEqual([403, "Forbidden"]);
    expect(beyond.body.message).toContain("secrets");
    expect((await gus.patch(`${inA}/roles/within`, { rules: [reads("secrets", ["get"])] })).status).toBe(403);
    expect(
      (await gus.put(`${inA}/roles/put-beyond`, role("put-beyond", [reads("secrets", ["get"])]))).status,
    ).toBe(403);
    // In a role with more permissions than its author has, only the fields of the garbage collector may change.
    const label = { metadata: { labels: { touched: "yes" } } };
    expect((await gus.patch(`${inA}/roles/within`, label)).status).toBe(200);
    expect((await gus.patch(`${inA}/roles/maps`, label)).status).toBe(403);
    const finalizer = { metadata: { finalizers: ["example.com/f"] } };
    expect((await gus.patch(`${inA}/roles/maps`, finalizer)).status).toBe(200);
    expect((await gus.patch(`${inA}/roles/maps`, { metadata: { finalizers: null } })).status).toBe(200);
  });

  test("the verb escalate allows writing any role", async () => {
    const rule = { verbs: ["escalate"], apiGroups: [rbacGroup], resources: ["roles"] };
    await ok(server.admin.post(`${inA}/roles`, role("gus-escalates", [rule])));
    await ok(
      server.admin.post(
        `${inA}/rolebindings`,
        roleBinding("gus-escalates", refTo("Role", "gus-escalates"), [user("gus")]),
      ),
    );
    expect((await server.as("gus").post(`${inA}/roles`, role("lifted", [reads("secrets")]))).status).toBe(
      201,
    );
    expect(
      (await server.as("gus").post(`${RBAC}/namespaces/b/roles`, role("lifted", [reads("secrets")]))).status,
    ).toBe(403);
  });

  test("a user can't bind a role with permissions that they don't have, unless they have the verb bind", async () => {
    const gus = server.as("gus");
    const bindings = `${inA}/rolebindings`;
    expect((await gus.post(bindings, roleBinding("b1", refTo("Role", "within"), [user("kim")]))).status).toBe(
      201,
    );
    expect(
      (await gus.post(bindings, roleBinding("b2", refTo("ClusterRole", "admin"), [user("gus")]))).status,
    ).toBe(403);
    expect(
      (
        await gus.post(
          `${RBAC}/clusterrolebindings`,
          clusterRoleBinding("b3", refTo("ClusterRole", "cluster-admin"), [user("gus")]),
        )
      ).status,
    ).toBe(403);
    const rule = {
      verbs: ["bind"],
      apiGroups: [rbacGroup],
      resources: ["clusterroles"],
      resourceNames: ["view"],
    };
    await ok(server.admin.post(`${inA}/roles`, role("gus-binds", [rule])));
    await ok(
      server.admin.post(bindings, roleBinding("gus-binds", refTo("Role", "gus-binds"), [user("gus")])),
    );
    expect(
      (await gus.post(bindings, roleBinding("b4", refTo("ClusterRole", "view"), [user("kim")]))).status,
    ).toBe(201);
    expect(
      (await gus.post(bindings, roleBinding("b5", refTo("ClusterRole", "edit"), [user("kim")]))).status,
    ).toBe(403);
  });

  test("a PUT that creates needs the create permission", async () => {
    await grant(server.admin, "hal", [{ verbs: ["update"], apiGroups: [rbacGroup], resources: ["roles"] }]);
    const { status, body } = await server.as("hal").put(`${inA}/roles/by-put`, role("by-put", []));
    expect([status, body.message]).toEqual([403, expect.stringContaining('cannot create resource "roles"')]);
    expect((await server.admin.get(`${inA}/roles/by-put`)).status).toBe(404);
  });

  test("C-4.10-04 A-4.2-25 A-4.2-27 an apply needs the patch permission, and one that creates the create permission too", async () => {
    const apply = (labels: object, query: string) =>
      server.as("hal").ask("PATCH", `${inA}/roles/by-apply?${query}`, {
        raw: JSON.stringify({ ...role("by-apply", []), metadata: { name: "by-apply", labels } }),
        contentType: "application/apply-patch+yaml",
      });
    const may = (...verbs: string[]) => {
      const rules = [{ verbs, apiGroups: [rbacGroup], resources: ["roles"] }];
      return ok(server.admin.put(`${RBAC}/clusterroles/grant-hal`, clusterRole("grant-hal", rules)));
    };
    expect((await apply({}, "fieldManager=hal")).body.message).toContain('cannot patch resource "roles"');
    await may("patch");
    expect((await apply({}, "fieldManager=hal")).body.message).toContain('cannot create resource "roles"');
    await may("patch", "create");
    expect((await apply({ a: "1" }, "fieldManager=hal")).status).toBe(201);
    expect((await apply({ a: "2" }, "fieldManager=other")).status).toBe(409);
    expect((await apply({ a: "2" }, "fieldManager=other&force=true")).status).toBe(200);
  });
});

describe("aggregated ClusterRoles", () => {
  const rulesOf = async (name: string) =>
    (await server.admin.get(`${RBAC}/clusterroles/${name}`)).body.rules as PolicyRule[] | null;
  const soon = (name: string, holds: (rules: readonly PolicyRule[]) => boolean) =>
    until(
      () => rulesOf(name),
      (rules) => holds(rules ?? []),
    );
  const selecting = (label: string) => ({
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] },
  });

  test("have the rules of the selected roles, are kept up to date, and grant the rules", async () => {
    await ok(server.admin.post(`${RBAC}/clusterroles`, { ...clusterRole("sum", []), ...selecting("sum") }));
    await ok(
      server.admin.post(
        `${RBAC}/clusterroles`,
        clusterRole("part-1", [reads("secrets")], { labels: { sum: "true" } }),
      ),
    );
    await ok(
      server.admin.post(
        `${RBAC}/clusterroles`,
        clusterRole("part-2", [reads("pods")], { labels: { sum: "true" } }),
      ),
    );
    expect(await soon("sum", (rules) => rules.length === 2)).toEqual([reads("secrets"), reads("pods")]);
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("sum", refTo("ClusterRole", "sum"), [user("kim")]),
      ),
    );
    expect((await server.as("kim").get("/api/v1/secrets")).status).toBe(200);
    await ok(server.admin.patch(`${RBAC}/clusterroles/part-1`, { metadata: { labels: { sum: null } } }));
    expect(await soon("sum", (rules) => rules.length === 1)).toEqual([reads("pods")]);
    await ok(server.admin.delete(`${RBAC}/clusterroles/part-2`));
    await soon("sum", (rules) => rules.length === 0);
  });

  test("lose rules that are written into them", async () => {
    await ok(server.admin.patch(`${RBAC}/clusterroles/sum`, { rules: [reads("nodes")] }));
    await soon("sum", (rules) => rules.length === 0);
  });

  test("extend the default roles", async () => {
    const labels = { "rbac.authorization.platform.io/aggregate-to-view": "true" };
    const widgets = { verbs: ["list"], apiGroups: ["example.com"], resources: ["widgets"] };
    await ok(server.admin.post(`${RBAC}/clusterroles`, clusterRole("widgets", [widgets], { labels })));
    for (const name of ["view", "edit", "admin"]) {
      await soon(name, (rules) => rules.some((rule) => rule.resources?.includes("widgets") === true));
    }
  });

  test.each<[string, object]>([
    ["no selectors", { clusterRoleSelectors: [] }],
    ["a bad selector", { clusterRoleSelectors: [{ matchLabels: { "no good!": "x" } }] }],
  ])("%s are refused", async (_what, aggregationRule) => {
    expect(
      (await server.admin.post(`${RBAC}/clusterroles`, { ...clusterRole("bad-sum", []), aggregationRule }))
        .status,
    ).toBe(422);
  });
});
