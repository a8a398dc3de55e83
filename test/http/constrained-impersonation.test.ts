import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AuditedServer } from "../audit/support.ts";
import { account, clusterRole, clusterRoleBinding, grant, ok, refTo } from "../api/support.ts";
import { TestServer } from "../support/api.ts";

const authn = "authentication.platform.io";
const whoAmI = `/apis/${authn}/v1/selfsubjectreviews`;
const review = "selfsubjectreviews";
const pods = "/api/v1/namespaces/default/pods";
const rbac = "/apis/rbac.authorization.platform.io/v1";

const right = (verb: string, resource: string, group = authn, resourceNames?: readonly string[]) => ({
  verbs: [verb],
  apiGroups: [group],
  resources: [resource],
  ...(resourceNames && { resourceNames }),
});
/** The rights to a mode for SelfSubjectReviews. */
const mode = (name: string, resource: string, names?: readonly string[]) => [
  right(`impersonate:${name}`, resource, authn, names),
  right(`impersonate-on:${name}:create`, review),
];

describe("constrained impersonation", () => {
  let audited: AuditedServer;
  let server: TestServer;
  const as = (token: string, headers: Record<string, string>, url = whoAmI) =>
    url === whoAmI ? server.as(token).post(url, {}, { headers }) : server.as(token).get(url, { headers });
  const userAs = async (token: string, headers: Record<string, string>) =>
    (await ok(as(token, headers))).body.status.userInfo;
  const messageAs = async (token: string, headers: Record<string, string>, url?: string) => {
    const { status, body } = await as(token, headers, url);
    expect(status).toBe(403);
    return body.message as string;
  };

  beforeAll(async () => {
    const names = ["ui", "listing", "sa", "node", "legacy", "none", "many", "on", "subscriber"];
    const options = { release: "1.36" as const, users: names.map((name) => ({ name })) };
    audited = await AuditedServer.start("rules: [{level: Metadata}]", options);
    server = audited.api;
    const { admin } = server;
    await grant(admin, "ui", [
      ...mode("user-info", "users", ["ana", "system:anonymous"]),
      ...mode("user-info", "groups", ["devs"]),
      ...mode("user-info", "uids", ["42"]),
      ...mode("user-info", "userextras/example.com/scopes", ["read"]),
    ]);
    await grant(admin, "listing", [
      right("impersonate:user-info", "users"),
      right("impersonate-on:user-info:list", "pods", ""),
    ]);
    await grant(admin, "sa", mode("serviceaccount", "serviceaccounts", ["builder"]));
    await grant(admin, "node", mode("arbitrary-node", "nodes", ["n1"]));
    await grant(admin, "many", [...mode("user-info", "users"), ...mode("user-info", "groups", ["*"])]);
    await grant(admin, "on", [right("impersonate-on:user-info:create", review)]);
    await grant(admin, "legacy", [right("impersonate", "users", ""), right("impersonate", "groups", "")]);
    await grant(admin, "ana", [
      { verbs: ["list", "watch"], apiGroups: [""], resources: ["pods", "secrets"] },
    ]);
  });
  afterAll(() => audited.close());

  it("user-info allows the names, groups, uids and extra values of its rights", async () => {
    const headers = {
      "Impersonate-User": "ana",
      "Impersonate-Group": "devs",
      "Impersonate-Uid": "42",
      "Impersonate-Extra-Example.com%2fscopes": "read",
    };
    expect(await userAs("ui", headers)).toEqual({
      username: "ana",
      uid: "42",
      groups: ["devs", "system:authenticated"],
      extra: { "example.com/scopes": ["read"] },
    });
    const refused: [string, Record<string, string>][] = [
      [
        'impersonate:user-info resource "users" in API group "authentication.platform.io"',
        { "Impersonate-User": "eve" },
      ],
      ['impersonate:user-info resource "groups"', { ...headers, "Impersonate-Group": "ops" }],
      ['impersonate:user-info resource "uids"', { ...headers, "Impersonate-Uid": "43" }],
      [
        'impersonate:user-info resource "userextras/example.com/scopes"',
        { ...headers, "Impersonate-Extra-Example.com%2fscopes": "write" },
      ],
      ["impersonating the empty string group is not allowed", { ...headers, "Impersonate-Group": "" }],
      ["the system:masters group is not allowed", { ...headers, "Impersonate-Group": "system:masters" }],
      ["an invalid key in extra is not allowed", { ...headers, "Impersonate-Extra-scopes": "read" }],
    ];
    for (const [message, one] of refused) expect(await messageAs("ui", one)).toContain(message);
  });

  it("needs the right to the request too, by its verb and resource", async () => {
    const ana = { "Impersonate-User": "ana" };
    expect((await as("listing", ana, pods)).status).toBe(200);
    expect(await messageAs("listing", ana, "/api/v1/namespaces/default/secrets")).toContain(
      'User "listing" cannot impersonate-on:user-info:list resource "secrets"',
    );
    expect(await messageAs("listing", ana, `${pods}/p`)).toContain("cannot impersonate-on:user-info:get");
    expect(await messageAs("listing", ana)).toContain("cannot impersonate-on:user-info:create");
    expect(await messageAs("on", ana)).toContain('cannot impersonate:user-info resource "users"');
    // The user's own rights count.
    expect(await messageAs("listing", { "Impersonate-User": "bob" }, pods)).toContain(
      'User "bob" cannot list',
    );
    expect(await messageAs("listing", ana, "/metrics")).toContain(
      'cannot impersonate-on:user-info:get path "/metrics"',
    );
  });

  it("a service account or node needs its mode, and has the groups of its kind", async () => {
    const builder = { "Impersonate-User": "system:serviceaccount:default:builder" };
    const node = { "Impersonate-User": "system:node:n1" };
    expect((await userAs("sa", builder)).groups).toEqual([
      "system:serviceaccounts",
      "system:serviceaccounts:default",
      "system:authenticated",
    ]);
    expect((await userAs("node", node)).groups).toEqual(["system:nodes", "system:authenticated"]);
    expect(await messageAs("many", builder)).toContain("impersonate-on:serviceaccount:create");
    expect(await messageAs("many", node)).toContain("impersonate-on:arbitrary-node:create");
    expect(await messageAs("node", { "Impersonate-User": "system:node:n2" })).toContain(
      'cannot impersonate:arbitrary-node resource "nodes"',
    );
    // With other facts, only the former kind of impersonation is for them.
    expect(await messageAs("node", { ...node, "Impersonate-Group": "devs" })).toContain(
      'cannot impersonate resource "users"',
    );
    expect((await userAs("legacy", node)).groups).toEqual(["system:authenticated"]);
  });

  it("many groups need one right to all of them", async () => {
    const groups = ["a", "b", "c", "d"];
    const headers = { "Impersonate-User": "x", "Impersonate-Group": groups as unknown as string };
    expect((await userAs("many", headers)).groups).toEqual([...groups, "system:authenticated"]);
    const few = { ...headers, "Impersonate-Group": ["a", "b", "c"] as unknown as string };
    expect(await messageAs("many", few)).toContain('resource "groups"');
  });

  it("the former right still suffices, and its absence shows the error of the first mode", async () => {
    const headers = { "Impersonate-User": "ana", "Impersonate-Group": "system:masters" };
    expect((await userAs("legacy", headers)).username).toBe("ana");
    expect(await messageAs("none", headers)).toContain("impersonate-on:user-info:create");
  });

  it("an agent may impersonate the node of its own pod", async () => {
    const { admin } = server;
    await ok(admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "agent" } }));
    await ok(
      admin.post(`${rbac}/clusterroles`, clusterRole("agent", mode("associated-node", "nodes", ["*"]))),
    );
    await ok(
      admin.post(
        `${rbac}/clusterrolebindings`,
        clusterRoleBinding("agent", refTo("ClusterRole", "agent"), [account("default", "agent")]),
      ),
    );
    await ok(admin.post("/api/v1/nodes", { metadata: { name: "n1" } }));
    const spec = { containers: [{ name: "c", image: "i" }], serviceAccountName: "agent", nodeName: "n1" };
    const pod = (await ok(admin.post(pods, { metadata: { name: "agent" }, spec }))).body;
    const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: "agent", uid: pod.metadata.uid };
    const tokens = "/api/v1/namespaces/default/serviceaccounts/agent/token";
    const { token } = (await ok(admin.post(tokens, { spec: { boundObjectRef } }))).body.status;
    const own = { "Impersonate-User": "system:node:n1" };
    expect(await userAs(token, own)).toMatchObject({
      username: "system:node:n1",
      groups: ["system:nodes", "system:authenticated"],
    });
    expect(await messageAs(token, { "Impersonate-User": "system:node:n2" })).toContain(
      "impersonate-on:arbitrary-node:create",
    );
    const events = (await audited.all()).filter(
      ({ impersonatedUser }) => impersonatedUser?.username === "system:node:n1",
    );
    expect(events.at(-1).authenticationMetadata).toEqual({
      impersonationConstraint: "impersonate:associated-node",
    });
    expect(events[0].authenticationMetadata).toEqual({
      impersonationConstraint: "impersonate:arbitrary-node",
    });
  });

  it("a subscription needs the rights to each of its watches", async () => {
    await grant(server.admin, "subscriber", [
      right("impersonate:user-info", "users"),
      { verbs: ["impersonate-on:user-info:get"], nonResourceURLs: ["/subscriptions"] },
      right("impersonate-on:user-info:watch", "pods", ""),
    ]);
    const watch = (resource: string, more = "") => {
      const headers = { "Impersonate-User": "ana" };
      const url = `/subscriptions?watch=${resource}%3Fnamespace%3Ddefault&timeoutSeconds=1${more}`;
      return server.as("subscriber").get(url, { headers });
    };
    const withoutState = "&sendInitialEvents=false";
    expect((await watch("pods", withoutState)).status).toBe(200);
    const { status, body } = await watch("secrets");
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining('cannot impersonate-on:user-info:watch resource "secrets"'),
    ]);
    const listed = await watch("pods");
    expect([listed.status, listed.body.message]).toEqual([
      403,
      expect.stringContaining('cannot impersonate-on:user-info:list resource "pods"'),
    ]);
  });
});

describe("metrics of constrained impersonation", () => {
  const pageOf = async (server: TestServer) => (await server.admin.get("/metrics")).text;
  const samples = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/^apiserver_impersonation_(\w+)\{(.*)\} (\d+)$/gm)]
        .filter(([, name]) => !name!.endsWith("_bucket"))
        .map(([, name, labels, value]) => [`${name} ${labels!.replaceAll(/\w+=/g, "")}`, Number(value)]),
    );

  it("count attempts and authorization checks by mode and decision", async () => {
    const server = await TestServer.start({ release: "1.36", users: [{ name: "ui" }, { name: "old" }] });
    try {
      await grant(server.admin, "ui", mode("user-info", "users"));
      await grant(server.admin, "old", [right("impersonate", "users", "")]);
      const as = (user: string, target: string) =>
        server.as(user).post(whoAmI, {}, { headers: { "Impersonate-User": target } });
      expect((await as("ui", "ana")).status).toBe(201);
      expect((await as("ui", "system:node:n1")).status).toBe(403);
      expect((await as("old", "ana")).status).toBe(201);
      const text = await pageOf(server);
      expect(samples(text)).toEqual({
        'attempts_total "user-info","allowed"': 1,
        'attempts_total "","denied"': 1,
        'attempts_total "legacy","allowed"': 1,
        'attempts_duration_seconds_count "user-info","allowed"': 1,
        'attempts_duration_seconds_count "","denied"': 1,
        'attempts_duration_seconds_count "legacy","allowed"': 1,
        'authorization_attempts_total "user-info","allowed"': 2,
        'authorization_attempts_total "user-info","denied"': 1,
        'authorization_attempts_total "arbitrary-node","denied"': 1,
        'authorization_attempts_total "legacy","denied"': 1,
        'authorization_attempts_total "legacy","allowed"': 1,
        'authorization_attempts_duration_seconds_count "user-info","allowed"': 2,
        'authorization_attempts_duration_seconds_count "user-info","denied"': 1,
        'authorization_attempts_duration_seconds_count "arbitrary-node","denied"': 1,
        'authorization_attempts_duration_seconds_count "legacy","denied"': 1,
        'authorization_attempts_duration_seconds_count "legacy","allowed"': 1,
      });
      expect(text).toContain(
        'attempts_duration_seconds_bucket{le="0.001",mode="user-info",decision="allowed"}',
      );
      expect(text).toContain(
        'attempts_duration_seconds_bucket{le="16.384",mode="user-info",decision="allowed"}',
      );
    } finally {
      await server.close();
    }
  });

  it("don't exist in release 1.35", async () => {
    const server = await TestServer.start({ release: "1.35", featureGates: "ConstrainedImpersonation=true" });
    try {
      expect(await pageOf(server)).not.toContain("apiserver_impersonation");
    } finally {
      await server.close();
    }
  });
});

describe("constrained impersonation before release 1.36", () => {
  it("has no effect without its gate", async () => {
    for (const [options, status] of [
      [{ release: "1.35" as const }, 403],
      [{ release: "1.35" as const, featureGates: "ConstrainedImpersonation=true" }, 201],
      [{ release: "1.37" as const, featureGates: "ConstrainedImpersonation=false" }, 403],
    ] as const) {
      const server = await TestServer.start({ ...options, users: [{ name: "ui" }] });
      try {
        await grant(server.admin, "ui", mode("user-info", "users"));
        const headers = { "Impersonate-User": "ana" };
        expect((await server.as("ui").post(whoAmI, {}, { headers })).status).toBe(status);
      } finally {
        await server.close();
      }
    }
  });
});
