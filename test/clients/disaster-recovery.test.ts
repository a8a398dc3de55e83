import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";
import { afterAll, describe, expect, it } from "vitest";
import { freePort, plinth, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const namespace = "default";
const waiting = { timeout: 30_000 };

/** What an operator does after the loss of a disk, with the backups that the server made itself. */
describe("disaster recovery", () => {
  const folder = temporaryFolder();
  const at = (name: string) => path.join(folder.path, name);
  const closing: (() => unknown)[] = [];
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
    folder.remove();
  });

  async function serve(port: number): Promise<ServerProcess> {
    writeFileSync(at("tokens.csv"), "t,root,1,system:masters\n");
    const server = await ServerProcess.start(
      at("data"),
      "--kubernetes",
      `--secure-port=${port}`,
      `--token-auth-file=${at("tokens.csv")}`,
      `--backup-dir=${at("backups")}`,
      "--backup-interval=1s",
    );
    closing.push(() => server.stop("SIGKILL"));
    return server;
  }

  it("a folder of backups that can't be written to ends the start with a message", () => {
    const { code, stderr } = plinth("serve", `--data-dir=${at("unused")}`, "--backup-dir=/proc/backups");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("--backup-dir /proc/backups: the folder can't be used"),
    ]);
  });

  it("after the loss of the data folder every client logs in again and its watch converges to the restored state", async () => {
    const port = await freePort();
    const first = await serve(port);
    copyFileSync(first.administrator, at("old.kubeconfig"));
    const config = new KubeConfig();
    config.loadFromString(readFileSync(at("old.kubeconfig"), "utf8"));
    const core = config.makeApiClient(CoreV1Api);
    const add = (name: string) =>
      core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { drill: "1" } } } });
    const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const { body: issued } = await first.as("t").post(`${accounts}/default/token`, { spec: {} });

    await add("kept");
    const keptSeconds = Date.now() / 1000;
    await expect.poll(() => lastBackup(first), waiting).toBeGreaterThan(keptSeconds);

    const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: "drill" });
    const informer = makeInformer<V1ConfigMap>(
      config,
      `/api/v1/namespaces/${namespace}/configmaps`,
      list,
      "drill",
    );
    informer.on("error", () => void setTimeout(() => void informer.start().catch(() => undefined), 100));
    closing.push(() => informer.stop());
    await informer.start();
    const names = () =>
      informer
        .list()
        .map(({ metadata }) => metadata!.name)
        .toSorted();

    // What is written after this copy of the series is lost. Restored revisions would reach those that the informer has seen.
    for (const name of readdirSync(at("backups")))
      if (!name.startsWith(".")) cpSync(at(`backups/${name}`), at(`saved/${name}`), { recursive: true });
    for (let count = 0; count < 20; count++) await add(`lost-${count}`);
    await expect.poll(names, waiting).toHaveLength(21);
    await first.stop("SIGKILL");
    rmSync(at("data"), { recursive: true });

    const check = plinth("check", `--backup=${at("saved")}`);
    expect(check.stdout).toMatch(
      /: revision \d+, the objects, and the server's authority and keys .*: sound\n$/,
    );
    expect(check.code).toBe(0);
    const restore = plinth("restore", `--from=${at("saved")}`, `--data-dir=${at("data")}`);
    expect(restore.code, restore.stderr).toBe(0);
    const second = await serve(port);
    const after = Array.from({ length: 30 }, (_, count) => `after-${count}`);
    for (const name of after) await add(name);
    const expected = [...after, "kept"].toSorted();
    // First what the server has, then what its watch has told the client.
    expect((await list()).items.map(({ metadata }) => metadata!.name).toSorted()).toEqual(expected);
    await expect.poll(names, waiting).toEqual(expected);
    const robot = await second.as((issued.status as { token: string }).token).get(accounts);
    // The account is recognized, though it may do nothing.
    expect(robot.status).toBe(403);
  });
});

async function lastBackup(server: ServerProcess): Promise<number> {
  const { text } = await server.as("t").get("/metrics");
  return Number(/^kubernetes_backup_last_success_timestamp_seconds (\S+)$/m.exec(text)?.[1] ?? "NaN");
}
