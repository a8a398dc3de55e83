import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { maps, tenancy, within, withBranches } from "../../api/branches-support.ts";
import { configMap, ok, startWithUsers } from "../../api/support.ts";
import type { TestServer } from "../../support/api.ts";
import { blocksOf } from "../../support/pages.ts";
import { plinthHere } from "../../support/program-here.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([], withBranches);
  writeFileSync(kubeconfig, server.server.kubeconfig(), { mode: 0o600 });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const plinth = (...words: readonly string[]) =>
  plinthHere(...(words as [string]), `--kubeconfig=${kubeconfig}`);
const withoutVersion = (text: string) => text.replace(/version \d+/, "version N");
const shop = maps.replace("/default/", "/shop/");
const set = (where: string, name: string, data: object, manager: string) =>
  ok(server.admin.patch(within(where, `${shop}/${name}?fieldManager=${manager}`), { data }));
const [shownDiff] = blocksOf("docs/branches.md", "text diff");
const [shownMerge] = blocksOf("docs/branches.md", "text merge");
const [shownConflict] = blocksOf("docs/branches.md", "text conflict");

describe("plinth branch, diff and merge", () => {
  test("do what the page shows", async () => {
    const { admin } = server;
    await ok(admin.post("/api/v1/namespaces", { metadata: { name: "shop" } }));
    for (const name of ["settings", "old"]) await ok(admin.post(shop, configMap(name, { colour: "blue" })));
    const [create, diff, merge] = blocksOf("docs/branches.md", "sh session").map(({ text }) =>
      text.trim().split(" ").slice(1),
    );
    const created = await plinth(...create!);
    expect([created.code, withoutVersion(created.stdout)]).toEqual([
      0,
      `workspace trial begins with the server at resource version N\n${server.server.url}/clusters/trial\n`,
    ]);
    const same = await plinth(...diff!, "--exit-code");
    expect([same.code, same.stdout]).toEqual([0, "no object differs\n"]);
    await set("trial", "settings", { colour: "green" }, "devi");
    await ok(admin.delete(within("trial", `${shop}/old`)));
    await ok(admin.post(within("trial", shop), configMap("prices", {})));
    const shown = await plinth(...diff!);
    const objectsOf = (text: string) =>
      text
        .replaceAll(/\n {2}/g, " ")
        .split("\n")
        .toSorted();
    expect([shown.code, objectsOf(shown.stdout)]).toEqual([0, objectsOf(shownDiff!.text)]);
    expect((await plinth("diff", "workspace/trial", "--exit-code")).code).toBe(1);
    const json = JSON.parse((await plinth(...diff!, "--output=json")).stdout) as { objects: object[] };
    expect(json.objects).toHaveLength(3);

    await set("", "settings", { colour: "red" }, "omar");
    const refused = await plinth(...merge!);
    expect([refused.code, refused.stdout]).toEqual([3, shownConflict!.text.replace("dry run: ", "")]);
    await set("", "settings", { colour: "blue" }, "omar");
    const merged = await plinth(...merge!);
    expect([merged.code, withoutVersion(merged.stdout)]).toEqual([0, shownMerge!.text]);
    const again = await plinth(...merge!);
    expect([again.code, again.stdout]).toEqual([0, "nothing is left to merge\n"]);
    const request = blocksOf("docs/branches.md", "yaml request")[0]!.text;
    expect(request).toContain(`${tenancy}/v1alpha1`);
    expect(request).toContain("kind: WorkspaceMerge");
  });

  test("a strategy resolves conflicts, and branches begin with other workspaces and times", async () => {
    await plinth("branch", "one");
    await set("one", "settings", { colour: "white" }, "devi");
    await set("", "settings", { colour: "black" }, "omar");
    const { metadata } = (await ok(server.admin.get(within("one", `${shop}/settings`)))).body;
    expect(
      (await plinth("branch", "two", "--from=one", `--at=${metadata.resourceVersion}`, "--expire=600")).code,
    ).toBe(0);
    const between = await plinth("diff", "one", "--to=workspace/two");
    expect([between.code, between.stdout]).toEqual([0, "no object differs\n"]);
    const plan = await plinth("merge", "one", "--strategy=theirs", "--dry-run");
    expect([plan.code, plan.stdout]).toEqual([
      0,
      'update configmap shop/settings\n  ~ .data.colour: "black" -> "white"\n' +
        'resolved with theirs: configmap shop/settings: .data.colour: "green" at the start, "white" by devi in one, "black" by omar in the base\n' +
        "dry run: 1 object would be written\n",
    ]);
    const stuck = await plinth("rebase", "one");
    expect([stuck.code, stuck.stdout]).toEqual([
      3,
      'conflict: configmap shop/settings: .data.colour: "green" at the start, "black" by omar in the base, "white" by devi in one\n' +
        "the rebase isn't possible because of 1 conflict; nothing was written\n",
    ]);
    await plinth("merge", "one", "--strategy=ours");
    expect((await ok(server.admin.get(`${shop}/settings`))).body.data).toEqual({ colour: "black" });
    await plinth("merge", "one", "--strategy=theirs");
    expect((await ok(server.admin.get(`${shop}/settings`))).body.data).toEqual({ colour: "white" });
    const rebased = await plinth("rebase", "one");
    expect([rebased.code, withoutVersion(rebased.stdout)]).toEqual([
      0,
      "nothing is left to rebase at resource version N\n",
    ]);
    expect((await plinth("diff", "one", "--since-start")).stdout).toBe("no object differs\n");
  });

  test.each([
    [["branch"], "needs the name of one workspace"],
    [["branch", "a", "b"], "needs the name of one workspace"],
    [["branch", "a", "--at=yesterday"], '--at: "yesterday" is neither a resource version'],
    [["branch", "a", "--expire=soon"], '"soon"'],
    [["merge"], "needs the name of one workspace"],
    [["merge", "a", "--strategy=mine"], '--strategy: "mine" is not allowed'],
    [["rebase"], "needs the name of one workspace"],
    [["rebase", "a", "--to=now"], '--to: "now" is not a resource version'],
    [["diff", "a", "--output=xml"], '--output: "xml" is not allowed'],
    [["diff", "a", "--from=1"], "--from is for states of an object"],
    [["diff", "configmap", "a", "--since-start"], "--since-start is for workspaces only"],
  ])("exit with 2 for the words %j", async (words, message) => {
    const { code, stderr } = await plinth(...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("exit with 1 for an unknown workspace", async () => {
    for (const command of ["diff", "merge", "rebase"]) {
      const { code, stderr } = await plinth(command, "missing");
      expect([code, stderr]).toEqual([1, expect.stringContaining('"missing" not found')]);
    }
  });
});
