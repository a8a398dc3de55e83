import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { blockOf } from "../support/pages.ts";
import { root } from "../support/root.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const folder = useTemporaryFolders();

/** A folder with the package and the manifests that the page names. */
function project(): string {
  const home = folder();
  mkdirSync(path.join(home, "node_modules"));
  symlinkSync(root, path.join(home, "node_modules/plinth"));
  const examples = path.join(root, "examples/testing/manifests");
  for (const [name, file] of [
    ["config/crds", "definition.yaml"],
    ["test/manifests", "roles.yaml"],
  ] as const) {
    mkdirSync(path.join(home, name), { recursive: true });
    writeFileSync(path.join(home, name, file), readFileSync(path.join(examples, file)));
  }
  return home;
}

function run(home: string, ...words: readonly string[]) {
  const { NODE_TEST_CONTEXT: _context, NODE_OPTIONS: _options, ...env } = process.env;
  return spawnSync(process.execPath, words, { cwd: home, env, encoding: "utf8" });
}

it("docs/testing.md: the first test passes", () => {
  const home = project();
  writeFileSync(path.join(home, "first.test.mjs"), blockOf("docs/testing.md", "js"));
  const { status, stdout } = run(home, "--test", "first.test.mjs");
  expect(status, stdout).toBe(0);
  expect(stdout).toMatch(/pass 1\b/);
});

it("docs/testing.md: the program with all members runs", () => {
  const home = project();
  const roles = path.join(home, "test/manifests/devi.yaml");
  writeFileSync(
    roles,
    `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: developers, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: shop-developers}]
`,
  );
  // Node 20 has no `await using`, and no types.
  const program = blockOf("docs/testing.md", "ts")
    .replace("await using server", "const server")
    .replace(" as const", "")
    .concat("\nawait server.close();\n");
  writeFileSync(path.join(home, "program.mjs"), program);
  const { status, stderr } = run(home, "program.mjs");
  expect(status, stderr).toBe(0);
});
