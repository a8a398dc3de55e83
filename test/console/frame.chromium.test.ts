import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import {
  RBAC,
  clusterRoleBinding,
  group,
  configMap,
  grant,
  namespace,
  ok,
  refTo,
  roleBinding,
  until,
  user,
} from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, shownNames, useBrowser } from "./browser.ts";

const server = useServer({
  console: true,
  users: [
    { name: "root", groups: ["system:masters"] },
    { name: "ann", groups: ["team-a"] },
  ],
});
const browser = useBrowser();
const longWord = "incomprehensibilities";

beforeAll(async () => {
  for (const name of ["one", "two"]) await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
  for (const name of ["a", "b", "c"])
    await ok(server.admin.post("/api/v1/namespaces/one/configmaps", configMap(name)));
  const viewers = clusterRoleBinding("viewers", refTo("ClusterRole", "view"), [group("viewers")]);
  await ok(server.admin.post(`${RBAC}/clusterrolebindings`, viewers));
  await ok(
    server.admin.post(
      "/api/v1/namespaces/two/configmaps",
      configMap("d", {}, { annotations: { [longWord]: longWord } }),
    ),
  );
});

const width = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth");

it("the number of rows and the selected row are those of the namespace that is shown", async () => {
  const { page } = await browser.signIn(server, "root", "#/list/core/configmaps?namespace=one");
  const count = (text: string) =>
    until(
      () => page.locator(".count").textContent(),
      (value) => value === text,
    );
  await page.locator(".row").getByRole("button", { name: "b", exact: true }).waitFor();
  await page.keyboard.press("G");
  const before = (await shownNames(page)).length;
  await count(String(before));
  await page.getByLabel("Namespace", { exact: true }).fill("two");
  await page.keyboard.press("Enter");
  await page.locator(".row").getByRole("button", { name: "d", exact: true }).waitFor();
  const after = await shownNames(page);
  expect(after.length).toBeLessThan(before);
  await count(String(after.length));
  await page.locator('[aria-selected="true"]').getByText(after[0]!, { exact: true }).waitFor();
});

it("a missing object has a page that says so, without a button to delete it, and appears when it is created", async () => {
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    "#/object/core/configmaps/one/missing/overview",
  );
  await page.getByRole("heading", { name: "ConfigMap missing doesn't exist" }).waitFor();
  expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
  expect(await page.getByText("Reading").count()).toBe(0);
  await page.getByRole("link", { name: "All configmaps in the namespace one" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create it" }).click();
  await page.getByLabel(/^name/).waitFor();
  expect(await page.getByLabel(/^name/).inputValue()).toBe("missing");
  await page.goBack();
  await page.getByRole("heading", { name: "ConfigMap missing doesn't exist" }).waitFor();
  await ok(server.admin.post("/api/v1/namespaces/one/configmaps", configMap("missing", { key: "there" })));
  await page.getByRole("region", { name: "Data", exact: true }).getByText("there").waitFor();
  expect(complaints).toEqual([]);
});

it("in a window of 420 pixels nothing is wider than the window, and a button opens the kinds", async () => {
  const { page, complaints } = await browser.signIn(server, "root");
  await page.setViewportSize({ width: 420, height: 800 });
  const places = [
    "#/",
    "#/list/core/configmaps",
    "#/list/apiextensions.platform.io/customresourcedefinitions",
    "#/object/core/configmaps/two/d/overview",
    "#/object/rbac.authorization.platform.io/clusterroles/-/admin/overview",
    "#/object/core/configmaps/two/d/edit",
    "#/access/mine",
    "#/access/graph?user=ann&groups=system:masters",
    "#/server",
    "#/create/core/configmaps?namespace=one",
  ];
  for (const place of places) {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await page.locator("main h1").first().waitFor();
    expect([place, await width(page)]).toEqual([place, 420]);
  }
  const kinds = page.getByRole("navigation", { name: "Kinds" });
  const menu = page.getByRole("button", { name: "Menu" });
  expect(await kinds.isVisible()).toBe(false);
  await menu.click();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await until(
    () => kinds.isVisible(),
    (isVisible) => !isVisible,
  );
  await menu.click();
  await kinds.getByRole("link", { name: "Secret" }).click();
  await page.getByRole("heading", { name: "Secret v1" }).waitFor();
  expect(await kinds.isVisible()).toBe(false);
  expect(complaints).toEqual([]);
});

it("at 1280 pixels the buttons of a list are in one line, also of kinds with long names", async () => {
  const { page } = await browser.signIn(
    server,
    "root",
    "#/list/apiextensions.platform.io/customresourcedefinitions",
  );
  const box = async (name: string) => (await page.getByRole("button", { name, exact: true }).boundingBox())!;
  await page.getByRole("button", { name: "Create", exact: true }).waitFor();
  const search = (await page.getByRole("searchbox").boundingBox())!;
  expect(Math.abs((await box("Create")).y - search.y)).toBeLessThan(6);
});

/** The words of the page that are on two lines. */
const brokenWords = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const broken = [];
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      for (const { index, 0: word } of node.data.matchAll(/[A-Za-z0-9]{2,24}/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (tops.size > 1) broken.push(word);
      }
    }
    return broken;
  })()`);

it("words don't break in the middle", async () => {
  const { page } = await browser.signIn(server, "root");
  for (const width of [1280, 420]) {
    await page.setViewportSize({ width, height: 800 });
    for (const [place, text] of [
      ["#/access/graph?user=ann&groups=system:masters,viewers", "persistentvolumeclaims"],
      ["#/object/rbac.authorization.platform.io/clusterroles/-/admin/overview", "deletecollection"],
      ["#/object/core/configmaps/two/d/overview", longWord],
      ["#/object/core/configmaps/two/d/fields", longWord],
    ] as const) {
      await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
      await page.locator("main").getByText(text).first().waitFor();
      expect([place, width, await brokenWords(page)]).toEqual([place, width, []]);
    }
  }
});

it("a reload keeps the session; the credentials are in no storage while the page is open, and gone after the sign-out", async () => {
  const { page, complaints } = await browser.signIn(server, "ann", "#/access/mine");
  await page.reload();
  await page.getByText("You are ann in the groups team-a").waitFor();
  const stored = () =>
    page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
  expect(await stored()).not.toContain("ann");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.reload();
  await page.getByLabel("Bearer token").waitFor();
  expect(complaints).toEqual([]);
});

it("the suggested command has the groups of the user, and the grant allows what is missing", async () => {
  const { page } = await browser.signIn(server, "ann", "#/list/core/configmaps?namespace=one");
  const create = page.getByRole("button", { name: "Create", exact: true });
  await create.and(page.locator('[aria-disabled="true"]')).waitFor();
  await create.press("Enter");
  await page.getByText("plinth auth why ann create configmaps --namespace=one --group=team-a").waitFor();
  const text = (await page.getByLabel("Grant", { exact: true }).textContent())!;
  await expectAccessible(page);
  await page.getByRole("button", { name: "Close" }).click();
  for (const document of text.split("---\n")) {
    const resource = document.includes("kind: RoleBinding") ? "rolebindings" : "roles";
    await ok(
      server.admin.ask("POST", `${RBAC}/namespaces/one/${resource}`, {
        raw: document,
        contentType: "application/yaml",
      }),
    );
  }
  await until(
    () => create.getAttribute("aria-disabled"),
    (disabled) => disabled === "false",
  );
});

it("the name of a plain user is shown, and no request is made to be refused", async () => {
  await grant(server.admin, "ann", [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }]);
  await ok(
    server.admin.post(
      `${RBAC}/namespaces/two/rolebindings`,
      roleBinding("view", refTo("ClusterRole", "view"), [user("ann")]),
    ),
  );
  const { page, requested } = await browser.signIn(server, "ann");
  await page.getByRole("link", { name: "ann", exact: true }).waitFor();
  expect(requested.filter((url) => url.endsWith("/console/codes"))).toEqual([]);
});

it("tables of rules, rights and subjects are lists of labelled values in a narrow window, and nothing is cut", async () => {
  const { page } = await browser.signIn(server, "root", "#/access/mine");
  await page.setViewportSize({ width: 420, height: 800 });
  for (const [place, label] of [
    ["#/access/mine", "Verbs"],
    ["#/access/who-can?verb=get&resource=secrets&namespace=one", "Binding"],
    ["#/object/rbac.authorization.platform.io/clusterroles/-/view/overview", "Resources"],
  ] as const) {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    const cell = page.locator(`.by-row [data-label="${label}"]`).first();
    await cell.waitFor();
    const shown = `getComputedStyle(document.querySelector('.by-row [data-label="${label}"]'), "::before").content`;
    expect(await page.evaluate<string>(shown)).toBe(`"${label}"`);
    const cut = `[...document.querySelectorAll(".wide")].filter((one) => one.scrollWidth > one.clientWidth).length`;
    expect([place, await page.evaluate<number>(cut)]).toEqual([place, 0]);
    await expectAccessible(page);
  }
});
