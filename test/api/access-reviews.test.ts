import { describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { RBAC, causeFields, ok, refTo, roleBinding, user } from "./support.ts";
import { SAR, SSAR, SSRR, LSAR, SSR, pods, useReviewServer } from "./reviews-support.ts";

const { server, allowed } = useReviewServer();

describe("2.2 SubjectAccessReview decisions", () => {
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
  ])("%s: %j is allowed: %s", async (_what, spec, expected) => {
    expect(await allowed(spec)).toBe(expected);
  });

  test("A-2.2-31 A-2.2-32 A-2.2-33 A-2.2-34 A-2.2-37 the status of a review has allowed, and a reason when access is granted", async () => {
    const yes = (await ok(server.admin.post(SAR, { spec: { user: "ann", resourceAttributes: pods } }))).body
      .status;
    expect(yes).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "ann-pods/team" of Role "pods" to User "ann"',
    });
    const no = (await ok(server.admin.post(SAR, { spec: { user: "bob", resourceAttributes: pods } }))).body
      .status;
    expect(no.allowed).toBe(false);
    expect(no.denied ?? false).toBe(false);
  });

  test("A-2.2-32 a denial by an authorizer sets denied in the status", async () => {
    const denying = await TestServer.start({ authorizationModes: ["RBAC", "AlwaysDeny"] });
    const { status } = (
      await ok(denying.admin.post(SAR, { spec: { user: "bob", resourceAttributes: pods } }))
    ).body;
    expect(status.allowed).toBe(false);
    const root = (await ok(denying.admin.post(SSAR, { spec: { resourceAttributes: pods } }))).body.status;
    expect([root.allowed, root.denied ?? false]).toEqual([true, false]);
    await denying.close();
  });

  test("A-2.2-35 A-2.2-36 A-7-01 A-2.4-26 A-2.4-31 a binding to a missing role is an evaluationError, the other bindings decide", async () => {
    const ns = `${RBAC}/namespaces/team/rolebindings`;
    await ok(
      server.admin.post(ns, roleBinding("dangling", refTo("Role", "gone"), [user("ann"), user("dana")])),
    );
    const yes = (await ok(server.admin.post(SAR, { spec: { user: "ann", resourceAttributes: pods } }))).body
      .status;
    expect(yes.allowed).toBe(true);
    const answer = await server.admin.post(SAR, { spec: { user: "dana", resourceAttributes: pods } });
    expect(answer.status).toBe(201);
    expect(answer.body.status.allowed).toBe(false);
    expect(answer.body.status.evaluationError).toContain("gone");
    await ok(server.admin.delete(`${ns}/dangling`));
  });
});

describe.each([
  ["SubjectAccessReview", "A-4.1-04 A-2.2-07", SAR, { user: "ann", resourceAttributes: pods }],
  ["LocalSubjectAccessReview", "A-4.1-01 A-1-04 A-2.2-01", LSAR, { user: "ann", resourceAttributes: pods }],
  ["SelfSubjectAccessReview", "A-4.1-02 A-1-05 A-2.2-04", SSAR, { resourceAttributes: pods }],
  ["SelfSubjectRulesReview", "A-4.1-03 A-1-06 A-2.2-08", SSRR, { namespace: "team" }],
  ["SelfSubjectReview", "A-4.1-05 A-1-07 A-2.3-01", SSR, undefined],
])("%s has a path of its own", (kind, ids, path, spec) => {
  const sent = {
    kind,
    apiVersion: path.split("/").slice(2, 4).join("/"),
    ...(spec === undefined ? {} : { spec }),
  };

  test(`${ids} A-4.1-09 A-1-01 A-2.1-01 A-2.1-02 POST answers 201 with the review and its status`, async () => {
    const { status, body, headers } = await server.admin.post(path, sent);
    expect([status, body.kind, body.apiVersion]).toEqual([201, kind, sent.apiVersion]);
    expect(headers["content-type"]).toBe("application/json");
    expect(body.status).toBeTypeOf("object");
    // The rules of the caller are returned without the spec, as in the reference.
    if (spec !== undefined) expect(body.spec).toEqual(kind === "SelfSubjectRulesReview" ? {} : spec);
  });

  test("A-2.2-09 a status in the request body is ignored", async () => {
    const plain = (await ok(server.admin.post(path, sent))).body.status;
    const claimed = {
      allowed: true,
      denied: true,
      incomplete: true,
      resourceRules: [],
      userInfo: { username: "x" },
    };
    expect((await ok(server.admin.post(path, { ...sent, status: claimed }))).body.status).toEqual(plain);
  });

  test("A-4.1-06 a request without a body is 400", async () => {
    expect((await server.admin.ask("POST", path, { raw: "" })).status).toBe(400);
    expect((await server.admin.ask("POST", path)).status).toBe(400);
  });

  test("A-4.1-07 A-4.1-08 POST supports dryRun, fieldManager, fieldValidation and pretty", async () => {
    const query = "dryRun=All&fieldManager=me&fieldValidation=Strict&pretty=true";
    const answer = await ok(server.admin.post(`${path}?${query}`, sent));
    expect(answer.text).toContain('\n  "status": {');
    expect((await server.admin.post(`${path}?dryRun=Some`, sent)).status).toBe(422);
    expect((await server.admin.post(`${path}?fieldValidation=Strict`, { ...sent, extra: 1 })).status).toBe(
      400,
    );
    expect((await server.admin.post(`${path}?fieldManager=${"m".repeat(129)}`, sent)).status).toBe(422);
  });

  test("A-1-02 a review is not stored and can't be read", async () => {
    const before = (await server.admin.get("/api/v1/namespaces")).body.metadata.resourceVersion;
    await ok(server.admin.post(path, sent));
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      expect((await server.admin.ask(method, path)).status).toBe(405);
      expect((await server.admin.ask(method, `${path}/name`)).status).toBe(404);
    }
    expect((await server.admin.get("/api/v1/namespaces")).body.metadata.resourceVersion).toBe(before);
  });

  test("A-4.1-10 a request without credentials is 403, one with wrong credentials 401", async () => {
    expect((await server.as(undefined).post(path, sent)).status).toBe(403);
    const { status, body } = await server.as("nobody").post(path, sent);
    expect([status, body.reason]).toEqual([401, "Unauthorized"]);
  });

  test("A-2.2-01 A-2.2-04 A-2.2-07 A-2.2-08 a review without a spec is 422 when its kind has one", async () => {
    if (spec === undefined) return;
    const answer = await server.admin.post(path, { kind, apiVersion: sent.apiVersion });
    expect([answer.status, answer.body.reason]).toEqual([422, "Invalid"]);
    for (const field of causeFields(answer)) expect(field).toMatch(/^spec(\.|$)/);
    expect((await server.admin.post(path, { ...sent, spec: "text" })).status).toBe(400);
  });

  test("another kind or version in the body is 400", async () => {
    expect((await server.admin.post(path, { ...sent, kind: "Other" })).status).toBe(400);
    expect((await server.admin.post(path, { ...sent, apiVersion: "v9" })).status).toBe(400);
  });
});
