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

  test("compute the undo again if another write comes between", async () => {
    let between: (() => Promise<unknown>) | undefined;
    const other = await createServer({
      vocabulary: "kubernetes",
      keptHistory: ["configmaps=1h"],
      admissionPlugins: [
        {
          name: "Between",
          concerns: (operation, { resource }) => operation === "UPDATE" && resource.name === "configmaps",
          async mutate() {
            const write = between;
            between = undefined;
            await write?.();
          },
        },
      ],
    });
    try {
      const from = new Date();
      await other.client.create(map("contended", { own: "1" }));
      await other.client.apply(map("contended", { own: "2" }), { fieldManager: "x", force: true });
      between = () => other.client.patch(ref("contended"), { data: { other: "1" } });
      expect((await other.undo({ manager: "x", from })).message).toBe("1 object written");
      expect(between).toBeUndefined();
      expect((await other.client.get(ref("contended"))).data).toEqual({ own: "1", other: "1" });
      await other.client.apply(map("contended", { own: "3" }), { fieldManager: "y", force: true });
      between = () => other.client.patch(ref("contended"), { data: { own: "4" } });
      await expect(other.undo({ manager: "y", from })).rejects.toThrow(
        '"1" before the change, "3" after it, "4" now',
      );
    } finally {
      await other.close();
    }
  });

  test("reject a change with more objects than a transaction takes", async () => {
    const from = new Date();
    for (let n = 0; n < 1100; n++) await server.client.apply(map(`many-${n}`), { fieldManager: "many" });
    await expect(server.undo({ manager: "many", from })).rejects.toMatchObject({
      reason: "RequestEntityTooLarge",
      message: expect.stringMatching(/^the change set has more than \d+ objects, the limit of a transaction/),
    });
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
