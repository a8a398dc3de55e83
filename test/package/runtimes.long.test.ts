import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, describe, it } from "vitest";
import { root } from "../support/process.ts";
import { useInstalledPackage } from "./installed-package.ts";

/** Uses each entry of the package through `require`; prints what it got. */
const commonjs = readFileSync(path.join(root, "test/extensions/commonjs-program.cjs"), "utf8");
const modules = `
  import { createServer } from "plinth";
  const server = await createServer({ storage: { engine: "embedded", dir: process.argv[2] } });
  const answer = await fetch(new URL("/version", server.url)).catch((error) => error.cause.code);
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
  const { metadata } = await server.client.get({ apiVersion: "v1", kind: "Namespace", name: "team-a" });
  await server.close();
  console.log(JSON.stringify({ answer, name: metadata.name }));`;

describe.each(["22", "24"])("the installed package on Node %s", (version) => {
  // The package \`node\` of npm has the binary of a platform in an optional package.
  const installed = useInstalledPackage(`node-${process.platform}-${process.arch}@${version}`);
  const run = (...words: readonly string[]): string => {
    const node = path.join(installed.home, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
    const { stdout, stderr } = spawnSync(node, words, { cwd: installed.home, encoding: "utf8" });
    expect(stderr).toBe("");
    return stdout.trim();
  };

  it("serves from a data folder when a module imports it", () => {
    installed.write("program.mjs", modules);
    expect(run("--version")).toMatch(new RegExp(String.raw`^v${version}\.`));
    // The certificate is of an authority that Node doesn't know: the server answered with TLS.
    expect(JSON.parse(run("program.mjs", "data"))).toEqual({
      answer: "SELF_SIGNED_CERT_IN_CHAIN",
      name: "team-a",
    });
  });

  it("serves when a program requires it", () => {
    installed.write("program.cjs", commonjs);
    expect(JSON.parse(run("program.cjs"))).toMatchObject({ item: "tea", refused: "no maps", cases: true });
  });

  it("has the command plinth", () => {
    const text = run("node_modules/plinth/dist/plinth.js", "version");
    expect(text).toMatch(
      new RegExp(String.raw`^plinth \d+\.\d+\.\d+, API releases 1\.26 to 1\.37, node v${version}\.`),
    );
  });
});

describe("the installed package in Jest", () => {
  const installed = useInstalledPackage("jest@30.5.2");

  it("serves in several test files of one process, without flags of Node", () => {
    installed.write("package.json", '{ "private": true }\n');
    const file = (name: string) => `
      const { createServer, StatusError } = require("plinth");
      const { ConfigMap } = require("plinth/kinds");
      test("a server in memory has the objects that were created", async () => {
        const server = await createServer({ port: false });
        const kind = { apiVersion: "v1", kind: ConfigMap.name };
        const one = { name: "one", namespace: "default" };
        await expect(server.client.get({ ...kind, ...one })).rejects.toBeInstanceOf(StatusError);
        await server.client.create({ ...kind, metadata: one });
        await expect(server.client.get({ ...kind, ...one })).resolves.toMatchObject({ metadata: { name: "one" } });
        await server.close();
      });
      test("a server with a data folder starts", async () => {
        const server = await createServer({ storage: { engine: "embedded", dir: "./data-${name}" } });
        expect(server.url).toMatch(/^https:/);
        await server.close();
      });`;
    installed.write("one.test.js", file("one"));
    installed.write("two.test.js", file("two"));
    const jest = path.join(installed.home, "node_modules/jest/bin/jest.js");
    const words = [jest, "--runInBand", "--json", "--silent"];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: installed.home, encoding: "utf8" });
    expect(stderr).not.toMatch(/ExperimentalWarning|did not exit|open handles/);
    expect(JSON.parse(stdout), stdout).toMatchObject({ numPassedTests: 4, numFailedTests: 0 });
  }, 60_000);

  it("runs the example of tests", () => {
    const example = path.join(installed.home, "example");
    cpSync(path.join(root, "examples/testing"), example, { recursive: true });
    const jest = path.join(installed.home, "node_modules/jest/bin/jest.js");
    const words = [jest, "--runInBand", "--json", "--silent", "--rootDir=example/jest"];
    const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: installed.home, encoding: "utf8" });
    expect(stderr).not.toMatch(/ExperimentalWarning|did not exit|open handles/);
    expect(JSON.parse(stdout), stdout).toMatchObject({ numPassedTests: 8, numFailedTests: 0 });
  });
});

describe("the installed package in Bun", () => {
  const platform = `${process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
  const installed = useInstalledPackage(`@oven/bun-${platform}@1.4.5`);

  it("runs the example of tests, which has requests over HTTPS", () => {
    const example = path.join(installed.home, "example");
    cpSync(path.join(root, "examples/testing/bun"), example, { recursive: true });
    const bun = path.join(installed.home, `node_modules/@oven/bun-${platform}/bin/bun`);
    const { status, stderr } = spawnSync(bun, ["test", "example"], { cwd: installed.home, encoding: "utf8" });
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("2 pass");
  });
});
