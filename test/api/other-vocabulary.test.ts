import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";

describe.each([
  ["platform", "platform.io", "kubernetes", "k8s.io"],
  ["kubernetes", "k8s.io", "platform", "platform.io"],
] as const)("a server with %s names", (vocabulary, own, other, foreign) => {
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
  ])("%s: 404 says how a server with those names is started", async (path) => {
    const { status, body } = await server.admin.get(path);
    expect(status).toBe(404);
    expect(body.message).toContain(hint(path.split("/")[2]!));
  });

  test.each([`/apis/nothing.${own}/v1`, "/apis/example.com/v1/widgets", "/nowhere", "/api/v2"])(
    "%s: 404 says nothing of it",
    async (path) => {
      const { status, body } = await server.admin.get(path);
      expect(status).toBe(404);
      expect(body.message).not.toContain("vocabulary");
    },
  );

  test("a media type in Accept: 406", async () => {
    const { status, body } = await server.admin.get(namespaces, { accept: protobuf });
    expect([status, body.message]).toEqual([406, expect.stringContaining(hint(protobuf))]);
    const accept = `application/json;as=Table;v=v1;g=meta.${foreign}`;
    const table = await server.admin.get(namespaces, { accept });
    expect([table.status, table.body.message]).toEqual([
      406,
      expect.stringContaining(hint(`meta.${foreign}`)),
    ]);
  });

  test("a media type of a body: 415", async () => {
    const options = { raw: "x", contentType: protobuf };
    const created = await server.admin.ask("POST", namespaces, options);
    expect([created.status, created.body.message]).toEqual([415, expect.stringContaining(hint(protobuf))]);
    const patched = await server.admin.ask("PATCH", `${namespaces}/default`, options);
    expect([patched.status, patched.body.message]).toEqual([415, expect.stringContaining(hint(protobuf))]);
    const unknown = await server.admin.ask("POST", namespaces, { raw: "x", contentType: "text/plain" });
    expect(unknown.status).toBe(415);
    expect(unknown.body.message).not.toContain("vocabulary");
  });

  test("an apiVersion of a body: 400", async () => {
    const group = `rbac.authorization.${foreign}`;
    const role = { apiVersion: `${group}/v1`, kind: "ClusterRole", metadata: { name: "r" } };
    const { status, body } = await server.admin.post(roles, role);
    expect([status, body.message]).toEqual([400, expect.stringContaining(hint(group))]);
  });

  test("a kind that a program asks for without a socket", async () => {
    const group = `rbac.authorization.${foreign}`;
    await expect(
      server.server.client.list({ apiVersion: `${group}/v1`, kind: "ClusterRole" }),
    ).rejects.toThrow(hint(group));
  });
});
