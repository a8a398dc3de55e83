import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { EtcdServer, etcdMissing, makeCertificates, type TlsFiles } from "../../storage/etcd-server.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { startFlagged } from "./table.ts";

const title = etcdMissing === undefined ? "flags of etcd" : `flags of etcd: skipped, ${etcdMissing}`;
describe.skipIf(etcdMissing !== undefined)(title, () => {
  const folder = temporaryFolder();
  let etcd: EtcdServer;
  let tls: TlsFiles;
  let flags: Readonly<Record<string, string>>;
  beforeAll(async () => {
    tls = makeCertificates(folder.path);
    etcd = await EtcdServer.start({ tls });
    flags = {
      "--etcd-servers": etcd.endpoint,
      "--etcd-cafile": tls.caFile,
      "--etcd-certfile": tls.certFile,
      "--etcd-keyfile": tls.keyFile,
    };
  });
  afterAll(async () => {
    await etcd.dispose();
    folder.remove();
  });
  const words = (...without: string[]) =>
    Object.entries(flags)
      .filter(([name]) => !without.includes(name))
      .map(([name, value]) => `${name}=${value}`);
  const map = "/api/v1/namespaces/default/configmaps/kept";

  test("--etcd-servers, --etcd-cafile, --etcd-certfile and --etcd-keyfile keep the objects in the cluster", async () => {
    const first = await startFlagged(words());
    await ok(first.admin.post("/api/v1/namespaces/default/configmaps", { metadata: { name: "kept" } }));
    await first.close();
    const second = await startFlagged(words());
    expect((await second.admin.get(map)).status).toBe(200);
    await second.close();
  });

  test.each([
    ["--etcd-cafile", ["--etcd-cafile"]],
    ["--etcd-certfile with its --etcd-keyfile", ["--etcd-certfile", "--etcd-keyfile"]],
  ])("without %s the cluster can't be reached", async (_what, without) => {
    await expect(startFlagged(words(...without))).rejects.toThrow();
  });

  test("--etcd-prefix keeps the objects of servers with another one apart", async () => {
    const other = await startFlagged([...words(), "--etcd-prefix=/elsewhere"]);
    expect((await other.admin.get(map)).status).toBe(404);
    await other.close();
  });
});
