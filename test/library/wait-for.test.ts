import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Client, type Server } from "../../src/index.ts";
import { waitFor } from "../../src/server/library/wait-for.ts";
import { RevisionCompactedError, type Revision } from "../../src/storage/store.ts";
import { configMap, namespace, refTo, role, roleBinding, user } from "../api/support.ts";

let server: Server;
const shop = { namespace: "shop" };
const reference = { apiVersion: "v1", kind: "ConfigMap", name: "state", ...shop } as const;
const write = (data: Record<string, string>) => server.client.patch(reference, { data });

beforeAll(async () => {
  server = await createServer({ port: false });
  await server.client.create(namespace("shop"));
});
afterAll(() => server.close());
afterEach(async () => {
  if ((await server.client.find(reference)) !== undefined) await server.client.delete(reference);
});

describe("waitFor", () => {
  test("resolves at once with an object that meets the condition", async () => {
    await server.client.create(configMap("state", { phase: "ready" }, shop));
    const object = await server.client.waitFor(reference, (one) => one?.data?.["phase"] === "ready");
    expect(object?.metadata.name).toBe("state");
  });

  test("sees the absent object, its creation and each change in order", async () => {
    const seen: (string | undefined)[] = [];
    const done = server.client.waitFor(reference, (object) => {
      seen.push(object?.data?.["phase"]);
      return seen.at(-1) === "ready";
    });
    await server.client.create(configMap("state", { phase: "new" }, shop));
    await server.client.create(configMap("other", { phase: "ready" }, shop));
    await write({ phase: "soon" });
    await write({ phase: "ready" });
    await write({ phase: "late" });
    expect((await done)?.data).toEqual({ phase: "ready" });
    await server.client.delete({ ...reference, name: "other" });
    expect(seen.filter((phase) => phase !== undefined)).toEqual(["new", "soon", "ready"]);
  });

  test("waits for the deletion of an object", async () => {
    await server.client.create(configMap("state", {}, shop));
    const deleted = server.client.waitFor(reference, (object) => object === undefined);
    await server.client.delete(reference);
    expect(await deleted).toBeUndefined();
  });

  test("rejects with the last state after the time limit", async () => {
    const wait = () => server.client.waitFor(reference, () => false, { timeoutMs: 30 });
    await expect(wait()).rejects.toMatchObject({
      reason: "Timeout",
      message: "ConfigMap shop/state did not meet the condition within 30 ms; it doesn't exist",
    });
    await server.client.create(configMap("state", { phase: "x".repeat(1000) }, shop));
    const error = (await wait().catch((reason: unknown) => reason)) as Error;
    expect(error.message).toMatch(/; its last state is \{"metadata":\{.*"data":\{"phase":"x+…$/);
    expect(error.message.length).toBeLessThan(800);
    expect(error.message).not.toContain("managedFields");
  });

  test("shows the status first", async () => {
    const shopNamespace = { apiVersion: "v1", kind: "Namespace", name: "shop" } as const;
    const wait = server.client.waitFor(shopNamespace, () => false, { timeoutMs: 1 });
    await expect(wait).rejects.toThrow('its last state is {"status":{"phase":"Active"},"metadata":{');
  });

  test("rejects with the error of a predicate, now and later", async () => {
    const fails = () => {
      throw new Error("broken");
    };
    await expect(server.client.waitFor(reference, fails)).rejects.toThrow("broken");
    const later = server.client.waitFor(reference, (object) => (object === undefined ? false : fails()));
    await server.client.create(configMap("state", {}, shop));
    await expect(later).rejects.toThrow("broken");
  });

  test("needs a name, a predicate and a time limit", async () => {
    const { client } = server;
    await expect(client.waitFor({ ...reference, name: "" }, () => true)).rejects.toThrow("a name is needed");
    await expect(client.waitFor(reference, undefined as never)).rejects.toThrow("a predicate is needed");
    await expect(client.waitFor(reference, () => true, { timeoutMs: -1 })).rejects.toThrow(
      "timeoutMs must be at least 0, not -1",
    );
  });

  test("needs the permissions to list and watch, for this name", async () => {
    const rita = server.as("rita");
    await expect(rita.waitFor(reference, () => true)).rejects.toMatchObject({ reason: "Forbidden" });
    const rules = (verbs: string[]) => [
      { verbs, apiGroups: [""], resources: ["configmaps"], resourceNames: ["state"] },
    ];
    await server.client.create(role("reader", rules(["list"]), shop));
    await server.client.create(roleBinding("readers", refTo("Role", "reader"), [user("rita")], shop));
    await expect(rita.waitFor(reference, () => false)).rejects.toThrow('User "rita" cannot watch');
    const reader = { apiVersion: "rbac.authorization.platform.io/v1", kind: "Role", name: "reader", ...shop };
    await server.client.patch(reader, { rules: rules(["list", "watch"]) });
    const waiting = rita.waitFor(reference, (object) => object !== undefined);
    await server.client.create(configMap("state", {}, shop));
    expect(await waiting).toBeDefined();
  });

  test("lists again when the watch ends because its history was compacted", async () => {
    const { client } = server as unknown as { client: Client };
    let lists = 0;
    const ends: (() => void)[] = [];
    const interrupted: Pick<Client, "list" | "watch"> = {
      list: async (one) => {
        lists++;
        return client.list(one);
      },
      watch: (one, listener, ended) => {
        // The first watch sees nothing, as if its history were gone.
        if (lists > 1) return client.watch(one, listener, ended);
        ends.push(() => ended?.(new RevisionCompactedError(1 as Revision, 2 as Revision)));
        return { close: () => undefined };
      },
    };
    const waiting = waitFor(interrupted, reference, (object) => object !== undefined);
    await expect.poll(() => ends.length).toBe(1);
    await client.create(configMap("state", {}, shop));
    ends[0]!();
    expect((await waiting)?.metadata.name).toBe("state");
    expect(lists).toBe(2);
  });

  test("rejects when the server closes", async () => {
    const other = await createServer({ port: false });
    const waiting = other.client.waitFor({ ...reference, namespace: "default" }, () => false);
    const rejected = expect(waiting).rejects.toThrow("the server was closed during waitFor");
    await new Promise((resolve) => void setImmediate(resolve));
    await other.close();
    await rejected;
  });
});
