import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createAuthority } from "../../src/base/certificates/serving-certificates.ts";
import { program, root } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
function file(name: string, text: string): string {
  const place = path.join(folder.path, name);
  writeFileSync(place, text);
  return place;
}

/** Runs a program of Node whose reader leaves after the first bytes; its exit code, and what it wrote to standard error. */
async function readByHead(words: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += String(part)));
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stderr };
}

describe("a reader that leaves", () => {
  // More than a pipe holds.
  const manifests = Array.from({ length: 4000 }, (_, index) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `map-${index}` },
      data: { text: "x".repeat(200) },
    }),
  ).join("\n---\n");
  const properties = Object.fromEntries(
    Array.from({ length: 6000 }, (_, index) => [
      `property${index}`,
      { type: "string", description: "Words." },
    ]),
  );
  const schema = {
    openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } },
  };
  const definition = JSON.stringify({
    apiVersion: "apiextensions.platform.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });

  test.each<[string, () => readonly string[]]>([
    ["convert", () => [program, "convert", `-f=${file("manifests.yaml", manifests)}`]],
    ["types", () => [program, "types", `-f=${file("definition.json", definition)}`]],
    [
      "examples/apply.mjs",
      () => ["examples/apply.mjs", "--print=kubernetes", file("manifests.yaml", manifests)],
    ],
  ])("%s ends with exit code 0 and without a stack trace", async (_, words) => {
    // A busy machine sees the progress of a conversion that takes long.
    const stderr = expect.stringMatching(/^(?:converting .*: \d+ %\n)*$/);
    expect(await readByHead(words())).toEqual({ code: 0, stderr });
  });
});

describe("examples/apply.mjs", () => {
  const apply = (environment: Record<string, string>, ...words: readonly string[]) => {
    const { status, stderr } = spawnSync(process.execPath, ["examples/apply.mjs", ...words], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, ...environment },
    });
    return { status, lines: stderr.trimEnd().split("\n") };
  };
  const manifest = file("one.yaml", '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"one"}}');

  test("says in one line that the server can't be reached when it is down", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    taken.close();
    await once(taken, "close");
    const CA = file("ca.pem", createAuthority().certificate);
    const { status, lines } = apply({ SERVER: `https://127.0.0.1:${port}`, CA }, manifest);
    expect([status, lines]).toEqual([
      1,
      [expect.stringMatching(/^apply: .* can't be reached: .*ECONNREFUSED/)],
    ]);
  });

  test.each([
    ["the authority's file", { CA: path.join(folder.path, "none.pem") }, manifest, /none\.pem is missing/],
    ["a manifest", {}, path.join(folder.path, "none.yaml"), /none\.yaml/],
  ])("names %s in one line when it is missing", (_, environment, word, message) => {
    const { status, lines } = apply(environment, word);
    expect([status, lines]).toEqual([1, [expect.stringMatching(message)]]);
  });
});

describe("Node before version 20", () => {
  const older = file(
    "older.cjs",
    `Object.defineProperty(process, "version", { value: "v18.20.8" });
     Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });`,
  );

  test.each([
    ["npm start", [path.join(root, "scripts/ensure.mjs")]],
    ["plinth serve", [program, "serve", "--secure-port=0"]],
    ["plinth version", [program, "version"]],
    ["plinth", [program]],
  ])("gets one sentence from %s", (_, words) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--require", older, ...words], {
      cwd: folder.path,
      encoding: "utf8",
      timeout: 20_000,
    });
    expect([status, stdout, stderr]).toEqual([1, "", "plinth needs Node 20 or newer; this is v18.20.8\n"]);
  });
});
