import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { program } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { plinthHere } from "../../support/program-here.ts";
import { install } from "./support.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const at = (...names: readonly string[]) => path.join(folder.path, ...names);
const programs = ["etcd", "kube-apiserver", "kubectl"];

/** Runs `plinth envtest` with a cache folder of its own. */
async function envtest(
  cache: string,
  ...words: readonly string[]
): Promise<{ code: number | null; stdout: string }> {
  const { XDG_CACHE_HOME: before } = process.env;
  process.env["XDG_CACHE_HOME"] = cache;
  try {
    const { code, stdout } = await plinthHere("envtest", ...words);
    return { code, stdout };
  } finally {
    if (before === undefined) delete process.env["XDG_CACHE_HOME"];
    else process.env["XDG_CACHE_HOME"] = before;
  }
}

/** As {@link envtest}, in a process of its own. */
async function envtestProcess(cache: string): Promise<{ code: number | null; stdout: string }> {
  const child = spawn(process.execPath, [program, "envtest"], {
    env: { ...process.env, XDG_CACHE_HOME: cache },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  child.stdout.on("data", (part) => (stdout += String(part)));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout };
}

describe("plinth envtest", () => {
  test("prints only the path of a folder in the user's cache with the three programs", async () => {
    const { code, stdout } = await envtest(at("cache"));
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\/.+\n$/)]);
    const assets = stdout.trimEnd();
    expect(path.dirname(assets)).toBe(at("cache/plinth/envtest"));
    expect(readdirSync(assets).toSorted()).toEqual(programs);
    for (const name of programs) expect(statSync(path.join(assets, name)).mode & 0o777).toBe(0o755);
  });

  test("doesn't touch files that are up to date and replaces others", async () => {
    const assets = (await envtest(at("again"))).stdout.trimEnd();
    const facts = () => statSync(path.join(assets, "etcd")).ino;
    const before = facts();
    expect((await envtest(at("again"))).stdout.trimEnd()).toBe(assets);
    expect(facts()).toBe(before);
    const text = readFileSync(path.join(assets, "etcd"), "utf8");
    writeFileSync(path.join(assets, "etcd"), text.replace("exec ", "exec older "));
    await envtest(at("again"));
    expect(readFileSync(path.join(assets, "etcd"), "utf8")).toBe(text);
  });

  test("writes a folder of its own for another release", async () => {
    const [first, later] = [await envtest(at("releases")), await envtest(at("releases"), "--release=1.37")];
    expect(later).toEqual({ code: 0, stdout: `${first.stdout.trimEnd()}-1.37\n` });
    const versionOf = (assets: string) =>
      spawnSync(path.join(assets, "kube-apiserver"), ["--version"], { encoding: "utf8" }).stdout;
    expect([first, later].map(({ stdout }) => versionOf(stdout.trimEnd()))).toEqual([
      "Kubernetes v1.26.0+plinth\n",
      "Kubernetes v1.37.0+plinth\n",
    ]);
  });

  test("writes one complete folder when several processes run at once", async () => {
    const results = await Promise.all([1, 2, 3].map(() => envtestProcess(at("several"))));
    expect(new Set(results.map(({ stdout }) => stdout)).size).toBe(1);
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readdirSync(results[0]!.stdout.trimEnd()).toSorted()).toEqual(programs);
  });
});

describe("plinth envtest --install", () => {
  test("writes the folder and its missing parents, and prints its absolute path", () => {
    const { status, stdout } = spawnSync(process.execPath, [program, "envtest", "--install", "a/b"], {
      cwd: folder.path,
      encoding: "utf8",
    });
    expect([status, stdout]).toEqual([0, `${at("a/b")}\n`]);
    expect(readdirSync(at("a/b")).toSorted()).toEqual(programs);
  });

  test("names the path when it is a file", async () => {
    writeFileSync(at("file"), "");
    expect(await plinthHere("envtest", `--install=${at("file")}`)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(`${at("file")} can't be written: `),
    });
  });

  test("keeps a program that it hasn't written", async () => {
    mkdirSync(at("foreign"));
    writeFileSync(at("foreign/kube-apiserver"), "\x7fELF");
    const { code, stderr } = await plinthHere("envtest", `--install=${at("foreign")}`);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("kube-apiserver was not written by plinth envtest"),
    ]);
    expect(readdirSync(at("foreign"))).toEqual(["kube-apiserver"]);
  });

  test.each([["--install="], ["--release=1.25"], ["--folder=x"], ["x"]])(
    "rejects %s with exit code 2",
    async (word) => {
      expect(await plinthHere("envtest", word)).toMatchObject({ code: 2, stdout: "" });
    },
  );
});

describe("programs of the folder", () => {
  let assets: string;
  beforeAll(() => {
    assets = install(at("it's an assets folder"));
  });
  const run = (name: string, words: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
    spawnSync(path.join(assets, name), words, { encoding: "utf8", env, timeout: 20_000 });
  /** As envtest searches the help text. */
  const hasFlag = (help: string, flag: string) => new RegExp(`^\\s*--${flag}\\b`, "m").test(help);

  test("kube-apiserver --help has envtest's flags but not --insecure-port", () => {
    const { status, stdout } = run("kube-apiserver", ["--help"]);
    expect(status).toBe(0);
    const flags = ["secure-port", "cert-dir", "client-ca-file", "etcd-servers", "service-account-issuer"];
    expect(flags.filter((flag) => !hasFlag(stdout, flag))).toEqual([]);
    expect(hasFlag(stdout, "insecure-port")).toBe(false);
    expect(stdout).toContain("keeps all objects in memory");
  });

  test("etcd --help has --unsafe-no-fsync and says that it isn't etcd", () => {
    const { status, stdout } = run("etcd", ["--help"]);
    expect(status).toBe(0);
    expect(hasFlag(stdout, "unsafe-no-fsync")).toBe(true);
    expect(stdout).toContain("This is not etcd");
  });

  test("--version prints one line", () => {
    expect(run("kube-apiserver", ["--version"]).stdout).toMatch(/^Kubernetes v1\.26\.\S+\n$/);
    expect(run("etcd", ["--version"]).stdout).toMatch(/^plinth .*this is not etcd.*\n$/);
  });

  test("kubectl runs the one of PATH with its arguments, and not itself", () => {
    mkdirSync(at("bin"));
    writeFileSync(at("bin/kubectl"), '#!/bin/sh\nprintf "%s|" "$@"\nexit 3\n');
    chmodSync(at("bin/kubectl"), 0o755);
    const PATH = `${assets}:${at("none")}:${at("bin")}:${process.env["PATH"]}`;
    const { status, stdout } = run("kubectl", ["get", "a b:c"], { ...process.env, PATH });
    expect([status, stdout]).toEqual([3, "get|a b:c|"]);
  });

  test("kubectl exits with 127 and a message when PATH has none", () => {
    const { status, stderr } = run("kubectl", ["version"], { PATH: assets });
    expect([status, stderr]).toEqual([127, expect.stringContaining("there is no kubectl in PATH")]);
    expect(existsSync(path.join(assets, "kubectl"))).toBe(true);
  });
});
