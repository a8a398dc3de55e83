import { expect, it } from "vitest";
import { definition, definitions, served, version } from "../api/custom-resources/support.ts";
import { ok } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, useBrowser } from "./browser.ts";

const server = useServer({ console: true, users: [{ name: "root", groups: ["system:masters"] }] });
const browser = useBrowser();
const deployments = "/apis/apps/v1/namespaces/default/deployments";

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
