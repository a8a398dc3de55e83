import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { chromiumPath } from "../support/chromium-path.ts";
import type { TestServer } from "../support/api.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A page of the console, and what it told about itself. */
export interface ConsolePage {
  readonly page: Page;
  /** Exceptions, and lines of the browser's console other than failed requests. */
  readonly complaints: readonly string[];
  /** URLs of all requests. */
  readonly requested: readonly string[];
}

/** Starts Chromium before the tests of the file, and closes it after them. */
export function useBrowser() {
  let browser: Browser;
  beforeAll(async () => {
    // Chromium's sandbox needs rights that containers don't have; the pages are those of the tests.
    browser = await chromium.launch({ executablePath: chromiumPath()!, args: ["--no-sandbox"] });
  });
  afterAll(() => browser.close());

  /** Opens a page in a context of its own. */
  const open = async (url: string, colorScheme: "light" | "dark" = "light"): Promise<ConsolePage> => {
    const context = await browser.newContext({
      ignoreHTTPSErrors: true,
      viewport: { width: 1280, height: 800 },
      colorScheme,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    const complaints: string[] = [];
    const requested: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.stack ?? error.message));
    page.on("console", (message) => {
      const isFailedRequest = message.text().startsWith("Failed to load resource");
      if (["error", "warning"].includes(message.type()) && !isFailedRequest) complaints.push(message.text());
    });
    page.on("request", (request) => requested.push(request.url()));
    await page.goto(url);
    return { page, complaints, requested };
  };

  /** Opens a place of the console and signs in with a token. */
  const signIn = async (
    { server }: TestServer,
    token: string,
    place = "#/",
    colorScheme: "light" | "dark" = "light",
  ): Promise<ConsolePage> => {
    const opened = await open(`${server.url}/console/${place}`, colorScheme);
    await opened.page.getByLabel("Bearer token").fill(token);
    await opened.page.keyboard.press("Enter");
    await opened.page.getByRole("navigation", { name: "Kinds" }).waitFor();
    return opened;
  };
  return { open, signIn };
}

/** Fails if axe finds a violation of accessibility in the page. */
export async function expectAccessible(page: Page): Promise<void> {
  // Not as a script of the page, which its content security policy forbids.
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    interface Axe {
      run(): Promise<{
        violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
      }>;
    }
    const result = await (globalThis as unknown as { axe: Axe }).axe.run();
    return result.violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((one) => `${one.html} ${one.failureSummary ?? ""}`).join("; ")}`,
    );
  });
  expect(violations).toEqual([]);
}

/** The names in the rows of the table that are in the page. */
export const shownNames = (page: Page): Promise<string[]> =>
  page.locator(".table-space .row button.link").allTextContents();
