import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  configMap,
  ManualClock,
  ok,
  RBAC,
  role,
  roleBinding,
  refTo,
  startWithUsers,
  user,
} from "../api/support.ts";
import { keepsAll, maps, threeVersions } from "../api/history-support.ts";
import type { TestServer } from "../support/api.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
const clock = new ManualClock();
let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([{ name: "eve" }], { ...keepsAll, clock });
  writeFileSync(kubeconfig, server.server.kubeconfig(), { mode: 0o600 });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const plinth = (...words: readonly string[]) => plinthHere(...words, `--kubeconfig=${kubeconfig}`);

/** The lines of a command that succeeds, with their columns. */
async function lines(...words: readonly string[]): Promise<string[]> {
  const { code, stdout, stderr } = await plinth(...words);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.trimEnd().split("\n");
}

const cells = (line: string): string[] => line.split(/ {2,}/);

describe("plinth history", () => {
  test("lists who made each version, when and with which manager, and how many fields it changed", async () => {
    const versions = await threeVersions(server.admin, "h");
    const [head, ...rows] = await lines("history", "configmap", "h");
    expect(cells(head!)).toEqual(["VERSION", "TIME", "USER", "MANAGER", "VERB", "FIELDS"]);
    const time = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    expect(rows.map(cells)).toEqual([
      [versions[2], time, "admin", "applier", "apply", "1"],
      [versions[1], time, "admin", "unknown", "patch", "1"],
      [versions[0], time, "admin", "maker", "create", expect.stringMatching(/^\d+$/)],
    ]);
    expect((await lines("history", "cm", "h", "--limit=1")).length).toBe(2);
    await ok(server.admin.delete(`${maps}/h`));
    expect(cells((await lines("history", "cm", "h"))[1]!)[4]).toBe("delete (deleted)");
  });

  test("prints the object as it was at a time or resource version", async () => {
    const [first] = await threeVersions(server.admin, "at");
    expect(await lines("history", "cm", "at", `--at=${first}`)).toContain('  step: "1"');
    const { stdout } = await plinth("history", "cm", "at", `--at=${first}`, "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ data: { step: "1" }, metadata: { resourceVersion: first } });
    const listed = JSON.parse((await plinth("history", "cm", "at", "-o=json")).stdout) as object[];
    expect(listed).toMatchObject([{ verb: "apply" }, { verb: "patch" }, { verb: "create" }]);
  });

  test.each([
    [["history", "cm"], "plinth history needs KIND and NAME"],
    [["history", "cmm", "x"], 'the server has no kind "cmm"'],
    [["history", "cm", "none"], 'configmaps "none" not found'],
    [["history", "cm", "at", "--at=1999-01-01T00:00:00Z"], "is before the history of configmaps"],
    [["history", "cm", "at", "-o=xml"], '--output: "xml" is not one of table, json, yaml'],
    [["history", "lease", "x"], "--history-retention"],
  ])("%j is refused with the reason", async (words, message) => {
    const { code, stderr } = await plinth(...words);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
  });
});

describe("plinth diff", () => {
  test("shows the fields that differ, each with the manager that set it", async () => {
    const [first, second] = await threeVersions(server.admin, "d");
    await ok(
      server.admin.ask("PATCH", `${maps}/d?fieldManager=adder`, {
        contentType: "application/merge-patch+json",
        body: { data: { more: "x" }, metadata: { labels: { "example.com/a": "b" } } },
      }),
    );
    expect(await lines("diff", "cm", "d")).toEqual([
      '+ .metadata.labels["example.com/a"]: "b"  (adder)',
      '+ .data.more: "x"  (adder)',
    ]);
    expect(await lines("diff", "cm", "d", `--from=${first}`, `--to=${second}`)).toEqual([
      expect.stringMatching(/^~ \.data\.step: "1" -> "2"/),
    ]);
    expect(await lines("diff", "cm", "d", `--from=${second}`)).toContain(
      '~ .data.step: "2" -> "3"  (applier)',
    );
    await ok(server.admin.delete(`${maps}/d`));
    const deleted = await lines("diff", "cm", "d");
    expect([deleted[0], deleted]).toEqual([
      "deleted",
      expect.arrayContaining(['- .data.step: "3"  (applier)']),
    ]);
  });

  test("finds the managers of items of lists by their keys", async () => {
    const service = {
      metadata: { name: "svc" },
      spec: {
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 81 },
        ],
      },
    };
    await ok(server.admin.post("/api/v1/namespaces/default/services?fieldManager=maker", service));
    await ok(
      server.admin.ask("PATCH", "/api/v1/namespaces/default/services/svc?fieldManager=second", {
        contentType: "application/strategic-merge-patch+json",
        body: { spec: { ports: [{ port: 81, targetPort: 9000 }] } },
      }),
    );
    expect(await lines("diff", "service", "svc")).toEqual([
      "~ .spec.ports[1].targetPort: 81 -> 9000  (second)",
    ]);
  });
});

describe("plinth trash and restore", () => {
  test("a deleted object is listed with who deleted it and when, and comes back with its last state", async () => {
    await ok(server.admin.post(maps, configMap("gone", { a: "b" }, { labels: { x: "y" }, finalizers: [] })));
    await ok(server.admin.delete(`${maps}/gone`));
    const time = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`;
    const row = ["configmap", "default", "gone", time, "admin"];
    expect((await lines("trash", "cm")).map(cells)).toContainEqual(row);
    expect((await lines("trash")).map(cells)).toContainEqual(row);
    expect(await lines("restore", "cm", "gone", "--dry-run")).toEqual([
      'configmap "gone" created (dry run: nothing was written)',
    ]);
    expect((await server.admin.get(`${maps}/gone`)).status).toBe(404);
    expect(await lines("restore", "cm", "gone")).toEqual(['configmap "gone" created']);
    const { body } = await ok(server.admin.get(`${maps}/gone`));
    expect(body).toMatchObject({ data: { a: "b" }, metadata: { labels: { x: "y" } } });
    expect(body.metadata).not.toHaveProperty("annotations");
    expect(body.metadata).not.toHaveProperty("deletionTimestamp");
    expect((await lines("trash", "cm")).map(cells)).not.toContainEqual(row);
  });

  test("an object that exists gets the state of a time", async () => {
    const [first] = await threeVersions(server.admin, "back");
    const refused = await plinth("restore", "cm", "back");
    expect(refused.stderr).toContain('configmap "back" exists; choose the state to restore with --at');
    expect(await lines("restore", "cm", "back", `--at=${first}`)).toEqual(['configmap "back" updated']);
    expect((await ok(server.admin.get(`${maps}/back`))).body.data).toEqual({ step: "1" });
  });

  test("owner references lead to the owner that exists now, and others are dropped", async () => {
    const owner = async (name: string) =>
      (await ok(server.admin.post(maps, configMap(name)))).body.metadata.uid as string;
    const reference = (name: string, uid: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });
    const ownerReferences = [
      reference("same", await owner("same")),
      reference("again", await owner("again")),
      reference("never", await owner("never")),
    ];
    await ok(server.admin.post(maps, configMap("owned", {}, { ownerReferences })));
    await ok(server.admin.delete(`${maps}/owned`));
    for (const name of ["again", "never"]) await ok(server.admin.delete(`${maps}/${name}`));
    const uid = await owner("again");
    expect(await lines("restore", "cm", "owned")).toEqual([
      'owner configmap "again" was created again; the reference is to the new one',
      'owner configmap "never" no longer exists; the reference to it is dropped',
      'configmap "owned" created',
    ]);
    expect((await ok(server.admin.get(`${maps}/owned`))).body.metadata.ownerReferences).toEqual([
      ownerReferences[0],
      { ...ownerReferences[1], uid },
    ]);
  });

  test("a restore needs the right to create the object now", async () => {
    await ok(server.admin.post(maps, configMap("guarded")));
    await ok(server.admin.delete(`${maps}/guarded`));
    const inDefault = `${RBAC}/namespaces/default`;
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
    await ok(server.admin.post(`${inDefault}/roles`, role("reads", rules)));
    await ok(
      server.admin.post(
        `${inDefault}/rolebindings`,
        roleBinding("reads", refTo("Role", "reads"), [user("eve")]),
      ),
    );
    const { code, stderr } = await plinth("restore", "cm", "guarded", "--token=eve");
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('User "eve" cannot create resource "configmaps"'),
    ]);
  });

  test.each([
    [["restore", "cm"], "plinth restore needs KIND and NAME"],
    [
      ["restore", "cm", "x", "--from=folder"],
      "--from is for data folders; it can't be given with KIND and NAME",
    ],
    [["restore", "cm", "never-was"], 'configmaps "never-was" not found'],
    [["trash", "cm", "x"], 'plinth trash takes one KIND; "x" is left over'],
    [["trash", "lease"], "--history-retention"],
  ])("%j is refused with the reason", async (words, message) => {
    const { code, stderr } = await plinth(...words);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(message)]);
  });

  test("flags for objects are refused with a backup", async () => {
    const { code, stderr } = await plinthHere("restore", "--from=folder", "--at=5");
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("--at is for objects: plinth restore KIND NAME"),
    ]);
  });
});
