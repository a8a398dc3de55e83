import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const rbac = "/apis/rbac.authorization.platform.io/v1";
const whoAmI = "/apis/authentication.platform.io/v1alpha1/selfsubjectreviews";

describe("impersonation", () => {
  const folder = temporaryFolder();
  let server: TestServer;
  let helper: Api;

  beforeAll(async () => {
    const tokens = path.join(folder.path, "tokens.csv");
    writeFileSync(tokens, "helper,helper,7\n");
    server = await TestServer.start({
      tokenAuthFile: tokens,
      runtimeConfig: "authentication.platform.io/v1alpha1",
    });
    helper = server.as("helper");
    const rule = (resources: string[], names: string[], group = "") => ({
      apiGroups: [group],
      resources,
      resourceNames: names,
      verbs: ["impersonate"],
    });
    await server.admin.post(`${rbac}/clusterroles`, {
      metadata: { name: "impersonator" },
      rules: [
        rule(["users"], ["ana", "system:anonymous"]),
        rule(["groups"], ["devs"]),
        rule(["serviceaccounts"], ["builder"]),
        rule(["uids"], ["42"], "authentication.platform.io"),
        rule(["userextras/scopes"], ["read"], "authentication.platform.io"),
      ],
    });
    await server.admin.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: "helper" },
      roleRef: { kind: "ClusterRole", name: "impersonator" },
      subjects: [{ kind: "User", name: "helper" }],
    });
  });

  afterAll(async () => {
    await server.close();
    folder.remove();
  });

  const as = (headers: Record<string, string>) => helper.post(whoAmI, {}, { headers });

  it("A-1-08 SelfSubjectReview returns the information of the impersonated user", async () => {
    const { status, body } = await as({
      "Impersonate-User": "ana",
      "Impersonate-Group": "devs",
      "Impersonate-Uid": "42",
      "Impersonate-Extra-Scopes": "read",
    });
    expect(status).toBe(201);
    expect(body.status.userInfo).toEqual({
      username: "ana",
      uid: "42",
      groups: ["devs", "system:authenticated"],
      extra: { scopes: ["read"] },
    });
  });

  it("a service account comes with its groups; the anonymous user isn't authenticated", async () => {
    const account = await as({ "Impersonate-User": "system:serviceaccount:default:builder" });
    expect(account.body.status.userInfo.groups).toEqual([
      "system:serviceaccounts",
      "system:serviceaccounts:default",
      "system:authenticated",
    ]);
    const nobody = await as({ "Impersonate-User": "system:anonymous" });
    expect(nobody.body.message).toContain('User "system:anonymous" cannot create');
  });

  it("the impersonated user's rights count, not the caller's", async () => {
    const read = await helper.get("/api/v1/namespaces", { headers: { "Impersonate-User": "ana" } });
    expect(read.status).toBe(403);
    expect(read.body.message).toContain('User "ana" cannot list resource "namespaces"');
    const admin = await server.admin.get("/api/v1/namespaces", { headers: { "Impersonate-User": "nobody" } });
    expect(admin.status).toBe(403);
  });

  it.each([
    [{ "Impersonate-User": "root" }, 'User "helper" cannot impersonate resource "users"'],
    [
      { "Impersonate-User": "ana", "Impersonate-Group": "system:masters" },
      'cannot impersonate resource "groups"',
    ],
    [{ "Impersonate-User": "ana", "Impersonate-Uid": "1" }, 'cannot impersonate resource "uids"'],
    [{ "Impersonate-User": "ana", "Impersonate-Extra-Scopes": "write" }, '"userextras/scopes"'],
    [
      { "Impersonate-User": "system:serviceaccount:default:other" },
      'cannot impersonate resource "serviceaccounts"',
    ],
  ])("%o without the right is refused with 403", async (headers, message) => {
    const { status, body } = await as(headers as Record<string, string>);
    expect(status).toBe(403);
    expect(body.message).toContain(message);
  });

  it.each([
    { "Impersonate-Group": "devs" },
    { "Impersonate-Extra-Scopes": "read" },
    { "Impersonate-Nothing": "x" },
  ])("%o is a mistake: 400, and never done as the caller", async (headers) => {
    expect((await as(headers as unknown as Record<string, string>)).status).toBe(400);
  });
});
