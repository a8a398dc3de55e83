import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { PostgresServer, postgresMissing } from "../storage/postgres-server.ts";
import { TestServer } from "../support/api.ts";
import { configMap, namesIn, ok, until } from "./support.ts";

const workspaces = "/apis/tenancy.platform.io/v1alpha1/workspaces";
const maps = "/api/v1/namespaces/default/configmaps";

/** One server has the branch open while the other one moves it to the newer state of its base. */
async function rebasedByAnother(one: TestServer, other: TestServer): Promise<void> {
  const a = `/clusters/branch${maps}/a`;
  const watch = await one.admin.watch(`/clusters/branch${maps}?watch=1&resourceVersion=0`);
  const rebases = "/apis/tenancy.platform.io/v1alpha1/workspacerebases";
  await ok(other.admin.post(rebases, { spec: { workspace: "branch" } }));
  // Both at once, although the other server hasn't been told.
  for (const { admin } of [one, other]) expect((await ok(admin.get(a))).body.data).toEqual({ v: "2" });
  await watch.toEnd();
}

/** A deletion ends the watches at all servers, and no watch has the removal of the objects. */
async function deletedForAll(servers: readonly TestServer[]): Promise<void> {
  const [{ admin }] = servers as readonly [TestServer];
  await ok(admin.post(workspaces, { metadata: { name: "deleted" }, spec: { from: { workspace: "base" } } }));
  for (const name of ["c", "d"]) await ok(admin.post(`/clusters/deleted${maps}`, configMap(name, {})));
  const watches = await Promise.all(
    servers.map((server) => server.admin.watch(`/clusters/deleted${maps}?watch=1&resourceVersion=0`)),
  );
  await ok(admin.delete(`${workspaces}/deleted`));
  for (const watch of watches)
    expect((await watch.toEnd()).filter(({ type }) => type === "DELETED")).toEqual([]);
}

/** Two servers over one store: a workspace of one is that of the other, and outlives both. */
function theWorkspacesOf(storage: () => NonNullable<CreateServerOptions["storage"]>): void {
  test("are those of all servers of the store, also after a restart", async () => {
    const start = () =>
      TestServer.start({ storage: storage(), runtimeConfig: "tenancy.platform.io/v1alpha1=true" });
    const [one, other] = [await start(), await start()];
    try {
      await ok(one.admin.post(workspaces, { metadata: { name: "base" } }));
      await ok(one.admin.post(`/clusters/base${maps}`, configMap("a", { v: "1" })));
      expect(namesIn(await ok(other.admin.get(`/clusters/base${maps}`)))).toEqual(["a"]);
      const branch = { metadata: { name: "branch" }, spec: { from: { workspace: "base" } } };
      await ok(other.admin.post(workspaces, branch));
      await ok(one.admin.patch(`/clusters/base${maps}/a`, { data: { v: "2" } }));
      await ok(other.admin.post(`/clusters/branch${maps}`, configMap("b", {})));
      expect((await ok(one.admin.get(`/clusters/branch${maps}/a`))).body.data).toEqual({ v: "1" });
      // The controllers run on one of the servers, which may not have served the workspace.
      for (const [index, server] of [one, other].entries()) {
        const name = `shop-${index}`;
        await ok(server.admin.post("/clusters/branch/api/v1/namespaces", { metadata: { name } }));
        const account = `/clusters/branch/api/v1/namespaces/${name}/serviceaccounts/default`;
        await until(
          () => server.admin.get(account),
          ({ status }) => status === 200,
        );
      }
      await rebasedByAnother(one, other);
      await deletedForAll([one, other]);
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
    const again = await start();
    try {
      expect(namesIn(await ok(again.admin.get(`/clusters/branch${maps}`)))).toEqual(["a", "b"]);
      expect((await ok(again.admin.get(`/clusters/branch${maps}/a`))).body.data).toEqual({ v: "2" });
    } finally {
      await again.close();
    }
  });
}

describe("workspaces over an embedded store", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-workspaces-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  theWorkspacesOf(() => ({ engine: "embedded", dir: folder }));
});

describe.skipIf(etcdMissing !== undefined)(`workspaces over etcd (${etcdMissing ?? "one member"})`, () => {
  let etcd: EtcdServer;
  beforeAll(async () => void (etcd = await EtcdServer.start()));
  afterAll(() => etcd?.dispose());
  theWorkspacesOf(() => ({ engine: "etcd", endpoints: [etcd.endpoint] }));
});

describe.skipIf(postgresMissing !== undefined)(
  `workspaces over PostgreSQL (${postgresMissing ?? "one server"})`,
  () => {
    let database: PostgresServer;
    beforeAll(async () => void (database = await PostgresServer.start()));
    afterAll(() => database?.dispose());
    theWorkspacesOf(() => ({ engine: "postgres", url: database.url }));
  },
);
