import { request } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { configMap, namespace, role, refTo, roleBinding, until, user } from "../api/support.ts";
import { definitionOfThings, thing } from "./support.ts";

const maps = { apiVersion: "v1", kind: "ConfigMap", namespace: "shop" } as const;
const inShop = { namespace: "shop" };
const things: { apiVersion: string; kind: string; namespace: string } = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  namespace: "shop",
};

let server: Server;

beforeAll(async () => {
  server = await createServer();
  const { client } = server;
  await client.create(namespace("shop"));
  const rule = { verbs: ["list"], apiGroups: [""], resources: ["configmaps"] };
  await client.create(role("reader", [rule], inShop));
  await client.create(roleBinding("readers", refTo("Role", "reader"), [user("rita")], inShop));
  await client.create(configMap("one", { value: "old" }, inShop));
  await client.create(definitionOfThings());
  await until(
    () =>
      client.list(things).then(
        () => true,
        () => false,
      ),
    (served) => served,
  );
  await client.create(thing("one"));
});
afterAll(() => server.close());

async function forked(use: (fork: Server) => Promise<void>, origin: Server = server): Promise<void> {
  const fork = await origin.fork();
  try {
    await use(fork);
  } finally {
    await fork.close();
  }
}

const names = async (of: Server): Promise<(string | undefined)[]> =>
  (await of.client.list(maps)).items.map(({ metadata }) => metadata.name);

/** Sends a GET over HTTP; resolves with the status. */
function status(of: Server, path: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { ca: of.caCertificate, headers: { authorization: `Bearer ${token}` }, agent: false };
    request(`${of.url}${path}`, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });
}

describe("a fork", () => {
  test("has the same objects with the same uids and resource versions", async () => {
    await forked(async (fork) => {
      expect(await fork.client.get({ ...maps, name: "one" })).toEqual(
        await server.client.get({ ...maps, name: "one" }),
      );
      const roles = { apiVersion: "rbac.authorization.platform.io/v1", kind: "ClusterRole" };
      expect((await fork.client.list(roles)).items).toEqual((await server.client.list(roles)).items);
    });
  });

  test("doesn't see writes of its origin, nor the origin those of the fork", async () => {
    await forked(async (fork) => {
      await fork.client.create(configMap("of-fork", {}, inShop));
      await server.client.create(configMap("of-origin", {}, inShop));
      await fork.client.patch({ ...maps, name: "one" }, { data: { value: "new" } });
      expect(await names(fork)).toContain("of-fork");
      expect(await names(fork)).not.toContain("of-origin");
      expect(await names(server)).toContain("of-origin");
      expect(await names(server)).not.toContain("of-fork");
      expect((await server.client.get({ ...maps, name: "one" })).data).toEqual({ value: "old" });
      await server.client.delete({ ...maps, name: "of-origin" });
    });
  });

  test("serves the custom kinds of its origin at once, with their objects", async () => {
    await forked(async (fork) => {
      expect((await fork.client.get({ ...things, name: "one" })).metadata.name).toBe("one");
      await fork.client.create(thing("two"));
      await expect(server.client.get({ ...things, name: "two" })).rejects.toMatchObject({ code: 404 });
      const definition = {
        apiVersion: "apiextensions.platform.io/v1",
        kind: "CustomResourceDefinition",
        name: "things.example.com",
      };
      await fork.client.delete(definition);
      await until(
        () => fork.client.find(definition),
        (found) => found === undefined,
      );
      await server.client.get({ ...things, name: "one" });
    });
  });

  test("authorizes by the roles of its origin", async () => {
    await forked(async (fork) => {
      expect((await fork.as("rita").list(maps)).items).not.toHaveLength(0);
      await expect(fork.as("otto").list(maps)).rejects.toMatchObject({ reason: "Forbidden" });
    });
  });

  test("listens on another port with the same CA and another token", async () => {
    await forked(async (fork) => {
      expect(fork.url).not.toBe(server.url);
      expect(fork.caCertificate).toBe(server.caCertificate);
      expect(fork.adminToken).not.toBe(server.adminToken);
      const path = "/api/v1/namespaces/shop/configmaps";
      expect(await status(fork, path, fork.adminToken)).toBe(200);
      expect(await status(fork, path, server.adminToken)).toBe(401);
      expect(await status(server, path, fork.adminToken)).toBe(401);
      expect(await status(fork, "/readyz", fork.adminToken)).toBe(200);
    });
  });

  test("publishes its own address only, also after a snapshot of its origin is restored", async () => {
    const endpoints = { apiVersion: "v1", kind: "Endpoints", namespace: "default", name: "platform" };
    const info = { apiVersion: "v1", kind: "ConfigMap", namespace: "platform-public", name: "cluster-info" };
    const leases = { apiVersion: "coordination.platform.io/v1", kind: "Lease" };
    const origin = await createServer({ enabledControllers: ["*", "bootstrapsigner"] });
    const portOf = ({ url }: Server) => new URL(url!).port;
    const addressOf = async ({ client }: Server) => [
      JSON.stringify((await client.get(endpoints))["subsets"]),
      JSON.stringify((await client.get(info)).data),
      (await client.list(leases)).items.length,
    ];
    try {
      const expected = await addressOf(origin);
      const inFork = (fork: Server) =>
        expected.map((one) => (typeof one === "string" ? one.replaceAll(portOf(origin), portOf(fork)) : one));
      await forked(async (fork) => {
        expect(await addressOf(fork)).toEqual(inFork(fork));
        await fork.restore(origin.snapshot());
        expect(await addressOf(fork)).toEqual(inFork(fork));
      }, origin);
      expect(await addressOf(origin)).toEqual(expected);
    } finally {
      await origin.close();
    }
  });

  test("accepts service account tokens of its origin", async () => {
    const tokenRequest = {
      apiVersion: "authentication.platform.io/v1",
      kind: "TokenRequest",
      metadata: { name: "default", namespace: "shop" },
    };
    await until(
      () => server.client.find({ ...maps, kind: "ServiceAccount", name: "default" }),
      (found) => found !== undefined,
    );
    const token = await tokenFor(server, tokenRequest);
    await forked(async (fork) => {
      // It is authenticated, and may not list nodes.
      expect(await status(fork, "/api/v1/nodes", token)).toBe(403);
      expect(await status(fork, "/api/v1/nodes", `${token.slice(0, -4)}AAAA`)).toBe(401);
    });
  });

  test("lives on when its origin is closed, and can be forked", async () => {
    const origin = await server.fork();
    await origin.client.create(configMap("of-origin", {}, inShop));
    const fork = await origin.fork();
    await origin.close();
    try {
      expect(await names(fork)).toContain("of-origin");
      await fork.client.create(configMap("later", {}, inShop));
      expect(await fork.client.get({ ...things, name: "one" })).toBeDefined();
      await forked(async (next) => expect(await names(next)).toContain("later"), fork);
      expect(await names(server)).not.toContain("of-origin");
    } finally {
      await fork.close();
    }
  });

  test("resets to its own start, and restores snapshots of its origin", async () => {
    const before = server.snapshot();
    const atStart = await names(server);
    await forked(async (fork) => {
      await fork.client.create(configMap("added", {}, inShop));
      await fork.reset();
      expect(await names(fork)).toEqual(atStart);
      await fork.client.delete({ ...maps, name: "one" });
      await fork.restore(before);
      expect(await names(fork)).toEqual(atStart);
    });
  });

  test("keeps deletions of default objects", async () => {
    const roleBindings = { apiVersion: "rbac.authorization.platform.io/v1", kind: "ClusterRole" };
    await forked(async (origin) => {
      await origin.client.delete({ ...roleBindings, name: "view" });
      await forked(async (fork) => {
        expect(await fork.client.find({ ...roleBindings, name: "view" })).toBeUndefined();
      }, origin);
    });
  });

  test("several start at the same time", async () => {
    const forks = await Promise.all([1, 2, 3].map(() => server.fork()));
    try {
      expect(new Set(forks.map(({ url }) => url)).size).toBe(3);
      for (const [index, fork] of forks.entries())
        await fork.client.create(configMap(`of-${index}`, {}, inShop));
      for (const [index, fork] of forks.entries())
        expect((await names(fork)).filter((name) => name?.startsWith("of-"))).toEqual([`of-${index}`]);
    } finally {
      await Promise.all(forks.map((fork) => fork.close()));
    }
  });
});

/** Requests a token of the service account `shop/default` over HTTP. */
function tokenFor(of: Server, body: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const path = "/api/v1/namespaces/shop/serviceaccounts/default/token";
    const headers = { authorization: `Bearer ${of.adminToken}`, "content-type": "application/json" };
    const sent = request(
      `${of.url}${path}`,
      { method: "POST", ca: of.caCertificate, headers, agent: false },
      (response) => {
        let text = "";
        response.on("data", (part: Buffer) => (text += part.toString()));
        response.on("end", () => resolve((JSON.parse(text) as { status: { token: string } }).status.token));
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}
