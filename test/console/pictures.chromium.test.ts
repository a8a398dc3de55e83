import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { ok } from "../api/support.ts";
import { root } from "../support/root.ts";
import { useServer } from "../support/use-server.ts";
import { useBrowser } from "./browser.ts";

/** Whether the pictures of the documentation are written; otherwise the test only looks whether they could be. */
const writes = process.env["PLINTH_PICTURES"] === "1";

const server = useServer({ console: true, users: [{ name: "root", groups: ["system:masters"] }] });
const browser = useBrowser();

beforeAll(async () => {
  await server.server.load(path.join(root, "examples/organisation"));
  const container = { name: "web", image: "registry.example/web:1.4", ports: [{ containerPort: 8080 }] };
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  await ok(
    server.admin.post("/apis/apps/v1/namespaces/shop-dev/deployments?fieldManager=delivery", {
      metadata: { name: "web", labels },
      spec: { replicas: 3, selector: { matchLabels: labels }, template },
    }),
  );
});

async function take(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 1160, height: 640 });
  const bytes = await page.screenshot({ animations: "disabled", caret: "hide" });
  expect(bytes.length).toBeGreaterThan(10_000);
  expect(bytes.length).toBeLessThan(200_000);
  if (!writes) return;
  mkdirSync(path.join(root, "docs/images"), { recursive: true });
  writeFileSync(path.join(root, `docs/images/${name}.png`), bytes);
}

it("the pictures of docs/console.md can be taken", async () => {
  const { page } = await browser.signIn(server, "root", "#/list/core/configmaps");
  await page.getByRole("row", { name: /payments-prod settings/ }).waitFor();
  for (let count = 0; count < 5; count++) await page.keyboard.press("j");
  await take(page, "console-list");

  await page.goto(`${server.server.url}/console/#/object/apps/deployments/shop-dev/web/edit`);
  await page.getByRole("textbox", { name: "YAML of web" }).getByText("replicas: 3").click();
  await page.keyboard.press("End");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("5");
  await page.getByRole("button", { name: "Preview (dry run)" }).click();
  await page.getByRole("heading", { name: "Other managers own these fields" }).waitFor();
  await take(page, "console-edit");

  await page.goto(`${server.server.url}/console/#/object/apps/deployments/shop-dev/web/form`);
  const form = page.getByRole("group", { name: "Fields of Deployment" });
  await form.getByText(/^spec/).click();
  await form.getByLabel("replicas").fill("5");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Preview taking them over" }).click();
  await page.getByRole("heading", { name: "The server would change" }).waitFor();
  await take(page, "console-form");

  await page.goto(
    `${server.server.url}/console/#/access/matrix?user=devi&groups=shop-developers&namespace=shop-dev,shop-prod,data-prod,shared-tools`,
  );
  await page.getByRole("columnheader", { name: "shop-dev" }).waitFor();
  await take(page, "console-matrix");

  await page.goto(`${server.server.url}/console/#/access/graph?user=devi&groups=shop-developers`);
  await page.getByText("doesn't exist: the binding has no effect").waitFor();
  await take(page, "console-access");
});

it("the picture of the page of the server can be taken, in dark colors", async () => {
  const { page } = await browser.signIn(server, "root", "#/server", "dark");
  const points = writes ? 12 : 1;
  for (let count = 0; count < points * 40; count++) {
    await ok(server.admin.get(`/api/v1/namespaces/shop-dev/configmaps?limit=${(count % 20) + 1}`));
    if (writes) await new Promise((resolve) => setTimeout(resolve, 60));
  }
  await page.getByText(/reads [\d.]+/).waitFor();
  await take(page, "console-server");
});
