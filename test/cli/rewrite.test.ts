import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { plinth, ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const running: ServerProcess[] = [];
afterAll(async () => {
  for (const server of running) await server.stop();
  folder.remove();
});

const file = path.join(folder.path, "encryption.yaml");
const dataFolder = path.join(folder.path, "data");

function configure(...providers: object[]): void {
  const apiVersion = "apiserver.config.platform.io/v1";
  const resources = [{ resources: ["configmaps"], providers }];
  writeFileSync(file, JSON.stringify({ apiVersion, kind: "EncryptionConfiguration", resources }));
}

async function start(...flags: string[]): Promise<ServerProcess> {
  const server = await ServerProcess.start(dataFolder, ...flags);
  running.push(server);
  return server;
}

const storeHas = (text: string): boolean => {
  const store = path.join(dataFolder, "store");
  return readdirSync(store).some((name) => readFileSync(path.join(store, name)).includes(text));
};

test("plinth rewrite encrypts the objects of a store, and decrypts them again", async () => {
  const flag = `--encryption-provider-config=${file}`;
  const gcm = { aesgcm: { keys: [{ name: "key1", secret: Buffer.alloc(32, 1).toString("base64") }] } };
  await (await start()).stop();
  configure(gcm, { identity: {} });
  const server = await start(flag);
  const run = (...words: string[]) => plinth("rewrite", ...words, `--kubeconfig=${server.administrator}`);
  const counts = ({ stdout, stderr, code }: ReturnType<typeof run>) => {
    const [, read, written, failed] =
      /^(\d+) objects, (\d+) stored again, (\d+) failed\n$/.exec(stdout) ?? [];
    return { read: Number(read), written: Number(written), failed: Number(failed), stderr, code };
  };
  const first = counts(run("configmaps"));
  expect(first).toMatchObject({ failed: 0, stderr: "", code: 0 });
  expect(first.read).toBeGreaterThan(0);
  expect(first.written).toBe(first.read);
  expect(storeHas("enc:aesgcm:v1:key1")).toBe(true);
  expect(counts(run("cm"))).toMatchObject({ read: first.read, written: 0 });
  expect(counts(run())).toMatchObject({ failed: 0, stderr: "" });
  expect(run("things").stderr).toContain('"things" is no resource that can be listed and patched');
  await server.stop();
  const refused = plinth("convert", `--data-dir=${dataFolder}`, "--vocabulary=kubernetes");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("has encrypted values, such as that of /core/configmaps/"),
  ]);
  configure({ identity: {} }, gcm);
  const plain = await start(flag);
  const back = counts(plinth("rewrite", "configmaps", `--kubeconfig=${plain.administrator}`));
  expect(back).toMatchObject({ read: first.read, written: first.read });
  await plain.stop();
  await (await start()).stop();
}, 60_000);

test("with --encryption-provider-config-automatic-reload a changed file is in use without a restart", async () => {
  const key = (name: string) => ({
    secretbox: { keys: [{ name, secret: Buffer.alloc(32, 2).toString("base64") }] },
  });
  configure(key("first"), { identity: {} });
  const server = await start(
    `--encryption-provider-config=${file}`,
    "--encryption-provider-config-automatic-reload",
  );
  configure(key("second"), key("first"), { identity: {} });
  const rewrite = () => plinth("rewrite", "configmaps", `--kubeconfig=${server.administrator}`).code;
  await expect
    .poll(() => [rewrite(), storeHas("enc:secretbox:v1:second")], { timeout: 40_000, interval: 1000 })
    .toEqual([0, true]);
}, 60_000);
