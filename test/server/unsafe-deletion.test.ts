import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { AuditedServer } from "../audit/support.ts";
import { ok } from "../api/support.ts";
import { TestServer, type Api } from "../support/api.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { temporaryFolder } from "../storage/support.ts";

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const maps = "/api/v1/namespaces/default/configmaps";
const option = "ignoreStoreReadErrorWithClusterBreakingPotential";
const unsafe = { body: { kind: "DeleteOptions", apiVersion: "v1", [option]: true } };

function encryptedWith(name: string, byte: number): CreateServerOptions["encryption"] {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  const configFile = join(path, "encryption.json");
  const providers = (key: string, fill: number) => [
    { aesgcm: { keys: [{ name: key, secret: Buffer.alloc(32, fill).toString("base64") }] } },
    { identity: {} },
  ];
  // Keys that servers share are encrypted as secrets are.
  const resources = [
    { resources: ["secrets"], providers: providers("kept", 3) },
    { resources: ["configmaps"], providers: providers(name, byte) },
  ];
  const header = { apiVersion: "apiserver.config.k8s.io/v1", kind: "EncryptionConfiguration" };
  writeFileSync(configFile, JSON.stringify({ ...header, resources }));
  return { configFile };
}

const common = {
  release: "1.37",
  vocabulary: "kubernetes",
  enabledControllers: [],
} as const satisfies CreateServerOptions;

/** Starts a server with two config maps whose key is gone, and one whose key exists. */
async function withLostKey(
  storage: CreateServerOptions["storage"],
  options: CreateServerOptions = {},
): Promise<AuditedServer> {
  const before = await TestServer.start({ ...common, storage, encryption: encryptedWith("lost", 1) });
  const metadata = { finalizers: ["example.com/guard"] };
  for (const name of ["lost1", "lost2"])
    await ok(before.admin.post(maps, { metadata: { ...metadata, name } }));
  await before.close();
  const server = await AuditedServer.start("rules: [{level: Metadata}]", {
    ...common,
    storage,
    encryption: encryptedWith("new", 2),
    users: [{ name: "deleter" }, { name: "breaker" }],
    ...options,
  });
  cleanups.push(() => server.close());
  await ok(server.api.admin.post(maps, { metadata: { name: "kept" } }));
  return server;
}

function embedded(): CreateServerOptions["storage"] {
  const { path, remove } = temporaryFolder();
  cleanups.push(remove);
  return { engine: "embedded", dir: join(path, "store") };
}

async function expectRemoval(admin: Api): Promise<void> {
  const list = await admin.get(maps);
  expect([list.status, list.body.reason]).toEqual([500, "StorageReadError"]);
  expect(list.body.message).toMatch(
    /^failed to read one or more configmaps from the storage: .*\(and 1 more\)$/,
  );
  const { name, kind, causes } = list.body.details as { name: string; kind: string; causes: object[] };
  expect([name, kind]).toEqual(["list", "configmaps"]);
  expect(causes).toEqual(
    ["lost1", "lost2"].map((lost) => ({
      reason: "UnexpectedServerResponse",
      field: `/core/configmaps/default/${lost}`,
      message: expect.stringContaining("can't be decrypted"),
    })),
  );
  expect((await admin.delete(`${maps}/lost1`)).status).toBe(500);

  const dry = await ok(admin.delete(`${maps}/lost1?dryRun=All&${option}=true`));
  expect(dry.body).toMatchObject({ kind: "Status", status: "Success" });
  expect((await admin.get(`${maps}/lost1`)).status).toBe(500);
  const { body } = await ok(admin.delete(`${maps}/lost1`, unsafe));
  expect(body).toMatchObject({ status: "Success", details: { name: "lost1", kind: "configmaps" } });
  expect((await admin.get(`${maps}/lost1`)).status).toBe(404);
  expect((await admin.delete(`${maps}/lost1`, unsafe)).status).toBe(404);
  const readable = await admin.delete(`${maps}/kept`, unsafe);
  expect([readable.status, readable.body.reason]).toEqual([409, "Conflict"]);
  await ok(admin.delete(`${maps}/lost2?${option}=1`));
  const items = (await ok(admin.get(maps))).body.items as { metadata: { name: string } }[];
  expect(items.map(({ metadata }) => metadata.name)).toEqual(["kept"]);
  await ok(admin.post(maps, { metadata: { name: "lost1" } }));
}

test("an object whose key is gone is removed with the option, and the list names it before", async () => {
  const server = await withLostKey(embedded());
  await expectRemoval(server.api.admin);
});

describe.skipIf(etcdMissing !== undefined)(`over etcd (${etcdMissing ?? ""})`, () => {
  it("an object whose key is gone, and a value of another program, are removed with the option", async () => {
    const etcd = await EtcdServer.start();
    cleanups.push(() => etcd.dispose());
    const server = await withLostKey({ engine: "etcd", endpoints: [etcd.endpoint], prefix: "/p" });
    const { admin } = server.api;
    await expectRemoval(admin);
    const base64 = (text: string) => Buffer.from(text).toString("base64");
    const key = base64("/p/data/core/configmaps/default/lost1");
    const put = JSON.stringify({ key, value: base64("not ours") });
    expect((await fetch(`${etcd.endpoint}/v3/kv/put`, { method: "POST", body: put })).status).toBe(200);
    expect((await admin.get(`${maps}/lost1`)).status).toBe(503);
    await ok(admin.delete(`${maps}/lost1`, unsafe));
    expect((await admin.get(`${maps}/lost1`)).status).toBe(404);
  });
});

test("the option needs the verb unsafe-delete-ignore-read-errors, and the audit event says that it was used", async () => {
  const server = await withLostKey(embedded());
  const { admin } = server.api;
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const rule = { apiGroups: [""], resources: ["configmaps"] };
  const roles = { deleter: ["delete"], breaker: ["delete", "unsafe-delete-ignore-read-errors"] };
  for (const [name, verbs] of Object.entries(roles)) {
    await ok(admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules: [{ ...rule, verbs }] }));
    await ok(
      admin.post(`${rbac}/clusterrolebindings`, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
      }),
    );
  }
  const refused = await server.api.as("deleter").delete(`${maps}/lost1`, unsafe);
  expect(refused.status).toBe(403);
  expect(refused.body.message).toContain('cannot unsafe-delete-ignore-read-errors resource "configmaps"');
  const [event] = (await server.events(refused.headers["audit-id"])).slice(-1);
  expect(event.annotations).toHaveProperty(["apiserver.k8s.io/unsafe-delete-ignore-read-error"], "");
  await ok(server.api.as("breaker").delete(`${maps}/lost1`, unsafe));
});

test("other options, and the deletion of a collection, are refused with the option", async () => {
  const { api } = await withLostKey(embedded());
  const { admin } = api;
  const others = {
    propagationPolicy: "Background",
    orphanDependents: true,
    gracePeriodSeconds: 0,
    preconditions: { uid: "x" },
  };
  for (const [name, value] of Object.entries(others)) {
    const answer = await admin.delete(`${maps}/lost1`, { body: { ...unsafe.body, [name]: value } });
    expect([name, answer.status]).toEqual([name, 422]);
    expect(answer.body.message).toBe(
      `DeleteOptions is invalid: ${option}: Invalid value: true: cannot be set together with .${name}`,
    );
  }
  const collection = await admin.delete(maps, unsafe);
  expect(collection.status).toBe(422);
  expect(collection.body.message).toContain("is not allowed with DELETECOLLECTION");
  const pods = "/api/v1/namespaces/default/pods";
  const containers = [{ name: "c", image: "i" }];
  await ok(admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "default" } }));
  await ok(admin.post(pods, { metadata: { name: "p" }, spec: { containers } }));
  const eviction = await admin.post(`${pods}/p/eviction`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: "p" },
    deleteOptions: { [option]: true },
  });
  expect(eviction.status).toBe(422);
  expect(eviction.body.message).toContain(`deleteOptions.${option}: Invalid value: true: can not be set`);
});

test("the option is ignored without the gate, and the list names no objects", async () => {
  const { api } = await withLostKey(embedded(), {
    featureGates: "AllowUnsafeMalformedObjectDeletion=false",
  });
  const answer = await api.admin.delete(`${maps}/lost1`, {
    body: { ...unsafe.body, gracePeriodSeconds: 0 },
  });
  expect([answer.status, answer.body.reason]).toEqual([500, "InternalError"]);
  expect((await api.admin.get(maps)).body.reason).toBe("InternalError");
  await ok(api.admin.delete(`${maps}/kept`, unsafe));
});

test("before release 1.37 the gate is off; with it, dry runs and objects that can be read are invalid", async () => {
  const { api } = await withLostKey(embedded(), {
    release: "1.32",
    featureGates: "AllowUnsafeMalformedObjectDeletion=true",
  });
  const { admin } = api;
  const dry = await admin.delete(`${maps}/lost1?dryRun=All&${option}=true`);
  expect([dry.status, dry.body.message]).toEqual([
    422,
    expect.stringContaining("cannot be set together with .dryRun"),
  ]);
  const readable = await admin.delete(`${maps}/kept`, unsafe);
  expect([readable.status, readable.body.message]).toEqual([
    422,
    expect.stringContaining("is exclusively used to delete corrupt object(s)"),
  ]);
  await ok(admin.delete(`${maps}/lost1`, unsafe));
});

test("a list names at most 100 objects that can't be read, and says that there are more", async () => {
  const storage = embedded();
  const before = await TestServer.start({ ...common, storage, encryption: encryptedWith("lost", 1) });
  await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      ok(before.admin.post(maps, { metadata: { name: `m${index}` } })),
    ),
  );
  await before.close();
  const server = await TestServer.start({ ...common, storage, encryption: encryptedWith("new", 2) });
  cleanups.push(() => server.close());
  const { body } = await server.admin.get(`${maps}?limit=5`);
  const causes = body.details.causes as { reason: string; field?: string }[];
  expect(causes).toHaveLength(101);
  expect(causes.at(-1)).toMatchObject({ reason: "FieldValueTooMany" });
  expect(body.message).toMatch(/\(and 99 more\)$/);
  const named = await server.admin.get(`${maps}?fieldSelector=metadata.name%3Dm7`);
  expect([named.status, named.body.reason]).toEqual([500, "InternalError"]);
});
