import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";

describe.each([
  ["platform", "platform.io", "kubernetes", "k8s.io"],
  ["kubernetes", "k8s.io", "platform", "platform.io"],
] as const)("a server with the vocabulary %s", (vocabulary, own, other, foreign) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ vocabulary });
  });
  afterAll(() => server.close());

  const hint = (name: string) =>
    `; "${name}" is a name of the ${other} vocabulary, and this server has the ${vocabulary} vocabulary: ` +
    `start it with --vocabulary=${other} for clients that use such names`;
  const protobuf = `application/vnd.${other}.protobuf`;
  const namespaces = "/api/v1/namespaces";
  const roles = `/apis/rbac.authorization.${own}/v1/clusterroles`;

  test.each([
    `/apis/authorization.${foreign}`,
    `/apis/authorization.${foreign}/v1`,
    `/apis/rbac.authorization.${foreign}/v1/clusterroles`,
    `/apis/rbac.authorization.${foreign}/v1/clusterroles/admin`,
  ])("%s: 404 names the flag for the other vocabulary", async (path) => {
    const { status, body } = await server.admin.get(path);
    expect(status).toBe(404);
    expect(body.message).toContain(hint(path.split("/")[2]!));
  });

  test.each([`/apis/nothing.${own}/v1`, "/apis/example.com/v1/widgets", "/nowhere", "/api/v2"])(
    "%s: 404 doesn't mention vocabularies",
    async (path) => {
      const { status, body } = await server.admin.get(path);
      expect(status).toBe(404);
      expect(body.message).not.toContain("vocabulary");
    },
  );

  test("discovery warns kubectl if the names of the server aren't those of kubectl, and no other client", async () => {
    for (const path of ["/api", "/apis"]) {
      const kubectl = { headers: { "user-agent": "kubectl/v1.30.0 (linux/amd64) kubernetes/abc" } };
      const { warnings } = await server.admin.get(path, kubectl);
      const expected =
        `this server has the ${vocabulary} vocabulary, and kubectl needs names of the ${other} vocabulary: ` +
        `start it with --vocabulary=${other}`;
      expect(warnings).toEqual(vocabulary === "platform" ? [expected] : []);
      const others = await server.admin.get(path, { headers: { "user-agent": "kubectlx/v1" } });
      expect(others.warnings).toEqual([]);
    }
  });

  test("a media type of the other vocabulary in Accept is 406 with the hint", async () => {
    const { status, body } = await server.admin.get(namespaces, { accept: protobuf });
    expect([status, body.message]).toEqual([406, expect.stringContaining(hint(protobuf))]);
    const accept = `application/json;as=Table;v=v1;g=meta.${foreign}`;
    const table = await server.admin.get(namespaces, { accept });
    expect([table.status, table.body.message]).toEqual([
      406,
      expect.stringContaining(hint(`meta.${foreign}`)),
    ]);
  });

  test("tables of the other vocabulary that are not served are warned of, where the reference has no such case", async () => {
    const accept = `application/json;as=Table;v=v1;g=meta.${foreign},application/json`;
    const get = (path: string, userAgent: string) =>
      server.admin.get(path, { headers: { accept, "user-agent": userAgent } });
    for (const path of ["/apis/apps/v1/deployments", `${namespaces}/default`]) {
      const byKubectl = await get(path, "kubectl/v1.30.0");
      expect(byKubectl.status).toBe(200);
      const kubectl =
        `this server has the ${vocabulary} vocabulary, and kubectl needs names of the ${other} vocabulary: ` +
        `start it with --vocabulary=${other}`;
      expect(byKubectl.warnings).toEqual(vocabulary === "platform" ? [kubectl] : []);
      const byAnother = await get(path, "another/v1");
      expect(byAnother.warnings).toEqual(
        vocabulary === "platform" ? [hint(`meta.${foreign}`).replace("; ", "")] : [],
      );
      expect((await server.admin.get(path, { accept: "application/json" })).warnings).toEqual([]);
    }
  });

  test("a media type of the other vocabulary in a body is 415 with the hint", async () => {
    const options = { raw: "x", contentType: protobuf };
    const created = await server.admin.ask("POST", namespaces, options);
    expect([created.status, created.body.message]).toEqual([415, expect.stringContaining(hint(protobuf))]);
    const patched = await server.admin.ask("PATCH", `${namespaces}/default`, options);
    expect([patched.status, patched.body.message]).toEqual([415, expect.stringContaining(hint(protobuf))]);
    const unknown = await server.admin.ask("POST", namespaces, { raw: "x", contentType: "text/plain" });
    expect(unknown.status).toBe(415);
    expect(unknown.body.message).not.toContain("vocabulary");
  });

  test("an apiVersion of the other vocabulary in a body is 400 with the hint", async () => {
    const group = `rbac.authorization.${foreign}`;
    const role = { apiVersion: `${group}/v1`, kind: "ClusterRole", metadata: { name: "r" } };
    const { status, body } = await server.admin.post(roles, role);
    expect([status, body.message]).toEqual([400, expect.stringContaining(hint(group))]);
  });

  test("an apiVersion of the other vocabulary in the in-process client is rejected with the hint", async () => {
    const group = `rbac.authorization.${foreign}`;
    await expect(
      server.server.client.list({ apiVersion: `${group}/v1`, kind: "ClusterRole" }),
    ).rejects.toThrow(hint(group));
  });
});
