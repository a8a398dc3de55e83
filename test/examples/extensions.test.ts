import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, it, test } from "vitest";
import type { Server, Store } from "../../src/index.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import { Api } from "../support/api.ts";
import { root } from "../support/process.ts";
import { describeConformance, ManualClock, multipleStoreCases } from "../storage/support.ts";

const folder = path.join(root, "examples/extensions");
const servers: Server[] = [];
const clients: Api[] = [];
afterAll(async () => {
  for (const client of clients) client.close();
  for (const server of servers) await server.close();
});

interface Example {
  readonly default: Server;
  readonly tokenFor: (name: string) => string;
  readonly MapStore: new (clock: Clock, retentionMs?: number) => Store;
}

/** Runs an example and gives what it exports. */
async function example(file: string): Promise<Example> {
  const exported = (await import(pathToFileURL(path.join(folder, file)).href)) as Example;
  if (!servers.includes(exported.default)) servers.push(exported.default);
  return exported;
}

/** A client of an example's server: the administrator's unless a token is given. */
function clientOf(server: Server, token: string | undefined = server.adminToken): Api {
  const client = new Api(server.url!, server.caCertificate, `Bearer ${token}`);
  clients.push(client);
  return client;
}

test.each(["kind.mjs", "admission-plugin.mjs", "authenticator.mjs", "commonjs.cjs"])(
  "%s has at most 30 lines of code",
  (file) => {
    const lines = readFileSync(path.join(folder, file), "utf8").split("\n");
    expect(lines.filter((line) => line.trim() !== "" && !line.startsWith("//")).length).toBeLessThanOrEqual(
      30,
    );
  },
);

describe("examples of extensions run", () => {
  it("kind.mjs: the controller writes the greeting", async () => {
    const { default: server } = await example("kind.mjs");
    const path = "/apis/demo.example.com/v1/greetings";
    const admin = clientOf(server);
    const watch = await admin.watch(path);
    const greeting = { metadata: { name: "first" }, whom: "Ada" };
    expect((await admin.post(path, greeting)).status).toBe(201);
    await watch.through(({ object }) => (object as { text?: string }).text === "Hello, Ada!");
    watch.close();
    expect((await admin.post(path, { metadata: { name: "second" } })).status).toBe(422);
  });

  it("admission-plugin.mjs: fills in who made an object, and refuses images without a version", async () => {
    const { default: server } = await example("admission-plugin.mjs");
    const admin = clientOf(server);
    const pods = "/api/v1/namespaces/default/pods";
    const pod = (image: string) => ({
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image }] },
    });
    const refused = await admin.post(pods, pod("nginx"));
    expect([refused.status, refused.body.message]).toEqual([403, "image nginx has no version"]);
    const made = await admin.post(pods, pod("nginx:1.25"));
    expect(made.body.metadata.annotations).toMatchObject({ "example.com/created-by": "admin" });
  });

  it("authenticator.mjs: knows its tokens, and lets guests read only", async () => {
    const { default: server, tokenFor } = await example("authenticator.mjs");
    const maps = "/api/v1/namespaces/default/configmaps";
    const ada = clientOf(server, tokenFor("ada"));
    expect((await ada.get(maps)).status).toBe(200);
    const refused = await ada.post(maps, { metadata: { name: "m" } });
    expect([refused.status, refused.body.message]).toEqual([403, expect.stringContaining("guests read")]);
    const forged = clientOf(server, tokenFor("ada").replace("ada", "eve"));
    expect((await forged.get(maps)).status).toBe(401);
  });

  it("engine.mjs: keeps the objects of a server", async () => {
    const { default: server } = await example("engine.mjs");
    const admin = clientOf(server);
    const maps = "/api/v1/namespaces/default/configmaps";
    // A controller makes another one in every namespace.
    const one = `${maps}?fieldSelector=metadata.name%3Dm`;
    const watch = await admin.watch(`${one}&watch=true`);
    expect((await admin.post(maps, { metadata: { name: "m" }, data: { a: "b" } })).status).toBe(201);
    expect((await watch.next()).object.data).toEqual({ a: "b" });
    watch.close();
    expect((await admin.get(one)).body.items).toHaveLength(1);
  });

  it("commonjs.cjs: a program that uses require has a server", async () => {
    const firstMap = createRequire(import.meta.url)(
      path.join(folder, "commonjs.cjs"),
    ) as () => Promise<object>;
    expect(await firstMap()).toMatchObject({ data: { colour: "blue" } });
  });
});

const { MapStore } = await example("engine.mjs");
const suite = pathToFileURL(path.join(root, "dist/storage-conformance.js")).href;
const { storeConformance } = (await import(suite)) as typeof import("../../src/storage/conformance.ts");
describeConformance(
  "engine.mjs",
  async () => {
    const clock = new ManualClock();
    const store = new MapStore(clock);
    return {
      store,
      advance: (ms: number) => clock.advance(ms),
      now: () => clock.now(),
      dispose: () => store.close(),
    };
  },
  multipleStoreCases,
  storeConformance,
);
