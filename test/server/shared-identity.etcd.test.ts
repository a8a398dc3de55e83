import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServer } from "../../src/index.ts";
import { createAuthority } from "../../src/base/certificates/serving-certificates.ts";
import { sharedAuthority } from "../../src/server/certificates/serving.ts";
import { connectEtcdStore, type EtcdStore } from "../../src/storage/etcd/etcd-store.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { clusterOf, readAsAdministrator } from "../support/administrator.ts";
import { Api } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { ServerHere } from "../support/server-here.ts";

const dayMs = 24 * 60 * 60 * 1000;
const namespace = "/api/v1/namespaces/default";

describe.skipIf(etcdMissing !== undefined)(`servers over one etcd (${etcdMissing ?? "one member"})`, () => {
  let etcd: EtcdServer;
  const folder = temporaryFolder();
  const servers: ServerHere[] = [];
  const stores: EtcdStore[] = [];
  beforeAll(async () => void (etcd = await EtcdServer.start()));
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    for (const store of stores.splice(0)) await store.close();
  });
  afterAll(async () => {
    await etcd.dispose();
    folder.remove();
  });

  async function serve(name: string, prefix: string): Promise<ServerHere> {
    const flags = [`--etcd-servers=${etcd.endpoint}`, `--etcd-prefix=${prefix}`];
    const server = await ServerHere.start(path.join(folder.path, name), ...flags);
    servers.push(server);
    return server;
  }

  async function connect(prefix: string): Promise<EtcdStore> {
    const store = await connectEtcdStore({ endpoints: [etcd.endpoint], prefix, clock: systemClock });
    stores.push(store);
    return store;
  }

  it("are one to their clients: one authority, and tokens and certificates hold for all of them", async () => {
    const [one, two] = await Promise.all([serve("one", "/p1"), serve("two", "/p1")]);
    const authority = readFileSync(one.caFile, "utf8");
    expect(readFileSync(two.caFile, "utf8")).toBe(authority);
    expect(clusterOf(readFileSync(two.administrator, "utf8")).ca).toBe(authority);
    expect(statSync(path.join(one.dataDir, "pki/ca.key")).mode & 0o777).toBe(0o600);
    for (const { administrator } of [one, two]) {
      for (const { url } of [one, two])
        expect(await readAsAdministrator(administrator, namespace, url)).toBe(200);
    }
    const token = await tokenFrom("/p1");
    for (const { url } of [one, two]) {
      const api = new Api(url, authority, `Bearer ${token}`);
      // Recognized, though it may not read it.
      expect((await api.get(namespace)).status).toBe(403);
      api.close();
    }
    // What a client holds is good at a replica that comes later, with a folder of its own.
    await one.stop();
    const three = await serve("three", "/p1");
    expect(await readAsAdministrator(one.administrator, namespace, three.url)).toBe(200);
    expect(three.log() + two.log()).not.toContain('"level":50');
  });

  /** A token of an account, made by a server in this process. */
  async function tokenFrom(prefix: string): Promise<string> {
    const storage = { engine: "etcd" as const, endpoints: [etcd.endpoint], prefix };
    const server = await createServer({ storage });
    const admin = new Api(server.url!, server.caCertificate!, `Bearer ${server.adminToken}`);
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    expect((await admin.post(accounts, { metadata: { name: "robot" } })).status).toBe(201);
    const { status, body } = await admin.post(`${accounts}/robot/token`, { spec: {} });
    expect(status).toBe(201);
    admin.close();
    await server.close();
    return (body as { status: { token: string } }).status.token;
  }

  it("take over what a server had to itself before: its clients stay known", async () => {
    const dataDir = path.join(folder.path, "alone");
    const before = await ServerHere.start(dataDir);
    servers.push(before);
    const kubeconfig = readFileSync(before.administrator, "utf8");
    const kept = path.join(folder.path, "kept");
    mkdirSync(kept);
    writeFileSync(path.join(kept, "admin.kubeconfig"), kubeconfig);
    await before.stop();
    const [alone] = [await serve("alone", "/p2"), await serve("further", "/p2")];
    for (const { url } of servers.slice(-2))
      expect(await readAsAdministrator(path.join(kept, "admin.kubeconfig"), namespace, url)).toBe(200);
    expect(clusterOf(kubeconfig).ca).toBe(readFileSync(alone.caFile, "utf8"));
  });

  it("make one authority when several find that it ends", async () => {
    const [here, there] = [await connect("/p3"), await connect("/p3")];
    const first = await sharedAuthority(here.shared, undefined, systemClock);
    expect(await sharedAuthority(there.shared, createAuthority(), systemClock)).toEqual(first);
    const later = { ...systemClock, now: () => Date.now() + 3640 * dayMs };
    const next = await Promise.all(
      [here, there].map(({ shared }) => sharedAuthority(shared, undefined, later)),
    );
    expect(next[0]).toEqual(next[1]);
    expect(next[0]).not.toEqual(first);
    expect(Date.parse(new X509Certificate(next[0]!.certificate).validFrom)).toBeGreaterThan(
      Date.now() + dayMs,
    );
  });

  it("share values that no read and no watch sees", async () => {
    const [here, there] = [await connect("/p4"), await connect("/p4")];
    const before = await here.latestRevision();
    const value = Buffer.from("one");
    const answers = await Promise.all([
      here.shared.replace("v", undefined, value),
      there.shared.replace("v", undefined, Buffer.from("two")),
    ]);
    expect(answers[0]).toEqual(answers[1]);
    expect(await there.shared.get("v")).toEqual(answers[0]);
    expect(await there.shared.replace("v", Buffer.from("neither"), value)).toEqual(answers[0]);
    expect(await there.shared.replace("v", answers[0], Buffer.from("three"))).toEqual(Buffer.from("three"));
    expect(await here.shared.get("v")).toEqual(Buffer.from("three"));
    expect(await here.shared.get("w")).toBe(undefined);
    expect(await here.latestRevision()).toBe(before);
    expect((await here.range({ prefix: "/" })).entries).toEqual([]);
  });

  it("refuse to start where the shared key or authority is not valid", async () => {
    const store = await connect("/p5");
    await store.shared.replace("service-account-signing-key", undefined, Buffer.from("nothing"));
    await expect(serve("broken", "/p5")).rejects.toThrow(
      /shared signing key for service account tokens in the store/,
    );
    const other = await connect("/p6");
    await other.shared.replace("authority", undefined, Buffer.from("nothing"));
    await expect(serve("broken", "/p6")).rejects.toThrow(/shared authority in the store is not valid/);
  });
});
