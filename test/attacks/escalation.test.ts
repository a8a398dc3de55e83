import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  account,
  clusterRole,
  clusterRoleBinding,
  grant,
  group,
  namespace,
  ok,
  RBAC,
  refTo,
  role,
  roleBinding,
  startWithUsers,
  user,
} from "../api/support.ts";
import { stillAnswers } from "../robustness/support.ts";
import type { Answer, Api, TestServer } from "../support/api.ts";

const everything = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
  { verbs: ["*"], nonResourceURLs: ["*"] },
];
const secrets = "/api/v1/namespaces/team-b/secrets";
const roles = `${RBAC}/namespaces/team-a/roles`;
const bindings = `${RBAC}/namespaces/team-a/rolebindings`;
const verbs = ["get", "list", "create", "update", "patch", "delete", "deletecollection"];
let server: TestServer;
let mallory: Api;

beforeAll(async () => {
  server = await startWithUsers([{ name: "mallory" }, { name: "gate" }]);
  const { admin } = server;
  for (const name of ["team-a", "team-b"]) {
    await ok(admin.post("/api/v1/namespaces", namespace(name)));
    await ok(admin.post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "robot" } }));
    await ok(admin.post(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: "key" } }));
  }
  // A user who may write every role and binding and has few other permissions.
  await grant(admin, "mallory", [
    { verbs, apiGroups: ["rbac.authorization.platform.io"], resources: ["*"] },
    { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
  ]);
  const inTeamA = [
    { verbs: ["create"], apiGroups: [""], resources: ["serviceaccounts/token"] },
    { verbs: ["impersonate"], apiGroups: [""], resources: ["serviceaccounts"] },
  ];
  await ok(admin.post(roles, role("tokens", inTeamA)));
  await ok(admin.post(bindings, roleBinding("tokens", refTo("Role", "tokens"), [user("gate")])));
  await ok(admin.post(roles, role("harmless")));
  await ok(admin.post(`${RBAC}/clusterroles`, clusterRole("harmless")));
  await ok(admin.post(bindings, roleBinding("harmless", refTo("Role", "harmless"), [user("x")])));
  mallory = server.as("mallory");
});
afterAll(async () => {
  await stillAnswers(server);
  await server.close();
});

const apply = (at: string, object: object) =>
  mallory.ask("PATCH", `${at}?fieldManager=m&force=true`, {
    raw: JSON.stringify(object),
    contentType: "application/apply-patch+yaml",
  });
const replace = (path: string, value: unknown) => [{ op: "add", path, value }];
const aggregate = { labels: { "rbac.authorization.platform.io/aggregate-to-admin": "true" } };
const admins = refTo("ClusterRole", "cluster-admin");
const me = [user("mallory")];
const all = { rules: everything };
const clusterRoles = `${RBAC}/clusterroles`;
const clusterBindings = `${RBAC}/clusterrolebindings`;

describe("a user with permission to write roles and bindings can't escalate", () => {
  const tries: [string, () => Promise<Answer>][] = [
    ["a new role", () => mallory.post(clusterRoles, clusterRole("mine", everything))],
    ["a dry run of it", () => mallory.post(`${clusterRoles}?dryRun=All`, clusterRole("mine", everything))],
    ["a PUT that creates", () => mallory.put(`${clusterRoles}/mine`, clusterRole("mine", everything))],
    ["an apply that creates", () => apply(`${clusterRoles}/mine`, clusterRole("mine", everything))],
    ["a role in a namespace", () => mallory.post(roles, role("mine", [everything[0]!]))],
    ["a PUT", () => mallory.put(`${clusterRoles}/harmless`, clusterRole("harmless", everything))],
    ["a merge patch", () => mallory.patch(`${clusterRoles}/harmless`, all)],
    ["a strategic patch", () => mallory.patch(`${clusterRoles}/harmless`, all, "strategic")],
    ["a JSON patch", () => mallory.patch(`${clusterRoles}/harmless`, replace("/rules", everything), "json")],
    ["an apply", () => apply(`${clusterRoles}/harmless`, clusterRole("harmless", everything))],
    ["a role that already holds more", () => mallory.patch(`${clusterRoles}/admin`, all)],
    [
      "an annotation that ends the reconciliation of a default role",
      () =>
        mallory.patch(`${clusterRoles}/cluster-admin`, {
          metadata: { annotations: { "rbac.authorization.platform.io/autoupdate": "false" } },
        }),
    ],
    [
      "a label of a role that holds more",
      () => mallory.patch(`${clusterRoles}/admin`, { metadata: aggregate }),
    ],
    [
      "another's verb",
      () => mallory.patch(`${roles}/harmless`, { rules: [{ ...everything[0], verbs: ["list"] }] }),
    ],
    [
      "a label that adds to other roles",
      () => mallory.post(clusterRoles, clusterRole("l", [everything[0]!], aggregate)),
    ],
    [
      "a rule that gathers other roles",
      () =>
        mallory.post(clusterRoles, {
          ...clusterRole("g", []),
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: {} }] },
        }),
    ],
    [
      "the verb bind",
      () =>
        mallory.post(
          clusterRoles,
          clusterRole("b", [{ verbs: ["bind"], apiGroups: ["*"], resources: ["*"] }]),
        ),
    ],
    [
      "the verb escalate",
      () =>
        mallory.post(
          clusterRoles,
          clusterRole("e", [{ verbs: ["escalate"], apiGroups: ["*"], resources: ["*"] }]),
        ),
    ],
    [
      "the verb impersonate",
      () =>
        mallory.post(
          clusterRoles,
          clusterRole("i", [{ verbs: ["impersonate"], apiGroups: [""], resources: ["users"] }]),
        ),
    ],
    [
      "a binding to a role of others",
      () => mallory.post(clusterBindings, clusterRoleBinding("mine", admins, me)),
    ],
    ["one in a namespace", () => mallory.post(bindings, roleBinding("mine", admins, me))],
    [
      "one of everybody",
      () =>
        mallory.post(clusterBindings, clusterRoleBinding("mine", admins, [group("system:authenticated")])),
    ],
    [
      "one of an account",
      () => mallory.post(clusterBindings, clusterRoleBinding("mine", admins, [account("team-a", "robot")])),
    ],
    [
      "a PUT of a binding that creates",
      () => mallory.put(`${bindings}/mine`, roleBinding("mine", admins, me)),
    ],
    ["an apply of a binding", () => apply(`${bindings}/mine`, roleBinding("mine", admins, me))],
    [
      "a binding of the standing administrators",
      () => mallory.patch(`${clusterBindings}/cluster-admin`, replace("/subjects/-", me[0]), "json"),
    ],
  ];
  test.each(tries)("by %s: 403", async (_what, attempt) => {
    expect((await attempt()).status).toBe(403);
    expect((await mallory.get(secrets)).status).toBe(403);
  });

  const misplaced: [string, number, () => Promise<Answer>][] = [
    [
      "another role for a binding that stands",
      422,
      () => mallory.patch(`${bindings}/harmless`, { roleRef: admins }),
    ],
    [
      "a body of another namespace",
      400,
      () => mallory.post(roles, role("r", undefined, { namespace: "team-b" })),
    ],
    ["a body of another name", 400, () => mallory.put(`${roles}/harmless`, role("other"))],
  ];
  test.each(misplaced)("by %s: rejected", async (_what, status, attempt) => {
    expect([403, status]).toContain((await attempt()).status);
    expect((await server.admin.get(`${bindings}/harmless`)).body.roleRef.name).toBe("harmless");
  });
});

describe("permissions on the service accounts of one namespace are limited to it", () => {
  const gate = () => server.as("gate");
  const account = "system:serviceaccount:team-a:robot";

  test("a token can be created for an account of the namespace, and for no other", async () => {
    const token = (ns: string, body: object = {}) =>
      gate().post(`/api/v1/namespaces/${ns}/serviceaccounts/robot/token`, { spec: {}, ...body });
    expect((await token("team-a")).status).toBe(201);
    expect((await token("team-b")).status).toBe(403);
    expect((await token("team-a%2F..%2Fteam-b")).status).toBe(403);
    const moved = await token("team-a", { metadata: { namespace: "team-b", name: "robot" } });
    expect([400, 422]).toContain(moved.status);
    expect((await gate().get("/api/v1/namespaces/team-a/serviceaccounts/token")).status).toBe(403);
  });

  test.each([
    ["an account there", account, {}, account],
    ["one elsewhere", "system:serviceaccount:team-b:robot", {}, "gate"],
    ["one of no namespace", "system:serviceaccount::robot", {}, "gate"],
    ["one of no name", "system:serviceaccount:team-a:", {}, "gate"],
    ["what only begins like one", `${account}:more`, {}, "gate"],
    ["what isn't written like one", "System:ServiceAccount:team-a:robot", {}, "gate"],
    ["a namespace that can't be", "system:serviceaccount:team-a/../team-b:robot", {}, "gate"],
    ["with a group of administrators", account, { "Impersonate-Group": "system:masters" }, "gate"],
    [
      "with the group of other accounts",
      account,
      { "Impersonate-Group": "system:serviceaccounts:team-b" },
      "gate",
    ],
    ["with an empty group", account, { "Impersonate-Group": "" }, "gate"],
    ["with a fact", account, { "Impersonate-Extra-Scopes": "all" }, "gate"],
    ["with a fact of a prototype", account, { "Impersonate-Extra-__proto__": "all" }, "gate"],
    ["with a uid", account, { "Impersonate-Uid": "1" }, "gate"],
  ])("impersonating %s: the request runs as the expected user", async (_what, name, further, who) => {
    const { status, body } = await gate().get(secrets, { headers: { "Impersonate-User": name, ...further } });
    expect([status, /User "([^"]*)"/.exec(body.message)?.[1]]).toEqual([403, who]);
  });

  test("impersonating users: allows any user, but no service account and no group", async () => {
    await grant(server.admin, "gate", [{ verbs: ["impersonate"], apiGroups: [""], resources: ["users"] }]);
    const as = async (headers: Record<string, string>) =>
      (await gate().get(secrets, { headers })).body.message;
    expect(await as({ "Impersonate-User": "ann" })).toContain('User "ann"');
    expect(await as({ "Impersonate-User": "system:serviceaccount:team-b:robot" })).toContain('User "gate"');
    const masters = { "Impersonate-User": "ann", "Impersonate-Group": "system:masters" };
    expect(await as(masters)).toContain('User "gate"');
  });
});

describe("large impersonation headers", () => {
  test("a thousand groups and extra values are authorized one by one, until the first that is denied", async () => {
    await grant(server.admin, "mallory-groups", [
      { verbs: ["impersonate"], apiGroups: [""], resources: ["users", "groups"] },
    ]);
    const binding = clusterRoleBinding("many", refTo("ClusterRole", "grant-mallory-groups"), me);
    await ok(server.admin.post(clusterBindings, binding));
    const groups = Array.from({ length: 1000 }, (_, at) => `g${at}`);
    const headers = { "Impersonate-User": "ann", "Impersonate-Group": groups as unknown as string };
    const { status, body } = await mallory.get(secrets, { headers });
    expect([status, body.message.includes('User "ann"')]).toEqual([403, true]);
    const facts = Object.fromEntries(
      Array.from({ length: 700 }, (_, at) => [`Impersonate-Extra-K${at}`, "v"]),
    );
    const refused = await mallory.get(secrets, { headers: { "Impersonate-User": "ann", ...facts } });
    expect([refused.status, refused.body.message.includes('User "mallory"')]).toEqual([403, true]);
  });
});
