import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { definition, order, served, version } from "../api/custom-resources/support.ts";
import { keepsAll, maps, namesIn, secrets, threeVersions } from "../api/history-support.ts";
import { configMap, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function start(options: CreateServerOptions): Promise<TestServer> {
  const server = await TestServer.start({ ...keepsAll, enabledControllers: [], ...options });
  servers.push(server);
  return server;
}

async function stop(server: TestServer): Promise<void> {
  servers.splice(servers.indexOf(server), 1);
  await server.close();
}

test("history outlasts a restart of the server, and ends with its rule", async () => {
  const storage = { engine: "embedded", dir: path.join(folder.path, "restarted") } as const;
  const first = await start({ storage });
  const versions = await threeVersions(first.admin, "kept");
  await stop(first);
  const second = await start({ storage });
  expect((await ok(second.admin.get(`${maps}/kept/history`))).body.items.length).toBe(3);
  expect((await ok(second.admin.get(`${maps}/kept?at=${versions[0]}`))).body.data.step).toBe("1");
  await stop(second);
  const third = await start({ storage, keptHistory: [] });
  expect(await third.admin.get(`${maps}/kept/history`)).toMatchObject({
    status: 404,
    body: { message: expect.stringContaining("--history-retention") as unknown },
  });
});

test("versions that can't be decrypted are errors of their own, and no file has their plain text", async () => {
  const dir = path.join(folder.path, "encrypted");
  const configFile = path.join(folder.path, "encryption.yaml");
  const configure = (...keys: readonly number[]) => {
    const named = keys.map((byte) => ({
      aesgcm: { keys: [{ name: `key${byte}`, secret: Buffer.alloc(32, byte).toString("base64") }] },
    }));
    const resources = [{ resources: ["secrets"], providers: named }];
    const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "EncryptionConfiguration" };
    writeFileSync(configFile, JSON.stringify({ ...header, resources }));
  };
  const options = { storage: { engine: "embedded", dir }, encryption: { configFile } } as const;
  configure(1);
  const first = await start(options);
  await ok(first.admin.post(secrets, { metadata: { name: "s" }, stringData: { a: "plain-marker-1" } }));
  await ok(first.admin.post(secrets, { metadata: { name: "gone" }, stringData: { a: "plain-marker-1" } }));
  await ok(first.admin.patch(`${secrets}/s`, { stringData: { a: "plain-marker-2" } }));
  await stop(first);
  // Everything that exists is stored again under the second key; only history has the first one.
  configure(2, 1);
  const second = await start(options);
  await ok(second.admin.patch(`${secrets}/s`, { stringData: { a: "plain-marker-3" } }));
  await ok(second.admin.delete(`${secrets}/gone`));
  const { items } = (await ok(second.admin.get(`${secrets}/s/history?contents=true`))).body;
  const data = items.map(({ object }: { object: { data: { a: string } } }) =>
    Buffer.from(object.data.a, "base64").toString(),
  );
  expect(data).toEqual(["plain-marker-3", "plain-marker-2", "plain-marker-1"]);
  expect(namesIn(await ok(second.admin.get(`${secrets}?deleted=true`)))).toEqual(["gone"]);
  await stop(second);
  for (const file of readdirSync(dir))
    expect([file, readFileSync(path.join(dir, file)).includes("plain-marker")]).toEqual([file, false]);
  configure(2);
  const third = await start(options);
  const versions = (await ok(third.admin.get(`${secrets}/s/history?contents=true`))).body.items;
  const error = expect.stringContaining("can't be decrypted") as unknown;
  expect(versions).toMatchObject([{ object: { kind: "Secret" } }, { error }, { error }]);
  const trash = await ok(third.admin.get(`${secrets}?deleted=true`));
  expect([namesIn(trash), trash.warnings]).toEqual([
    [],
    [expect.stringMatching(/^secrets "gone": .*can't be decrypted/)],
  ]);
});

test("the history of custom objects is in the version of the request", async () => {
  const server = await start({ enabledControllers: ["*"] });
  const versions = [version("v1"), version("v1beta1", { storage: false })];
  await served(server.admin, definition({ versions }));
  const at = (name: string) => `/apis/shop.example.com/${name}/namespaces/default/orders`;
  await ok(server.admin.post(at("v1"), order("one")));
  await ok(server.admin.patch(`${at("v1")}/one`, { spec: { size: 2 } }));
  await ok(server.admin.delete(`${at("v1")}/one`));
  for (const name of ["v1", "v1beta1"]) {
    const { body } = await ok(server.admin.get(`${at(name)}/one/history?contents=true`));
    expect(body.items).toMatchObject([
      { deleted: true, object: { apiVersion: `shop.example.com/${name}`, spec: { size: 2 } } },
      { verb: "patch", object: { apiVersion: `shop.example.com/${name}`, spec: { size: 2 } } },
      { verb: "create", object: { apiVersion: `shop.example.com/${name}`, spec: { size: 1 } } },
    ]);
    const { items } = (await ok(server.admin.get(`${at(name)}?deleted=true`))).body;
    expect(items).toMatchObject([
      { apiVersion: `shop.example.com/${name}`, metadata: { name: "one" }, spec: { size: 2 } },
    ]);
    const past = body.items[2].metadata.resourceVersion as string;
    expect((await ok(server.admin.get(`${at(name)}/one?at=${past}`))).body).toMatchObject({
      apiVersion: `shop.example.com/${name}`,
      spec: { size: 1 },
    });
  }
});

test("the history of a built-in kind is in the version of the request", async () => {
  const server = await start({});
  const at = (name: string) => `/apis/autoscaling/${name}/namespaces/default/horizontalpodautoscalers`;
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  await ok(
    server.admin.post(at("v2"), { metadata: { name: "h" }, spec: { scaleTargetRef, maxReplicas: 3 } }),
  );
  await ok(server.admin.delete(`${at("v2")}/h`));
  for (const name of ["v1", "v2"]) {
    const { body } = await ok(server.admin.get(`${at(name)}/h/history?contents=true`));
    expect(body.items[0].object).toMatchObject({
      apiVersion: `autoscaling/${name}`,
      spec: { maxReplicas: 3 },
    });
    const { items } = (await ok(server.admin.get(`${at(name)}?deleted=true`))).body;
    expect(items).toMatchObject([{ metadata: { name: "h" }, spec: { maxReplicas: 3 } }]);
  }
});

test("the server of the kubernetes vocabulary has history in its names", async () => {
  const server = await start({ vocabulary: "kubernetes" });
  await ok(server.admin.post(maps, configMap("k")));
  await ok(server.admin.delete(`${maps}/k`));
  expect((await ok(server.admin.get(`${maps}/k/history`))).body.apiVersion).toBe("history.k8s.io/v1alpha1");
  const { items } = (await ok(server.admin.get(`${maps}?deleted=true`))).body;
  expect(items[0].metadata.annotations).toEqual({ "history.k8s.io/deleted-by": "admin" });
});
