import { describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import {
  RBAC,
  account,
  causeFields,
  clusterRole,
  group,
  ok,
  podReader,
  refTo,
  role,
  roleBinding,
  user,
} from "./support.ts";
import { INSIGHT, EXPLAIN, SAR, team, pods, useInsightServer } from "./insight-support.ts";

const { server, explain } = useInsightServer();

const WHO = `${INSIGHT}/subjectaccesslists`;
const BULK = `${INSIGHT}/bulkaccessreviews`;

describe("SubjectAccessList", () => {
  const whoCan = async (spec: object) => (await ok(server.admin.post(WHO, { spec }))).body.status;
  const names = (status: { subjects: { kind: string; namespace?: string; name: string }[] }) =>
    status.subjects.map(
      ({ kind, namespace: home, name }) => `${kind} ${home === undefined ? "" : `${home}/`}${name}`,
    );

  it("lists users, groups and service accounts with the binding and the rule of each", async () => {
    await ok(
      server.admin.post(
        `${RBAC}/namespaces/other/roles`,
        role("watchers", [{ ...podReader, verbs: ["watch"] }]),
      ),
    );
    const subjects = [user("zoe"), account("other", "bot"), group("system:serviceaccounts:other")];
    const binding = roleBinding("watchers", refTo("Role", "watchers"), subjects);
    await ok(server.admin.post(`${RBAC}/namespaces/other/rolebindings`, binding));
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

  it("reports which allowed subjects can't be listed", async () => {
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

  it("can be read in pages", async () => {
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
  it("returns the result of a single review for each check, in order", async () => {
    const subject = { user: "x", groups: ["devs"], resourceAttributes: pods };
    const none = { user: "nobody", resourceAttributes: pods };
    const self = { nonResourceAttributes: { path: "/healthz", verb: "delete" } };
    const { results } = (
      await ok(server.admin.post(BULK, { spec: { checks: [{ subject }, { subject: none }, { self }] } }))
    ).body.status;
    const single = (await ok(server.admin.post(SAR, { spec: subject }))).body.status;
    expect(results).toEqual([single, { allowed: false }, { allowed: true }]);
    const ofCaller = await ok(server.as("viewer").post(BULK, { spec: { checks: [{ self }] } }));
    expect(ofCaller.body.status.results).toEqual([{ allowed: false }]);
  });

  it("accepts up to 1,000 checks", async () => {
    const checks = Array.from({ length: 1000 }, (_, i) => ({
      subject: { user: i % 2 === 0 ? "ann" : `user-${i}`, resourceAttributes: pods },
    }));
    const { results } = (await ok(server.admin.post(BULK, { spec: { checks } }))).body.status;
    expect(results.map((one: { allowed: boolean }) => one.allowed)).toEqual(
      checks.map((_, i) => i % 2 === 0),
    );
    const refused = await server.admin.post(BULK, { spec: { checks: [...checks, checks[0]] } });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toContain("spec.checks: Too many: 1001: must have at most 1000 items");
  });
});

describe("invalid review requests", () => {
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
  ])("%s sent to %s is 422 with the field as its cause", async (_what, path, body, field) => {
    const answer = await server.admin.post(path, body);
    expect(answer.status, answer.text).toBe(422);
    expect(causeFields(answer).join(" ")).toBe(field);
  });

  it("a value of a wrong type is 400, and so is an unknown field with fieldValidation=Strict", async () => {
    expect((await server.admin.post(BULK, { spec: { checks: "all" } })).status).toBe(400);
    const strict = await server.admin.post(`${WHO}?fieldValidation=Strict`, {
      spec: { resourceAttributes: pods, wrong: 1 },
    });
    expect([strict.status, strict.body.message]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.wrong"'),
    ]);
  });
});

describe("permissions and options of access reviews", () => {
  const body = (path: string) =>
    path === BULK
      ? { spec: { checks: [{ self: { resourceAttributes: pods } }] } }
      : { spec: { user: "ann", resourceAttributes: pods } };

  it.each([EXPLAIN, WHO, BULK])(
    "%s: is allowed for administrators and holders of its role, not for users who may create other reviews",
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

  it.each([EXPLAIN, WHO, BULK])("%s: a dry run has the same response; other verbs are 405", async (path) => {
    const asked = await ok(server.admin.post(path, body(path)));
    const dry = await ok(server.admin.post(`${path}?dryRun=All`, body(path)));
    expect(dry.body).toEqual(asked.body);
    expect((await server.admin.get(path)).status).toBe(405);
    expect((await server.admin.delete(path)).status).toBe(405);
  });

  it.each([EXPLAIN, WHO, BULK])("%s: the binary encoding has the same content", async (path) => {
    const asked = await ok(server.admin.post(path, body(path)));
    const accept = "application/vnd.platform.protobuf";
    const packed = await server.admin.ask("POST", path, { body: body(path), accept });
    expect(packed.status).toBe(201);
    expect(packed.headers["content-type"]).toBe(accept);
    const binary = await server.admin.ask("POST", path, { raw: packed.bytes, contentType: accept });
    expect(binary.body).toEqual(asked.body);
  });

  it("access reviews are listed in discovery and OpenAPI, and can be disabled", async () => {
    const list = (await ok(server.admin.get(INSIGHT))).body;
    expect(list.resources.map((one: { name: string; verbs: string[] }) => [one.name, one.verbs])).toEqual([
      ["accessexplanations", ["create"]],
      ["bulkaccessreviews", ["create"]],
      ["subjectaccesslists", ["create"]],
    ]);
    const document = (await ok(server.admin.get("/openapi/v3/apis/insight.platform.io/v1"))).body;
    const schemas = Object.keys(document.components.schemas);
    expect(schemas.some((name) => name.endsWith(".NearMiss"))).toBe(true);
    const without = await TestServer.start({ runtimeConfig: "insight.platform.io/v1=false" });
    expect((await without.admin.post(WHO, body(WHO))).status).toBe(404);
    await without.close();
  });

  it("access reviews have the names of the vocabulary", async () => {
    const other = await TestServer.start({ vocabulary: "kubernetes" });
    const path = "/apis/insight.k8s.io/v1/subjectaccesslists";
    const { body: answer } = await ok(other.admin.post(path, body(WHO)));
    expect(answer.apiVersion).toBe("insight.k8s.io/v1");
    await other.close();
  });
});

it("a new grant and its removal appear in the next response", async () => {
  const spec = { resourceAttributes: { verb: "get", group: "batch", resource: "jobs", namespace: "team" } };
  const listed = async () =>
    (await ok(server.admin.post(WHO, { spec }))).body.status.subjects.some(
      (one: { name: string }) => one.name === "late",
    );
  expect(await listed()).toBe(false);
  await ok(
    server.admin.post(
      `${RBAC}/clusterroles`,
      clusterRole("jobs", [{ verbs: ["get"], apiGroups: ["batch"], resources: ["jobs"] }]),
    ),
  );
  await ok(
    server.admin.post(
      `${team}/rolebindings`,
      roleBinding("late", refTo("ClusterRole", "jobs"), [user("late")]),
    ),
  );
  expect(await listed()).toBe(true);
  expect((await explain({ user: "late", ...spec })).allowed).toBe(true);
  await ok(server.admin.delete(`${RBAC}/clusterroles/jobs`));
  expect(await listed()).toBe(false);
  expect((await explain({ user: "late", ...spec })).faults[0].fault).toBe("RoleNotFound");
});
