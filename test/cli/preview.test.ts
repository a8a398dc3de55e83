import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { WorkspacePreviewStatus } from "../../src/kinds/tenancy/workspace-preview.ts";
import { maps, tenancy, withBranches, within, workspacesPath } from "../api/branches-support.ts";
import { configMap, namespace, ok, startWithUsers, until } from "../api/support.ts";
import { roleFor } from "../api/workspaces-support.ts";
import type { TestServer } from "../support/api.ts";
import { blockOf } from "../support/pages.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([{ name: "devi" }], withBranches);
  writeFileSync(kubeconfig, server.server.kubeconfig(), { mode: 0o600 });
  await server.server.client.apply(configMap("settings", { colour: "blue" }));
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** Previews manifests in a file. */
const preview = (text: string, ...words: readonly string[]) => {
  const file = path.join(folder.path, "manifests.yaml");
  writeFileSync(file, text);
  return plinthHere("preview", `--kubeconfig=${kubeconfig}`, "-f", file, ...words);
};
const workspaces = async () => (await ok(server.admin.get(workspacesPath))).body.items as object[];
const withoutNotes = (text: string) => text.replaceAll(/^note: .*\n/gm, "");
const settings = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: green}
`;
test("prints what the page shows, changes nothing and leaves no branch", async () => {
  const [, command = "", ...words] = blockOf("docs/preview.md", "sh session").trim().split(" ");
  expect([command, ...words]).toEqual(["preview", "-f", "shop.yaml"]);
  const { code, stdout, stderr } = await preview(blockOf("docs/preview.md", "yaml manifests"));
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(blockOf("docs/preview.md", "text preview"));
  expect((await server.admin.get("/api/v1/namespaces/shop")).status).toBe(404);
  await until(workspaces, (all) => all.length === 0);
});

describe("the exit code", () => {
  test("is 1 with --exit-code if something would change, otherwise 0", async () => {
    expect((await preview(settings, "--exit-code")).code).toBe(1);
    const same = await preview(settings.replace("green", "blue"), "--exit-code");
    expect([same.code, withoutNotes(same.stdout)]).toEqual([0, "nothing would change\n"]);
  });

  test("is 2 for refused objects, which are printed with their files, and the others are shown", async () => {
    const lost = settings.replace("settings", "lost, namespace: nowhere");
    const invalid = settings.replace("settings", "UPPER");
    const { code, stdout, stderr } = await preview([lost, invalid, settings].join("---\n"), "--exit-code");
    expect(code).toBe(2);
    const file = path.join(folder.path, "manifests.yaml");
    expect(stderr.split("\n")).toEqual([
      `plinth: ${file}, document 1: apply configmaps "lost" in namespace "nowhere": namespaces "nowhere" not found`,
      expect.stringContaining(
        `plinth: ${file}, document 2: apply configmaps "UPPER" in namespace "default": `,
      ),
      "",
    ]);
    expect(stdout).toContain("changed configmap default/settings\n");
    expect(stdout).toContain("2 of 3 operations failed; 1 object changed by the operations, 0 by others");
    await until(workspaces, (all) => all.length === 0);
  });

  test("is 2 without a server, without manifests and with wrong flags", async () => {
    const away = await plinthHere("preview", "-f", kubeconfig, "--server=https://127.0.0.1:1");
    expect([away.code, away.stderr]).toEqual([2, expect.stringContaining("can't be reached")]);
    for (const [words, message] of [
      [[], "--filename is needed: the manifests to preview"],
      [["-f", "x", "--timeout=0s"], '--timeout: "0s" is not between 1s and 5m'],
      [["-f", "x", "--timeout=10m"], '--timeout: "10m" is not between 1s and 5m'],
      [["-f", "x", "--output=yaml"], '--output: "yaml" is not allowed; it is text or json'],
      [["-f", "/nowhere/x.yaml"], "/nowhere/x.yaml: "],
    ] as const) {
      const { code, stderr } = await plinthHere("preview", `--kubeconfig=${kubeconfig}`, ...words);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });
});

test("the request of the page answers with the difference, and isn't stored", async () => {
  const { status, body } = await server.admin.post(
    `/apis/${tenancy}/v1alpha1/workspacepreviews`,
    JSON.parse(blockOf("docs/preview.md", "json request")),
  );
  expect([status, body.spec]).toEqual([201, undefined]);
  expect(body.status).toMatchObject({
    message: "1 object changed by the operations, 0 by others",
    results: [{ operation: 'delete configmaps "settings" in namespace "default"', code: 200 }],
    objects: [{ action: "deleted", kind: "ConfigMap", name: "settings" }],
    settled: true,
  });
  expect((await server.admin.get(`${maps}/settings`)).status).toBe(200);
});

test("--delete shows what a deletion takes with it", async () => {
  await ok(server.admin.post("/api/v1/namespaces", namespace("old")));
  await ok(server.admin.post("/api/v1/namespaces/old/configmaps", configMap("inside")));
  const { code, stdout } = await preview(
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: old}\n",
    "--delete",
  );
  expect([code, withoutNotes(stdout)]).toEqual([
    0,
    `by the manifests:
deleted namespace old
by controllers:
deleted configmap old/inside
deleted serviceaccount old/default
1 object changed by the operations, 2 by others
`,
  ]);
  expect((await server.admin.get("/api/v1/namespaces/old")).body.metadata.deletionTimestamp).toBeUndefined();
});

test("--into previews in a branch of a workspace, and --keep keeps the branch", async () => {
  const trial = await server.server.workspace("trial", {});
  await trial.client.apply(configMap("settings", { colour: "red" }));
  const { stdout } = await preview(settings, "--into=trial", "--keep", "--output=json");
  const status = JSON.parse(stdout) as WorkspacePreviewStatus;
  expect(status.objects).toMatchObject([
    { fields: [{ path: ".data.colour", from: '"red"', to: '"green"' }] },
  ]);
  const kept = within(status.workspace!, `${maps}/settings`);
  expect((await ok(server.admin.get(kept))).body.data).toEqual({ colour: "green" });
  const { body } = await ok(server.admin.get(`${workspacesPath}/${status.workspace}`));
  expect(body.spec).toMatchObject({ from: { workspace: "trial" }, isolated: true, expirationSeconds: 3600 });
  await ok(server.admin.delete(`${workspacesPath}/${status.workspace}`));
});

describe("rights", () => {
  const asDevi = () => [
    `--server=${server.server.url}`,
    "--token=devi",
    `--ca=${path.join(folder.path, "ca")}`,
  ];
  const run = (text: string, ...words: readonly string[]) => {
    const file = path.join(folder.path, "devi.yaml");
    writeFileSync(file, text);
    return plinthHere("preview", "-f", file, ...asDevi(), ...words);
  };
  beforeEach(() => writeFileSync(path.join(folder.path, "ca"), server.server.caCertificate!));

  test("a user needs to create previews and workspaces, and the rights of each operation", async () => {
    const none = await run(settings);
    expect([none.code, none.stderr]).toEqual([
      2,
      expect.stringContaining('cannot create resource "workspacepreviews"'),
    ]);
    const previews = { apiGroups: [tenancy], verbs: ["create"], resources: ["workspacepreviews"] };
    await roleFor(server.admin, "previews", ["devi"], [previews]);
    const refused = await run(settings);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(
        /a preview makes a branch, which is refused: .* cannot create resource "workspaces"/,
      ),
    ]);
    expect(await workspaces()).toHaveLength(1);
    await roleFor(server.admin, "branches", ["devi"], [{ ...previews, resources: ["workspaces"] }]);
    const denied = await run(settings);
    expect([denied.code, denied.stderr]).toEqual([
      2,
      expect.stringContaining('cannot patch resource "configmaps"'),
    ]);
    const reads = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "patch", "create"] };
    await roleFor(server.admin, "maps", ["devi"], [reads]);
    const { code, stdout } = await run(settings);
    expect([code, stdout]).toEqual([0, expect.stringContaining('  ~ .data.colour: "blue" -> "green"')]);
    const into = await run(settings, "--into=trial");
    expect([into.code, into.stderr]).toEqual([
      2,
      expect.stringContaining('cannot access resource "workspaces"'),
    ]);
    await until(workspaces, (all) => all.length === 1);
  });
});
