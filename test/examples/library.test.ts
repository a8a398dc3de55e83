import { buildSync } from "esbuild";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { blocksOf } from "../support/pages.ts";
import { root } from "../support/root.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const folder = useTemporaryFolders();
const examples = [
  ...blocksOf("docs/library.md", "ts example").map(({ text }) => text),
  ...blocksOf("README.md", "ts").map(({ text }) => text),
  // These examples have a server of their own, without the namespace of the others' object.
  ...blocksOf("docs/faults.md", "ts").map(({ text }) => `const object = database;\n${text}`),
];

const head = `
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import https from "node:https";
import { stringify } from "yaml";
import { createServer, createTestCertificate, declareGroup, definitionOf, explore, manualClock, validate, type FaultRule } from "plinth";
import { afterEach, database, deployment, execFileSync, expect, handler, Order, runController, runExample, runYourProgram } from "./library-world.ts";
`;

/** The objects that the examples expect, and the files that they read. */
const files = {
  "world.yaml": `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: developers, namespace: shop }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: shop-developers }]
---
apiVersion: v1
kind: ServiceAccount
metadata: { name: default, namespace: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: main, namespace: default, labels: { app: database } }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: stock, namespace: shop }
data: { left: "3" }
---
apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop }
spec: { containers: [{ name: web, image: web }] }
`,
  "config/crds/none.yaml": "",
  "test/manifests/shop.yaml": `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: loaded, namespace: shop }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: web }] }
`,
  "manifests/shop.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: colors, namespace: shop }\n",
};

/** A folder with the package, the files, and a program of all examples. */
function program(): string {
  const home = folder();
  mkdirSync(path.join(home, "node_modules"));
  for (const name of ["yaml", "@types", "undici-types"])
    symlinkSync(path.join(root, "node_modules", name), path.join(home, "node_modules", name));
  symlinkSync(root, path.join(home, "node_modules/plinth"));
  writeFileSync(path.join(home, "package.json"), '{ "private": true, "type": "module" }\n');
  cpSync(path.join(root, "test/examples/library-world.ts"), path.join(home, "library-world.ts"));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    writeFileSync(path.join(home, file), text);
  }
  const runs = examples.map((code) => {
    const text = code
      // The program imports the package once.
      .replace(/^import .* from "plinth";$/gm, "")
      // Fewer schedules take less time.
      .replace("seeds: 1000", "seeds: 20");
    const close = /^const server = /m.test(code) ? "await server.close();" : "";
    return `await runExample(async ({ server, client, devi, pod, object, start }) => {{\n${text}${close}\n}});`;
  });
  writeFileSync(path.join(home, "examples.ts"), `${head}\n${runs.join("\n")}\n`);
  return home;
}

function run(home: string, ...words: readonly string[]) {
  const { VITEST: _vitest, NODE_OPTIONS: _options, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: home, env, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

test("the examples of docs/library.md, docs/faults.md and README.md have correct types", () => {
  expect(examples.length).toBeGreaterThan(20);
  const home = program();
  const compiler = path.join(root, "node_modules/typescript/lib/tsc.js");
  const options = ["--noEmit", "--strict", "--target", "ES2023", "--module", "NodeNext", "--types", "node"];
  const { status, output } = run(home, compiler, ...options, "--allowImportingTsExtensions", "examples.ts");
  expect(status, output).toBe(0);
}, 60_000);

test("the examples of docs/library.md, docs/faults.md and README.md run", () => {
  const home = program();
  buildSync({
    entryPoints: [path.join(home, "examples.ts")],
    outfile: path.join(home, "examples.js"),
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  const { status, output } = run(home, "examples.js");
  expect(status, output).toBe(0);
}, 60_000);
