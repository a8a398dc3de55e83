import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plinthHere } from "../support/program-here.ts";
import { ServerHere } from "../support/server-here.ts";

const folder = temporaryFolder();
const running: ServerHere[] = [];
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

async function start(...flags: string[]): Promise<ServerHere> {
  const server = await ServerHere.start(dataFolder, ...flags);
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
  const run = (...words: string[]) => plinthHere("rewrite", ...words, `--kubeconfig=${server.administrator}`);
  const counts = ({ stdout, stderr, code }: Awaited<ReturnType<typeof run>>) => {
    const [, read, written, failed] =
      /^(\d+) objects, (\d+) stored again, (\d+) failed\n$/.exec(stdout) ?? [];
    return { read: Number(read), written: Number(written), failed: Number(failed), stderr, code };
  };
  const first = counts(await run("configmaps"));
  expect(first).toMatchObject({ failed: 0, stderr: "", code: 0 });
  expect(first.read).toBeGreaterThan(0);
  expect(first.written).toBe(first.read);
  expect(storeHas("enc:aesgcm:v1:key1")).toBe(true);
  expect(counts(await run("cm"))).toMatchObject({ read: first.read, written: 0 });
  expect(counts(await run())).toMatchObject({ failed: 0, stderr: "" });
  expect((await run("things")).stderr).toContain('"things" is no resource that can be listed and patched');
  await server.stop();
  const refused = await plinthHere("convert", `--data-dir=${dataFolder}`, "--vocabulary=kubernetes");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("has encrypted values, such as that of /core/configmaps/"),
  ]);
  configure({ identity: {} }, gcm);
  const plain = await start(flag);
  const back = counts(await plinthHere("rewrite", "configmaps", `--kubeconfig=${plain.administrator}`));
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
  const rewrite = async () =>
    (await plinthHere("rewrite", "configmaps", `--kubeconfig=${server.administrator}`)).code;
  await expect
    .poll(async () => [await rewrite(), storeHas("enc:secretbox:v1:second")], {
      timeout: 40_000,
      interval: 1000,
    })
    .toEqual([0, true]);
}, 60_000);
