import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authFlags, runAuth } from "../../src/cli/auth/auth.ts";
import { read } from "../tidy/source-files.ts";
import { freePort } from "../support/process.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { TestServer } from "../support/api.ts";
import {
  RBAC,
  clusterRole,
  clusterRoleBinding,
  ok,
  refTo,
  role,
  roleBinding,
  startWithUsers,
  user,
} from "../api/support.ts";

const folder = temporaryFolder();
const file = (name: string) => path.join(folder.path, name);
let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([{ name: "ann" }]);
  const { admin } = server;
  const ns = `${RBAC}/namespaces/default`;
  const rules = [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }];
  await ok(admin.post(`${ns}/roles`, role("look", rules)));
  await ok(
    admin.post(`${ns}/rolebindings`, roleBinding("look", refTo("Role", "look"), [user("ann"), user("ben")])),
  );
  const nodes = [
    { verbs: ["get"], apiGroups: [""], resources: ["nodes"] },
    { verbs: ["get"], nonResourceURLs: ["/metrics"] },
  ];
  await ok(admin.post(`${RBAC}/clusterroles`, clusterRole("nodes", nodes)));
  await ok(
    admin.post(
      `${RBAC}/clusterrolebindings`,
      clusterRoleBinding("nodes", refTo("ClusterRole", "nodes"), [user("ben")]),
    ),
  );
  writeFileSync(file("config"), server.server.kubeconfig());
  writeFileSync(file("ca.crt"), server.server.caCertificate!);
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** What the command writes, with these words and the test's client configuration. */
async function ask(...words: string[]): Promise<string> {
  let text = "";
  expect(await runAuth(words, { KUBECONFIG: file("config") }, (part) => (text += part))).toBe(0);
  return text;
}

/** As {@link ask}, for programs. */
const askJson = async (...words: string[]) =>
  JSON.parse(await ask(...words, "-o", "json")) as {
    spec: object;
    status: { subjects: { name: string }[]; continue?: string };
  };

const fails = (
  words: string[],
  message: string | RegExp,
  environment: NodeJS.ProcessEnv = { KUBECONFIG: file("config") },
) => expect(runAuth(words, environment, () => undefined)).rejects.toThrow(message);

describe("plinth auth", () => {
  it.each<[string, string[], string]>([
    ["a short name", ["po"], "get pods in the namespace default"],
    ["a singular", ["pod", "web"], "get pods web in the namespace default"],
    ["a subresource", ["pods/log"], "get pods/log in the namespace default"],
    ["a group", ["deployments.apps"], "get deployments.apps in the namespace default"],
    ["a resource without namespaces", ["nodes"], "get nodes"],
    ["every namespace", ["pods", "-A"], "get pods in every namespace"],
    ["another namespace", ["pods", "-n", "web"], "get pods in the namespace web"],
    ["a path", ["/metrics"], "get /metrics"],
    ["what isn't served", ["things.example.org"], "get things.example.org in the namespace default"],
  ])("understands %s", async (_what, words, text) => {
    expect((await ask("who-can", "get", ...words)).split("\n")[0]).toBe(`who can ${text}:`);
  });

  it("why adds the implied groups of users and service accounts, except with --exact", async () => {
    const groups = async (...words: string[]) =>
      ((await askJson("why", ...words, "get", "pods")).spec as { groups?: string[] }).groups;
    expect(await groups("ann", "--group=a,b")).toEqual(["a", "b", "system:authenticated"]);
    expect(await groups("system:serviceaccount:web:bot")).toEqual([
      "system:serviceaccounts",
      "system:serviceaccounts:web",
      "system:authenticated",
    ]);
    expect(await groups("ann", "--exact")).toBeUndefined();
  });

  it.each([
    [["get", "podz"], 'note: this server has no resource "podz"; did you mean pods?'],
    [
      ["get", "deploymets.apps"],
      'note: this server has no resource "deploymets.apps"; did you mean deployments.apps?',
    ],
    [["frob", "pods"], 'note: there is no verb "frob"'],
    [["lst", "pods"], 'note: there is no verb "lst"; did you mean list?'],
    [
      ["patch", "tokenreviews"],
      "note: tokenreviews has no requests with the verb patch; its verbs are create",
    ],
  ])("who-can and why name what doesn't exist: %s", async (words, note) => {
    for (const question of [["who-can"], ["why", "ann"]])
      expect((await ask(...question, ...words)).trimEnd().split("\n").at(-1)).toBe(note);
  });

  it.each([
    "get pods",
    "impersonate users",
    "bind clusterroles",
    "* *",
    "get pods/log",
    "create pods/binding",
  ])("who-can adds no note to %s", async (action) => {
    expect(await ask("who-can", ...action.split(" "))).not.toContain("note:");
  });

  it("who-can follows pages up to its limit", async () => {
    const one = await ask("who-can", "list", "pods", "--limit=1");
    expect(one).toContain("there are more: see --limit");
    const all = await askJson("who-can", "list", "pods");
    const names = all.status.subjects.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["ann", "ben", "system:masters"]));
    expect(all.status.continue).toBeUndefined();
  });

  it("matrix shows verbs by resource; without arguments only allowed resources", async () => {
    const named = await ask("matrix", "ben", "pods", "nodes", "--exact");
    expect(named.split("\n").map((line) => line.split(/ +/).slice(0, 5).join(" "))).toEqual([
      "RESOURCE GET LIST WATCH CREATE",
      "pods yes yes no no",
      "nodes yes no no no",
      "",
    ]);
    const inNamespace = await ask("matrix", "ben", "--exact");
    expect(inNamespace).toMatch(
      /^RESOURCE.*\npods +yes +yes.*\nnothing is allowed on \d+ other resources\n$/,
    );
    const everywhere = await ask("matrix", "ben", "--exact", "-A");
    expect(everywhere).toMatch(
      /^RESOURCE.*\nnodes +yes +no.*\npods +some namespaces +some namespaces +no.*\nnothing/,
    );
    expect(everywhere).toMatch(/\nsome namespaces:\n {2}get, list pods: default\n$/);
    const { resources } = JSON.parse(await ask("matrix", "ben", "pods", "--exact", "-A", "-o", "json")) as {
      resources: { inNamespaces?: object }[];
    };
    expect(resources[0]!.inNamespaces).toEqual([{ verbs: ["get", "list"], namespaces: ["default"] }]);
  });

  it("uses the credentials of the flags, and reports rejections of the server", async () => {
    const url = server.server.url!;
    const words = [`--server=${url}`, `--ca=${file("ca.crt")}`];
    let text = "";
    const admin = [...words, `--token=${server.server.adminToken}`];
    await runAuth(["why", "ann", "get", "pods", ...admin], {}, (part) => (text += part));
    expect(text).toMatch(/^yes: ann/);
    await fails(
      ["why", "ann", "get", "pods", ...words, "--token=ann"],
      /the server answers 403: .*"ann" cannot create resource "accessexplanations"/,
    );
    await fails(["why", "ann", "get", "pods", ...words, "--token=wrong"], /the server answers 401/);
    await fails(["why", "ann", "get", "pods", `--server=${url}`], /can't be reached: .*certificate/);
  });

  it("reads relative files, contexts and namespaces of kubeconfigs", async () => {
    const config = JSON.parse(server.server.kubeconfig()) as {
      clusters: [{ cluster: Record<string, string> }];
      users: [{ user: Record<string, string> }];
      contexts: object[];
    };
    mkdirSync(file("beside"), { recursive: true });
    const [{ cluster }] = config.clusters;
    delete cluster["certificate-authority-data"];
    cluster["certificate-authority"] = "../ca.crt";
    writeFileSync(file("beside/token"), `${config.users[0].user["token"]}\n`);
    config.users[0].user = { tokenFile: "token" };
    config.contexts.push({ name: "web", context: { cluster: "plinth", user: "admin", namespace: "web" } });
    writeFileSync(file("beside/config"), JSON.stringify(config));
    const text = await ask(
      "who-can",
      "get",
      "pods",
      `--kubeconfig=${file("beside/config")}`,
      "--context=web",
    );
    expect(text).toContain("get pods in the namespace web:");
  });

  it.each<[string, string[], string]>([
    ["no question", [], "no question; there are why, who-can, matrix, visible"],
    ["an unknown question", ["what"], 'the question "what"'],
    ["no user", ["why"], "a user is needed"],
    ["no resource", ["why", "ann", "get"], "a verb and a resource are needed"],
    ["too many words", ["who-can", "get", "pods", "a", "b"], 'unexpected argument "b"'],
    ["a name of a path", ["who-can", "get", "/metrics", "a"], "a URL path has no name"],
    ["an unknown resource", ["matrix", "ann", "things"], '"things" is no resource that this server serves'],
    ["an unknown flag", ["why", "ann", "get", "pods", "--grp=a"], "unknown flag --grp"],
    ["an unknown letter", ["why", "ann", "get", "pods", "-x"], 'unexpected argument "-x"'],
    ["an unknown form", ["why", "ann", "get", "pods", "-o", "xml"], "is not one of text, json"],
    [
      "both namespaces",
      ["why", "ann", "get", "pods", "-A", "-n", "x"],
      "--namespace and --all-namespaces exclude each other",
    ],
    [
      "two servers",
      ["why", "ann", "get", "pods", "--server=https://a", "--context=b"],
      "--context and --server exclude each other",
    ],
    [
      "an authority of no server",
      ["why", "ann", "get", "pods", "--ca=x"],
      "--ca is given with --server only",
    ],
    [
      "no address",
      ["why", "ann", "get", "pods", "--server=127.0.0.1"],
      '"127.0.0.1" is no address of a server',
    ],
    [
      "no file",
      ["why", "ann", "get", "pods", "--kubeconfig=/nowhere/config"],
      "/nowhere/config: the file doesn't exist",
    ],
    ["no context", ["why", "ann", "get", "pods", "--context=b"], 'contexts: has no entry named "b"'],
  ])("says what is wrong: %s", async (_what, words, message) => {
    await fails(words, message);
  });

  it("reports errors of a kubeconfig", async () => {
    const words = ["why", "ann", "get", "pods"];
    await fails(words, "no server: set --kubeconfig", { HOME: folder.path, KUBECONFIG: file("none") });
    writeFileSync(file("broken"), "a: [");
    await fails(words, "broken: ", { KUBECONFIG: file("broken") });
    writeFileSync(file("list"), "[]");
    await fails(words, "the file: is not an object", { KUBECONFIG: file("list") });
    writeFileSync(
      file("exec"),
      readFileSync(file("config"), "utf8").replace(/"token": "[^"]*"/, '"exec": {}'),
    );
    await fails(words, "user.exec: programs that fetch credentials are not supported", {
      KUBECONFIG: file("exec"),
    });
  });

  it("the program ends with 2 for wrong usage, with 1 for a server that can't be reached, and shows its flags", async () => {
    expect(await plinthHere("auth")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("plinth: no question"),
    });
    const nobody = await plinthHere(
      "auth",
      "why",
      "ann",
      "get",
      "pods",
      `--server=https://127.0.0.1:${await freePort()}`,
    );
    expect(nobody).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^plinth: https:\S+ can't be reached: [^\n]+\n$/),
    });
    const help = await plinthHere("auth", "--help");
    expect([help.code, help.stdout]).toEqual([
      0,
      expect.stringContaining("plinth auth who-can VERB RESOURCE"),
    ]);
    const documented = read("docs/commands.md").split("## Authorization queries")[1]!;
    const rows = [
      ...documented.matchAll(/^- (?:`-[a-zA-Z]`, )?`--([a-z-]+)` \([a-z]+(?:, default `([^`]+)`)?\): /gm),
    ];
    expect(rows.map((row) => [row[1], row[2] ?? ""])).toEqual(
      authFlags.map(({ name, default: byDefault }) => [name, byDefault]),
    );
    for (const name of ["--namespace", "--group", "--kubeconfig", "--server", "--token", "--ca"])
      expect(help.stdout).toContain(name);
  });
});
