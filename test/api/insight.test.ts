import { beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import {
  RBAC,
  account,
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
  until,
  user,
} from "./support.ts";

const INSIGHT = "/apis/insight.platform.io/v1";
const EXPLAIN = `${INSIGHT}/accessexplanations`;
const WHO = `${INSIGHT}/subjectaccesslists`;
const BULK = `${INSIGHT}/bulkaccessreviews`;
const SAR = "/apis/authorization.platform.io/v1/subjectaccessreviews";
const team = `${RBAC}/namespaces/team`;

let admin: Api;
const server = useServer({ users: [{ name: "ann" }, { name: "viewer" }, { name: "scout" }] });
beforeAll(async () => {
  admin = server.admin;
  for (const name of ["team", "other"]) await ok(admin.post("/api/v1/namespaces", namespace(name)));
  await ok(admin.post(`${team}/roles`, role("readers", [podReader])));
  const subjects = [user("ann"), group("devs"), account("team", "robot")];
  await ok(admin.post(`${team}/rolebindings`, roleBinding("readers", refTo("Role", "readers"), subjects)));
  const gone = roleBinding("gone", refTo("Role", "gone"), [user("ann")]);
  await ok(admin.post(`${team}/rolebindings`, gone));
  const odd = { ...user("ann"), namespace: "team" };
  await ok(
    admin.post(`${RBAC}/clusterrolebindings`, clusterRoleBinding("odd", refTo("ClusterRole", "view"), [odd])),
  );
  await ok(
    admin.post(
      `${RBAC}/clusterrolebindings`,
      clusterRoleBinding("viewer", refTo("ClusterRole", "system:insight-viewer"), [user("viewer")]),
    ),
  );
  await grant(admin, "scout", [
    { verbs: ["create"], apiGroups: ["authorization.platform.io"], resources: ["*"] },
  ]);
});

const pods = { verb: "get", resource: "pods", namespace: "team" };
const explain = async (spec: object, api = admin) => (await ok(api.post(EXPLAIN, { spec }))).body.status;

describe("AccessExplanation", () => {
  it("names the binding, the role, the subject and the rule that grant", async () => {
    const status = await explain({ user: "x", groups: ["devs"], resourceAttributes: pods });
    expect(status).toMatchObject({
      allowed: true,
      decidedBy: "RBAC",
      authorizers: [
        { name: "privileged group", opinion: "NoOpinion" },
        { name: "RBAC", opinion: "Allow" },
      ],
      grants: [
        {
          binding: { kind: "RoleBinding", namespace: "team", name: "readers" },
          role: { kind: "Role", namespace: "team", name: "readers" },
          subject: { kind: "Group", name: "devs" },
          rule: { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
          ruleIndex: 0,
        },
      ],
    });
    expect(status.nearMisses).toBeUndefined();
  });

  it("decides as a SubjectAccessReview does, which stays silent on a denial", async () => {
    const spec = { user: "bob", resourceAttributes: pods };
    expect((await ok(admin.post(SAR, { spec }))).body.status).toEqual({ allowed: false });
    expect(await explain(spec)).toMatchObject({ allowed: false });
  });

  it.each<[string, object, object]>([
    ["a verb", { ...pods, verb: "delete" }, { part: "verb", wanted: "delete", given: ["get"] }],
    ["the group", { ...pods, group: "apps" }, { part: "apiGroup", wanted: "apps", given: [""] }],
    [
      "the resource",
      { ...pods, resource: "secrets" },
      { part: "resource", wanted: "secrets", given: ["pods"] },
    ],
    [
      "a part of it",
      { ...pods, subresource: "log" },
      { part: "resource", wanted: "pods/log", given: ["pods"] },
    ],
    [
      "the namespace",
      { ...pods, namespace: "other" },
      { part: "namespace", wanted: "other", given: ["team"] },
    ],
    ["every namespace", { ...pods, namespace: "" }, { part: "namespace", wanted: "", given: ["team"] }],
  ])("says what a near miss lacks: %s", async (_what, resourceAttributes, lacking) => {
    const { allowed, nearMisses } = await explain({ user: "x", groups: ["devs"], resourceAttributes });
    expect(allowed).toBe(false);
    expect(nearMisses).toHaveLength(1);
    expect(nearMisses[0].missing).toEqual([{ ...lacking, message: expect.stringContaining(";") }]);
  });

  it("reports a role that is gone, and a subject that can't count", async () => {
    const status = await explain({ user: "ann", resourceAttributes: pods });
    expect(status.allowed).toBe(true);
    expect(status.faults).toMatchObject([
      {
        binding: { name: "odd" },
        fault: "Invalid",
        message: expect.stringContaining("only a ServiceAccount has one"),
      },
      {
        binding: { namespace: "team", name: "gone" },
        role: { kind: "Role", name: "gone" },
        fault: "RoleNotFound",
      },
    ]);
    expect(status.evaluationError).toContain('"gone" not found');
  });

  it("names the role in which a gathered rule is written", async () => {
    const subjects = [user("vic")];
    await ok(admin.post(`${team}/rolebindings`, roleBinding("vic", refTo("ClusterRole", "admin"), subjects)));
    // The controller gathers the rules when it gets to it.
    const status = await until(
      () => explain({ user: "vic", resourceAttributes: pods }),
      ({ allowed }) => allowed,
    );
    const [first] = status.grants;
    expect(first.role).toEqual({ kind: "ClusterRole", name: "admin" });
    // Admin gathers from edit, and edit from view, in which reading pods is written.
    expect(first.aggregatedFrom).toEqual(["system:aggregate-to-view"]);
  });

  it("says who decided where it isn't a role", async () => {
    const status = await explain({ user: "root", groups: ["system:masters"], resourceAttributes: pods });
    expect(status).toMatchObject({ allowed: true, decidedBy: "privileged group" });
    expect(status.authorizers).toHaveLength(1);
    expect(status.authorizers[0].reason).toContain("system:masters");
    expect(status.grants).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ["another group's resource", { ...pods, resource: "deployments" }, 'it is in "apps"'],
    ["a short name", { ...pods, resource: "po" }, 'is "pods" in the API group "" meant?'],
    ["an unknown subresource", { ...pods, subresource: "logs" }, 'has no subresource "logs"'],
    ["no namespaces", { ...pods, resource: "nodes" }, "has no namespaces"],
    ["groups of the user", pods, 'as the group "system:authenticated"'],
    ["groups of an account", pods, '"system:serviceaccounts:team"'],
  ])("notes what people overlook: %s", async (what, resourceAttributes, text) => {
    const name = what.endsWith("account") ? "system:serviceaccount:team:other" : "bob";
    expect((await explain({ user: name, resourceAttributes })).notes.join("\n")).toContain(text);
  });

  it("is bounded: what isn't shown is counted", async () => {
    const rules = Array.from({ length: 40 }, (_, i) => ({ ...podReader, resourceNames: [`pod-${i}`] }));
    await ok(admin.post(`${team}/roles`, role("many", rules)));
    const subjects = [user("multi")];
    for (let i = 0; i < 18; i++)
      await ok(admin.post(`${team}/rolebindings`, roleBinding(`many-${i}`, refTo("Role", "many"), subjects)));
    const near = await explain({ user: "multi", resourceAttributes: { ...pods, name: "none" } });
    expect([near.nearMisses.length, near.nearMissesLeftOut]).toEqual([10, 8]);
    const granted = await explain({ user: "multi", resourceAttributes: { ...pods, name: "pod-7" } });
    expect([granted.grants.length, granted.moreGrants, granted.grants[0].ruleIndex]).toEqual([16, true, 7]);
  });
});

describe("SubjectAccessList", () => {
  const whoCan = async (spec: object) => (await ok(admin.post(WHO, { spec }))).body.status;
  const names = (status: { subjects: { kind: string; namespace?: string; name: string }[] }) =>
    status.subjects.map(
      ({ kind, namespace: home, name }) => `${kind} ${home === undefined ? "" : `${home}/`}${name}`,
    );

  it("lists users, groups and service accounts with the binding and the rule", async () => {
    await ok(
      admin.post(`${RBAC}/namespaces/other/roles`, role("watchers", [{ ...podReader, verbs: ["watch"] }])),
    );
    const subjects = [user("zoe"), account("other", "bot"), group("system:serviceaccounts:other")];
    const binding = roleBinding("watchers", refTo("Role", "watchers"), subjects);
    await ok(admin.post(`${RBAC}/namespaces/other/rolebindings`, binding));
    const status = await whoCan({ resourceAttributes: { ...pods, verb: "watch", namespace: "other" } });
    expect(names(status)).toEqual(
      expect.arrayContaining([
        "Group system:masters",
        "Group system:serviceaccounts:other",
        "ServiceAccount other/bot",
        "User zoe",
      ]),
    );
    expect(names(status)).toEqual(names(status).toSorted());
    expect(status.subjects.find((one: { name: string }) => one.name === "zoe")).toEqual({
      kind: "User",
      name: "zoe",
      grants: [
        {
          binding: { kind: "RoleBinding", namespace: "other", name: "watchers" },
          role: { kind: "Role", namespace: "other", name: "watchers" },
          rule: { verbs: ["watch"], apiGroups: [""], resources: ["pods"] },
          ruleIndex: 0,
        },
      ],
    });
    const group1 = status.subjects.find(
      (one: { name: string }) => one.name === "system:serviceaccounts:other",
    );
    expect(group1.members).toBe('every service account of the namespace "other"');
  });

  it("says who may be allowed and can't be listed", async () => {
    const { unlisted } = await whoCan({ nonResourceAttributes: { verb: "get", path: "/metrics" } });
    expect(unlisted).toEqual([
      { authorizer: "privileged group", message: expect.stringContaining("system:masters") },
      { authorizer: "RBAC", message: expect.stringContaining("members of the listed groups") },
    ]);
    const all = await TestServer.start({ authorizationModes: ["AlwaysAllow"] });
    const body = { spec: { resourceAttributes: pods } };
    expect((await ok(all.admin.post(WHO, body))).body.status).toEqual({
      subjects: [],
      unlisted: [
        { authorizer: "privileged group", message: expect.stringContaining("system:masters") },
        { authorizer: "AlwaysAllow", message: "every request is allowed" },
      ],
    });
    await all.close();
  });

  it("is read in pages", async () => {
    const whole = names(await whoCan({ resourceAttributes: pods }));
    expect(whole.length).toBeGreaterThan(4);
    const paged: string[] = [];
    for (let place: string | undefined; ;) {
      const spec = {
        resourceAttributes: pods,
        limit: 2,
        ...(place === undefined ? {} : { continue: place }),
      };
      const status = await whoCan(spec);
      expect(status.subjects.length).toBeLessThanOrEqual(2);
      paged.push(...names(status));
      place = status.continue;
      if (place === undefined) break;
    }
    expect(paged).toEqual(whole);
  });
});

describe("BulkAccessReview", () => {
  it("answers each check as a single review does, in order", async () => {
    const subject = { user: "x", groups: ["devs"], resourceAttributes: pods };
    const none = { user: "nobody", resourceAttributes: pods };
    const self = { nonResourceAttributes: { path: "/healthz", verb: "delete" } };
    const { results } = (
      await ok(admin.post(BULK, { spec: { checks: [{ subject }, { subject: none }, { self }] } }))
    ).body.status;
    const single = (await ok(admin.post(SAR, { spec: subject }))).body.status;
    expect(results).toEqual([single, { allowed: false }, { allowed: true }]);
    const ofCaller = await ok(server.as("viewer").post(BULK, { spec: { checks: [{ self }] } }));
    expect(ofCaller.body.status.results).toEqual([{ allowed: false }]);
  });

  it("takes a thousand checks, and no more", async () => {
    const checks = Array.from({ length: 1000 }, (_, i) => ({
      subject: { user: i % 2 === 0 ? "ann" : `user-${i}`, resourceAttributes: pods },
    }));
    const { results } = (await ok(admin.post(BULK, { spec: { checks } }))).body.status;
    expect(results.map((one: { allowed: boolean }) => one.allowed)).toEqual(
      checks.map((_, i) => i % 2 === 0),
    );
    const refused = await admin.post(BULK, { spec: { checks: [...checks, checks[0]] } });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain("spec.checks: Too many: 1001: must have at most 1000 items");
  });
});

describe("wrong bodies", () => {
  const subject = { user: "ann", resourceAttributes: pods };
  it.each<[string, string, object, string]>([
    ["no spec", EXPLAIN, {}, "spec.resourceAttributes spec.user"],
    ["nobody", EXPLAIN, { spec: { resourceAttributes: pods } }, "spec.user"],
    ["no action", EXPLAIN, { spec: { user: "ann" } }, "spec.resourceAttributes"],
    ["no action", WHO, { spec: {} }, "spec.resourceAttributes"],
    [
      "two actions",
      WHO,
      { spec: { resourceAttributes: pods, nonResourceAttributes: { path: "/" } } },
      "spec.nonResourceAttributes",
    ],
    ["no limit", WHO, { spec: { resourceAttributes: pods, limit: 0 } }, "spec.limit"],
    ["too high a limit", WHO, { spec: { resourceAttributes: pods, limit: 1001 } }, "spec.limit"],
    ["another's place", WHO, { spec: { resourceAttributes: pods, continue: "eyJ2IjoxfQ" } }, "spec.continue"],
    ["no checks", BULK, { spec: { checks: [] } }, "spec.checks"],
    ["a check of nothing", BULK, { spec: { checks: [{ subject }, {}] } }, "spec.checks[1]"],
    ["a check of two", BULK, { spec: { checks: [{ subject, self: subject }] } }, "spec.checks[0].self"],
    [
      "a check of nobody",
      BULK,
      { spec: { checks: [{ subject }, { subject: { resourceAttributes: pods } }] } },
      "spec.checks[1].subject.user",
    ],
    [
      "a check without action",
      BULK,
      { spec: { checks: [{ self: {} }] } },
      "spec.checks[0].self.resourceAttributes",
    ],
  ])("%s to %s is 422, with the field", async (_what, path, body, field) => {
    const answer = await admin.post(path, body);
    expect(answer.status, answer.text).toBe(422);
    expect(causeFields(answer).join(" ")).toBe(field);
  });

  it("a value of a wrong type is 400, and an unknown field can be refused", async () => {
    expect((await admin.post(BULK, { spec: { checks: "all" } })).status).toBe(400);
    const strict = await admin.post(`${WHO}?fieldValidation=Strict`, {
      spec: { resourceAttributes: pods, wrong: 1 },
    });
    expect([strict.status, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.wrong"'),
    ]);
  });
});

describe("who may ask, and how", () => {
  const body = (path: string) =>
    path === BULK
      ? { spec: { checks: [{ self: { resourceAttributes: pods } }] } }
      : { spec: { user: "ann", resourceAttributes: pods } };

  it.each([EXPLAIN, WHO, BULK])(
    "%s: administrators, and who has the role for it; not who may create reviews",
    async (path) => {
      expect((await server.as("viewer").post(path, body(path))).status).toBe(201);
      for (const name of ["ann", "scout"]) {
        const refused = await server.as(name).post(path, body(path));
        expect(refused.status).toBe(403);
        expect(refused.body.message).toContain("insight.platform.io");
      }
      expect((await server.as(undefined).post(path, body(path))).status).toBe(403);
    },
  );

  it.each([EXPLAIN, WHO, BULK])("%s: a dry run answers the same; other verbs aren't there", async (path) => {
    const asked = await ok(admin.post(path, body(path)));
    const dry = await ok(admin.post(`${path}?dryRun=All`, body(path)));
    expect(dry.body).toEqual(asked.body);
    expect((await admin.get(path)).status).toBe(405);
    expect((await admin.delete(path)).status).toBe(405);
  });

  it.each([EXPLAIN, WHO, BULK])("%s: in binary the answer is the same", async (path) => {
    const asked = await ok(admin.post(path, body(path)));
    const accept = "application/vnd.platform.protobuf";
    const packed = await admin.ask("POST", path, { body: body(path), accept });
    expect(packed.status).toBe(201);
    expect(packed.headers["content-type"]).toBe(accept);
    const binary = await admin.ask("POST", path, { raw: packed.bytes, contentType: accept });
    expect(binary.body).toEqual(asked.body);
  });

  it("stands in discovery and OpenAPI, and can be turned off", async () => {
    const list = (await ok(admin.get(INSIGHT))).body;
    expect(list.resources.map((one: { name: string; verbs: string[] }) => [one.name, one.verbs])).toEqual([
      ["accessexplanations", ["create"]],
      ["bulkaccessreviews", ["create"]],
      ["subjectaccesslists", ["create"]],
    ]);
    const document = (await ok(admin.get("/openapi/v3/apis/insight.platform.io/v1"))).body;
    const schemas = Object.keys(document.components.schemas);
    expect(schemas.some((name) => name.endsWith(".NearMiss"))).toBe(true);
    const without = await TestServer.start({ runtimeConfig: "insight.platform.io/v1=false" });
    expect((await without.admin.post(WHO, body(WHO))).status).toBe(404);
    await without.close();
  });

  it("is spelled in the vocabulary's words", async () => {
    const other = await TestServer.start({ vocabulary: "kubernetes" });
    const path = "/apis/insight.k8s.io/v1/subjectaccesslists";
    const { body: answer } = await ok(other.admin.post(path, body(WHO)));
    expect(answer.apiVersion).toBe("insight.k8s.io/v1");
    await other.close();
  });
});

it("a grant and its end show in the next answer", async () => {
  const spec = { resourceAttributes: { verb: "get", group: "batch", resource: "jobs", namespace: "team" } };
  const listed = async () =>
    (await ok(admin.post(WHO, { spec }))).body.status.subjects.some(
      (one: { name: string }) => one.name === "late",
    );
  expect(await listed()).toBe(false);
  await ok(
    admin.post(
      `${RBAC}/clusterroles`,
      clusterRole("jobs", [{ verbs: ["get"], apiGroups: ["batch"], resources: ["jobs"] }]),
    ),
  );
  await ok(
    admin.post(`${team}/rolebindings`, roleBinding("late", refTo("ClusterRole", "jobs"), [user("late")])),
  );
  expect(await listed()).toBe(true);
  expect((await explain({ user: "late", ...spec })).allowed).toBe(true);
  await ok(admin.delete(`${RBAC}/clusterroles/jobs`));
  expect(await listed()).toBe(false);
  expect((await explain({ user: "late", ...spec })).faults[0].fault).toBe("RoleNotFound");
});
