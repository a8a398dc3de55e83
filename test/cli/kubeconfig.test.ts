import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kubeconfigFlags } from "../../src/cli/kubeconfig/kubeconfig.ts";
import { plinthHere } from "../support/program-here.ts";
import { root } from "../support/root.ts";
import { ServerHere } from "../support/server-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

const folder = useTemporaryFolders();

const data = temporaryFolder();
let server: ServerHere;
beforeAll(async () => {
  server = await ServerHere.start(data.path, "--vocabulary=kubernetes");
});
afterAll(async () => {
  await server.stop();
  data.remove();
});

const run = (...words: readonly string[]) =>
  plinthHere("kubeconfig", `--data-dir=${server.dataDir}`, ...words);
const read = (file: string) => parse(readFileSync(file, "utf8"));
/** Asks the server with a kubeconfig. */
const why = (file: string, ...words: readonly string[]) =>
  plinthHere("auth", "why", ...words, `--kubeconfig=${file}`);

describe("plinth kubeconfig", () => {
  it("prints the administrator's kubeconfig with the context plinth", async () => {
    const { code, stdout } = await run();
    expect(code).toBe(0);
    const config = JSON.parse(stdout);
    const written = JSON.parse(readFileSync(server.administrator, "utf8"));
    expect(config["current-context"]).toBe("plinth");
    expect(config.clusters[0].cluster).toEqual(written.clusters[0].cluster);
    expect(config.users[0].user).toEqual(written.users[0].user);
  });

  it("has another address with --server", async () => {
    const { stdout } = await run("--server=https://api.example.com");
    expect(JSON.parse(stdout).clusters[0].cluster).toMatchObject({ server: "https://api.example.com" });
  });

  it("has a certificate for a user and groups with --user and --group", async () => {
    const { stdout } = await run("--user=devi", "--group=shop-developers,ops", "--days=2");
    const file = path.join(folder(), "devi.kubeconfig");
    writeFileSync(file, stdout);
    expect(JSON.parse(stdout)["current-context"]).toBe("plinth-devi");
    expect((await plinthHere("auth", "who-can", "get", "secrets", `--kubeconfig=${file}`)).stderr).toContain(
      '"devi"',
    );
    const admin = `--kubeconfig=${server.administrator}`;
    expect((await plinthHere("auth", "who-can", "get", "secrets", admin)).code).toBe(0);
  });

  it.each([
    [["--into=x"], 2, "--into needs --merge"],
    [["--group=a"], 2, "--group needs --user"],
    [["--user=devi", "--days=0"], 2, '--days: "0" is not an integer from 1 to 3650'],
    [["--server=http://a"], 2, '--server: "http://a" is not an https URL'],
    [
      ["--data-dir=/nonexistent"],
      1,
      "admin.kubeconfig doesn't exist: start a server with this data folder first",
    ],
  ])("%j fails with %i: %s", async (words, code, message) => {
    const result = await run(...words);
    expect([result.code, result.stdout]).toEqual([code, ""]);
    expect(result.stderr).toContain(message);
  });
});

it("plinth kubeconfig names a file in the data folder that is no kubeconfig", async () => {
  const dir = folder();
  const file = path.join(dir, "admin.kubeconfig");
  for (const [text, message] of [
    ["a: [", `plinth: ${file}: not YAML`],
    ["kind: Config", `plinth: ${file}: has no cluster and user`],
  ] as const) {
    writeFileSync(file, text);
    const { code, stderr } = await plinthHere("kubeconfig", `--data-dir=${dir}`);
    expect(code).toBe(1);
    expect(stderr.startsWith(message), stderr).toBe(true);
  }
});

describe("plinth kubeconfig --merge", () => {
  it("creates the file, readable by its owner only, with a context that works", async () => {
    const file = path.join(folder(), "new/.kube/config");
    const { code, stdout } = await run("--merge", `--into=${file}`);
    expect([code, stdout]).toEqual([0, `${file}: added the context plinth\ncurrent context: plinth\n`]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await why(file, "devi", "get", "pods")).stdout).toMatch(/^no: devi/);
  });

  it("keeps other entries and comments, and says how to return to the former context", async () => {
    const file = path.join(folder(), "config");
    writeFileSync(
      file,
      `apiVersion: v1
kind: Config
# work
current-context: work
clusters:
  - {name: work, cluster: {server: "https://work.example.com"}} # the cluster at work
users:
  - name: me
    user: {token: abc}
contexts:
  - name: work
    context: {cluster: work, user: me}
preferences: {}
`,
    );
    const { stdout } = await run("--merge", `--into=${file}`);
    expect(stdout).toContain("current context: plinth; back with: kubectl config use-context work\n");
    const text = readFileSync(file, "utf8");
    expect(text).toContain("# work\n");
    expect(text).toContain("# the cluster at work");
    const config = read(file);
    expect(config["current-context"]).toBe("plinth");
    expect(config.clusters.map(({ name }: { name: string }) => name)).toEqual(["work", "plinth"]);
    expect(config.users[0]).toEqual({ name: "me", user: { token: "abc" } });
    expect(config.contexts[1]).toEqual({ name: "plinth", context: { cluster: "plinth", user: "plinth" } });
  });

  it("replaces its own entries when it runs again, and keeps the current context with --keep-current", async () => {
    const file = path.join(folder(), "config");
    writeFileSync(file, "current-context: work\nclusters: []\nusers: null\n");
    await run("--merge", `--into=${file}`, "--keep-current");
    const { stdout } = await run(
      "--merge",
      `--into=${file}`,
      "--keep-current",
      "--server=https://b.example.com",
    );
    expect(stdout).toBe(
      `${file}: replaced the context plinth\n` +
        "current context: work; change it with: kubectl config use-context plinth\n",
    );
    const { clusters, users, "current-context": current } = read(file);
    expect([clusters.length, users.length, current]).toEqual([1, 1, "work"]);
    expect(clusters[0].cluster.server).toBe("https://b.example.com");
  });

  it("follows a symbolic link and leaves it", async () => {
    const dir = folder();
    mkdirSync(path.join(dir, "real"));
    const [link, file] = [path.join(dir, "config"), path.join(dir, "real/config")];
    writeFileSync(file, "kind: Config\n");
    symlinkSync(file, link);
    expect((await run("--merge", `--into=${link}`)).code).toBe(0);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(read(file)["current-context"]).toBe("plinth");
  });

  it.each([
    ["[1]", "not a kubeconfig: it is not a map"],
    ["clusters: {}", "not a kubeconfig: clusters is not a list"],
    ["a: [", "not YAML"],
  ])("leaves the file %j as it is", async (text, message) => {
    const file = path.join(folder(), "config");
    writeFileSync(file, text);
    const { code, stderr } = await run("--merge", `--into=${file}`);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(existsSync(`${file}.lock`)).toBe(false);
  });

  it("refuses a file that another program has locked", async () => {
    const file = path.join(folder(), "config");
    writeFileSync(`${file}.lock`, "");
    const { code, stderr } = await run("--merge", `--into=${file}`);
    expect(code).toBe(1);
    expect(stderr).toContain(`delete ${file}.lock if none is running`);
    expect(existsSync(file)).toBe(false);
  });
});

it("docs/commands.md documents every flag of plinth kubeconfig", () => {
  const text = readFileSync(path.join(root, "docs/commands.md"), "utf8");
  const [, section = ""] = /\n### Kubeconfigs\n([^]*?)\n### /.exec(text) ?? [];
  const rows = [...section.matchAll(/^- `--([a-z-]+)` \([a-z]+(?:, default `([^`]+)`)?\): (.*)$/gm)];
  expect(rows.map((row) => [row[1], row[2] ?? "", row[3]])).toEqual(
    kubeconfigFlags.map(({ name, default: byDefault, doc }) => [name, byDefault, doc]),
  );
});
