import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../api/support.ts";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import { ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const title = etcdMissing === undefined ? "--workers over etcd" : `--workers: skipped, ${etcdMissing}`;
describe.skipIf(etcdMissing !== undefined)(title, () => {
  const folder = temporaryFolder();
  let etcd: EtcdServer;
  beforeAll(async () => {
    etcd = await EtcdServer.start();
  });
  afterAll(async () => {
    await etcd.dispose();
    folder.remove();
  });

  test("serves one port with several processes that see each other's writes", async () => {
    const tokens = path.join(folder.path, "tokens.csv");
    writeFileSync(tokens, "admin,root,1,system:masters\n");
    const flags = [`--etcd-servers=${etcd.endpoint}`, `--token-auth-file=${tokens}`, "--workers=2"];
    const server = await ServerProcess.start(path.join(folder.path, "data"), ...flags, "--log-level=info");
    while (!server.log().includes("2 workers serve")) await new Promise((resolve) => setTimeout(resolve, 20));
    const maps = "/api/v1/namespaces/default/configmaps";
    const [first, ...others] = Array.from({ length: 4 }, () => server.as("admin"));
    for (let n = 0; n < 5; n++) {
      await ok(first!.post(maps, { metadata: { name: `map-${n}` } }));
      for (const api of others) await ok(api.get(`${maps}/map-${n}`));
    }
    expect(await server.stop()).toBe(0);
  });
});
