import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { ManualClock, ok, RBAC, startWithUsers } from "../api/support.ts";
import { keptCollections } from "../../src/server/start/kept-collections.ts";
import type { TestServer } from "../support/api.ts";
import { blocksOf, type CodeBlock } from "../support/pages.ts";
import { plinthHere } from "../support/program-here.ts";
import { optionsOfFlags } from "../support/serve-options.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

// Each code block of docs/history.md.

const folder = temporaryFolder();
const kubeconfig = path.join(folder.path, "config");
const maps = "/api/v1/namespaces/default/configmaps";
const clock = new ManualClock();
let server: TestServer;
/** The resource versions that the page calls 202 and 203. */
const versions: string[] = [];

beforeAll(async () => {
  server = await startWithUsers([], { keptHistory: ["*=30d"], clock });
  writeFileSync(kubeconfig, server.server.kubeconfig(), { mode: 0o600 });
  const headers = { "user-agent": "kubectl/v1" };
  const object = { metadata: { name: "settings" }, data: { colour: "blue" } };
  const created = await ok(server.admin.post(maps, object, { headers }));
  await clock.advance(5 * 60_000);
  const type = "application/merge-patch+json";
  const patch = { body: { data: { colour: "green" } }, contentType: type, headers };
  const changed = await ok(server.admin.ask("PATCH", `${maps}/settings`, patch));
  for (const { body } of [created, changed]) versions.push(body.metadata.resourceVersion as string);
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

/** Replaces what the page shows by what this server has. */
const here = (text: string) => text.replaceAll(/\b202\b/g, versions[0]!).replaceAll(/\b203\b/g, versions[1]!);
/** Replaces versions and times, and the blanks between columns. */
const plain = (text: string | undefined) =>
  (text ?? "")
    .replaceAll(/\b2026-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME")
    .replaceAll(/^\d+/gm, "VERSION")
    .replaceAll(/ +/g, " ");

async function run({ text }: CodeBlock): Promise<string[]> {
  const outputs: string[] = [];
  for (const line of text.trim().split("\n")) {
    const words = here(line).split(" ").slice(1);
    const { code, stdout, stderr } = await plinthHere(...words, `--kubeconfig=${kubeconfig}`);
    expect([line, code, stderr]).toEqual([line, 0, ""]);
    outputs.push(stdout);
  }
  return outputs;
}

test("docs/history.md: the rules of its server are valid", async () => {
  const [{ text }] = blocksOf("docs/history.md", "sh serve") as [CodeBlock];
  const options = await optionsOfFlags(...text.trim().split(" ").slice(2));
  expect([options.retentionMs, keptCollections(options)!.collections.size]).toEqual([300_000, 2]);
});

test("docs/history.md: its commands list, compare and print versions as it shows", async () => {
  const [history] = blocksOf("docs/history.md", "sh history") as [CodeBlock];
  expect(plain((await run(history))[0])).toBe(plain(history.output));
  const [diff] = blocksOf("docs/history.md", "sh diff") as [CodeBlock];
  expect(await run(diff)).toEqual([diff.output, diff.output]);
  const [at] = blocksOf("docs/history.md", "sh at") as [CodeBlock];
  expect((await run(at))[0]).toContain("colour: blue");
});

test("docs/history.md: its requests are answered", async () => {
  const [{ text }] = blocksOf("docs/history.md", "http requests") as [CodeBlock];
  for (const line of text.trim().split("\n")) {
    const url = here(line.slice("GET ".length)).replace(
      /at=2026[^&]+/,
      `at=${new Date(clock.now()).toISOString()}`,
    );
    if (url.includes("watch=true")) {
      const watch = await server.admin.watch(url.replace("&watch=true", ""));
      expect((await watch.next()).type).toBe("MODIFIED");
      watch.close();
    } else expect([line, (await server.admin.get(url)).status]).toEqual([line, 200]);
  }
});

test("docs/history.md: its role is accepted", async () => {
  const [{ text }] = blocksOf("docs/history.md", "yaml role") as [CodeBlock];
  await ok(server.admin.post(`${RBAC}/clusterroles`, parse(text)));
});

test("docs/history.md: a deleted object comes back as it shows", async () => {
  await ok(server.admin.delete(`${maps}/settings`));
  const [restore] = blocksOf("docs/history.md", "sh restore") as [CodeBlock];
  expect(plain((await run(restore)).join(""))).toBe(plain(restore.output));
});
