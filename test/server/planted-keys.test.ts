import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { program } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { plinthHere } from "../support/program-here.ts";
import { ServerHere } from "../support/server-here.ts";

const newFolder = useTemporaryFolders();

async function refusal(dataDir: string, ...flags: readonly string[]): Promise<string> {
  const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${dataDir}`, ...flags);
  expect(code).toBe(2);
  return stderr;
}

/** A data folder that a server has used. */
async function usedFolder(): Promise<string> {
  const dataDir = newFolder();
  await (await ServerHere.start(dataDir)).stop();
  return dataDir;
}

describe.skipIf(process.platform === "win32")("a file with a key that others can write", () => {
  it("is refused in the data folder, whichever it is", async () => {
    const dataDir = await usedFolder();
    for (const name of ["ca.crt", "ca.key", "server.crt", "server.key", "service-accounts.key"]) {
      const file = path.join(dataDir, "pki", name);
      for (const mode of [0o666, 0o620]) {
        chmodSync(file, mode);
        expect(await refusal(dataDir)).toContain(`${file} can be written by `);
      }
      chmodSync(file, 0o600);
    }
    const server = await ServerHere.start(dataDir);
    await server.stop();
  });

  it.skipIf(process.getuid?.() !== 0)(
    "is refused in the data folder if another user planted it",
    async () => {
      const dataDir = await usedFolder();
      for (const name of ["ca.key", "service-accounts.key"]) {
        const file = path.join(dataDir, "pki", name);
        chownSync(file, 65_534, 65_534);
        expect(await refusal(dataDir)).toContain(`${file} belongs to the user 65534`);
        chownSync(file, 0, 0);
      }
    },
  );

  it("is refused if a flag names it, and accepted with a warning if only its group can write it", async () => {
    const folder = newFolder();
    const { serving } = createServingCertificates(["localhost", "127.0.0.1"]);
    const [cert, key, tokens] = ["tls.crt", "tls.key", "tokens.csv"].map((name) => path.join(folder, name));
    writeFileSync(cert!, serving.certificate);
    writeFileSync(key!, serving.key);
    writeFileSync(tokens!, "token,ann,1\n");
    const flags = [
      `--tls-cert-file=${cert}`,
      `--tls-private-key-file=${key}`,
      `--service-account-key-file=${key}`,
      `--token-auth-file=${tokens}`,
    ];
    const dataDir = path.join(folder, "data");
    for (const [file, flag] of [
      [key!, "--tls-private-key-file"],
      [tokens!, "--token-auth-file"],
    ] as const) {
      chmodSync(file, 0o666);
      expect(await refusal(dataDir, ...flags)).toContain(`${flag}: ${file} can be written`);
      chmodSync(file, 0o660);
    }
    // Anyone may read a certificate, and one that was replaced doesn't match its key.
    chmodSync(cert!, 0o666);
    const server = await ServerHere.start(dataDir, ...flags);
    await server.stop();
    for (const flag of ["tls-private-key-file", "service-account-key-file", "token-auth-file"])
      expect(server.log()).toContain(
        `--${flag}: ${flag === "token-auth-file" ? tokens : key} can be written by its group`,
      );
  });

  it("is refused as the default kubeconfig of a command", () => {
    const folder = newFolder();
    mkdirSync(path.join(folder, ".plinth"));
    const file = path.join(folder, ".plinth/admin.kubeconfig");
    writeFileSync(file, "{}");
    chmodSync(file, 0o666);
    const { KUBECONFIG: _, ...env } = process.env;
    const words = [program, "auth", "who-can", "get", "pods"];
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, env, encoding: "utf8" });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("admin.kubeconfig can be written by other users"),
    ]);
  });
});
