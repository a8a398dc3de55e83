import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import { createServer } from "../../src/index.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { plinth, ServerProcess } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { clusterOf, readAsAdministrator } from "../support/administrator.ts";
import { plinthHere } from "../support/program-here.ts";

const folder = useTemporaryFolders();
const servers: ServerProcess[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function serve(dir: string, ...flags: readonly string[]): Promise<ServerProcess> {
  const server = await ServerProcess.start(dir, ...flags);
  servers.push(server);
  return server;
}

describe("a data folder that can't be used", () => {
  it.skipIf(!existsSync("/proc/self"))(
    "is said so within seconds, by the flag (skipped without /proc)",
    async () => {
      for (const dir of ["/proc/x", "/proc/x/y", "/proc"]) {
        const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${dir}`);
        expect(stderr).toContain(`--data-dir ${dir}: the folder can't be used: `);
        expect(stderr).not.toContain("    at ");
        expect(code).toBe(2);
      }
    },
  );

  it("is reported if its path is a file", async () => {
    const file = path.join(folder(), "file");
    writeFileSync(file, "");
    for (const dir of [file, path.join(file, "below")]) {
      const { code, stderr } = await plinthHere("serve", "--secure-port=0", `--data-dir=${dir}`);
      expect(stderr).toContain(`--data-dir ${dir}: `);
      expect(code).toBe(2);
    }
  });

  it.skipIf(!existsSync("/proc/self"))(
    "so is one for the client configuration (skipped without /proc)",
    () => {
      const { code, stderr } = plinth(
        "serve",
        "--secure-port=0",
        `--data-dir=${folder()}`,
        "--write-kubeconfig=/proc/x/admin",
      );
      expect(stderr).toContain("--write-kubeconfig /proc/x: the folder can't be used: ENOENT");
      expect(code).toBe(2);
    },
  );
});

describe("plinth check and backup of a folder without a store", () => {
  it.each(["check", "backup"])("%s says so and makes nothing", async (command) => {
    const dir = path.join(folder(), "nowhere");
    const to = path.join(folder(), "backup");
    const words = command === "backup" ? [`--to=${to}`] : [];
    const { code, stdout, stderr } = await plinthHere(command, `--data-dir=${dir}`, ...words);
    expect(stderr).toContain(`${dir}/store can't be used: there is no store in it`);
    expect(stdout).toBe("");
    expect(code).toBe(1);
    expect(existsSync(dir)).toBe(false);
    expect(existsSync(to)).toBe(false);
  });

  it("check reports a folder with other content", async () => {
    const dir = folder();
    mkdirSync(path.join(dir, "store"));
    expect(await plinthHere("check", `--data-dir=${dir}`)).toMatchObject({ code: 1 });
    expect(existsSync(path.join(dir, "store/data.mdb"))).toBe(false);
  });
});

describe("admin.kubeconfig", () => {
  it("is that of the first server while it runs; the second server has its own file", async () => {
    const dir = folder();
    const usual = path.join(dir, "admin.kubeconfig");
    const first = await serve(dir);
    const text = readFileSync(usual, "utf8");
    expect(clusterOf(text).server).toBe(first.url);
    const second = await serve(dir);
    expect(readFileSync(usual, "utf8")).toBe(text);
    const own = path.join(dir, `admin-${new URL(second.url).port}.kubeconfig`);
    expect(second.administrator).toBe(own);
    expect(clusterOf(readFileSync(own, "utf8")).server).toBe(second.url);
    expect(await readAsAdministrator(own, "/api/v1/namespaces/default")).toBe(200);
    await second.stop();
    expect(existsSync(own)).toBe(false);
    await first.stop();
    const third = await serve(dir);
    expect(third.administrator).toBe(usual);
    expect(clusterOf(readFileSync(usual, "utf8")).server).toBe(third.url);
  });

  it("is that of the first server also with an operator's certificate for another name", async () => {
    const dir = folder();
    const { serving } = createServingCertificates(["elsewhere.example"]);
    const [cert, key] = [path.join(dir, "tls.crt"), path.join(dir, "tls.key")];
    writeFileSync(cert, serving.certificate);
    writeFileSync(key, serving.key);
    const flags = [`--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`];
    const first = await serve(dir, ...flags);
    const second = await serve(dir, ...flags);
    expect(first.administrator).toBe(path.join(dir, "admin.kubeconfig"));
    expect(second.administrator).not.toBe(first.administrator);
  });

  it("is replaced for another address with the same port, and if it isn't a kubeconfig", async () => {
    const dir = folder();
    const usual = path.join(dir, "admin.kubeconfig");
    mkdirSync(dir, { recursive: true });
    writeFileSync(usual, "not a configuration");
    const first = await serve(dir);
    expect(first.administrator).toBe(usual);
    const { port } = new URL(first.url);
    await first.stop();
    const second = await serve(dir, "--bind-address=0.0.0.0", `--secure-port=${port}`);
    expect(second.administrator).toBe(usual);
    expect(clusterOf(readFileSync(usual, "utf8")).server).toBe(`https://localhost:${port}`);
  });

  it.each(effort(["::"], ["0.0.0.0", "::"]))(
    "has an address that can be reached with --bind-address=%s",
    async (address) => {
      const dir = folder();
      const server = await serve(dir, `--bind-address=${address}`);
      expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
      expect(clusterOf(readFileSync(server.administrator, "utf8")).server).toBe(server.url);
      expect(await readAsAdministrator(server.administrator, "/api/v1/namespaces/default")).toBe(200);
    },
  );

  it("has one in the library too", async () => {
    const server = await createServer({ host: "0.0.0.0" });
    expect(server.url).toMatch(/^https:\/\/localhost:\d+$/);
    expect(clusterOf(server.kubeconfig()).server).toBe(server.url);
    await server.close();
  });
});
