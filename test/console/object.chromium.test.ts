import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { definition, definitions, served, version } from "../api/custom-resources/support.ts";
import { configMap, ok, until } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, useBrowser } from "./browser.ts";

const server = useServer({
  console: true,
  keptHistory: ["configmaps=1d"],
  users: [{ name: "root", groups: ["system:masters"] }],
});
const browser = useBrowser();
const maps = "/api/v1/namespaces/default/configmaps";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const place = (name: string, tab = "") => `#/object/core/configmaps/default/${name}${tab}`;
const get = async (name: string) => (await server.admin.get(`${maps}/${name}`)).body;

/** Replaces the text of the editor. */
async function type(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: /^YAML of/ }).click();
  await page.keyboard.press("Control+a");
  // Into an empty editor: over a selection, Chromium would insert it with a style attribute.
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(text);
}
const yamlOf = (name: string, data: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: default\ndata:\n${data}`;

it("an edit is previewed, conflicts name the owner, and the change is applied when it is taken over", async () => {
  await ok(server.admin.post(`${maps}?fieldManager=ci`, configMap("edited", { color: "red", size: "1" })));
  const { page, complaints } = await browser.signIn(server, "root", place("edited", "/edit"));
  await type(page, yamlOf("edited", "  color: blue\n  shape: round\n"));
  await page.getByRole("button", { name: "Preview (dry run)" }).click();
  await page.getByRole("heading", { name: "Other managers own these fields" }).waitFor();
  const alert = page.getByRole("alert");
  expect(await alert.getByText("ci", { exact: true }).count()).toBe(1);
  await alert.getByText("data.color").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Preview taking them over" }).click();
  await page.getByText("data.shape").waitFor();
  // A dry run: nothing is written yet.
  expect((await get("edited")).data).toEqual({ color: "red", size: "1" });
  await page.getByRole("button", { name: "Apply and take over" }).click();
  await page.getByText("Applied.").waitFor();
  const { data, metadata } = await get("edited");
  expect(data).toEqual({ color: "blue", shape: "round" });
  const entries = metadata.managedFields as { manager: string; operation: string; fieldsV1: object }[];
  expect(
    entries.find(({ manager, operation }) => manager === "plinth-console" && operation === "Apply")?.fieldsV1,
  ).toEqual({
    "f:data": { "f:color": {}, "f:shape": {} },
  });
  expect(complaints).toEqual([]);
});

it("the history of an object shows who changed what, and restores an earlier version", async () => {
  await ok(server.admin.post(`${maps}?fieldManager=ci`, configMap("versions", { color: "red" })));
  await ok(server.admin.patch(`${maps}/versions`, { data: { color: "blue" } }));
  const first = (await ok(server.admin.get(`${maps}/versions/history`))).body.items[1].metadata
    .resourceVersion as string;
  const { page, complaints } = await browser.signIn(server, "root", place("versions", "/changes"));
  await page.getByText("create by admin with ci").waitFor();
  await page.getByRole("listitem").filter({ hasText: "patch by admin" }).getByText("data.color").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: `Restore version ${first}` }).click();
  await page.getByText("update by root with plinth-console").waitFor();
  expect((await get("versions")).data).toEqual({ color: "red" });
  expect(complaints).toEqual([]);
});

it("an invalid edit is explained and changes nothing", async () => {
  await ok(server.admin.post(maps, configMap("unchanged", { a: "1" })));
  const { page } = await browser.signIn(server, "root", place("unchanged", "/edit"));
  const preview = page.getByRole("button", { name: "Preview (dry run)" });
  for (const [text, message] of [
    ["a: [", "Flow sequence"],
    [yamlOf("other", "  a: '1'\n"), "can't be changed"],
    [yamlOf("unchanged", "  a: '1'\n"), "Nothing is changed"],
    [yamlOf("unchanged", "  a: 5\n"), "data"],
  ] as const) {
    await type(page, text);
    await preview.click();
    await page.getByRole("alert").getByText(message).waitFor();
  }
  expect((await get("unchanged")).data).toEqual({ a: "1" });
});

it("the views of an object follow its changes: YAML, fields, changes, events and relations", async () => {
  const { body: owner } = await ok(
    server.admin.post(`${maps}?fieldManager=ci`, configMap("owner", { a: "one" })),
  );
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid };
  await ok(server.admin.post(maps, configMap("owned", {}, { ownerReferences: [reference] })));
  const attack = "<img src=x onerror=\"document.title='attacked'\">";
  await ok(
    server.admin.post("/api/v1/namespaces/default/events", {
      metadata: { name: "owner.1" },
      involvedObject: reference && {
        kind: "ConfigMap",
        name: "owner",
        namespace: "default",
        uid: reference.uid,
      },
      reason: "Noted",
      message: attack,
    }),
  );
  const { page, complaints } = await browser.signIn(server, "root", place("owner"));
  await page.getByLabel("YAML", { exact: true }).getByText("a: one").waitFor();
  await ok(server.admin.patch(`${maps}/owner?fieldManager=other`, { data: { a: attack } }));
  await page.getByLabel("YAML", { exact: true }).getByText("onerror").waitFor();
  await page.keyboard.press("6");
  await page.getByText("by other").waitFor();
  await page.locator("del").getByText("one").first().waitFor();
  await page.keyboard.press("3");
  await page.getByRole("row", { name: /data.a.*other \(updated\)/ }).waitFor();
  await page.keyboard.press("5");
  await page.getByText(attack).waitFor();
  await page.keyboard.press("4");
  await page.getByRole("link", { name: "ConfigMap owned" }).waitFor();
  for (const key of ["1", "2", "3", "4", "5", "6"]) {
    await page.keyboard.press(key);
    await expectAccessible(page);
  }
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("a deletion shows what goes too, and removes exactly the object that was shown", async () => {
  const { body } = await ok(server.admin.post(maps, configMap("parent")));
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "parent", uid: body.metadata.uid };
  const { body: child } = await ok(
    server.admin.post(maps, configMap("child", {}, { ownerReferences: [reference] })),
  );
  const ofChild = { ...reference, name: "child", uid: child.metadata.uid };
  await ok(server.admin.post(maps, configMap("grandchild", {}, { ownerReferences: [ofChild] })));
  const { page } = await browser.signIn(server, "root", place("parent"));
  await page.getByLabel("YAML", { exact: true }).getByText("name: parent").waitFor();
  await page.keyboard.press("Control+d");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("ConfigMap default/child").waitFor();
  await dialog.getByText("ConfigMap default/grandchild").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await until(
    () => page.url(),
    (url) => url.includes("#/list/core/configmaps"),
  );
  expect((await server.admin.get(`${maps}/parent`)).status).toBe(404);
  await until(
    () => server.admin.get(`${maps}/child`),
    ({ status }) => status === 404,
  );
});

it("an object is created from YAML and a form, after a dry run", async () => {
  const { page } = await browser.signIn(server, "root", "#/create/core/configmaps?namespace=default");
  await type(page, yamlOf("", "  a: b\n"));
  const form = page.getByRole("group", { name: "Fields of ConfigMap" });
  await form.getByLabel("Key a of data", { exact: true }).waitFor();
  await form.getByLabel("New key of data", { exact: true }).fill("c");
  await page.keyboard.press("Enter");
  await form.getByLabel("Value of c of data").fill("d");
  await form.getByLabel(/^name/).fill("created");
  await page.keyboard.press("Enter");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Check (dry run)" }).click();
  await page.getByText("The server would create it.").waitFor();
  expect((await server.admin.get(`${maps}/created`)).status).toBe(404);
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("region", { name: "Data", exact: true }).getByText("2 keys").waitFor();
  expect((await get("created")).data).toEqual({ a: "b", c: "d" });
});

it("a deletion before the preview is read names the object that the list has shown", async () => {
  const { body } = await ok(server.admin.post(maps, configMap("listed")));
  const { page } = await browser.signIn(
    server,
    "root",
    "#/list/core/configmaps?namespace=default&search=listed",
  );
  await page.locator('[aria-selected="true"]').getByText("listed").waitFor();
  // The preview reads the object first; without an answer it stays unread.
  await page.route(`**${maps}/listed`, async (route) => {
    if (route.request().method() !== "GET") await route.continue();
  });
  const deletion = page.waitForRequest((request) => request.method() === "DELETE");
  await page.keyboard.press("Control+d");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Looking for what goes with it").waitFor();
  await dialog.getByRole("button", { name: "Delete" }).click();
  expect((await deletion).postDataJSON()).toMatchObject({
    preconditions: { uid: body.metadata.uid as string },
  });
});

it("the tree of relations lists each type once, at any depth", async () => {
  const references: object[] = [];
  for (const name of ["tree", "branch", "leaf"]) {
    const { body } = await ok(server.admin.post(maps, configMap(name, {}, { ownerReferences: references })));
    references.splice(0, 1, { apiVersion: "v1", kind: "ConfigMap", name, uid: body.metadata.uid as string });
  }
  const { page, requested } = await browser.signIn(server, "root", place("tree", "/relations"));
  await page.getByRole("link", { name: "ConfigMap leaf" }).waitFor();
  expect(requested.filter((url) => url.includes(`${maps}?limit=`))).toHaveLength(1);
});

it("a form for a built-in kind changes the YAML, which is previewed and applied", async () => {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  await ok(server.admin.post(`${deployments}?fieldManager=delivery`, { metadata: { name: "web" }, spec }));
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    "#/object/apps/deployments/default/web/form",
  );
  const form = page.getByRole("group", { name: "Fields of Deployment" });
  // Sections are empty until they are opened.
  await form.getByText(/^spec/).waitFor();
  expect(await form.locator("input").count()).toBe(0);
  await form.getByText(/^spec/).click();
  await form.getByLabel("replicas").fill("x");
  await page.keyboard.press("Enter");
  await form.getByText("x is not a number").waitFor();
  await form.getByLabel("replicas").fill("3");
  await page.keyboard.press("Enter");
  await form.getByLabel("paused").selectOption("true");
  await form.getByText(/^strategy/).click();
  await form.getByText(/^rollingUpdate/).click();
  await form.getByLabel("maxSurge").fill("30%");
  await page.keyboard.press("Enter");
  await form.getByText(/^metadata/).click();
  await form.getByLabel("New key of labels").fill("team");
  await page.keyboard.press("Enter");
  await form.getByLabel("Value of team of labels").fill("shop");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Preview (dry run)" }).click();
  await page.getByRole("button", { name: "Preview taking them over" }).click();
  await page.getByText("spec.strategy.rollingUpdate.maxSurge").waitFor();
  await page.getByRole("button", { name: "Apply and take over" }).click();
  await page.getByText("Applied.").waitFor();
  const { body } = await server.admin.get(`${deployments}/web`);
  expect(body.metadata.labels).toEqual({ team: "shop" });
  expect(body.spec).toMatchObject({
    replicas: 3,
    paused: true,
    strategy: { rollingUpdate: { maxSurge: "30%" } },
  });
  expect(complaints).toEqual([]);
});

it("a form for a custom resource has its fields; the editor below has the others, and both follow each other", async () => {
  const text = { type: "string" };
  const many = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`field${at}`, text]));
  const properties = {
    size: { type: "integer", description: "How large it is.", default: 1 },
    color: { type: "string", enum: ["red", "blue"] },
    hosts: { type: "array", items: text },
    rules: { type: "array", items: { type: "object", properties: { path: text } } },
    many: { type: "object", properties: many },
  };
  const spec = { type: "object", properties };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  const collection = await served(server.admin, definition({ versions: [version("v1", { schema })] }));
  await ok(
    server.admin.post(collection, {
      apiVersion: collection.split("/").slice(2, 4).join("/"),
      kind: "Order",
      metadata: { name: "first" },
      spec: { color: "red", rules: [{ path: "/" }] },
    }),
  );
  const group = collection.split("/")[2]!;
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    `#/object/${group}/orders/default/first/form`,
  );
  const form = page.getByRole("group", { name: "Fields of Order" });
  await form.getByText(/^spec/).click();
  await form.getByText("How large it is.").waitFor();
  await form.getByText("rules is edited as YAML.").waitFor();
  await form.getByText(/^many/).click();
  await form.getByText("1950 more fields").waitFor();
  expect(await form.getByLabel(/^field\d+/).count()).toBe(50);
  await form.getByLabel("color").selectOption("blue");
  await form.getByLabel("hosts").fill("a.example\nb.example");
  const editor = page.getByRole("textbox", { name: "YAML of first" });
  await editor.click();
  await editor.getByText("- a.example").waitFor();
  await editor.getByText("color: blue").click();
  await page.keyboard.press("End");
  await page.keyboard.insertText("x");
  await form
    .getByRole("combobox", { name: "color" })
    .locator("option", { hasText: "bluex" })
    .waitFor({ state: "attached" });
  await page.keyboard.press("Backspace");
  await page.keyboard.insertText(": :");
  await page.getByText("The YAML has an error.").waitFor();
  expect(complaints).toEqual([]);
  await ok(server.admin.delete(`${definitions}/orders.${group}`));
});
