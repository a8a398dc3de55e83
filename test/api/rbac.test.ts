import { beforeAll, describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import type { Api } from "../support/api.ts";
import {
  AUTHZ,
  RBAC,
  account,
  causeFields,
  clusterRole,
  clusterRoleBinding,
  configMap,
  grant,
  group,
  namespace,
  ok,
  podReader,
  rbacGroup,
  refTo,
  role,
  roleBinding,
  roleKinds,
  until,
  user,
  type PolicyRule,
} from "./support.ts";

let admin: Api;
const users = ["ann", "bob", "carl", "dora", "ed", "fay", "gus", "hal", "ida", "jo", "kim"];
const server = useServer({ users: users.map((name) => ({ name, groups: name === "ann" ? ["staff"] : [] })) });
beforeAll(async () => {
  admin = server.admin;
  for (const name of ["a", "b"]) {
    await ok(admin.post("/api/v1/namespaces", namespace(name)));
    await ok(admin.post(`/api/v1/namespaces/${name}/configmaps`, configMap("one")));
  }
});

const inA = `${RBAC}/namespaces/a`;
const reads = (resource: string, verbs = ["get", "list"]): PolicyRule => ({
  verbs,
  apiGroups: [""],
  resources: [resource],
});
const can = async (spec: object): Promise<{ allowed: boolean; evaluationError?: string }> =>
  (await ok(admin.post(`${AUTHZ}/subjectaccessreviews`, { spec }))).body.status;

async function watchOnce(api: Api, path: string): Promise<{ status: number }> {
  const watching = await api.watch(path);
  watching.close();
  return { status: watching.status };
}

describe("what a binding grants", () => {
  test("A-5-02 A-5-03 A-2.4-10 every rule of every bound role, to every subject; nothing takes away", async () => {
    await ok(admin.post(`${inA}/roles`, role("maps", [reads("configmaps"), reads("secrets", ["list"])])));
    await ok(admin.post(`${inA}/roles`, role("accounts", [reads("serviceaccounts")])));
    await ok(
      admin.post(
        `${inA}/rolebindings`,
        roleBinding("many", refTo("Role", "maps"), [user("bob"), group("staff"), account("a", "robot")]),
      ),
    );
    await ok(
      admin.post(`${inA}/rolebindings`, roleBinding("more", refTo("Role", "accounts"), [user("bob")])),
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

  test("A-2.4-09 A-2.4-30 a ClusterRole through a RoleBinding in its namespace, through a ClusterRoleBinding everywhere", async () => {
    await ok(admin.post(`${RBAC}/clusterroles`, clusterRole("maps", [reads("configmaps")])));
    await ok(
      admin.post(`${inA}/rolebindings`, roleBinding("carl", refTo("ClusterRole", "maps"), [user("carl")])),
    );
    await ok(
      admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("dora", refTo("ClusterRole", "maps"), [user("dora")]),
      ),
    );
    expect((await server.as("carl").get("/api/v1/namespaces/a/configmaps")).status).toBe(200);
    expect((await server.as("carl").get("/api/v1/namespaces/b/configmaps")).status).toBe(403);
    expect((await server.as("dora").get("/api/v1/namespaces/b/configmaps")).status).toBe(200);
    expect((await server.as("dora").get("/api/v1/configmaps")).status).toBe(200);
  });

  test("who rules one namespace rules no other through it", async () => {
    await ok(
      admin.post(
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
    expect((await admin.get("/api/v1/namespaces/b")).body.status.phase).toBe("Active");
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
    await grant(admin, "ed", [rule]);
    const { status } = await server.as("ed").get(path);
    expect(status === 403).toBe(!granted);
    await ok(admin.delete(`${RBAC}/clusterrolebindings/grant-ed`));
    await ok(admin.delete(`${RBAC}/clusterroles/grant-ed`));
  });

  test("A-2.4-07 nonResourceURLs grant nothing through a RoleBinding", async () => {
    await ok(
      admin.post(
        `${RBAC}/clusterroles`,
        clusterRole("paths", [{ verbs: ["get"], nonResourceURLs: ["/secret-path"] }]),
      ),
    );
    await ok(
      admin.post(`${inA}/rolebindings`, roleBinding("paths", refTo("ClusterRole", "paths"), [user("kim")])),
    );
    expect((await server.as("kim").get("/secret-path")).status).toBe(403);
    await ok(
      admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("paths", refTo("ClusterRole", "paths"), [user("kim")]),
      ),
    );
    expect((await server.as("kim").get("/secret-path")).status).toBe(404);
  });

  test("A-5-05 C-4.2-02 each operation on roles needs its own verb of its own group", async () => {
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
        admin.put(
          `${inA}/roles/fay-may`,
          role("fay-may", [{ verbs: [verb], apiGroups: ["apps"], resources: ["roles"] }]),
        ),
      );
      await ok(
        admin.put(
          `${inA}/rolebindings/fay-may`,
          roleBinding("fay-may", refTo("Role", "fay-may"), [user("fay")]),
        ),
      );
      expect((await operation()).status, verb).toBe(403);
      await ok(
        admin.put(
          `${inA}/roles/fay-may`,
          role("fay-may", [{ verbs: [verb], apiGroups: [rbacGroup], resources: ["roles"] }]),
        ),
      );
      expect((await operation()).status, verb).toBeLessThan(300);
      await ok(admin.delete(`${inA}/rolebindings/fay-may`));
    }
  });

  test("C-5.9-04 anonymous callers have only what rules give them", async () => {
    const anonymous = server.as(undefined);
    const { status, body } = await anonymous.get("/api/v1/configmaps");
    expect([status, body.message]).toEqual([
      403,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" at the cluster scope',
    ]);
    await ok(
      admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("anonymous", refTo("ClusterRole", "maps"), [group("system:unauthenticated")]),
      ),
    );
    expect((await anonymous.get("/api/v1/configmaps")).status).toBe(200);
    await ok(admin.delete(`${RBAC}/clusterrolebindings/anonymous`));
    expect((await anonymous.get("/api/v1/configmaps")).status).toBe(403);
  });
});

describe("what is refused at write", () => {
  const invalid = async (path: string, object: object, field: string) => {
    const answer = await admin.post(path, object);
    expect([answer.status, answer.body.reason], answer.text).toEqual([422, "Invalid"]);
    expect(causeFields(answer)).toContain(field);
  };
  test.each<[string, PolicyRule, string]>([
    ["A-2.4-04 a rule without verbs", { apiGroups: [""], resources: ["pods"] }, "rules[0].verbs"],
    [
      "A-2.4-08 resources and paths together",
      { ...podReader, nonResourceURLs: ["/x"] },
      "rules[0].nonResourceURLs",
    ],
    [
      "A-2.4-06 * within a segment",
      { verbs: ["get"], nonResourceURLs: ["/x*"] },
      "rules[0].nonResourceURLs[0]",
    ],
    [
      "A-2.4-06 * as a middle segment",
      { verbs: ["get"], nonResourceURLs: ["/*/x"] },
      "rules[0].nonResourceURLs[0]",
    ],
    ["a rule about nothing", { verbs: ["get"] }, "rules[0].resources"],
  ])("%s", (_what, rule, field) => invalid(`${RBAC}/clusterroles`, clusterRole("bad", [rule]), field));

  test("paths in a Role", () =>
    invalid(
      `${inA}/roles`,
      role("bad", [{ verbs: ["get"], nonResourceURLs: ["/x"] }]),
      "rules[0].nonResourceURLs",
    ));

  test.each<[string, object, object, string]>([
    ["A-2.4-17 a subject without kind", refTo("Role", "x"), { name: "ann" }, "subjects[0].kind"],
    ["A-2.4-19 a subject without name", refTo("Role", "x"), { kind: "User" }, "subjects[0].name"],
    [
      "A-2.4-17 a subject of an unknown kind",
      refTo("Role", "x"),
      { kind: "Robot", name: "r" },
      "subjects[0].kind",
    ],
    [
      "A-2.4-21 a User of another group",
      refTo("Role", "x"),
      { kind: "User", name: "r", apiGroup: "apps" },
      "subjects[0].apiGroup",
    ],
    [
      "A-2.4-20 a ServiceAccount of a group",
      refTo("Role", "x"),
      { ...account("a", "r"), apiGroup: rbacGroup },
      "subjects[0].apiGroup",
    ],
    [
      "A-2.4-23 a roleRef of another group",
      { ...refTo("Role", "x"), apiGroup: "apps" },
      user("r"),
      "roleRef.apiGroup",
    ],
    ["A-2.4-23 a roleRef of another kind", { ...refTo("Role", "x"), kind: "Pod" }, user("r"), "roleRef.kind"],
  ])("%s", (_what, roleRef, subject, field) =>
    invalid(`${inA}/rolebindings`, roleBinding("bad", roleRef, [subject]), field),
  );

  test("A-2.4-25 a ClusterRoleBinding to a Role", () =>
    invalid(
      `${RBAC}/clusterrolebindings`,
      clusterRoleBinding("bad", refTo("Role", "x"), [user("r")]),
      "roleRef.kind",
    ));
});

describe("what is filled in and what is reported", () => {
  test("A-2.4-20 A-2.4-21 the group of a subject", async () => {
    const subjects = [
      { kind: "User", name: "u" },
      { kind: "Group", name: "g" },
      { kind: "ServiceAccount", name: "s", namespace: "a" },
    ];
    const { body } = await ok(
      admin.post(`${inA}/rolebindings`, roleBinding("defaults", refTo("Role", "x"), subjects)),
    );
    expect(body.subjects.map((one: { apiGroup?: string }) => one.apiGroup)).toEqual([
      rbacGroup,
      rbacGroup,
      undefined,
    ]);
  });

  test("A-2.4-22 a namespace on a User is accepted with a warning, matches nobody, and is an evaluation error", async () => {
    const answer = await ok(
      admin.post(
        `${inA}/rolebindings`,
        roleBinding("stray", refTo("Role", "maps"), [{ ...user("hal"), namespace: "a" }]),
      ),
    );
    expect(answer.warnings).toHaveLength(1);
    const status = await can({
      user: "hal",
      resourceAttributes: { verb: "get", resource: "configmaps", namespace: "a" },
    });
    expect(status.allowed).toBe(false);
    expect(status.evaluationError).toContain("stray");
  });

  test.each([
    ["A-2.4-26", "clusterrolebindings"],
    ["A-2.4-31", "rolebindings"],
  ])("%s a dangling roleRef of %s is accepted and reported", async (_id, type) => {
    const cluster = type === "clusterrolebindings";
    const make = cluster ? clusterRoleBinding : roleBinding;
    await ok(
      admin.post(
        `${cluster ? RBAC : inA}/${type}`,
        make("dangling", refTo("ClusterRole", "never-made"), [user("ida")]),
      ),
    );
    const status = await can({
      user: "ida",
      resourceAttributes: { verb: "get", resource: "configmaps", namespace: "a" },
    });
    expect(status.allowed).toBe(false);
    expect(status.evaluationError).toContain("never-made");
  });
});

describe("escalation", () => {
  beforeAll(async () => {
    const manage: PolicyRule = {
      verbs: ["create", "update", "patch", "get"],
      apiGroups: [rbacGroup],
      resources: ["*"],
    };
    await grant(admin, "gus", [manage, reads("configmaps", ["get"])]);
  });

  test("nobody writes a role with more than they hold", async () => {
    const gus = server.as("gus");
    expect((await gus.post(`${inA}/roles`, role("within", [reads("configmaps", ["get"])]))).status).toBe(201);
    const beyond = await gus.post(`${inA}/roles`, role("beyond", [reads("secrets", ["get"])]));
    expect([beyond.status, beyond.body.reason]).toEqual([403, "Forbidden"]);
    expect(beyond.body.message).toContain("secrets");
    expect((await gus.patch(`${inA}/roles/within`, { rules: [reads("secrets", ["get"])] })).status).toBe(403);
    expect(
      (await gus.put(`${inA}/roles/put-beyond`, role("put-beyond", [reads("secrets", ["get"])]))).status,
    ).toBe(403);
    // Of a role that gives more than its author holds, only what the garbage collector needs may change.
    const label = { metadata: { labels: { touched: "yes" } } };
    expect((await gus.patch(`${inA}/roles/within`, label)).status).toBe(200);
    expect((await gus.patch(`${inA}/roles/maps`, label)).status).toBe(403);
    const finalizer = { metadata: { finalizers: ["example.com/f"] } };
    expect((await gus.patch(`${inA}/roles/maps`, finalizer)).status).toBe(200);
    expect((await gus.patch(`${inA}/roles/maps`, { metadata: { finalizers: null } })).status).toBe(200);
  });

  test("the verb escalate lifts it", async () => {
    const rule = { verbs: ["escalate"], apiGroups: [rbacGroup], resources: ["roles"] };
    await ok(admin.post(`${inA}/roles`, role("gus-escalates", [rule])));
    await ok(
      admin.post(
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

  test("nobody binds a role with more than they hold, unless they may bind it", async () => {
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
    await ok(admin.post(`${inA}/roles`, role("gus-binds", [rule])));
    await ok(admin.post(bindings, roleBinding("gus-binds", refTo("Role", "gus-binds"), [user("gus")])));
    expect(
      (await gus.post(bindings, roleBinding("b4", refTo("ClusterRole", "view"), [user("kim")]))).status,
    ).toBe(201);
    expect(
      (await gus.post(bindings, roleBinding("b5", refTo("ClusterRole", "edit"), [user("kim")]))).status,
    ).toBe(403);
  });

  test("a PUT that creates needs the permission to create", async () => {
    await grant(admin, "hal", [{ verbs: ["update"], apiGroups: [rbacGroup], resources: ["roles"] }]);
    const { status, body } = await server.as("hal").put(`${inA}/roles/by-put`, role("by-put", []));
    expect([status, body.message]).toEqual([403, expect.stringContaining('cannot create resource "roles"')]);
    expect((await admin.get(`${inA}/roles/by-put`)).status).toBe(404);
  });

  test("C-4.10-04 A-4.2-25 A-4.2-27 an apply needs the permission to patch, and one that creates to create too", async () => {
    const apply = (labels: object, query: string) =>
      server.as("hal").ask("PATCH", `${inA}/roles/by-apply?${query}`, {
        raw: JSON.stringify({ ...role("by-apply", []), metadata: { name: "by-apply", labels } }),
        contentType: "application/apply-patch+yaml",
      });
    const may = (...verbs: string[]) => {
      const rules = [{ verbs, apiGroups: [rbacGroup], resources: ["roles"] }];
      return ok(admin.put(`${RBAC}/clusterroles/grant-hal`, clusterRole("grant-hal", rules)));
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
    (await admin.get(`${RBAC}/clusterroles/${name}`)).body.rules as PolicyRule[] | null;
  const soon = (name: string, holds: (rules: readonly PolicyRule[]) => boolean) =>
    until(
      () => rulesOf(name),
      (rules) => holds(rules ?? []),
    );
  const selecting = (label: string) => ({
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] },
  });

  test("gather the rules of the roles that they select, follow them, and grant them", async () => {
    await ok(admin.post(`${RBAC}/clusterroles`, { ...clusterRole("sum", []), ...selecting("sum") }));
    await ok(
      admin.post(
        `${RBAC}/clusterroles`,
        clusterRole("part-1", [reads("secrets")], { labels: { sum: "true" } }),
      ),
    );
    await ok(
      admin.post(`${RBAC}/clusterroles`, clusterRole("part-2", [reads("pods")], { labels: { sum: "true" } })),
    );
    expect(await soon("sum", (rules) => rules.length === 2)).toEqual([reads("secrets"), reads("pods")]);
    await ok(
      admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("sum", refTo("ClusterRole", "sum"), [user("kim")]),
      ),
    );
    expect((await server.as("kim").get("/api/v1/secrets")).status).toBe(200);
    await ok(admin.patch(`${RBAC}/clusterroles/part-1`, { metadata: { labels: { sum: null } } }));
    expect(await soon("sum", (rules) => rules.length === 1)).toEqual([reads("pods")]);
    await ok(admin.delete(`${RBAC}/clusterroles/part-2`));
    await soon("sum", (rules) => rules.length === 0);
  });

  test("lose what is written into their rules by hand", async () => {
    await ok(admin.patch(`${RBAC}/clusterroles/sum`, { rules: [reads("nodes")] }));
    await soon("sum", (rules) => rules.length === 0);
  });

  test("reach the default roles", async () => {
    const labels = { "rbac.authorization.platform.io/aggregate-to-view": "true" };
    const widgets = { verbs: ["list"], apiGroups: ["example.com"], resources: ["widgets"] };
    await ok(admin.post(`${RBAC}/clusterroles`, clusterRole("widgets", [widgets], { labels })));
    for (const name of ["view", "edit", "admin"]) {
      await soon(name, (rules) => rules.some((rule) => rule.resources?.includes("widgets") === true));
    }
  });

  test.each<[string, object]>([
    ["no selectors", { clusterRoleSelectors: [] }],
    ["a bad selector", { clusterRoleSelectors: [{ matchLabels: { "no good!": "x" } }] }],
  ])("%s are refused", async (_what, aggregationRule) => {
    expect(
      (await admin.post(`${RBAC}/clusterroles`, { ...clusterRole("bad-sum", []), aggregationRule })).status,
    ).toBe(422);
  });
});

test.each(roleKinds)(
  "A-4.2-17 every operation on a $kind answers 401 to wrong credentials",
  async ({ list, make }) => {
    const stranger = server.as("not-a-token");
    const answers = [
      await stranger.get(`${list}/x`),
      await stranger.get(list),
      await stranger.post(list, make("x")),
      await stranger.put(`${list}/x`, make("x")),
      await stranger.patch(`${list}/x`, {}),
      await stranger.delete(`${list}/x`),
      await stranger.delete(list),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body.reason, body.code]).toEqual([401, "Unauthorized", 401]);
      expect(headers["www-authenticate"]).toBe('Bearer realm="api"');
    }
  },
);
