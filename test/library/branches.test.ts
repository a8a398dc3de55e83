import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type ServerClient, type TestWorkspace } from "../../src/index.ts";
import type { KnownObjects } from "../../src/kinds/typed-objects.ts";
import type { Server } from "../../src/server/server.ts";
import { blockOf } from "../support/pages.ts";

let server: Server;
beforeAll(async () => {
  server = await createServer({ port: false, runtimeConfig: "api/alpha=true" });
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
});
afterAll(() => server.close());

type Client = Pick<ServerClient<KnownObjects>, "apply">;
const reference = (name: string) =>
  ({ apiVersion: "v1", kind: "ConfigMap", name, namespace: "shop" }) as const;
const set = (client: Client, name: string, colour: string, fieldManager: string) =>
  client.apply(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop" }, data: { colour } },
    { fieldManager, force: true },
  );
const colourOf = async (client: ServerClient<KnownObjects>, name: string) =>
  (await client.get(reference(name))).data?.["colour"];
const tenancy = "tenancy.platform.io";
const rbac = "rbac.authorization.platform.io";

/** Creates a branch in which devi, and then a server in which omar has changed the same field. */
async function conflictOf(name: string): Promise<TestWorkspace<KnownObjects>> {
  await set(server.client, name, "blue", "setup");
  const branch = await server.workspace(name, {});
  await set(branch.client, name, "green", "devi");
  await set(server.client, name, "red", "omar");
  return branch;
}

describe("a branch in the library", () => {
  test("shows its difference by object and field, with the text of plinth diff", async () => {
    await set(server.client, "settings", "blue", "setup");
    await set(server.client, "old", "blue", "setup");
    await using trial = await server.workspace("shown", {});
    expect(await trial.diff()).toEqual({
      message: "no object differs",
      objects: [],
      text: "no object differs\n",
    });
    await set(trial.client, "settings", "green", "devi");
    await trial.client.delete(reference("old"));
    await set(trial.client, "prices", "none", "devi");
    const { objects, text } = await trial.diff();
    expect(objects.map(({ action, name }) => `${action} ${name}`).toSorted()).toEqual([
      "changed settings",
      "created prices",
      "deleted old",
    ]);
    expect(text).toContain('changed configmap shop/settings\n  ~ .data.colour: "blue" -> "green"  (devi)\n');
    expect(text).toMatch(/3 objects differ\n$/);
    await using other = await server.workspace("other", { workspace: "shown" });
    expect((await trial.diff({ to: other.name })).message).toBe("no object differs");
    await set(server.client, "settings", "red", "omar");
    const [field] = (await trial.diff({ sinceStart: true })).objects.find(
      ({ name }) => name === "settings",
    )!.fields!;
    expect(field).toMatchObject({ from: '"blue"', to: '"green"' });
    await expect(trial.diff({ to: "other", sinceStart: true })).rejects.toMatchObject({ reason: "Invalid" });
  });

  test("is merged in one transaction, and then has nothing left to merge", async () => {
    await set(server.client, "merged", "blue", "setup");
    await using trial = await server.workspace("merged", {});
    await set(trial.client, "merged", "green", "devi");
    const plan = await trial.merge({ dryRun: true });
    expect([plan.message, plan.resourceVersion]).toEqual(["dry run: 1 object would be written", undefined]);
    expect(await colourOf(server.client, "merged")).toBe("blue");
    const { text, resourceVersion } = await trial.merge({ fieldManager: "release" });
    expect(text).toBe(
      `update configmap shop/merged\n  ~ .data.colour: "blue" -> "green"\n1 object written at resource version ${resourceVersion}\n`,
    );
    const { data, metadata } = await server.client.get(reference("merged"));
    expect([data, metadata.managedFields?.map(({ manager }) => manager)]).toEqual([
      { colour: "green" },
      expect.arrayContaining(["release"]),
    ]);
    expect((await trial.merge()).message).toBe("nothing is left to merge");
  });

  test("rejects with Conflict when both have changed a field, unless a strategy resolves it", async () => {
    await using trial = await conflictOf("conflict");
    const { conflicts, text } = await trial.merge({ dryRun: true });
    expect(conflicts).toMatchObject([
      { name: "conflict", path: ".data.colour", base: '"blue"', theirs: '"green"', ours: '"red"' },
    ]);
    expect(text).toContain('"blue" at the start, "green" by devi in conflict, "red" by omar in the base');
    await expect(trial.merge()).rejects.toMatchObject({
      reason: "Conflict",
      details: { causes: [{ field: ".data.colour" }] },
    });
    await trial.merge({ strategy: "ours" });
    expect(await colourOf(server.client, "conflict")).toBe("red");
    await trial.merge({ strategy: "theirs" });
    expect(await colourOf(server.client, "conflict")).toBe("green");
  });

  test("is merged into another workspace", async () => {
    await set(server.client, "into", "blue", "setup");
    await using trial = await server.workspace("into", {});
    await using target = await server.workspace("target", {});
    await set(trial.client, "into", "green", "devi");
    expect((await trial.merge({ into: "target" })).objects).toHaveLength(1);
    expect([await colourOf(target.client, "into"), await colourOf(server.client, "into")]).toEqual([
      "green",
      "blue",
    ]);
  });

  test("has a client of its new state after a rebase", async () => {
    await using trial = await conflictOf("rebased");
    await set(server.client, "later", "white", "omar");
    expect(await trial.client.find(reference("later"))).toBeUndefined();
    await expect(trial.rebase()).rejects.toMatchObject({ reason: "Conflict" });
    expect((await trial.rebase({ dryRun: true })).text).toContain(
      '"blue" at the start, "red" by omar in the base, "green" by devi in rebased',
    );
    const before = trial.client;
    await trial.rebase({ strategy: "ours" });
    expect(trial.client).not.toBe(before);
    expect([await colourOf(trial.client, "later"), await colourOf(trial.client, "rebased")]).toEqual([
      "white",
      "green",
    ]);
  });

  test("is what the page shows", async () => {
    const code = blockOf("docs/branches.md", "js library");
    await set(server.client, "page", "blue", "setup");
    const lines: string[] = [];
    const run = new Function("server", "settings", "console", `return (async () => { ${code} })()`);
    await run(server, reference("page"), { log: (line: string) => lines.push(line) });
    expect(lines.join("")).toContain('~ .data.colour: "blue" -> "green"');
    expect(await colourOf(server.client, "page")).toBe("green");
    await (await server.workspace("trial")).delete();
  });
});

describe("client.workspace", () => {
  test("has the rights of the client's user", async () => {
    await using trial = await server.workspace("rights", {});
    const devi = server.as("devi");
    await expect(devi.workspace("rights")).rejects.toThrow(/cannot access resource "workspaces"/);
    const rules = [{ verbs: ["access"], apiGroups: [tenancy], resources: ["workspaces"] }];
    await grant("devi", rules);
    const own = await devi.workspace("rights");
    await expect(own.diff()).rejects.toThrow(/User "devi" cannot create resource "workspacediffs"/);
    await expect(own.client.list({ apiVersion: "v1", kind: "Secret" })).rejects.toMatchObject({
      reason: "Forbidden",
    });
    const kinds = ["workspacediffs", "workspacemerges"];
    await grant("devi", [...rules, { verbs: ["create"], apiGroups: [tenancy], resources: kinds }]);
    await set(trial.client, "unreadable", "green", "setup");
    const { message, hidden } = await own.diff();
    expect([message, hidden]).toEqual(["no object differs; 1 object that you may not read left out", 1]);
    await expect(own.rebase()).rejects.toThrow(/cannot create resource "workspacerebases"/);
  });

  test("shows no value of a secret", async () => {
    await using trial = await server.workspace("secrets", {});
    const metadata = { name: "token", namespace: "shop" };
    await server.client.create({ apiVersion: "v1", kind: "Secret", metadata, stringData: { key: "aaaa" } });
    await trial.rebase();
    await trial.client.patch({ ...reference("token"), kind: "Secret" }, { stringData: { key: "bbbb" } });
    const { text } = await trial.diff();
    expect(text).toContain("changed secret shop/token\n  ~ .data.key: ");
    for (const value of ["aaaa", "bbbb"]) expect(text).not.toContain(Buffer.from(value).toString("base64"));
  });

  test("rejects an unknown workspace, one in a workspace, and a server without workspaces", async () => {
    await expect(server.client.workspace("missing")).rejects.toMatchObject({ reason: "NotFound" });
    await using trial = await server.workspace("inner");
    await expect(trial.client.workspace("inner")).rejects.toThrow("there are no workspaces in workspaces");
    await using plain = await createServer({ port: false });
    await expect(plain.client.workspace("x")).rejects.toThrow(/runtimeConfig: "api\/alpha=true"/);
  });
});

async function grant(name: string, rules: object[]): Promise<void> {
  const manifest = { apiVersion: `${rbac}/v1`, metadata: { name } };
  const roleRef = { apiGroup: rbac, kind: "ClusterRole", name };
  const subjects = [{ apiGroup: rbac, kind: "User", name }];
  await server.client.apply([
    { ...manifest, kind: "ClusterRole", rules },
    { ...manifest, kind: "ClusterRoleBinding", roleRef, subjects },
  ]);
}
