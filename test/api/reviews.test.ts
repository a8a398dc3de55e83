import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Api, type Answer } from "../support/api.ts";
import {
  AUTHN,
  AUTHZ,
  RBAC,
  causeFields,
  clusterRole,
  clusterRoleBinding,
  grant,
  group,
  namespace,
  ok,
  podReader,
  refTo,
  role,
  roleBinding,
  startWithUsers,
  user,
} from "./support.ts";

const SAR = `${AUTHZ}/subjectaccessreviews`;
const SSAR = `${AUTHZ}/selfsubjectaccessreviews`;
const SSRR = `${AUTHZ}/selfsubjectrulesreviews`;
const LSAR = `${AUTHZ}/namespaces/team/localsubjectaccessreviews`;
const SSR = `${AUTHN}/selfsubjectreviews`;
let server: TestServer;
let admin: Api;
let ann: Api;
beforeAll(async () => {
  server = await startWithUsers([{ name: "ann", uid: "u-1", groups: ["devs", "ops"] }, { name: "bob" }], {
    runtimeConfig: "authentication.platform.io/v1alpha1",
  });
  admin = server.admin;
  ann = server.as("ann");
  for (const name of ["team", "other"]) await ok(admin.post("/api/v1/namespaces", namespace(name)));
  const ns = `${RBAC}/namespaces/team`;
  await ok(
    admin.post(
      `${ns}/roles`,
      role("pods", [
        podReader,
        { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["one"] },
      ]),
    ),
  );
  await ok(admin.post(`${ns}/rolebindings`, roleBinding("ann-pods", refTo("Role", "pods"), [user("ann")])));
  await ok(
    admin.post(`${ns}/rolebindings`, roleBinding("devs-edit", refTo("ClusterRole", "edit"), [group("devs")])),
  );
  await grant(admin, "ann", [
    { verbs: ["get"], nonResourceURLs: ["/metrics", "/logs/*"] },
    { verbs: ["list"], apiGroups: ["apps"], resources: ["*"] },
  ]);
  await grant(admin, "scaler", [{ verbs: ["update"], apiGroups: ["*"], resources: ["*/scale"] }]);
  await grant(admin, "root", [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["*"], nonResourceURLs: ["*"] },
  ]);
});
afterAll(() => server.close());

const pods = { verb: "get", resource: "pods", namespace: "team" };
const allowed = async (spec: object, path = SAR, api: Api = admin) =>
  (await ok(api.post(path, { spec }))).body.status.allowed as boolean;

describe("2.2 the questions", () => {
  test.each<[string, object, boolean]>([
    ["A-1-03 A-2.2-17 the named user", { user: "ann", resourceAttributes: pods }, true],
    ["A-1-03 another user", { user: "bob", resourceAttributes: pods }, false],
    [
      "A-2.2-13 a member of a named group",
      { user: "x", groups: ["devs"], resourceAttributes: { ...pods, verb: "update" } },
      true,
    ],
    ["A-2.2-13 a group alone", { groups: ["devs"], resourceAttributes: { ...pods, verb: "update" } }, true],
    [
      "A-2.2-18 a user without groups is in none",
      { user: "ann", resourceAttributes: { ...pods, verb: "update" } },
      false,
    ],
    [
      "A-2.2-12 A-2.2-16 extra and uid are taken",
      { user: "ann", uid: "u", extra: { a: ["b", "c"] }, resourceAttributes: pods },
      true,
    ],
    [
      "A-2.2-14 A-2.2-21 A-2.2-22 a path",
      { user: "ann", nonResourceAttributes: { path: "/metrics", verb: "get" } },
      true,
    ],
    [
      "A-2.2-21 a path below",
      { user: "ann", nonResourceAttributes: { path: "/logs/today", verb: "get" } },
      true,
    ],
    [
      "A-2.2-22 another method",
      { user: "ann", nonResourceAttributes: { path: "/metrics", verb: "post" } },
      false,
    ],
    [
      "A-2.2-21 another path",
      { user: "ann", nonResourceAttributes: { path: "/metrics/x", verb: "get" } },
      false,
    ],
    ["A-2.2-15 a resource", { user: "ann", resourceAttributes: pods }, true],
    [
      "A-2.2-23 a group of resources",
      { user: "ann", resourceAttributes: { verb: "list", group: "apps", resource: "deployments" } },
      true,
    ],
    [
      "A-2.2-23 another group",
      { user: "ann", resourceAttributes: { verb: "list", group: "batch", resource: "jobs" } },
      false,
    ],
    [
      "A-2.2-23 every group, granted",
      { user: "root", resourceAttributes: { verb: "get", group: "*", resource: "pods" } },
      true,
    ],
    [
      "A-2.2-23 every group, not granted",
      { user: "ann", resourceAttributes: { verb: "list", group: "*", resource: "deployments" } },
      false,
    ],
    [
      "A-2.2-24 a name",
      {
        user: "ann",
        resourceAttributes: { verb: "get", resource: "configmaps", namespace: "team", name: "one" },
      },
      true,
    ],
    [
      "A-2.2-24 all names",
      { user: "ann", resourceAttributes: { verb: "get", resource: "configmaps", namespace: "team" } },
      false,
    ],
    [
      "A-2.2-25 all namespaces",
      { user: "ann", resourceAttributes: { verb: "get", resource: "pods" } },
      false,
    ],
    [
      "A-2.2-25 all namespaces, granted",
      { user: "root", resourceAttributes: { verb: "get", resource: "pods" } },
      true,
    ],
    [
      "A-2.2-27 every type",
      { user: "ann", resourceAttributes: { verb: "list", group: "apps", resource: "*" } },
      true,
    ],
    [
      "A-2.2-27 every type, not granted",
      { user: "ann", resourceAttributes: { ...pods, resource: "*" } },
      false,
    ],
    [
      "A-2.2-28 a sub-resource",
      {
        user: "scaler",
        resourceAttributes: { verb: "update", group: "apps", resource: "deployments", subresource: "scale" },
      },
      true,
    ],
    [
      "A-2.2-28 none",
      { user: "scaler", resourceAttributes: { verb: "update", group: "apps", resource: "deployments" } },
      false,
    ],
    ["A-2.2-29 every verb", { user: "root", resourceAttributes: { verb: "*", resource: "pods" } }, true],
    ["A-2.2-29 every verb, not granted", { user: "ann", resourceAttributes: { ...pods, verb: "*" } }, false],
    [
      "A-2.2-29 a verb of a resource's own",
      { user: "root", resourceAttributes: { verb: "proxy", resource: "nodes" } },
      true,
    ],
    ["A-2.2-30 a version", { user: "ann", resourceAttributes: { ...pods, version: "v1" } }, true],
    ["A-2.2-30 every version", { user: "ann", resourceAttributes: { ...pods, version: "*" } }, true],
  ])("%s: %j is %s", async (_what, spec, expected) => {
    expect(await allowed(spec)).toBe(expected);
  });

  test("A-2.2-31 A-2.2-32 A-2.2-33 A-2.2-34 A-2.2-37 the status of an answer", async () => {
    const yes = (await ok(admin.post(SAR, { spec: { user: "ann", resourceAttributes: pods } }))).body.status;
    expect(yes).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "ann-pods/team" of Role "pods" to User "ann"',
    });
    const no = (await ok(admin.post(SAR, { spec: { user: "bob", resourceAttributes: pods } }))).body.status;
    expect(no.allowed).toBe(false);
    expect(no.denied ?? false).toBe(false);
  });

  test("A-2.2-32 an authorizer that denies says denied", async () => {
    const denying = await TestServer.start({ authorizationModes: ["RBAC", "AlwaysDeny"] });
    const { status } = (
      await ok(denying.admin.post(SAR, { spec: { user: "bob", resourceAttributes: pods } }))
    ).body;
    expect(status.allowed).toBe(false);
    const root = (await ok(denying.admin.post(SSAR, { spec: { resourceAttributes: pods } }))).body.status;
    expect([root.allowed, root.denied ?? false]).toEqual([true, false]);
    await denying.close();
  });

  test("A-2.2-35 A-2.2-36 A-7-01 A-2.4-26 A-2.4-31 a dangling role is an evaluation error, the rest decides", async () => {
    const ns = `${RBAC}/namespaces/team/rolebindings`;
    await ok(admin.post(ns, roleBinding("dangling", refTo("Role", "gone"), [user("ann"), user("dana")])));
    const yes = (await ok(admin.post(SAR, { spec: { user: "ann", resourceAttributes: pods } }))).body.status;
    expect(yes.allowed).toBe(true);
    const answer = await admin.post(SAR, { spec: { user: "dana", resourceAttributes: pods } });
    expect(answer.status).toBe(201);
    expect(answer.body.status.allowed).toBe(false);
    expect(answer.body.status.evaluationError).toContain("gone");
    await ok(admin.delete(`${ns}/dangling`));
  });
});

describe.each([
  ["SubjectAccessReview", "A-4.1-04 A-2.2-07", SAR, { user: "ann", resourceAttributes: pods }],
  ["LocalSubjectAccessReview", "A-4.1-01 A-1-04 A-2.2-01", LSAR, { user: "ann", resourceAttributes: pods }],
  ["SelfSubjectAccessReview", "A-4.1-02 A-1-05 A-2.2-04", SSAR, { resourceAttributes: pods }],
  ["SelfSubjectRulesReview", "A-4.1-03 A-1-06 A-2.2-08", SSRR, { namespace: "team" }],
  ["SelfSubjectReview", "A-4.1-05 A-1-07 A-2.3-01", SSR, undefined],
])("%s", (kind, ids, path, spec) => {
  const sent = {
    kind,
    apiVersion: path.split("/").slice(2, 4).join("/"),
    ...(spec === undefined ? {} : { spec }),
  };

  test(`${ids} A-4.1-09 A-1-01 A-2.1-01 A-2.1-02 POST answers 201 with the review and its status`, async () => {
    const { status, body, headers } = await admin.post(path, sent);
    expect([status, body.kind, body.apiVersion]).toEqual([201, kind, sent.apiVersion]);
    expect(headers["content-type"]).toBe("application/json");
    expect(body.status).toBeTypeOf("object");
    // The rules of the caller are answered without the question, as in the reference.
    if (spec !== undefined) expect(body.spec).toEqual(kind === "SelfSubjectRulesReview" ? {} : spec);
  });

  test("A-2.2-09 a status that the client sends has no influence", async () => {
    const plain = (await ok(admin.post(path, sent))).body.status;
    const claimed = {
      allowed: true,
      denied: true,
      incomplete: true,
      resourceRules: [],
      userInfo: { username: "x" },
    };
    expect((await ok(admin.post(path, { ...sent, status: claimed }))).body.status).toEqual(plain);
  });

  test("A-4.1-06 without a body it is an error", async () => {
    expect((await admin.ask("POST", path, { raw: "" })).status).toBe(400);
    expect((await admin.ask("POST", path)).status).toBe(400);
  });

  test("A-4.1-07 A-4.1-08 it takes dryRun, fieldManager, fieldValidation and pretty", async () => {
    const query = "dryRun=All&fieldManager=me&fieldValidation=Strict&pretty=true";
    const answer = await ok(admin.post(`${path}?${query}`, sent));
    expect(answer.text).toContain('\n  "status": {');
    expect((await admin.post(`${path}?dryRun=Some`, sent)).status).toBe(422);
    expect((await admin.post(`${path}?fieldValidation=Strict`, { ...sent, extra: 1 })).status).toBe(400);
    expect((await admin.post(`${path}?fieldManager=${"m".repeat(129)}`, sent)).status).toBe(422);
  });

  test("A-1-02 nothing is stored, nothing can be read back", async () => {
    const before = (await admin.get("/api/v1/namespaces")).body.metadata.resourceVersion;
    await ok(admin.post(path, sent));
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      expect((await admin.ask(method, path)).status).toBe(405);
      expect((await admin.ask(method, `${path}/name`)).status).toBe(405);
    }
    expect((await admin.get("/api/v1/namespaces")).body.metadata.resourceVersion).toBe(before);
  });

  test("A-4.1-10 without credentials it is 403, with wrong ones 401", async () => {
    expect((await server.as(undefined).post(path, sent)).status).toBe(403);
    const { status, body } = await server.as("nobody").post(path, sent);
    expect([status, body.reason]).toEqual([401, "Unauthorized"]);
  });

  test("A-2.2-01 A-2.2-04 A-2.2-07 A-2.2-08 a spec is required where there is one", async () => {
    if (spec === undefined) return;
    const answer = await admin.post(path, { kind, apiVersion: sent.apiVersion });
    expect([answer.status, answer.body.reason]).toEqual([422, "Invalid"]);
    for (const field of causeFields(answer)) expect(field).toMatch(/^spec(\.|$)/);
    expect((await admin.post(path, { ...sent, spec: "text" })).status).toBe(400);
  });

  test("another kind or version in the body is 400", async () => {
    expect((await admin.post(path, { ...sent, kind: "Other" })).status).toBe(400);
    expect((await admin.post(path, { ...sent, apiVersion: "v9" })).status).toBe(400);
  });
});

describe("2.2 what is invalid", () => {
  const both = { resourceAttributes: pods, nonResourceAttributes: { path: "/x", verb: "get" } };
  const fails = async (answer: Promise<Answer>, field: string) => {
    const got = await answer;
    expect([got.status, got.body.reason], got.text).toEqual([422, "Invalid"]);
    expect(causeFields(got)).toContain(field);
  };
  test("A-2.2-10 A-2.2-19 both kinds of attributes", async () => {
    await fails(admin.post(SAR, { spec: { user: "a", ...both } }), "spec.nonResourceAttributes");
    await fails(admin.post(SSAR, { spec: both }), "spec.nonResourceAttributes");
  });
  test("A-2.2-11 A-2.2-19 neither", async () => {
    await fails(admin.post(SAR, { spec: { user: "a" } }), "spec.resourceAttributes");
    await fails(admin.post(SSAR, { spec: {} }), "spec.resourceAttributes");
    await fails(admin.post(LSAR, { spec: { user: "a" } }), "spec.resourceAttributes");
  });
  test("neither user nor group", () =>
    fails(admin.post(SAR, { spec: { resourceAttributes: pods } }), "spec.user"));
  test("A-2.2-02 another namespace than that of the path", async () => {
    const attributes = { ...pods, namespace: "other" };
    await fails(
      admin.post(LSAR, { spec: { user: "ann", resourceAttributes: attributes } }),
      "spec.resourceAttributes.namespace",
    );
    expect(
      (
        await admin.post(LSAR, {
          metadata: { namespace: "other" },
          spec: { user: "ann", resourceAttributes: pods },
        })
      ).status,
    ).toBe(400);
  });
  test("a path in a local review", () =>
    fails(
      admin.post(LSAR, { spec: { user: "a", nonResourceAttributes: { path: "/", verb: "get" } } }),
      "spec.nonResourceAttributes",
    ));
  test("A-2.2-20 a rules review without namespace", () =>
    fails(admin.post(SSRR, { spec: {} }), "spec.namespace"));
  test("A-2.2-05 user and groups of a self review are unknown fields", async () => {
    const spec = { user: "bob", groups: ["ops"], resourceAttributes: pods };
    const warned = await ok(ann.post(SSAR, { spec }));
    expect(warned.warnings.toSorted()).toEqual(['unknown field "spec.groups"', 'unknown field "spec.user"']);
    expect(warned.body.status.allowed).toBe(true);
    expect((await ann.post(`${SSAR}?fieldValidation=Strict`, { spec })).status).toBe(400);
    expect(
      (
        await admin.post(`${SAR}?fieldValidation=Strict`, {
          spec: { user: "a", group: ["x"], resourceAttributes: pods },
        })
      ).status,
    ).toBe(400);
  });
});

describe("2.2 the namespace", () => {
  test("A-2.2-03 A-2.2-26 an empty one in a local review is that of the path", async () => {
    const { verb, resource } = pods;
    const { body } = await ok(
      admin.post(LSAR, { spec: { user: "ann", resourceAttributes: { verb, resource } } }),
    );
    expect(body.spec.resourceAttributes.namespace).toBe("team");
    expect(body.status.allowed).toBe(true);
    const sar = await ok(
      admin.post(SAR, { spec: { user: "ann", resourceAttributes: { verb, resource: "namespaces" } } }),
    );
    expect(sar.body.spec.resourceAttributes).not.toHaveProperty("namespace");
  });

  test("A-1-04 a local review needs no permission but in its namespace", async () => {
    const spec = { user: "ann", resourceAttributes: pods };
    expect((await ann.post(LSAR, { spec })).status).toBe(403);
    const rule = {
      verbs: ["create"],
      apiGroups: ["authorization.platform.io"],
      resources: ["localsubjectaccessreviews"],
    };
    await ok(admin.post(`${RBAC}/namespaces/team/roles`, role("reviewer", [rule])));
    await ok(
      admin.post(
        `${RBAC}/namespaces/team/rolebindings`,
        roleBinding("reviewer", refTo("Role", "reviewer"), [user("ann")]),
      ),
    );
    expect((await ann.post(LSAR, { spec })).status).toBe(201);
    expect((await ann.post(LSAR.replace("team", "other"), { spec })).status).toBe(403);
    expect((await ann.post(SAR, { spec })).status).toBe(403);
  });
});

describe("about oneself", () => {
  test("A-2.2-06 A-5-01 every authenticated user may ask", async () => {
    const bob = server.as("bob");
    expect(await allowed({ resourceAttributes: pods }, SSAR, bob)).toBe(false);
    expect(await allowed({ resourceAttributes: pods }, SSAR, ann)).toBe(true);
    expect((await bob.post(SSRR, { spec: { namespace: "team" } })).status).toBe(201);
    expect((await bob.post(SSR, {})).status).toBe(201);
  });

  test("A-2.3-02 A-2.3-03 A-2.3-04 A-2.3-05 the caller as the server sees them", async () => {
    const { userInfo } = (await ok(ann.post(SSR, {}))).body.status;
    expect(userInfo).toEqual({
      username: "ann",
      uid: "u-1",
      groups: ["devs", "ops", "system:authenticated"],
    });
  });

  test("A-2.2-20 A-2.2-39 A-2.2-43 A-2.2-44 A-2.2-45 A-2.2-46 A-2.2-47 A-2.2-48 the rules of a namespace", async () => {
    const { status } = (await ok(ann.post(SSRR, { spec: { namespace: "team" } }))).body;
    expect(status.incomplete).toBe(false);
    expect(status.resourceRules).toContainEqual({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
    expect(status.resourceRules).toContainEqual({
      verbs: ["get"],
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["one"],
    });
    expect(status.resourceRules).toContainEqual({ verbs: ["list"], apiGroups: ["apps"], resources: ["*"] });
    expect(status.nonResourceRules).toContainEqual({
      verbs: ["get"],
      nonResourceURLs: ["/metrics", "/logs/*"],
    });
    const other = (await ok(ann.post(SSRR, { spec: { namespace: "other" } }))).body.status;
    expect(other.resourceRules).not.toContainEqual({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
    expect(other.resourceRules).toContainEqual({ verbs: ["list"], apiGroups: ["apps"], resources: ["*"] });
  });

  test("A-2.2-49 */foo is a sub-resource of every type, A-2.2-47 no names are all names", async () => {
    await ok(
      admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("bob-scales", refTo("ClusterRole", "grant-scaler"), [user("bob")]),
      ),
    );
    const { status } = (await ok(server.as("bob").post(SSRR, { spec: { namespace: "team" } }))).body;
    expect(status.resourceRules).toContainEqual({
      verbs: ["update"],
      apiGroups: ["*"],
      resources: ["*/scale"],
    });
    for (const name of ["", "any", "*"]) {
      const resourceAttributes = {
        verb: "update",
        group: "apps",
        resource: "deployments",
        subresource: "scale",
        name,
      };
      expect(await allowed({ resourceAttributes }, SSAR, server.as("bob"))).toBe(true);
    }
  });

  test("A-2.2-40 A-2.2-41 both lists are there even when nothing is allowed", async () => {
    const bare = await TestServer.start({ authorizationModes: ["AlwaysAllow"], anonymousAuth: true });
    const { status } = (await ok(bare.as(undefined).post(SSRR, { spec: { namespace: "x" } }))).body;
    expect(Array.isArray(status.resourceRules) && Array.isArray(status.nonResourceRules)).toBe(true);
    expect(status.incomplete).toBeTypeOf("boolean");
    await bare.close();
  });

  test("A-2.2-38 every listed rule is really granted", async () => {
    const { status } = (await ok(ann.post(SSRR, { spec: { namespace: "team" } }))).body;
    for (const rule of status.resourceRules) {
      for (const verb of rule.verbs) {
        for (const name of rule.resources) {
          const [resource, subresource] = name.split("/");
          const resourceAttributes = {
            namespace: "team",
            verb,
            group: rule.apiGroups[0],
            resource,
            subresource,
            name: rule.resourceNames?.[0],
          };
          expect(await allowed({ resourceAttributes }, SSAR, ann), JSON.stringify(rule)).toBe(true);
        }
      }
    }
    for (const rule of status.nonResourceRules) {
      for (const verb of rule.verbs) {
        for (const path of rule.nonResourceURLs)
          expect(await allowed({ nonResourceAttributes: { path, verb } }, SSAR, ann)).toBe(true);
      }
    }
  });

  test("A-2.2-42 A-7-01 a dangling role is an evaluation error beside the rules", async () => {
    await ok(
      admin.post(
        `${RBAC}/namespaces/team/rolebindings`,
        roleBinding("dangling-2", refTo("Role", "gone"), [user("ann")]),
      ),
    );
    const { status } = (await ok(ann.post(SSRR, { spec: { namespace: "team" } }))).body;
    expect(status.evaluationError).toContain("gone");
    expect(status.resourceRules.length).toBeGreaterThan(0);
    await ok(admin.delete(`${RBAC}/namespaces/team/rolebindings/dangling-2`));
  });
});

test("a grant works on the very next request, a revoked one stops on it", async () => {
  const bob = server.as("bob");
  const bindings = `${RBAC}/clusterrolebindings`;
  await ok(
    admin.post(
      `${RBAC}/clusterroles`,
      clusterRole("flip", [{ verbs: ["list"], apiGroups: [""], resources: ["secrets"] }]),
    ),
  );
  for (let round = 0; round < 25; round++) {
    expect((await bob.get("/api/v1/secrets")).status).toBe(403);
    await ok(admin.post(bindings, clusterRoleBinding("flip", refTo("ClusterRole", "flip"), [user("bob")])));
    expect((await bob.get("/api/v1/secrets")).status).toBe(200);
    expect(await allowed({ user: "bob", resourceAttributes: { verb: "list", resource: "secrets" } })).toBe(
      true,
    );
    await ok(admin.delete(`${bindings}/flip`));
  }
});
