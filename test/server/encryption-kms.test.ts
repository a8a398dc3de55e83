import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { ManualClock, ok } from "../api/support.ts";
import { TestServer, type Answer, type Watching } from "../support/api.ts";
import { KmsPlugin } from "../support/kms-plugin.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Text in the objects of these tests. */
const marker = "marker-in-plain-text";
const secrets = "/api/v1/namespaces/default/secrets";
const configMaps = "/api/v1/namespaces/default/configmaps";

let folder: ReturnType<typeof temporaryFolder>;
let plugin: KmsPlugin;
const servers: TestServer[] = [];

beforeEach(async () => {
  folder = temporaryFolder();
  plugin = await KmsPlugin.start(path.join(folder.path, "kms.sock"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  plugin.stop();
  folder.remove();
});

const configFile = () => path.join(folder.path, "encryption.yaml");
const storeDir = () => path.join(folder.path, "store");
const gcm = { aesgcm: { keys: [{ name: "local", secret: Buffer.alloc(32, 1).toString("base64") }] } };
const kms = (fields: object = {}) => ({
  kms: { apiVersion: "v2", name: "vault", endpoint: plugin.endpoint, timeout: "2s", ...fields },
});

function configure(...providers: object[]): void {
  const apiVersion = "apiserver.config.platform.io/v1";
  const resources = [{ resources: ["secrets"], providers }];
  writeFileSync(configFile(), JSON.stringify({ apiVersion, kind: "EncryptionConfiguration", resources }));
}

async function start(options: CreateServerOptions = {}): Promise<TestServer> {
  const storage = { engine: "embedded", dir: storeDir() } as const;
  const encryption = { configFile: configFile() };
  const server = await TestServer.start({ storage, encryption, enabledControllers: [], ...options });
  servers.push(server);
  return server;
}

const stop = (server: TestServer) => servers.splice(servers.indexOf(server), 1)[0]!.close();
const storeHas = (text: string) =>
  readdirSync(storeDir()).some((name) => readFileSync(path.join(storeDir(), name)).includes(text));
const secret = (name: string) => ({ metadata: { name, labels: { [marker]: marker } } });
const versionOf = ({ body }: Answer) => (body["metadata"] as { resourceVersion: string }).resourceVersion;
const health = async (server: TestServer) => {
  const lines = (await server.admin.get("/readyz?verbose")).text;
  return /^.*kms-provider.*$/m.exec(lines)?.[0];
};

test("values are encrypted with keys of the service; a new key makes them outdated", async () => {
  configure(kms());
  const clock = new ManualClock();
  const server = await start({ clock });
  const { admin } = server;
  await ok(admin.post(secrets, secret("a")));
  expect(storeHas("enc:kms:v2:vault")).toBe(true);
  expect(storeHas(marker)).toBe(false);
  expect(await health(server)).toBe("[+]kms-providers ok");
  const rewrite = async () => versionOf(await ok(admin.patch(`${secrets}/a`, {})));
  const first = await rewrite();
  expect(await rewrite()).toBe(first);
  plugin.keyId = "key-2";
  await expect
    .poll(async () => {
      await clock.advance(60_000);
      return (await rewrite()) === first;
    })
    .toBe(false);
  const second = await rewrite();
  expect(await rewrite()).toBe(second);
  await stop(server);
  const again = await start();
  expect((await ok(again.admin.get(`${secrets}/a`))).body).toMatchObject(secret("a"));
  expect(versionOf(await ok(again.admin.patch(`${secrets}/a`, {})))).toBe(second);
});

test("two servers of one store read what the other one writes, in watches too", async () => {
  configure(kms());
  const [one, other] = [await start(), await start()];
  await ok(one.admin.post(secrets, secret("a")));
  await ok(other.admin.post(secrets, secret("b")));
  const watch = await one.admin.watch(`${secrets}?resourceVersion=0`);
  const names = [await watch.next(), await watch.next()].map(({ object }) => object.metadata.name as string);
  expect(names.toSorted()).toEqual(["a", "b"]);
  await ok(other.admin.patch(`${secrets}/a`, { metadata: { annotations: { by: "other" } } }));
  expect(await watch.next()).toMatchObject({ object: { metadata: { annotations: { by: "other" } } } });
  watch.close();
  expect((await ok(one.admin.get(`${secrets}/b`))).body).toMatchObject(secret("b"));
});

test("while the service is down, values with cached keys are read, and the others are answered with 503", async () => {
  configure(kms());
  const clock = new ManualClock();
  const earlier = await start();
  await ok(earlier.admin.post(secrets, secret("earlier")));
  await stop(earlier);
  const server = await start({ clock });
  const { admin } = server;
  await ok(admin.post(secrets, secret("own")));
  plugin.stop();
  const later = async () => {
    await clock.advance(60_000);
    return health(server);
  };
  await expect.poll(later).toBe("[-]kms-providers failed: reason withheld");
  expect((await admin.get("/readyz")).status).toBe(500);
  expect((await admin.get("/healthz/kms-providers")).status).toBe(500);
  expect((await admin.get("/livez")).status).toBe(200);
  await ok(admin.get(`${secrets}/own`));
  for (const answer of [await admin.get(`${secrets}/earlier`), await admin.get(secrets)]) {
    expect([answer.status, answer.body["reason"]]).toEqual([503, "ServiceUnavailable"]);
    expect(answer.headers["retry-after"]).toBe("1");
    expect(answer.body["message"]).toContain("key management service");
  }
  await clock.advance(200_000);
  const refused = await admin.post(secrets, secret("new"));
  expect([refused.status, refused.body["reason"]]).toEqual([503, "ServiceUnavailable"]);
  await ok(admin.post(configMaps, { metadata: { name: "plain" } }));
  await ok(admin.get(`${secrets}/own`));
  await plugin.listen();
  await expect.poll(later).toBe("[+]kms-providers ok");
  await ok(admin.post(secrets, secret("new")));
  await ok(admin.get(`${secrets}/earlier`));
});

test("a server doesn't start without its service; the message names flag, file, service and socket", async () => {
  configure(kms());
  plugin.stop();
  const begin = performance.now();
  await expect(start()).rejects.toThrow(
    new RegExp(
      `^(encryption.configFile|--encryption-provider-config) ${configFile()}: the key management service vault at ` +
        `${plugin.socket} can't be used: Status failed with status 14: `,
    ),
  );
  expect(performance.now() - begin).toBeLessThan(10_000);
  await plugin.listen();
  plugin.healthz = "no credentials";
  await expect(start()).rejects.toThrow('the status of the service is "no credentials", not "ok"');
});

test("requests that need no answer of the service don't wait for one; a client may leave", async () => {
  configure(kms({ timeout: "60s" }));
  const earlier = await start();
  await ok(earlier.admin.post(secrets, secret("a")));
  const server = await start();
  const { admin } = server;
  let resume = (): void => undefined;
  const wait = new Promise<void>((resolve) => (resume = resolve));
  plugin.replace = async (method, answer) => {
    if (method === "Decrypt") await wait;
    return answer;
  };
  const calls = plugin.count("Decrypt");
  const pending = admin.get(`${secrets}/a`);
  const leaving = server.as(server.server.adminToken);
  const left = leaving.get(`${secrets}/a`).catch(() => "left");
  await expect.poll(() => plugin.count("Decrypt")).toBe(calls + 1);
  leaving.close();
  expect(await left).toBe("left");
  const created = await ok(admin.post(secrets, secret("b")));
  await ok(admin.get(`${secrets}/b`));
  // A watch that waits for the key of an event delays no watch or write of other resources.
  const watches = [];
  for (const resource of [secrets, configMaps]) {
    watches.push(await admin.watch(`${resource}?resourceVersion=${versionOf(created)}`));
  }
  const [late, prompt] = watches as [Watching, Watching];
  await ok(earlier.admin.post(secrets, secret("c")));
  await ok(admin.post(configMaps, { metadata: { name: "plain" } }));
  expect((await prompt.next()).object.metadata.name).toBe("plain");
  expect(plugin.count("Decrypt")).toBe(calls + 1);
  resume();
  await ok(pending);
  expect((await late.next()).object.metadata.name).toBe("c");
  for (const watch of watches) watch.close();
});

test("a reload replaces the service; a file whose service is down leaves the previous one", async () => {
  configure(kms());
  const clock = new ManualClock();
  const server = await start({ clock, encryption: { configFile: configFile(), automaticReload: true } });
  const { admin } = server;
  await ok(admin.post(secrets, secret("a")));
  const reloads = async (result: string): Promise<string | undefined> => {
    await clock.advance(20_000);
    const name = "apiserver_encryption_config_controller_automatic_reloads_total";
    const line = new RegExp(`^${name}\\{status="${result}",apiserver_id_hash=""\\} (\\d+)$`, "m");
    return line.exec((await admin.get("/metrics")).text)?.[1];
  };
  configure(kms({ name: "other", endpoint: `${plugin.endpoint}-other` }), kms());
  await expect.poll(() => reloads("failure")).toBe("1");
  expect(await health(server)).toBe("[+]kms-providers ok");
  await ok(admin.post(secrets, secret("b")));
  configure(gcm, kms());
  await expect.poll(() => reloads("success")).toBe("1");
  await ok(admin.patch(`${secrets}/a`, {}));
  await ok(admin.patch(`${secrets}/b`, {}));
  configure(gcm);
  await expect.poll(() => reloads("success")).toBe("2");
  plugin.stop();
  await ok(admin.get(secrets));
  // The services of the previous configurations are closed after two minutes.
  await clock.advance(300_000);
  expect(await health(server)).toBe("[+]kms-providers ok");
});

test("metrics count calls of the service and uses of its keys by their hash, and no sample has a key id", async () => {
  configure(kms(), { identity: {} });
  const earlier = await start();
  await ok(earlier.admin.post(secrets, secret("earlier")));
  await stop(earlier);
  const clock = new ManualClock();
  const server = await start({ clock, vocabulary: "platform" });
  const { admin } = server;
  const samples = async () => {
    const { text } = await admin.get("/metrics");
    expect(text).not.toContain("key-1");
    return (line: string) =>
      new RegExp(`^apiserver_${line.replaceAll("{", "\\{")} (\\S+)$`, "m").exec(text)?.[1];
  };
  plugin.replace = (method, answer) => (method === "Decrypt" ? { code: 5, details: "no such key" } : answer);
  expect((await admin.get(`${secrets}/earlier`)).status).toBe(500);
  plugin.replace = undefined;
  await ok(admin.get(`${secrets}/earlier`));
  await ok(admin.post(secrets, secret("own")));
  const first = await samples();
  const operations = (direction: string, status: string) =>
    `storage_transformation_operations_total{resource="secrets",transformation_type="${direction}",transformer_prefix="platform:enc:kms:v2:vault:",status="${status}"}`;
  for (const status of ["OK", "NotFound"]) expect(first(operations("from_storage", status))).toBe("1");
  expect(first(operations("to_storage", "OK"))).toBe("1");
  const seconds = `storage_transformation_duration_seconds_count{transformation_type="from_storage",transformer_prefix="platform:enc:kms:v2:vault:"}`;
  expect(first(seconds)).toBe("1");
  expect(first("storage_envelope_transformation_cache_misses_total")).toBe("2");
  expect(first('envelope_encryption_dek_source_cache_size{provider_name="vault"}')).toBe("2");
  const latencies = (method: string, status: string) =>
    `envelope_encryption_kms_operations_latency_seconds_count{provider_name="vault",method_name="/v2.KeyManagementService/${method}",grpc_status_code="${status}"}`;
  for (const method of ["Status", "Encrypt", "Decrypt"]) expect(first(latencies(method, "OK"))).toBe("1");
  // The SHA-256 hash of key-1.
  const hash = "sha256:be2974546978e3739e6d6da85c4be9f334ce32df2b9fd4b6ff1b55c0d57e9d44";
  const key = `provider_name="vault",key_id_hash="${hash}",apiserver_id_hash=""`;
  for (const direction of ["from_storage", "to_storage"]) {
    const labels = `{transformation_type="${direction}",${key}}`;
    expect(first(`envelope_encryption_key_id_hash_total${labels}`)).toBe("1");
    const lastUse = first(`envelope_encryption_key_id_hash_last_timestamp_seconds${labels}`);
    expect(lastUse).toBe(String(clock.now() / 1000));
  }
  expect(first(`envelope_encryption_key_id_hash_status_last_timestamp_seconds{${key}}`)).toBeDefined();
  plugin.keyId = "";
  await expect
    .poll(async () => {
      await clock.advance(60_000);
      const line =
        'envelope_encryption_invalid_key_id_from_status_total{provider_name="vault",error="empty"}';
      return Number((await samples())(line));
    })
    .toBeGreaterThan(0);
  plugin.stop();
  await clock.advance(200_000);
  expect((await admin.post(secrets, secret("refused"))).status).toBe(503);
  const last = await samples();
  expect(last(operations("to_storage", "unknown-non-grpc"))).toBe("1");
  expect(Number(last(latencies("Status", "Unavailable")))).toBeGreaterThan(0);
});

test("a service of version 1 encrypts values, which are read again after a restart", async () => {
  plugin.stop();
  plugin = await KmsPlugin.start(path.join(folder.path, "kms.sock"), "v1");
  configure(kms({ apiVersion: "v1", cachesize: 10 }));
  plugin.version = "v1beta1";
  const server = await start();
  await ok(server.admin.post(secrets, secret("a")));
  expect(storeHas("enc:kms:v1:vault")).toBe(true);
  expect(storeHas(marker)).toBe(false);
  expect(await health(server)).toBe("[+]kms-providers ok");
  expect([plugin.count("Version") > 0, plugin.count("Encrypt"), plugin.count("Decrypt")]).toEqual([
    true,
    1,
    0,
  ]);
  await stop(server);
  // Version 1 is the default of the configuration.
  configure(kms({ apiVersion: undefined }));
  const again = await start();
  const read = await ok(again.admin.get(`${secrets}/a`));
  expect(read.body).toMatchObject(secret("a"));
  expect(plugin.count("Decrypt")).toBe(1);
  // Services of this version name no keys, so no value is outdated.
  expect(versionOf(await ok(again.admin.patch(`${secrets}/a`, {})))).toBe(versionOf(read));
  await stop(again);
  plugin.version = "v9";
  await expect(start()).rejects.toThrow('the service has version "v9"; the supported versions are v1beta1');
});

test("from release 1.29 on version 1 needs the gate KMSv1", async () => {
  plugin.stop();
  plugin = await KmsPlugin.start(path.join(folder.path, "kms.sock"), "v1");
  plugin.version = "v1beta1";
  configure(kms({ apiVersion: "v1" }));
  await expect(start({ release: "1.29" })).rejects.toThrow(
    'kms.apiVersion: Invalid value: "v1": v1 is deprecated: use v2, or set featureGates=KMSv1=true',
  );
  await stop(await start({ release: "1.28" }));
  const server = await start({ release: "1.37", featureGates: "KMSv1=true" });
  await ok(server.admin.post(secrets, secret("a")));
  expect(storeHas("enc:kms:v1:vault")).toBe(true);
});
