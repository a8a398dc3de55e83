import { spawn } from "node:child_process";
import { once } from "node:events";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, existsSync, openSync, closeSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createServer as createPlinth } from "../../src/index.ts";
import { plinth, program } from "../support/process.ts";
import { startByFlags } from "../support/server-here.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const folder = useTemporaryFolders();
const opened: Server[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

async function usedPort(): Promise<number> {
  const server = createServer();
  opened.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

describe("plinth serve, before it writes anything", () => {
  it("refuses a port in use and leaves no data folder", async () => {
    const port = await usedPort();
    const dataDir = path.join(folder(), "data");
    const { code, stderr, stdout } = plinth("serve", `--secure-port=${port}`, `--data-dir=${dataDir}`);
    expect({ code, stderr, stdout }).toEqual({
      code: 1,
      stderr: `plinth: port ${port} of 127.0.0.1 is in use; stop what uses it or choose another --secure-port\n`,
      stdout: "",
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  it("refuses a port in use with several workers", async () => {
    const port = await usedPort();
    const dataDir = path.join(folder(), "data");
    const { code, stderr } = plinth("serve", "--workers=2", `--secure-port=${port}`, `--data-dir=${dataDir}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`port ${port} of 127.0.0.1 is in use`)]);
    expect(existsSync(dataDir)).toBe(false);
  });

  it("refuses an address that the machine doesn't have", () => {
    const dataDir = path.join(folder(), "data");
    const { code, stderr } = plinth("serve", "--bind-address=192.0.2.1", `--data-dir=${dataDir}`);
    expect([code, stderr]).toEqual([
      1,
      "plinth: --bind-address 192.0.2.1: this machine has no such address\n",
    ]);
    expect(existsSync(dataDir)).toBe(false);
  });

  it("refuses a folder of --write-kubeconfig that can't be used, without electing a leader", () => {
    const dataDir = path.join(folder(), "data");
    const { code, stderr } = plinth(
      "serve",
      "--secure-port=0",
      `--data-dir=${dataDir}`,
      "--write-kubeconfig=/dev/null/admin.kubeconfig",
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^plinth: --write-kubeconfig \/dev\/null: the folder can't be used: /),
    ]);
  });
});

describe.skipIf(process.platform === "win32")("files of keys and credentials that others can read", () => {
  const client = (user: string) =>
    `apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: "https://127.0.0.1:9"}}]\n` +
    `contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\nusers: [{name: a, user: ${user}}]\n`;
  const keys = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const encryption = (provider: string) =>
    `apiVersion: apiserver.config.platform.io/v1\nkind: EncryptionConfiguration\n` +
    `resources: [{resources: [secrets], providers: [${provider}, {identity: {}}]}]\n`;
  const secret = Buffer.alloc(32, 7).toString("base64");

  /** Writes a file with a mode. @returns its path */
  function write(name: string, text: string, mode: number): string {
    const file = path.join(folder(), name);
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }

  /** Starts a server with these flags. @returns its warnings */
  async function warnings(...words: readonly string[]): Promise<string[]> {
    const texts: string[] = [];
    const ignore = () => undefined;
    const log = { info: ignore, warn: (_: object, text: string) => void texts.push(text), error: ignore };
    const { server } = await startByFlags(
      ["--secure-port=0", "--storage-backend=memory", `--data-dir=${folder()}`, ...words],
      () => ({ log }),
    );
    await server.close();
    return texts;
  }

  it("are all named by one warning with their flags, modes and the command that mends it", async () => {
    const tokens = write("tokens.csv", "token,ann,1\n", 0o644);
    const key = write("accounts.key", keys.privateKey, 0o640);
    const config = write(
      "encryption.yaml",
      encryption(`{secretbox: {keys: [{name: a, secret: "${secret}"}]}}`),
      0o604,
    );
    const webhook = write("webhook.yaml", client("{token: abc}"), 0o644);
    expect(
      await warnings(
        `--token-auth-file=${tokens}`,
        `--service-account-signing-key-file=${key}`,
        "--service-account-issuer=https://example.org",
        `--encryption-provider-config=${config}`,
        `--authentication-token-webhook-config-file=${webhook}`,
      ),
    ).toEqual([
      "other users of this machine can read files with keys or credentials: " +
        `${config} (--encryption-provider-config, mode 0604), ${tokens} (--token-auth-file, mode 0644), ` +
        `${key} (--service-account-signing-key-file, mode 0640), ` +
        `${webhook} (--authentication-token-webhook-config-file, mode 0644); ` +
        `use ${[config, tokens, key, webhook].map((file) => `chmod 600 ${file}`).join(", ")}`,
    ]);
  });

  it("are no reason for a warning without a secret in them, or with the mode 0600", async () => {
    const flags = [
      `--token-auth-file=${write("tokens.csv", "token,ann,1\n", 0o600)}`,
      `--service-account-key-file=${write("accounts.pub", keys.publicKey, 0o644)}`,
      `--encryption-provider-config=${write("encryption.yaml", encryption("{identity: {}}").replace(", {identity: {}}", ""), 0o644)}`,
      `--authentication-token-webhook-config-file=${write("webhook.yaml", client("{}"), 0o644)}`,
    ];
    expect(await warnings(...flags)).toEqual([]);
  });

  it("are no reason for a warning in a folder that gives its group to its files, as in a volume with fsGroup", async () => {
    const tokens = write("tokens.csv", "token,ann,1\n", 0o640);
    expect(await warnings(`--token-auth-file=${tokens}`)).toHaveLength(1);
    chmodSync(path.dirname(tokens), 0o2750);
    expect(await warnings(`--token-auth-file=${tokens}`)).toEqual([]);
  });

  it("are named once by a server of two processes", () => {
    const tokens = write("tokens.csv", "token,ann,1\n", 0o644);
    const words = [
      "--workers=2",
      "--secure-port=0",
      `--data-dir=${path.dirname(tokens)}`,
      "--etcd-prefix=/a",
    ];
    const { stderr } = plinth(
      "serve",
      ...words,
      `--token-auth-file=${tokens}`,
      "--audit-policy-file=/nowhere",
    );
    expect(stderr.split("can read files with keys").length - 1).toBe(1);
  });
});

describe("createServer", () => {
  it("refuses a port in use before it writes to its store", async () => {
    const port = await usedPort();
    const dir = path.join(folder(), "store");
    const storage = { engine: "embedded", dir } as const;
    await expect(createPlinth({ port, storage })).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(existsSync(dir)).toBe(false);
  });
});

it.each([
  ["--audit-policy-file", "kind: Nonsense\n"],
  ["--audit-webhook-config-file", "nonsense"],
])("a server with a wrong file of %s elects no leader", async (flag, text) => {
  const dataDir = folder();
  const words = ["--secure-port=0", `--data-dir=${dataDir}`];
  const policy = path.join(dataDir, "policy.yaml");
  writeFileSync(policy, "apiVersion: audit.platform.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  const file = path.join(dataDir, "wrong.yaml");
  writeFileSync(file, text);
  const wrong = [...words, `--audit-policy-file=${policy}`, `${flag}=${file}`];
  const entries: string[] = [];
  const add = (_facts: object, message: string) => void entries.push(message);
  const log = { info: add, warn: add, error: add };
  await expect(startByFlags(wrong, () => ({ log }))).rejects.toThrow(flag);
  expect(entries).toEqual([]);
  const { server } = await startByFlags(words, () => ({ log }));
  await server.close();
  expect(entries).toContain("controllers started; this process is the leader");
});

describe("the log without --log-format", () => {
  /** Starts a server until it serves, with its outputs in files. @returns the texts of both */
  async function outputs(inOneFile: boolean): Promise<readonly string[]> {
    const dir = folder();
    const files = [path.join(dir, "out"), path.join(dir, inOneFile ? "out" : "err")];
    const [out, err] = files.map((file) => openSync(file, "a"));
    const child = spawn(process.execPath, [program, "--secure-port=0", "--storage-backend=memory"], {
      cwd: dir,
      stdio: ["ignore", out!, err!],
    });
    try {
      await expect.poll(() => readFileSync(files[0]!, "utf8"), { timeout: 20_000 }).toMatch(/ help {2,}.*\n/);
    } finally {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      for (const one of [out!, err!]) closeSync(one);
    }
    return files.map((file) => readFileSync(file, "utf8"));
  }

  it("has lines of text with the date if standard error is a file", async () => {
    const [, err] = await outputs(false);
    expect(err).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info {2}stopping$/m);
    expect(err).not.toContain('{"level"');
  });

  it("has no line of JSON between those of the start message in one file", async () => {
    const [all] = await outputs(true);
    expect(all).toMatch(/plinth serves platform names[\s\S]*info {2}stopping/);
    expect(all).not.toContain("\u001b");
    expect(all).not.toContain('{"');
  });
});
