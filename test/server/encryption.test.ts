import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { createServer, type CreateServerOptions } from "../../src/index.ts";
import { ManualClock, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../storage/support.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Text in the objects of these tests; it occurs in labels, names of fields and values. */
const marker = "marker-in-plain-text";
const secrets = "/api/v1/namespaces/default/secrets";
const keyOf = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const provider = (type: string, name: string, byte: number) => ({
  [type]: { keys: [{ name, secret: keyOf(byte) }] },
});

interface Folder {
  readonly dir: string;
  readonly configFile: string;
  configure(...providers: object[]): void;
  /** Whether a file of the store has the text. */
  has(text: string): boolean;
}

function newFolder(): Folder {
  const folder = temporaryFolder();
  cleanups.push(folder.remove);
  const dir = join(folder.path, "store");
  const configFile = join(folder.path, "encryption.yaml");
  return {
    dir,
    configFile,
    configure(...providers) {
      const header = { apiVersion: "apiserver.config.platform.io/v1", kind: "EncryptionConfiguration" };
      const resources = [{ resources: ["*.*"], providers }];
      writeFileSync(configFile, JSON.stringify({ ...header, resources }));
    },
    has: (text) => readdirSync(dir).some((name) => readFileSync(join(dir, name)).includes(text)),
  };
}

async function start(folder: Folder, options: CreateServerOptions = {}): Promise<TestServer> {
  const storage = { engine: "embedded", dir: folder.dir } as const;
  const encryption = { configFile: folder.configFile };
  return TestServer.start({ storage, encryption, enabledControllers: [], ...options });
}

const secret = (name: string) => ({
  metadata: { name, labels: { [marker]: marker } },
  stringData: { [marker]: marker },
});

test("no file of the store has plain text of an object, before and after updates and deletions", async () => {
  const folder = newFolder();
  folder.configure(provider("aesgcm", "key1", 1));
  const server = await start(folder);
  const { admin } = server;
  await ok(admin.post(secrets, secret("a")));
  await ok(admin.post(secrets, secret("b")));
  await ok(admin.patch(`${secrets}/a`, { data: { other: Buffer.from(marker).toString("base64") } }));
  await ok(admin.delete(`${secrets}/b`));
  const list = await ok(admin.get(`${secrets}?labelSelector=${marker}%3D${marker}`));
  expect((list.body["items"] as unknown[]).length).toBe(1);
  await server.close();
  expect(folder.has("/core/secrets/default/a")).toBe(true);
  expect(folder.has(marker)).toBe(false);
  expect(folder.has(Buffer.from(marker).toString("base64"))).toBe(false);
  const again = await start(folder);
  const read = await ok(again.admin.get(`${secrets}/a`));
  expect(read.body).toMatchObject({ metadata: { labels: { [marker]: marker } } });
  await again.close();
});

test("controllers that read all keys run when all resources are encrypted", async () => {
  const folder = newFolder();
  folder.configure(provider("aesgcm", "key1", 1));
  const server = await start(folder, { enabledControllers: ["garbagecollector"] });
  const { admin } = server;
  const owner = (await ok(admin.post(secrets, secret("owner")))).body["metadata"] as { uid: string };
  const ownerReferences = [{ apiVersion: "v1", kind: "Secret", name: "owner", uid: owner.uid }];
  await ok(admin.post(secrets, { metadata: { name: "dependent", ownerReferences } }));
  await ok(admin.delete(`${secrets}/owner`));
  await expect
    .poll(async () => (await admin.get(`${secrets}/dependent`)).status, { timeout: 10_000 })
    .toBe(404);
  await ok(admin.get("/readyz"));
  await server.close();
});

test("an update without changes stores an object again that has an older key, and no other", async () => {
  const folder = newFolder();
  folder.configure(provider("aescbc", "old", 1), { identity: {} });
  const before = await start(folder);
  const { body } = await ok(before.admin.post(secrets, secret("a")));
  await before.close();
  folder.configure(provider("secretbox", "new", 2), provider("aescbc", "old", 1));
  const server = await start(folder);
  const versionAfter = async () => {
    const answer = await ok(server.admin.patch(`${secrets}/a`, {}));
    return (answer.body["metadata"] as { resourceVersion: string }).resourceVersion;
  };
  const created = (body["metadata"] as { resourceVersion: string }).resourceVersion;
  const rewritten = await versionAfter();
  expect(Number(rewritten)).toBeGreaterThan(Number(created));
  expect(await versionAfter()).toBe(rewritten);
  await server.close();
  folder.configure(provider("secretbox", "new", 2), { identity: {} });
  // The other objects still have the old key; this one doesn't need it.
  await expect(start(folder)).rejects.toThrow();
});

test("a value without its key is answered with 500, the others can be read and written", async () => {
  const folder = newFolder();
  const configureSecrets = (...providers: object[]) => {
    folder.configure(...providers);
    const text = readFileSync(folder.configFile, "utf8");
    writeFileSync(folder.configFile, text.replace("*.*", "secrets"));
  };
  configureSecrets(provider("aesgcm", "lost", 1));
  const before = await start(folder);
  await ok(before.admin.post(secrets, secret("a")));
  await before.close();
  configureSecrets(provider("aesgcm", "new", 2), { identity: {} });
  const server = await start(folder);
  cleanups.push(() => server.close());
  const { admin } = server;
  for (const answer of [await admin.get(`${secrets}/a`), await admin.get(secrets)]) {
    expect([answer.status, answer.body["reason"]]).toEqual([500, "InternalError"]);
    expect(answer.body["message"]).toContain("can't be decrypted");
  }
  await ok(admin.post(secrets, secret("b")));
  await ok(admin.get(`${secrets}/b`));
});

test("an update without changes stores an object again that has an older key and fields of a later release", async () => {
  const folder = newFolder();
  folder.configure(provider("aesgcm", "old", 1));
  const services = "/api/v1/namespaces/default/services";
  const later = await start(folder, { release: "1.37" });
  const spec = { ports: [{ port: 80 }], trafficDistribution: "PreferClose" };
  const created = (await ok(later.admin.post(services, { metadata: { name: "s" }, spec }))).body;
  await later.close();
  folder.configure(provider("aesgcm", "new", 2), provider("aesgcm", "old", 1));
  const server = await start(folder);
  const rewritten = (await ok(server.admin.patch(`${services}/s`, {}))).body;
  expect(rewritten["metadata"].resourceVersion).not.toBe(created["metadata"].resourceVersion);
  const again = (await ok(server.admin.patch(`${services}/s`, {}))).body;
  expect(again["metadata"].resourceVersion).toBe(rewritten["metadata"].resourceVersion);
  await server.close();
});

test("a new encrypted store has no record of the reference release when a later one starts first", async () => {
  const folder = newFolder();
  folder.configure(provider("aesgcm", "key1", 1));
  await (await start(folder, { release: "1.30" })).close();
  expect(folder.has('"oldest":"1.30","newest":"1.30"')).toBe(true);
  expect(folder.has('"oldest":"1.26"')).toBe(false);
});

test("a store with encrypted values needs the configuration, until the last one is plain text", async () => {
  const folder = newFolder();
  folder.configure(provider("aesgcm", "key1", 1));
  const server = await start(folder);
  await server.close();
  const storage = { engine: "embedded", dir: folder.dir } as const;
  await expect(createServer({ storage, port: false, enabledControllers: [] })).rejects.toThrow(
    /the store has encrypted values.*: start with (--encryption-provider-config|encryption)/,
  );
});

test("the file is read again with automatic reload; a file that can't be used leaves the keys", async () => {
  const folder = newFolder();
  folder.configure(provider("aesgcm", "key1", 1), { identity: {} });
  const clock = new ManualClock();
  const encryption = { configFile: folder.configFile, automaticReload: true };
  const server = await start(folder, { encryption, clock });
  const { admin } = server;
  await ok(admin.post(secrets, secret("a")));
  const reloads = async (status: string): Promise<string | undefined> => {
    await clock.advance(20_000);
    const name = "apiserver_encryption_config_controller_automatic_reloads_total";
    const line = new RegExp(`^${name}\\{status="${status}",apiserver_id_hash=""\\} (\\d+)$`, "m");
    return line.exec((await admin.get("/metrics")).text)?.[1];
  };
  writeFileSync(folder.configFile, "resources: [");
  await expect.poll(() => reloads("failure")).toBe("1");
  await ok(admin.get(`${secrets}/a`));
  folder.configure(provider("aesgcm", "key2", 2), provider("aesgcm", "key1", 1), { identity: {} });
  await expect.poll(() => reloads("success")).toBe("1");
  await ok(admin.patch(`${secrets}/a`, {}));
  expect(folder.has("enc:aesgcm:v1:key2")).toBe(true);
  await ok(admin.get(`${secrets}/a`));
  await server.close();
});
