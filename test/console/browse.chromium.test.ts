import { expect, it } from "vitest";
import {
  RBAC,
  configMap,
  clusterRole,
  clusterRoleBinding,
  grant,
  ok,
  refTo,
  until,
  user,
} from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, shownNames, useBrowser } from "./browser.ts";

const lines: string[] = [];
const note = (_fields: object, message: string) => void lines.push(JSON.stringify(_fields) + message);
/** A token with readable claims, as of an OpenID provider; here it is a static token, whose user has the same name. */
const tokenWithClaims = `a.${Buffer.from(JSON.stringify({ name: "Cleo Example" })).toString("base64url")}.b`;
const server = useServer({
  console: true,
  accessLog: true,
  log: { info: note, warn: note, error: note },
  users: [
    { name: "ann" },
    { name: "bob" },
    { name: tokenWithClaims },
    { name: "root", groups: ["system:masters"] },
  ],
});
const browser = useBrowser();
const maps = "/api/v1/namespaces/default/configmaps";

it("a one-time code signs in; the code and the token are in no URL, log, cookie or storage", async () => {
  const { code } = (await server.admin.post("/console/codes", {})).body as { code: string };
  const { page, complaints, requested } = await browser.open(`${server.server.url}/console/#code=${code}`);
  await page.getByRole("heading", { name: "Signed in as admin" }).waitFor();
  expect(page.url()).not.toContain("code");
  const stored = await page.evaluate<string>(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])",
  );
  expect(stored).not.toContain("console.");
  expect(requested.join()).not.toContain(code);
  expect(requested.every((url) => url.startsWith(server.server.url!))).toBe(true);
  expect(lines.join()).toContain("/console/sessions");
  expect(lines.join()).not.toContain(code);
  expect(lines.join()).not.toMatch(/console\.ey/);
  await page.goBack();
  expect(page.url()).not.toContain("code");
  expect(complaints).toEqual([]);
});

it("a wrong token is refused, and the place is kept until the right one", async () => {
  const { page } = await browser.open(`${server.server.url}/console/#/list/core/namespaces`);
  await page.getByLabel("Bearer token").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").getByText("doesn't accept this token").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Bearer token").fill("root");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Namespace v1" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  await page.getByRole("button", { name: "Use a client certificate" }).click();
  await page.getByText("sent no client certificate").waitFor();
});

it("the user's name is the server's, not one in the claims of a token", async () => {
  const { page } = await browser.signIn(server, tokenWithClaims);
  await page.getByRole("heading", { name: `Signed in as ${tokenWithClaims}` }).waitFor();
});

it("a list is live: it shows new, changed and deleted objects without a reload", async () => {
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    "#/list/core/configmaps?namespace=default",
  );
  await page.getByText("live", { exact: true }).waitFor();
  await ok(server.admin.post(maps, configMap("first", { a: "1" })));
  await page.getByRole("row", { name: "first 1" }).waitFor();
  await ok(server.admin.patch(`${maps}/first`, { data: { b: "2" } }));
  await page.getByRole("row", { name: "first 2" }).waitFor();
  await ok(server.admin.delete(`${maps}/first`));
  await page.getByRole("row", { name: "first" }).waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

it("a list that is read again after an expired watch has no rows of changes before it", async () => {
  const { page } = await browser.signIn(server, "root");
  let watches = 0;
  const object = {
    rows: [{ cells: ["ghost", 0, "1s"], object: { metadata: { name: "ghost", namespace: "default" } } }],
  };
  const events = [
    { type: "ADDED", object },
    { type: "ERROR", object: { code: 410, message: "expired" } },
  ];
  await page.route(/configmaps\?.*watch=1/, async (route) => {
    watches++;
    if (watches > 1) await route.continue();
    else await route.fulfill({ body: events.map((event) => `${JSON.stringify(event)}\n`).join("") });
  });
  await page.goto(`${server.server.url}/console/#/list/core/configmaps?namespace=default`);
  await until(
    () => watches,
    (count) => count > 1,
  );
  await ok(server.admin.post(maps, configMap("after-the-list")));
  await page.getByRole("row", { name: /after-the-list/ }).waitFor();
  expect(await shownNames(page)).not.toContain("ghost");
  await ok(server.admin.delete(`${maps}/after-the-list`));
});

it("the keyboard alone goes to a kind, searches, moves, opens and returns", async () => {
  for (const name of ["key-a", "key-b", "other"]) await ok(server.admin.post(maps, configMap(name)));
  const { page, complaints } = await browser.signIn(server, "root");
  const { keyboard } = page;
  await keyboard.press(":");
  await keyboard.type("cm");
  await page.getByRole("option", { name: /^configmaps/ }).waitFor();
  await expectAccessible(page);
  await keyboard.press("Enter");
  await page.getByRole("row", { name: /key-b/ }).waitFor();
  await keyboard.press("n");
  await keyboard.type("default");
  await keyboard.press("Enter");
  await until(
    () => page.url(),
    (url) => url.includes("namespace=default"),
  );
  await page.getByText("live", { exact: true }).waitFor();
  await keyboard.press("/");
  await keyboard.type("key");
  await until(
    () => shownNames(page),
    (names) => names.join() === "key-a,key-b",
  );
  await keyboard.press("Enter");
  await keyboard.press("j");
  await page.locator('[aria-selected="true"]').getByText("key-b").waitFor();
  await keyboard.press("Enter");
  await until(
    () => page.url(),
    (url) => url.includes("#/object/core/configmaps/default/key-b"),
  );
  await page.getByRole("tab", { name: "YAML" }).waitFor();
  await keyboard.press("Escape");
  await until(
    () => shownNames(page),
    (names) => names.join() === "key-a,key-b",
  );
  await keyboard.press("?");
  await page.getByRole("heading", { name: "Keys" }).waitFor();
  await expectAccessible(page);
  await keyboard.press("Escape");
  await page.getByRole("heading", { name: "Keys" }).waitFor({ state: "detached" });
  await keyboard.press("Escape");
  await until(
    () => shownNames(page),
    (names) => names.includes("other"),
  );
  expect(complaints).toEqual([]);
});

it("a revoked right empties an open list and disables its actions, with the reason", async () => {
  await ok(server.admin.post(maps, configMap("seen")));
  const rules = [{ verbs: ["get", "list", "watch", "create"], apiGroups: [""], resources: ["configmaps"] }];
  await grant(server.admin, "ann", rules);
  const { page } = await browser.signIn(server, "ann", "#/list/core/configmaps?namespace=default");
  await page.getByRole("row", { name: /seen/ }).waitFor();
  const create = page.getByRole("button", { name: "Create" });
  expect(await create.getAttribute("aria-disabled")).toBe("false");
  await ok(server.admin.delete(`${RBAC}/clusterrolebindings/grant-ann`));
  await page.getByRole("row", { name: /seen/ }).waitFor({ state: "detached" });
  await page.getByText("You may not list all configmaps here").waitFor();
  await until(
    () => create.getAttribute("aria-disabled"),
    (disabled) => disabled === "true",
  );
  await create.press("Enter");
  await page.getByRole("heading", { name: "You may not create configmaps in default" }).waitFor();
  await page.getByText("plinth auth why").waitFor();
  await expectAccessible(page);
});

it("a user who may get some objects sees exactly these, also when a grant changes", async () => {
  for (const name of ["mine", "not-mine"]) await ok(server.admin.post(maps, configMap(name)));
  const rule = { verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"] };
  await ok(server.admin.post(`${RBAC}/clusterroles`, clusterRole("get-mine", [rule])));
  const binding = clusterRoleBinding("get-mine", refTo("ClusterRole", "get-mine"), [user("bob")]);
  await ok(server.admin.post(`${RBAC}/clusterrolebindings`, binding));
  const { page } = await browser.signIn(server, "bob", "#/list/core/configmaps?namespace=default");
  await page.getByRole("row", { name: /mine/ }).waitFor();
  expect(await shownNames(page)).toEqual(["mine"]);
  const both = { ...rule, resourceNames: ["mine", "not-mine"] };
  await ok(server.admin.patch(`${RBAC}/clusterroles/get-mine`, { rules: [both] }));
  await until(
    () => shownNames(page),
    (names) => names.join() === "mine,not-mine",
  );
  await ok(server.admin.patch(`${RBAC}/clusterroles/get-mine`, { rules: [] }));
  await until(
    () => shownNames(page),
    (names) => names.length === 0,
  );
});

it("texts of objects are never HTML or code", async () => {
  const attack =
    "<img src=x onerror=\"document.title='attacked'\"><script>document.title='attacked'</script>";
  const labels = { a: "b" };
  await ok(
    server.admin.post(
      maps,
      configMap("attack", { javascript_alert: attack }, { labels, annotations: { note: attack } }),
    ),
  );
  const involvedObject = { kind: "ConfigMap", name: "attack", namespace: "default", apiVersion: "v1" };
  await ok(
    server.admin.post("/api/v1/namespaces/default/events", {
      metadata: { name: "attack.1" },
      involvedObject,
      reason: attack,
      message: attack,
      type: attack,
    }),
  );
  const { page, complaints } = await browser.signIn(server, "root", "#/list/core/events?namespace=default");
  await page.getByRole("row", { name: /onerror/ }).waitFor();
  const encoded = encodeURIComponent(attack);
  await page.goto(`${server.server.url}/console/#/list/core/events?search=${encoded}&namespace=${encoded}`);
  await page.getByRole("heading", { name: "Event v1" }).waitFor();
  await page.goto(`${server.server.url}/console/#/list/${encoded}/${encoded}`);
  await page.getByText("The server has no resource <img").waitFor();
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(await page.title()).not.toBe("attacked");
  expect(complaints).toEqual([]);
});

it("the list and the start page are accessible, in light and dark", async () => {
  await ok(server.admin.post(maps, configMap("listed")));
  for (const scheme of ["light", "dark"] as const) {
    const { page } = await browser.signIn(server, "root", "#/list/core/configmaps", scheme);
    await page.getByRole("row", { name: /listed/ }).waitFor();
    await expectAccessible(page);
    await page.goto(`${server.server.url}/console/#/`);
    await page.getByRole("heading", { name: "Kinds" }).waitFor();
    await expectAccessible(page);
  }
});

it("the page can't be framed", async () => {
  const { page } = await browser.open(`${server.server.url}/console/`);
  const context = page.context();
  const outer = await context.newPage();
  await outer.setContent(`<iframe src="${server.server.url}/console/"></iframe>`);
  await until(
    () => outer.frames().map((one) => one.url()),
    (urls) => urls.some((url) => url.startsWith("chrome-error:")),
  );
});
