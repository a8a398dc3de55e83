import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWithUsers } from "../api/support.ts";
import type { TestServer } from "../support/api.ts";
import { blocksOf, type CodeBlock } from "../support/pages.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([], { runtimeConfig: "api/alpha=true" });
  writeFileSync(kubeconfig, server.server.kubeconfig(), { mode: 0o600 });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const manifests = (name: string, text: string) => {
  const file = path.join(folder.path, name);
  writeFileSync(file, text);
  return file;
};
const apply = (...words: readonly string[]) =>
  plinthHere("apply", "--atomic", `--kubeconfig=${kubeconfig}`, ...words);

const shop = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: tx-shop}
data: {colour: blue}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: no-namespace}
---
apiVersion: v1
kind: Namespace
metadata: {name: tx-shop}
`;

test("applies all objects of its files in one transaction, namespaces first", async () => {
  const file = manifests("shop.yaml", shop);
  const dry = await apply("-f", file, "--dry-run");
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining("dry run: nothing was written")]);
  expect((await server.admin.get("/api/v1/namespaces/tx-shop")).status).toBe(404);
  const { code, stdout, stderr } = await apply("-f", file);
  expect([code, stderr]).toEqual([0, ""]);
  const versions = await Promise.all(
    [
      "/api/v1/namespaces/tx-shop",
      "/api/v1/namespaces/tx-shop/configmaps/settings",
      "/api/v1/namespaces/default/configmaps/no-namespace",
    ].map(async (one) => (await server.admin.get(one)).body.metadata.resourceVersion as string),
  );
  expect(new Set(versions).size).toBe(1);
  expect(stdout).toBe(
    `namespace "tx-shop" created\nconfigmap "settings" created\nconfigmap "no-namespace" created\nall at resource version ${versions[0]}\n`,
  );
  // The second apply of a namespace records the fields of before.
  await apply("-f", file);
  expect((await apply("-f", file)).stdout).toMatch(/nothing changed\n$/);
});

test("the command of the page prints what it shows", async () => {
  const [{ text, output }] = blocksOf("docs/transactions.md", "sh apply") as [CodeBlock];
  const [, , , , name] = text.trim().split(" ");
  mkdirSync(path.join(folder.path, name!));
  manifests(`${name}/settings.yaml`, shop.split("---")[0]!.replace("tx-shop", "shop"));
  manifests(
    `${name}/web.yaml`,
    `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`,
  );
  const { stdout } = await apply("-f", path.join(folder.path, name!));
  const withoutVersion = (shown: string | undefined) => shown?.replace(/version \d+/, "version N");
  expect(withoutVersion(stdout)).toBe(withoutVersion(output));
});

test("writes nothing if an object is refused, and names its file", async () => {
  const bad = shop.replaceAll("tx-shop", "tx-bad").replace("colour: blue", "no colour: blue");
  const file = manifests("bad.yaml", bad);
  const { code, stdout, stderr } = await apply("-f", file);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("bad.yaml, document 1: ");
  expect(stderr).toContain('operation 2 (apply configmaps "settings" in namespace "tx-bad")');
  expect((await server.admin.get("/api/v1/namespaces/tx-bad")).status).toBe(404);
});

test("a duplicate key is refused, because only one of its values could be sent", async () => {
  const file = manifests("twice.yaml", shop.replace("colour: blue", "colour: blue, colour: red"));
  const { code, stderr } = await apply("-f", file);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/twice\.yaml, document 1: duplicate key .*colour/),
  ]);
});

test("a server that doesn't serve the alpha version is told with the flag", async () => {
  const plain = await startWithUsers([]);
  const other = path.join(folder.path, "plain");
  writeFileSync(other, plain.server.kubeconfig(), { mode: 0o600 });
  try {
    const { code, stderr } = await plinthHere(
      "apply",
      "--atomic",
      `--kubeconfig=${other}`,
      "-f",
      manifests("one.yaml", shop),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining("--runtime-config=api/alpha=true")]);
  } finally {
    await plain.close();
  }
});

test("bad usage and unreadable files are told", async () => {
  const usage = await plinthHere("apply", "-f", "x.yaml", `--kubeconfig=${kubeconfig}`);
  expect([usage.code, usage.stderr]).toEqual([2, expect.stringContaining("--atomic is needed")]);
  const nothing = await apply();
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("--filename is needed")]);
  const missing = await apply("-f", path.join(folder.path, "none.yaml"));
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("none.yaml")]);
  const scalar = await apply("-f", manifests("scalar.yaml", "a: 1\n---\n7\n"));
  expect([scalar.code, scalar.stderr]).toEqual([
    1,
    expect.stringContaining("scalar.yaml, document 2: not an object"),
  ]);
});
