import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { addressOf, pages, titleOf } from "../../site/pages.mjs";
import { expectAccessible, useBrowser } from "../console/browser.ts";
import { base, builtFiles, useSite } from "./built-site.ts";

const site = useSite();
const browser = useBrowser();
const addresses = builtFiles()
  .filter((file) => file.endsWith(".html"))
  .map((file) => file.replace(/index\.html$/, ""));
const maxScriptBytes = 50 * 1024;
const indexFile = "search-index.json";

it("each page opens on a narrow screen without errors, requests of other hosts and horizontal scrolling", async () => {
  const { page, complaints, requested } = await browser.open(site.url(""));
  await page.setViewportSize({ width: 360, height: 700 });
  const failures: string[] = [];
  const sizes: number[] = [];
  let scriptBytes = 0;
  page.on("response", (response) => {
    if (response.status() >= 400) failures.push(`${response.status()} ${response.url()}`);
    if (response.request().resourceType() === "script")
      scriptBytes += Number(response.headers()["content-length"]);
  });
  // A page counts all its scripts, not those that an earlier page has left in the cache.
  const session = await page.context().newCDPSession(page);
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  for (const address of addresses) {
    scriptBytes = 0;
    await page.goto(site.url(address));
    sizes.push(scriptBytes);
    const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
      "({ scrollWidth, clientWidth } = document.documentElement, { scrollWidth, clientWidth })",
    );
    if (scrollWidth > clientWidth) failures.push(`${address} is ${scrollWidth} pixels wide`);
    if (scriptBytes > maxScriptBytes) failures.push(`${address} has ${scriptBytes} bytes of scripts`);
  }
  console.log(`${addresses.length} pages, scripts of ${Math.min(...sizes)} to ${Math.max(...sizes)} bytes`);
  expect(Math.min(...sizes)).toBeGreaterThan(0);
  expect(failures).toEqual([]);
  expect(complaints).toEqual([]);
  expect(requested.filter((url) => !url.startsWith(site.origin))).toEqual([]);
  expect(requested.filter((url) => url.endsWith(indexFile))).toEqual([]);
});

it("the sidebar leads to every page, and a page shows its title and the titles of its sections", async () => {
  const { page } = await browser.open(site.url("running/"));
  const links = await page
    .locator("nav.sidebar a")
    .evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  const expected = pages.map(addressOf).filter((address) => address !== "index");
  expect(expected.filter((address) => !links.includes(`${base}${address}/`))).toEqual([]);
  expect(new Set(links).size).toBe(links.length);
  expect(await page.locator("h1").allTextContents()).toEqual([titleOf("docs/running.md")]);
  expect(await page.locator("starlight-toc a").count()).toBeGreaterThan(3);
  await page.getByRole("link", { name: "Deploy a server", exact: true }).first().click();
  await page.getByRole("heading", { name: "Deploy a server", level: 1 }).waitFor();
});

it("a narrow screen has a menu with the pages", async () => {
  const { page } = await browser.open(site.url(""));
  await page.setViewportSize({ width: 360, height: 700 });
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator("nav.sidebar").getByRole("link", { name: "Run a server" }).click();
  await page.getByRole("heading", { name: "Run a server", level: 1 }).waitFor();
});

describe("search", () => {
  it("loads its index when it is opened, finds a section by words of its text, and goes to it", async () => {
    const { page, complaints, requested } = await browser.open(site.url(""));
    await page.getByRole("button", { name: "Search" }).click();
    const dialog = page.getByRole("dialog", { name: "Search" });
    await dialog.getByText("Type words").waitFor();
    expect(requested.filter((url) => url.endsWith(indexFile))).toHaveLength(1);
    await page.keyboard.type("rotate encryption keys");
    await dialog
      .getByRole("link", { name: /Encryption at rest/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(/encryption\/$/);
    await page.getByRole("heading", { name: "Encryption at rest", level: 1 }).waitFor();
    expect(complaints).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(site.origin))).toEqual([]);
  });

  it("opens with a key, tolerates a typing error, and reports when nothing is found", async () => {
    const { page } = await browser.open(site.url("flags/"));
    await page.keyboard.press("/");
    const dialog = page.getByRole("dialog", { name: "Search" });
    await page.keyboard.type("obsevability");
    await dialog
      .getByRole("link", { name: /Observability/ })
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("zzzzqqqq");
    await dialog.getByText("Nothing found.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "hidden" });
  });

  it("tells when the index can't be loaded", async () => {
    const { page } = await browser.open(site.url(""));
    await page.route(`**/${indexFile}`, (route) => route.fulfill({ status: 503 }));
    await page.keyboard.press("Control+k");
    await page.getByText("The search index can't be loaded: status 503").waitFor();
    await page.unroute(`**/${indexFile}`);
    await page.keyboard.type("kwok");
    await page
      .getByRole("link", { name: /Deployments and pods/ })
      .first()
      .waitFor();
  });
});

it("light and dark follow the system until the reader chooses, and the choice is kept", async () => {
  const backgrounds = await Promise.all(
    (["light", "dark"] as const).map(async (scheme) =>
      backgroundOf((await browser.open(site.url(""), scheme)).page),
    ),
  );
  expect(backgrounds[0]).not.toBe(backgrounds[1]);
  const { page } = await browser.open(site.url(""), "light");
  await page.getByLabel("Select theme").first().selectOption("dark");
  expect(await backgroundOf(page)).toBe(backgrounds[1]);
  await page.goto(site.url("running/"));
  expect(await backgroundOf(page)).toBe(backgrounds[1]);
});

describe("the vocabulary of examples", () => {
  const platform = "apiVersion: rbac.authorization.platform.io/v1";
  const kubernetes = "apiVersion: rbac.authorization.k8s.io/v1";
  const shown = (page: Page) =>
    page.locator(".sl-markdown-content pre").evaluateAll((all) =>
      all
        .filter((one) => one.checkVisibility())
        .map((one) => one.innerText)
        .join("\n"),
    );
  const list = (page: Page) => page.getByLabel("Names in examples").locator("visible=true");

  it("is the platform's until the reader chooses; the choice is kept on other pages, in other tabs and after a reload", async () => {
    const { page, complaints } = await browser.open(site.url("authorization/"));
    expect(await shown(page)).toContain(platform);
    expect(await shown(page)).not.toContain(kubernetes);
    const tab = await page.context().newPage();
    await tab.goto(site.url("authorization/"));
    await list(page).selectOption("Kubernetes names");
    expect(await shown(page)).toContain(kubernetes);
    expect(await shown(page)).not.toContain(platform);
    await expect.poll(() => shown(tab)).toContain(kubernetes);
    expect(await list(tab).inputValue()).toBe("kubernetes");
    await page.goto(site.url("running/"));
    expect(await shown(page)).toContain("plinth serve --vocabulary=kubernetes");
    await page.reload();
    expect(await list(page).inputValue()).toBe("kubernetes");
    expect(await shown(page)).toContain("plinth serve --vocabulary=kubernetes");
    await list(page).selectOption("Platform names");
    expect(await shown(page)).not.toContain("--vocabulary=kubernetes");
    await scrollable(page);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("is in the menu of a narrow screen", async () => {
    const { page } = await browser.open(site.url("authorization/"));
    await page.setViewportSize({ width: 360, height: 700 });
    await page.getByRole("button", { name: "Menu" }).click();
    await list(page).selectOption("Kubernetes names");
    await page.getByRole("button", { name: "Menu" }).click();
    expect(await shown(page)).toContain(kubernetes);
  });

  it("is the platform's without scripts, and there is nothing to choose", async () => {
    const { page: other } = await browser.open(site.url(""));
    const context = await other.context().browser()!.newContext({ javaScriptEnabled: false });
    try {
      const page = await context.newPage();
      await page.goto(site.url("authorization/"));
      const visible = page.locator(".sl-markdown-content pre").locator("visible=true");
      const texts = (await visible.allInnerTexts()).join("\n");
      expect(texts).toContain(platform);
      expect(texts).not.toContain(kubernetes);
      expect(await list(page).count()).toBe(0);
    } finally {
      await context.close();
    }
  });
});

it.each(["light", "dark"] as const)("code has colors in the %s scheme", async (scheme) => {
  const { page } = await browser.open(site.url("recipes/kind/"), scheme);
  const colors = await page.evaluate<string[]>(
    "[...document.querySelectorAll('pre span')].map((one) => getComputedStyle(one).color)",
  );
  expect(new Set(colors).size).toBeGreaterThan(3);
});

describe.each(["light", "dark"] as const)("in %s colors", (scheme) => {
  it.each([
    "",
    "pages/",
    "running/",
    "console/",
    "errors/",
    "recipes/kind/",
    "decisions/",
    "projects/",
    "apply/",
  ])("the page /%s is accessible, wide and narrow", async (address) => {
    const { page } = await browser.open(site.url(address), scheme);
    await scrollable(page);
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 700 });
    await scrollable(page);
    await expectAccessible(page);
  });
});

const backgroundOf = (page: Page) => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");

/** Waits until the keyboard can scroll what is wider than the page. */
async function scrollable(page: Page): Promise<void> {
  const script = `[...document.querySelectorAll(".sl-markdown-content :is(pre, table)")]
    .filter((one) => one.scrollWidth > one.clientWidth && !one.hasAttribute("tabindex")).length`;
  await expect.poll(() => page.evaluate<number>(script), { timeout: 10_000 }).toBe(0);
}
