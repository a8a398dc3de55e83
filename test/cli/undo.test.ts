import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { configMap, ok, startWithUsers } from "../api/support.ts";
import { changeBy, maps, withUndos } from "../api/undo-support.ts";
import type { TestServer } from "../support/api.ts";
import { blocksOf, type CodeBlock } from "../support/pages.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
let server: TestServer;
beforeAll(async () => {
  server = await startWithUsers([], withUndos);
  writeFileSync(kubeconfig, server.server.kubeconfig(), { mode: 0o600 });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const undo = (...words: readonly string[]) => plinthHere("undo", `--kubeconfig=${kubeconfig}`, ...words);
const withoutVersion = (text: string) => text.replace(/version \d+/, "version N");
/** Returns the words of a command after `plinth undo`. */
const wordsOf = ({ text }: CodeBlock) => text.trim().split(" ").slice(2);
const dataOf = async (name: string) => (await ok(server.admin.get(`${maps}/${name}`))).body.data;

describe("plinth undo", () => {
  test("prints what it undoes by object and field, and exits with 0; a dry run writes nothing", async () => {
    await ok(server.admin.post(maps, configMap("a", { changed: "1", removed: "1" })));
    const data = { changed: "2", removed: null, added: "2" };
    const change = await changeBy(server.admin, "PATCH", `${maps}/a`, { data });
    const text = `configmap default/a set back
  - .data.added: "2"
  ~ .data.changed: "2" -> "1"
  + .data.removed: "1"
`;
    const dry = await undo(change, "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([0, `${text}dry run: 1 object would be written\n`]);
    expect(await dataOf("a")).toEqual({ changed: "2", added: "2" });
    const { code, stdout, stderr } = await undo(change, "--field-manager=undoer");
    expect([code, withoutVersion(stdout), stderr]).toEqual([
      0,
      `${text}1 object written at resource version N\n`,
      "",
    ]);
    expect(await dataOf("a")).toEqual({ changed: "1", removed: "1" });
    const { metadata } = (await ok(server.admin.get(`${maps}/a`))).body;
    expect(metadata.managedFields.map(({ manager }: { manager: string }) => manager)).toContain("undoer");
    const again = await undo(change);
    expect([again.code, again.stdout]).toEqual([
      0,
      "configmap default/a unchanged\nnothing is left to undo\n",
    ]);
  });

  test("prints every conflict with its manager and values, writes nothing, and exits with 3", async () => {
    await ok(server.admin.post(maps, configMap("b", { a: "1", b: "1" })));
    const change = await changeBy(server.admin, "PATCH", `${maps}/b`, { data: { a: "2", b: "2" } });
    await changeBy(server.admin, "PATCH", `${maps}/b`, { data: { a: "3" } }, "other");
    const conflict =
      'conflict: configmap default/b: .data.a changed since by other: "1" before the change, "2" after it, "3" now\n';
    const summary = "the change can't be undone because of 1 conflict";
    const dry = await undo(change, "--dry-run");
    expect([dry.code, dry.stdout]).toEqual([3, `${conflict}dry run: ${summary}\n`]);
    const { code, stdout } = await undo(change);
    expect([code, stdout]).toEqual([3, `${conflict}${summary}; nothing was written\n`]);
    expect(await dataOf("b")).toEqual({ a: "3", b: "2" });
  });

  test("undoes what a manager did in an interval", async () => {
    await ok(server.admin.post(maps, configMap("c", { a: "1" })));
    await changeBy(server.admin, "PATCH", `${maps}/c`, { data: { a: "2" } }, "importer");
    await changeBy(server.admin, "POST", maps, configMap("d"), "importer");
    const words = ["--manager=importer", "--from=1h", "--resource=configmaps", "--namespace=default"];
    const { code, stdout } = await undo(...words, `--to=${new Date(Date.now() + 1000).toISOString()}`);
    expect([code, withoutVersion(stdout)]).toEqual([
      0,
      `configmap default/c set back
  ~ .data.a: "2" -> "1"
configmap default/d deleted
2 objects written at resource version N
`,
    ]);
  });

  test("does what the commands of the page show", async () => {
    const shop = "/api/v1/namespaces/shop/configmaps";
    await ok(server.admin.post("/api/v1/namespaces", { metadata: { name: "shop" } }));
    await ok(server.admin.post(shop, configMap("settings", { colour: "blue" })));
    const [request] = blocksOf("docs/undo.md", "sh undo") as [CodeBlock];
    const [interval] = blocksOf("docs/undo.md", "sh interval") as [CodeBlock];
    const [id] = wordsOf(request);
    await changeBy(server.admin, "PATCH", `${shop}/settings`, { data: { colour: "green" } }, "importer", id);
    for (const block of [request, interval]) {
      const { code, stdout } = await undo(...wordsOf(block));
      expect([code, stdout]).toEqual([0, request.output]);
    }
    await changeBy(server.admin, "PATCH", `${shop}/settings`, { data: { colour: "red" } }, "devi");
    expect((await undo(id!)).stdout).toBe(blocksOf("docs/undo.md", "text conflict")[0]!.text);
  });

  test("exits with 1 for an unknown change, and for a server that serves no undos", async () => {
    const unknown = await undo("no-such-id");
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('change "no-such-id"')]);
    const plain = await startWithUsers([]);
    const other = path.join(folder.path, "plain");
    writeFileSync(other, plain.server.kubeconfig(), { mode: 0o600 });
    try {
      const { code, stderr } = await plinthHere("undo", `--kubeconfig=${other}`, "x");
      expect([code, stderr]).toEqual([1, expect.stringContaining("--runtime-config=api/alpha=true")]);
    } finally {
      await plain.close();
    }
  });

  test.each([
    [[], "a change is needed"],
    [["--user=devi"], "--from is needed"],
    [["x", "y"], 'not also "y"'],
    [["x", "--manager=y"], "exclude a change"],
    [["--user=devi", "--from=yesterday"], '--from: "yesterday" is neither a time'],
    [["--user=devi", "--from=-1h"], '--from: "-1h" is neither a time'],
  ])("exits with 2 for the words %j", async (words, message) => {
    const { code, stderr } = await undo(...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
