import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync, closeSync, readFileSync, writeFileSync } from "node:fs";
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
