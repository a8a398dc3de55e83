import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import { createServer, type CreateServerOptions, type Server } from "../../src/index.ts";
import { Api } from "../support/api.ts";
import { isInstalled } from "../support/installed.ts";
import { PageShell } from "../support/page-shell.ts";
import { blockOf, blocksOf, type CodeBlock } from "../support/pages.ts";
import { root } from "../support/root.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const examples = path.join(root, "examples/documents");
const folder = useTemporaryFolders();

type Block = Pick<CodeBlock, "text" | "output">;

// One program, which begins on the first page and continues on the second.
const blocks = [
  ...blocksOf("docs/authorization.md", "js documents"),
  ...blocksOf("docs/authorization-questions.md", "js documents"),
];

const separator = "--- next block ---\n";

/** The outputs of blocks that ran in one process, beside those that the page shows. */
function compare(blocks: readonly Block[], stdout: string, rewrite = (text: string) => text): void {
  const outputs = stdout.split(separator);
  expect(outputs).toHaveLength(blocks.length);
  for (const [index, { text, output }] of blocks.entries()) {
    if (output !== undefined) expect(outputs[index]!.trimEnd(), text).toBe(rewrite(output).trimEnd());
  }
}

const inKubernetes = (text: string) => text.replaceAll("platform.io", "k8s.io");

/** Copies the example into a folder that has the package, with each file rewritten. */
function copyOfExample(rewrite = (text: string) => text): string {
  const home = folder();
  cpSync(examples, home, { recursive: true });
  for (const name of ["documents.mjs", "roles.yaml", "acme.yaml"]) {
    const file = path.join(home, name);
    writeFileSync(file, rewrite(readFileSync(file, "utf8")));
  }
  mkdirSync(path.join(home, "node_modules"));
  symlinkSync(root, path.join(home, "node_modules/plinth"));
  return home;
}

/** Runs blocks of the page as one program in a copy of the example. */
function runProgram(blocks: readonly Block[], rewrite?: (text: string) => string): string {
  const home = copyOfExample(rewrite);
  const code = blocks.map(({ text }) => rewrite?.(text) ?? text);
  const print = `process.stdout.write(${JSON.stringify(separator)});\n`;
  writeFileSync(path.join(home, "page.mjs"), code.join(print));
  const { status, stdout, stderr } = spawnSync(process.execPath, ["page.mjs"], {
    cwd: home,
    encoding: "utf8",
  });
  expect(status, stderr).toBe(0);
  return stdout;
}

describe("the program of docs/authorization.md and authorization-questions.md", () => {
  it("is shown as it is in the example, and has about 30 lines", () => {
    const files = [
      ...blocksOf("docs/authorization.md", "* file=examples/*"),
      ...blocksOf("docs/authorization-service.md", "* file=examples/*"),
    ].map(({ info, text }) => ({
      file: info.replace(/^.* file=/, ""),
      text,
    }));
    expect(files.map(({ file }) => path.basename(file))).toEqual([
      "roles.yaml",
      "acme.yaml",
      "documents.mjs",
      "service.yaml",
    ]);
    for (const { file, text } of files) expect(text).toBe(readFileSync(path.join(root, file), "utf8"));
    const lines = readFileSync(path.join(examples, "documents.mjs"), "utf8").split("\n");
    expect(lines.filter((line) => !/^\s*(?:$|\/\/|\/\*\*)/.test(line)).length).toBeLessThanOrEqual(30);
  });

  it("prints what the pages show", () => {
    expect(blocks.filter(({ output }) => output === undefined)).toHaveLength(1);
    const stdout = runProgram(blocks);
    compare(blocks, stdout);
    expect(stdout).toMatch(/\{ single: \d+, bulk: \d+, shares: \d+ \}\n$/);
  });

  if (effort(false, true))
    it("prints the same with the names of the Kubernetes vocabulary", () => {
      const rewrite = (text: string) =>
        inKubernetes(text).replace("port: false,", 'port: false, vocabulary: "kubernetes",');
      const close = { text: "await server.close();", output: undefined };
      const printing = [...blocks.filter(({ output }) => output !== undefined), close];
      compare(printing, runProgram(printing, rewrite), rewrite);
    });
});

describe("the commands of docs/authorization-service.md", () => {
  const shell = new PageShell();
  let admin: Api;
  beforeAll(async () => {
    await shell.run(blockOf("docs/authorization-service.md", "sh start"));
    const { url } = shell.servers[0]!;
    shell.env["SERVER"] = url;
    const ca = readFileSync(path.join(shell.folder, ".plinth-documents/pki/ca.crt"), "utf8");
    admin = new Api(url, ca, "Bearer admin-token");
  });
  afterAll(async () => {
    admin.close();
    await shell.close();
  });

  it.skipIf(!isInstalled("curl"))("print what the page shows (skipped where curl is missing)", async () => {
    const commands = blocksOf("docs/authorization-service.md", "sh documents");
    expect(commands.every(({ output }) => output !== undefined)).toBe(true);
    const [load, ...requests] = commands;
    await shell.show([load!]);
    await aggregated(admin);
    // The environment of the first block is that of the others.
    shell.env["CA"] = ".plinth-documents/pki/ca.crt";
    await shell.show(requests.slice(0, -1));
    // The event of the last request is written when the server answers the next one.
    await admin.get("/version");
    await shell.show(requests.slice(-1));
  });

  it("a check in another process over the same folder sees a revoked grant", async () => {
    const reader = await createServer({
      port: false,
      storage: { engine: "embedded", dir: path.join(shell.folder, ".plinth-documents/store") },
    });
    try {
      await admin.post("/api/v1/namespaces", { metadata: { name: "initech" } });
      const bindings = "/apis/rbac.authorization.platform.io/v1/namespaces/initech/rolebindings";
      const may = () =>
        reader
          .as("zoe")
          .can("get", "documents", { group: "documents.example.com", namespace: "initech", name: "a" });
      for (let round = 0; round < 20; round++) {
        expect((await admin.post(bindings, bindingOf("document-viewer", "zoe"))).status).toBe(201);
        expect(await may()).toBe(true);
        expect((await admin.delete(`${bindings}/zoe`)).status).toBe(200);
        expect(await may()).toBe(false);
      }
    } finally {
      await reader.close();
    }
  });
});

/** Resolves when the aggregated roles of the example have their rules. */
async function aggregated(admin: Api): Promise<void> {
  const roles = "/apis/rbac.authorization.platform.io/v1/clusterroles";
  for (const name of ["document-editor", "document-owner"]) {
    const watch = await admin.watch(`${roles}?fieldSelector=metadata.name%3D${name}`);
    await watch.through(({ object }) => ((object as { rules?: unknown[] }).rules ?? []).length > 0);
    watch.close();
  }
}

function bindingOf(role: string, user: string, kind = "ClusterRole") {
  const apiGroup = "rbac.authorization.platform.io";
  return {
    metadata: { name: user },
    roleRef: { apiGroup, kind, name: role },
    subjects: [{ apiGroup, kind: "User", name: user }],
  };
}

describe("what docs/authorization.md says of the model", () => {
  const apiVersion = "rbac.authorization.platform.io/v1";
  const group = "documents.example.com";
  let server: Server;
  const start = async (options: CreateServerOptions = {}) => {
    server = await createServer({ port: false, ...options });
    await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "acme" } });
  };
  afterEach(() => server.close());

  /** Grants `get` on resources with these names to the user bo. */
  async function grant(name: string, resources: string[], resourceNames: string[]): Promise<void> {
    const rules = [{ apiGroups: [group], resources, resourceNames, verbs: ["get"] }];
    await server.client.apply([
      { apiVersion, kind: "Role", metadata: { name, namespace: "acme" }, rules },
      {
        apiVersion,
        kind: "RoleBinding",
        ...bindingOf(name, "bo", "Role"),
        metadata: { name, namespace: "acme" },
      },
    ]);
  }
  const may = (resource: string, name: string) =>
    server.as("bo").can("get", resource, { group, namespace: "acme", name });

  it("names of documents are any text, and subresources are parts of types", async () => {
    await start();
    await grant("one", ["documents"], ["Plan 2031/draft α"]);
    await grant("comments", ["*/comments"], []);
    expect(await may("documents", "Plan 2031/draft α")).toBe(true);
    expect(await may("documents", "Plan 2031")).toBe(false);
    expect(await may("documents", "")).toBe(false);
    expect(await may("documents/comments", "any")).toBe(true);
    await grant("parts", ["documents/*"], []);
    expect(await may("documents/history", "any")).toBe(false);
    await expect(server.as("bo").can("get", "documents")).rejects.toMatchObject({ reason: "NotFound" });
  });

  it("a role has 30,000 names, but not 100,000", async () => {
    await start();
    const names = Array.from(
      { length: 100_000 },
      (_, index) => `0190a1b2-7c3d-7e4f-8a5b-${String(index).padStart(12, "0")}`,
    );
    await grant("many", ["documents"], names.slice(0, 30_000));
    expect(await may("documents", names[29_999]!)).toBe(true);
    expect(await may("documents", names[30_000]!)).toBe(false);
    await expect(grant("more", ["documents"], names)).rejects.toThrow("larger than 3145728 bytes");
  });

  it("an update of a changed binding is a Conflict, and a namespace has the account default and takes its grants along", async () => {
    await start();
    await grant("one", ["documents"], ["a"]);
    const reference = { apiVersion, kind: "RoleBinding", name: "one", namespace: "acme" } as const;
    const account = { apiVersion: "v1", kind: "ServiceAccount", name: "default", namespace: "acme" } as const;
    await server.client.waitFor(account, (object) => object !== undefined);
    const read = await server.client.get(reference);
    await server.client.update({ ...read, subjects: [] });
    await expect(server.client.update(read)).rejects.toMatchObject({ reason: "Conflict" });
    await server.client.delete({ apiVersion: "v1", kind: "Namespace", name: "acme" });
    await server.client.waitFor(reference, (binding) => binding === undefined);
  });

  it("the audit log has no grants that are written in the process", async () => {
    const log = path.join(folder(), "grants.log");
    const policyFile = path.join(examples, "audit-policy.yaml");
    await start({ port: 0, audit: { policyFile, log: { path: log } } });
    await grant("one", ["documents"], ["a"]);
    expect(existsSync(log) ? readFileSync(log, "utf8") : "").toBe("");
  });
});
