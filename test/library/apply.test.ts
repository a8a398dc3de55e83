import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { namespace, refTo, role, roleBinding, user } from "../api/support.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";

let server: Server;
const shop = { namespace: "shop" };
const reference = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, ...shop }) as const;
const map = (name: string, data: object, meta: object = shop) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...meta },
  data,
});
const yaml = (name: string, value: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: shop }\ndata: { a: ${JSON.stringify(value)} }\n`;
const folder = useTemporaryFolders();

beforeAll(async () => {
  server = await createServer({ port: false });
  await server.client.create(namespace("shop"));
});
afterAll(() => server.close());

describe("apply", () => {
  test("creates an object, and merges a later apply of the same manager", async () => {
    const [created] = await server.client.apply(map("one", { a: "1", b: "1" }), { fieldManager: "kit" });
    expect(created).toMatchObject({ metadata: { name: "one" }, data: { a: "1", b: "1" } });
    await server.client.patch(reference("one"), { data: { c: "3" } });
    const [merged] = await server.client.apply(map("one", { a: "2" }), { fieldManager: "kit" });
    expect(merged!["data"]).toEqual({ a: "2", c: "3" });
    expect(merged!.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
      ["kit", "Apply"],
      ["plinth", "Update"],
    ]);
  });

  test("rejects a conflict unless it is forced", async () => {
    await server.client.apply(map("two", { a: "1" }), { fieldManager: "first" });
    const second = (force: boolean) =>
      server.client.apply(map("two", { a: "2" }), { fieldManager: "second", force });
    await expect(second(false)).rejects.toMatchObject({
      reason: "Conflict",
      message: 'Apply failed with 1 conflict: conflict with "first": .data.a',
    });
    expect((await second(true))[0]!["data"]).toEqual({ a: "2" });
  });

  test("stores nothing in a dry run", async () => {
    const [object] = await server.client.apply(map("dry", { a: "1" }), { dryRun: true });
    expect(object!.metadata.uid).toBeDefined();
    expect(await server.client.find(reference("dry"))).toBeUndefined();
  });

  test("applies a list in order and names the rejected object", async () => {
    const objects = [map("three", { a: "1" }), map("four", { a: 1 }), map("five", {})];
    await expect(server.client.apply(objects)).rejects.toThrow(/^object 2: .*data/);
    expect(await server.client.find(reference("three"))).toBeDefined();
    expect(await server.client.find(reference("five"))).toBeUndefined();
  });

  test("applies the text of YAML documents, JSON and a List", async () => {
    const text = `${yaml("y1", "1")}---\n# nothing\n---\n${yaml("y2", "2")}`;
    expect((await server.client.apply(text)).map(({ metadata }) => metadata.name)).toEqual(["y1", "y2"]);
    expect(await server.client.apply(JSON.stringify(map("y3", {})))).toHaveLength(1);
    const list = { apiVersion: "v1", kind: "List", items: [map("y4", {}), map("y5", { a: "1" })] };
    expect((await server.client.apply(list)).map(({ metadata }) => metadata.name)).toEqual(["y4", "y5"]);
    list.items[1]!.data = { a: 1 };
    await expect(server.client.apply(list)).rejects.toThrow(/^item 2: /);
    await expect(server.client.apply("a: [\nb: 1")).rejects.toThrow(/^neither YAML nor JSON: .*line/);
  });

  test("applies a file, and the files of a folder without subfolders", async () => {
    const root = folder();
    mkdirSync(path.join(root, "inner"));
    writeFileSync(path.join(root, "b.yaml"), yaml("file-b", "1"));
    writeFileSync(path.join(root, "a.json"), JSON.stringify(map("file-a", {})));
    writeFileSync(path.join(root, "notes.txt"), "no manifest");
    writeFileSync(path.join(root, "inner/c.yaml"), yaml("file-c", "1"));
    const names = async (source: string) =>
      (await server.client.apply(source)).map(({ metadata }) => metadata.name);
    expect(await names(root)).toEqual(["file-a", "file-b"]);
    expect(await names(path.join(root, "b.yaml"))).toEqual(["file-b"]);
  });

  test("names the file and document of an error", async () => {
    const root = folder();
    const file = path.join(root, "a.yaml");
    writeFileSync(file, `${yaml("e1", "1")}---\n${yaml("e2", "2")}unknown: 1\n`);
    await expect(server.client.apply(file)).rejects.toThrow(`${file}, document 2: `);
    await expect(server.client.apply(file)).rejects.toThrow('unknown field "unknown"');
    writeFileSync(file, "apiVersion: v1\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: e3 }\n");
    await expect(server.client.apply(file)).rejects.toThrow(/a\.yaml: .*duplicate field "apiVersion"/);
    await expect(server.client.apply(path.join(root, "none.yaml"))).rejects.toMatchObject({
      reason: "BadRequest",
      message: `${path.join(root, "none.yaml")}: there is no such file or folder`,
    });
    await expect(server.client.apply("-")).rejects.toThrow("- is not the path of a file");
  });

  test("puts objects without a namespace into default, or the namespace of the option", async () => {
    const [first] = await server.client.apply(map("placed", {}, {}));
    expect(first!.metadata.namespace).toBe("default");
    const [second] = await server.client.apply(map("placed", {}, {}), shop);
    expect(second!.metadata.namespace).toBe("shop");
    const [third] = await server.client.apply(namespace("other"), shop);
    expect(third!.metadata.namespace).toBeUndefined();
  });

  test("needs the permission to patch, and to create an absent object", async () => {
    const uma = server.as("uma");
    await server.client.apply(map("theirs", {}));
    await expect(uma.apply(map("theirs", {}))).rejects.toThrow(
      'User "uma" cannot patch resource "configmaps"',
    );
    const rules = [{ verbs: ["patch"], apiGroups: [""], resources: ["configmaps"] }];
    await server.client.create(role("patcher", rules, shop));
    await server.client.create(roleBinding("patchers", refTo("Role", "patcher"), [user("uma")], shop));
    expect(await uma.apply(map("theirs", { a: "1" }))).toHaveLength(1);
    await expect(uma.apply(map("new", {}))).rejects.toThrow('User "uma" cannot create resource "configmaps"');
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "an object is needed, not null"],
    [
      "an object without a name",
      { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
      "metadata.name is needed",
    ],
    ["an unknown kind", { apiVersion: "v1", kind: "Map" }, 'this server has no kind "Map" in "v1"'],
    [
      "a review",
      { apiVersion: "authorization.platform.io/v1", kind: "SubjectAccessReview" },
      "can only be created",
    ],
  ])("rejects %s", async (_, object, message) => {
    await expect(server.client.apply(object as object)).rejects.toThrow(message);
  });
});
