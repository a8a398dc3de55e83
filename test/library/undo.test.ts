import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";

let server: Server;
beforeAll(async () => {
  server = await createServer({ vocabulary: "kubernetes", keptHistory: ["configmaps=1h"] });
});
afterAll(() => server.close());

const ref = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, namespace: "default" }) as const;
const map = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: "v1" as const,
  kind: "ConfigMap" as const,
  metadata: { name, namespace: "default" },
  data,
});

describe("client.undo and server.undo", () => {
  test("take back what a user did in an interval", async () => {
    const from = new Date();
    await server.client.create(map("a", { keep: "1", own: "1" }));
    await grantAll("devi");
    const devi = server.as("devi");
    await devi.patch(ref("a"), { data: { own: "2" } });
    await server.client.patch(ref("a"), { data: { keep: "2" } });
    await devi.create(map("b"));
    const dry = await server.undo({ user: "devi", from }, { dryRun: true });
    expect(dry.message).toBe("dry run: 2 objects would be written");
    expect((await server.client.get(ref("a"))).data).toEqual({ keep: "2", own: "2" });
    const result = await devi.undo({
      user: "devi",
      from,
      to: new Date(Date.now() + 1000),
      resources: ["configmaps"],
    });
    expect(result.objects.map(({ action, name }) => [action, name])).toEqual([
      ["update", "a"],
      ["delete", "b"],
    ]);
    expect((await server.client.get(ref("a"))).data).toEqual({ keep: "2", own: "1" });
    expect(await server.client.find(ref("b"))).toBeUndefined();
  });

  test("reject with Conflict when others changed the same field since, and with NotFound for an unknown change", async () => {
    const from = new Date();
    await server.client.create(map("c", { own: "1" }));
    await grantAll("eve");
    await server.as("eve").patch(ref("c"), { data: { own: "2" } });
    await server.client.patch(ref("c"), { data: { own: "3" } });
    await expect(server.undo({ user: "eve", from })).rejects.toMatchObject({ reason: "Conflict" });
    await expect(server.undo("no-such-id")).rejects.toMatchObject({ reason: "NotFound" });
    await expect(server.undo({ user: "eve" } as never)).rejects.toMatchObject({ reason: "Invalid" });
  });

  test("need the rights of the client", async () => {
    await expect(server.as("nobody").undo("no-such-id")).rejects.toThrow('cannot create resource "undos"');
  });
});

async function grantAll(user: string): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  await server.client.create({
    apiVersion: `${group}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: user },
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: group, kind: "User", name: user }],
  });
}
