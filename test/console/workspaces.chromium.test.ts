import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { branch, maps, tenancy, within, workspacesPath } from "../api/branches-support.ts";
import { configMap, grant, ok } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, shownNames, useBrowser } from "./browser.ts";

const users = [{ name: "root", groups: ["system:masters"] }, { name: "ann" }, { name: "bea" }];
const runtimeConfig = `${tenancy}/v1alpha1=true`;
const server = useServer({ console: true, runtimeConfig, keptHistory: ["configmaps=1d"], users });
const plain = useServer({ console: true, users });
const browser = useBrowser();
const set = (where: string, name: string, colour: string, manager: string) =>
  ok(server.admin.patch(within(where, `${maps}/${name}?fieldManager=${manager}`), { data: { colour } }));
const switcher = (page: Page) => page.getByRole("button", { name: /^Workspace: / });

it("a branch is created, changed, compared, and merged with a strategy for its conflict", async () => {
  await ok(server.admin.post(maps, configMap("settings", { colour: "blue" })));
  await ok(server.admin.post(maps, configMap("old", {})));
  const { page, complaints } = await browser.signIn(server, "root");
  expect(await switcher(page).textContent()).toBe("Server");
  await page.getByRole("link", { name: "Workspaces", exact: true }).click();
  await page.getByText("There is none yet.").waitFor();
  await page.getByRole("button", { name: "New workspace" }).click();
  await page.getByLabel("Name", { exact: true }).fill("trial");
  await page.getByLabel("Deleted after hours").fill("24");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "Workspace trial" }).waitFor();
  await page.getByText(/^the server at version \d+$/).waitFor();
  await page.getByText(/^in 2[34]h$/).waitFor();
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByText(/^\d+ of \d+ kinds, as far as/).waitFor();
  await expectAccessible(page);

  await page.getByRole("link", { name: "Enter", exact: true }).click();
  await page.waitForURL(/\?workspace=trial#\/$/);
  await page.getByRole("navigation", { name: "Kinds" }).getByRole("link", { name: "ConfigMap" }).click();
  await page.getByText("settings", { exact: true }).waitFor();
  expect([await switcher(page).textContent(), await page.title()]).toEqual([
    "trial",
    "trial: configmaps · Plinth",
  ]);
  await page.goto(
    `${server.server.url}/console/?workspace=trial#/object/core/configmaps/default/settings/edit`,
  );
  await page.locator(".cm-content").waitFor();
  await page.locator(".cm-line", { hasText: "colour: blue" }).click();
  await page.keyboard.press("End");
  for (const _ of "blue") await page.keyboard.press("Backspace");
  await page.keyboard.type("green");
  await page.getByRole("button", { name: "Preview (dry run)" }).click();
  await page.getByRole("button", { name: "Preview taking them over" }).click();
  await page.getByRole("button", { name: "Apply and take over" }).click();
  await expect
    .poll(async () => (await ok(server.admin.get(within("trial", `${maps}/settings`)))).body.data)
    .toEqual({
      colour: "green",
    });
  await ok(server.admin.delete(within("trial", `${maps}/old`)));
  await set("", "settings", "red", "omar");

  await page.getByRole("link", { name: "Workspace trial" }).click();
  await page.getByRole("tab", { name: "Difference" }).click();
  await page.getByText("2 objects differ.").waitFor();
  await page.getByText('.data.colour: "red" → "green"').waitFor();
  await page.getByText("plinth-console; changed in both").waitFor();
  await expectAccessible(page);
  await page.getByLabel("As the base was when the workspace began").check();
  await page.getByText('.data.colour: "blue" → "green"').waitFor();
  expect(page.url()).toContain("#/workspace/trial/difference?since=start");

  await page.getByRole("tab", { name: "Merge" }).click();
  await page.getByText("Not possible because of 1 conflict").waitFor();
  const conflict = page.getByRole("region", { name: "Conflicts" });
  expect(await conflict.getByRole("definition").allTextContents()).toEqual([
    '"blue"',
    '"green" by plinth-console',
    '"red" by omar',
  ]);
  expect(await page.getByRole("button", { name: "Merge", exact: true }).isDisabled()).toBe(true);
  await expectAccessible(page);
  await page.getByLabel("If both have changed a field").selectOption("take the value of trial");
  await page.getByText("The merge would write 2 objects, with 1 conflict resolved.").waitFor();
  await page.getByText("Resolved: that of trial is taken.").waitFor();
  expect((await ok(server.admin.get(`${maps}/settings`))).body.data).toEqual({ colour: "red" });
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByText(/^Merged: 2 objects written at version \d+\./).waitFor();
  await expectAccessible(page);
  expect((await ok(server.admin.get(`${maps}/settings`))).body.data).toEqual({ colour: "green" });
  expect((await server.admin.get(`${maps}/old`)).status).toBe(404);
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByText("Nothing is left to merge.").waitFor();
  expect(complaints).toEqual([]);
});

it("the workspace is in the URL of every page, and its lists, watches and favorites are its own", async () => {
  await branch(server.admin, "shared");
  await ok(server.admin.post(within("shared", maps), configMap("only-there", {})));
  const place = "#/list/core/configmaps?namespace=default";
  const { page, complaints } = await browser.signIn(server, "root", `?workspace=shared${place}`);
  await page.getByText("only-there", { exact: true }).waitFor();
  await ok(server.admin.post(within("shared", maps), configMap("watched", {})));
  await page.getByText("watched", { exact: true }).waitFor();
  await page.getByRole("button", { name: /favorite/i }).click();
  await page.getByRole("link", { name: "Access" }).click();
  await page.getByText("In the namespace default").waitFor();
  await ok(server.admin.delete(within("shared", `${maps}/watched`)));
  await page.getByRole("link", { name: "Trash" }).click();
  await page.getByRole("row", { name: /ConfigMap default watched .* ago admin/ }).waitFor();
  await page.goto(`${server.server.url}/console/?workspace=shared#/server`);
  await page.getByRole("heading", { name: "This page belongs to the server" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Trash" }).waitFor();

  await page.goto(`${server.server.url}/console/?workspace=shared${place}`);
  await switcher(page).click();
  await expectAccessible(page);
  await page.getByLabel("Name of a workspace").fill("erv");
  await page.getByRole("link", { name: "Server", exact: true }).click();
  await page.waitForURL(`${server.server.url}/console/${place}`);
  expect(await switcher(page).textContent()).toBe("Server");
  await page.locator(".table-space .row").first().waitFor();
  expect(await shownNames(page)).not.toContain("only-there");
  await page.getByRole("link", { name: /configmaps in default · shared/ }).click();
  await page.getByText("only-there", { exact: true }).waitFor();
  expect(await switcher(page).textContent()).toBe("shared");
  await page.goBack();
  await page.getByRole("button", { name: "Workspace: none, the server itself" }).waitFor();
  expect(await shownNames(page)).not.toContain("only-there");
  await page.goForward();
  await page.getByText("only-there", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

it("a workspace is entered by its name by those who may not list, and one that can't be entered says why", async () => {
  await branch(server.admin, "by-name");
  const { page } = await browser.signIn(server, "ann");
  await switcher(page).click();
  await page.getByText(/They can't be listed: .*cannot list resource "workspaces"/).waitFor();
  await page.getByLabel("Name of a workspace").fill("by-name");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "The workspace by-name can't be entered" }).waitFor();
  await page.getByRole("alert").getByText('cannot access resource "workspaces"').waitFor();
  expect(await switcher(page).textContent()).toBe("by-name");
  await expectAccessible(page);
  const { page: other } = await browser.signIn(server, "root", "?workspace=missing#/");
  await other.getByRole("alert").getByText('"missing" not found').waitFor();
  await other.getByRole("link", { name: "The server" }).click();
  await other.getByRole("heading", { name: "Signed in as root" }).waitFor();
  const { page: wrong } = await browser.signIn(server, "root", "?workspace=..%2Fapi#/");
  expect([await switcher(wrong).textContent(), wrong.url()]).toEqual([
    "Server",
    `${server.server.url}/console/#/`,
  ]);
});

it("a server without workspaces has no switcher, and its page says how they are served", async () => {
  const { page } = await browser.signIn(plain, "root");
  expect(await switcher(page).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Workspaces", exact: true }).count()).toBe(0);
  await page.goto(`${plain.server.url}/console/#/workspaces`);
  await page.getByText("--runtime-config=api/alpha=true").waitFor();
});

it("a conflict that comes up between the dry run and the merge is shown, and nothing is written", async () => {
  await ok(server.admin.post(maps, configMap("late", { colour: "blue" })));
  await branch(server.admin, "late");
  await set("late", "late", "green", "devi");
  const { page } = await browser.signIn(server, "root", "#/workspace/late/merge");
  await page.getByText("The merge would write 1 object.").waitFor();
  await set("", "late", "red", "omar");
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByRole("alert").getByText("the merge isn't possible because of 1 conflict").waitFor();
  expect((await ok(server.admin.get(`${maps}/late`))).body.data).toEqual({ colour: "red" });

  await page.getByRole("tab", { name: "Rebase" }).click();
  await page.getByLabel("If both have changed a field").selectOption("take the value of the base");
  await page.getByText("The rebase would write 1 object, with 1 conflict resolved.").waitFor();
  await page.getByRole("button", { name: "Rebase", exact: true }).click();
  await page.getByText(/^Rebased: 1 object written at version \d+\./).waitFor();
  expect((await ok(server.admin.get(within("late", `${maps}/late`)))).body.data).toEqual({ colour: "red" });
});

it("values of secrets are hidden, also in conflicts, and the pages fit a narrow window", async () => {
  const secrets = maps.replace("configmaps", "secrets");
  const write = (where: string, value: string) =>
    ok(server.admin.patch(within(where, `${secrets}/token`), { stringData: { key: value } }));
  await ok(server.admin.post(secrets, { metadata: { name: "token" }, stringData: { key: "aaaa" } }));
  await branch(server.admin, "secrets");
  await write("secrets", "bbbb");
  await write("", "cccc");
  const { page } = await browser.signIn(server, "root", "#/workspace/secrets/difference");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByText(".data.key: (hidden) → (hidden)").waitFor();
  await page.getByRole("tab", { name: "Merge" }).click();
  const conflicts = page.getByRole("region", { name: "Conflicts" });
  await conflicts.waitFor();
  expect(await conflicts.getByRole("definition").allTextContents()).toEqual([
    "(hidden)",
    expect.stringMatching(/^\(hidden\) by /),
    expect.stringMatching(/^\(hidden\) by /),
  ]);
  const text = await page.locator("body").textContent();
  for (const value of ["aaaa", "bbbb", "cccc"])
    expect(text).not.toContain(Buffer.from(value).toString("base64"));
  for (const hash of ["#/workspaces", "#/workspace/secrets", "#/workspace/secrets/merge"]) {
    await page.goto(`${server.server.url}/console/${hash}`);
    await page.getByRole("main").getByText("secrets").first().waitFor();
    expect(await page.getByRole("main").evaluate((main) => main.scrollWidth - main.clientWidth)).toBe(0);
    await expectAccessible(page);
  }
});

it("a workspace is branched and deleted after its name is typed, also the one that the page shows", async () => {
  await branch(server.admin, "first");
  const { page } = await browser.signIn(server, "root", "?workspace=first#/workspace/first");
  await page.getByRole("button", { name: "Branch first" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Second");
  expect(await page.getByRole("button", { name: "Create", exact: true }).isDisabled()).toBe(true);
  await page.getByLabel("Name", { exact: true }).fill("trial");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("alert").getByText('"trial" already exists').waitFor();
  await page.getByLabel("Name", { exact: true }).fill("second");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("link", { name: /^first at version \d+$/ }).click();
  await page.getByRole("heading", { name: "Workspace first" }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const remove = page.getByRole("button", { name: "Delete first" });
  expect(await remove.isDisabled()).toBe(true);
  await page.getByLabel("Type its name").fill("first");
  await remove.click();
  await page.waitForURL(/\/console\/#\/workspaces$/);
  await page.getByRole("link", { name: "second", exact: true }).waitFor();
  await expect.poll(async () => (await server.admin.get(`${workspacesPath}/first`)).status).toBe(404);
});

it("a workspace is compared with another one, and merged into it", async () => {
  await ok(server.admin.post(maps, configMap("pair", { colour: "blue" })));
  await branch(server.admin, "left");
  await branch(server.admin, "right");
  await set("left", "pair", "green", "devi");
  const { page } = await browser.signIn(server, "root", "#/workspace/left/difference");
  await page.getByLabel("Compared with").selectOption("workspace right");
  await page.getByText('.data.colour: "green" → "blue"').waitFor();
  expect(page.url()).toContain("#/workspace/left/difference?to=right");
  await page.getByRole("tab", { name: "Merge" }).click();
  await page.getByLabel("Into").selectOption("workspace right");
  await page.getByText("The merge would write 1 object.").waitFor();
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByText(/^Merged: 1 object written/).waitFor();
  await page.getByRole("link", { name: "ConfigMap default/pair" }).click();
  await page.waitForURL(/\?workspace=right#\/object\/core\/configmaps\/default\/pair\/overview$/);
  expect((await ok(server.admin.get(within("right", `${maps}/pair`)))).body.data).toEqual({
    colour: "green",
  });
  expect((await ok(server.admin.get(`${maps}/pair`))).body.data).toEqual({ colour: "blue" });
});

it("a user sees how many objects they may not read, and why they may not rebase or delete", async () => {
  await grant(server.admin, "bea", [
    { apiGroups: [tenancy], resources: ["workspaces"], verbs: ["access", "list", "get"] },
    { apiGroups: [tenancy], resources: ["workspacediffs", "workspacemerges"], verbs: ["create"] },
  ]);
  await branch(server.admin, "guarded");
  await ok(server.admin.post(within("guarded", maps), configMap("unreadable", {})));
  const { page } = await browser.signIn(server, "bea", "?workspace=guarded#/workspace/guarded/difference");
  await page.getByText("Some objects are left out because you may not read them: 1.").waitFor();
  expect(await page.getByText("unreadable").count()).toBe(0);
  await page.getByRole("tab", { name: "Rebase" }).click();
  await page.getByRole("alert").getByText('cannot create resource "workspacerebases"').waitFor();
  const remove = page.getByRole("button", { name: "Delete", exact: true });
  await expect.poll(() => remove.getAttribute("aria-disabled")).toBe("true");
  await remove.click({ force: true });
  await page
    .getByRole("heading", { name: "You may not delete workspaces.tenancy.platform.io guarded" })
    .waitFor();
  await page
    .getByText("plinth auth why bea delete workspaces.tenancy.platform.io guarded -A", { exact: true })
    .waitFor();
});
