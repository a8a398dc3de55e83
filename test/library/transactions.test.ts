import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, StatusError } from "../../src/index.ts";
import type { Server } from "../../src/server/server.ts";

let server: Server;
beforeAll(async () => {
  server = await createServer({ vocabulary: "kubernetes" });
});
afterAll(() => server.close());

const ref = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, namespace: "default" }) as const;
const map = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: "v1" as const,
  kind: "ConfigMap" as const,
  metadata: { name, namespace: "default" },
  data,
});

describe("client.transaction", () => {
  test("commits the writes of its work at one resource version, and returns what it returns", async () => {
    const { client } = server;
    await client.create(map("stock", { left: "3" }));
    const left = await client.transaction(async (t) => {
      const stock = await t.get(ref("stock"));
      const rest = Number(stock.data?.["left"]) - 1;
      await t.update({ ...stock, data: { left: String(rest) } });
      await t.create(map("order-1"));
      await t.patch(ref("order-1"), { data: { state: "new" } });
      await t.apply(map("order-2", { state: "applied" }));
      expect((await t.find(ref("order-1")))?.data).toEqual({ state: "new" });
      expect(await client.find(ref("order-1"))).toBeUndefined();
      return rest;
    });
    expect(left).toBe(2);
    const stored = await Promise.all(["stock", "order-1", "order-2"].map((name) => client.get(ref(name))));
    expect(stored.map(({ data }) => data)).toEqual([{ left: "2" }, { state: "new" }, { state: "applied" }]);
    expect(new Set(stored.map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);
    await client.transaction(async (t) => {
      expect(await t.delete(ref("order-2"))).toBe(true);
    });
    expect(await client.find(ref("order-2"))).toBeUndefined();
  });

  test("writes nothing if its work or a write fails", async () => {
    const { client } = server;
    await client.create(map("taken"));
    const attempts: (() => Promise<unknown>)[] = [
      () =>
        client.transaction(async (t) => {
          await t.create(map("half"));
          throw new Error("changed my mind");
        }),
      () =>
        client.transaction(async (t) => {
          await t.create(map("half"));
          await t.create(map("taken"));
        }),
    ];
    const errors = await Promise.all(attempts.map((attempt) => attempt().catch((error: unknown) => error)));
    expect(errors.map(String)).toEqual(["Error: changed my mind", expect.stringContaining("already exists")]);
    expect(errors[1]).toBeInstanceOf(StatusError);
    expect(await client.find(ref("half"))).toBeUndefined();
  });

  test("repeats its work if another write comes between, so that none is lost", async () => {
    const { client } = server;
    await client.create(map("counter", { n: "0" }));
    const add = () =>
      client.transaction(async (t) => {
        const counter = await t.get(ref("counter"));
        await t.update({ ...counter, data: { n: String(Number(counter.data?.["n"]) + 1) } });
      });
    await Promise.all(Array.from({ length: 5 }, add));
    expect((await client.get(ref("counter"))).data).toEqual({ n: "5" });
  });

  test("a dry run runs the work, and writes nothing", async () => {
    const { client } = server;
    const made = await client.transaction((t) => t.create(map("dry")), { dryRun: true });
    expect(made.metadata.name).toBe("dry");
    expect(await client.find(ref("dry"))).toBeUndefined();
  });

  test("of a user needs the right to create transactions, and those of its writes", async () => {
    const group = "rbac.authorization.k8s.io";
    const rules = (resources: string[], apiGroups: string[]) => [{ verbs: ["create"], apiGroups, resources }];
    const bind = async (
      name: string,
      granted: { verbs: string[]; apiGroups: string[]; resources: string[] }[],
    ) => {
      await server.client.create({
        apiVersion: `${group}/v1`,
        kind: "ClusterRole",
        metadata: { name },
        rules: granted,
      });
      await server.client.create({
        apiVersion: `${group}/v1`,
        kind: "ClusterRoleBinding",
        metadata: { name },
        roleRef: { apiGroup: group, kind: "ClusterRole", name },
        subjects: [{ apiGroup: group, kind: "User", name: "devi" }],
      });
    };
    await bind("maps", rules(["configmaps"], [""]));
    const devi = server.as("devi");
    const work = () => devi.transaction((t) => t.create(map("by-devi")));
    await expect(work()).rejects.toThrow('cannot create resource "transactions"');
    await bind("transactions", rules(["transactions"], ["transactions.k8s.io"]));
    await work();
    await expect(devi.transaction((t) => t.delete(ref("by-devi")))).rejects.toThrow(
      'cannot delete resource "configmaps"',
    );
  });

  test("tells a plugin of each attempt once: a repeated one at once, the last one with the transaction", async () => {
    const outcomes: string[] = [];
    const other = await createServer({
      vocabulary: "kubernetes",
      admissionPlugins: [
        {
          name: "Outcomes",
          concerns: (operation, { resource }) => operation === "UPDATE" && resource.name === "configmaps",
          async validate({ object, effects }) {
            if (object?.metadata.labels?.["in"] !== "transaction") return;
            effects.onOutcome((outcome) => void outcomes.push(outcome));
            // Another write of the object between the read and the commit of the first attempt.
            if (outcomes.length === 0) await other.client.patch(ref("contended"), { data: { by: "other" } });
          },
        },
      ],
    });
    try {
      await other.client.create(map("contended"));
      await other.client.transaction(async (t) => {
        await t.patch(ref("contended"), { metadata: { labels: { in: "transaction" } } });
        expect(outcomes).toEqual(["not committed"]);
      });
      expect(outcomes).toEqual(["not committed", "committed"]);
      expect((await other.client.get(ref("contended"))).data).toEqual({ by: "other" });
    } finally {
      await other.close();
    }
  });
});
