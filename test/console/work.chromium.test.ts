import type { Page } from "playwright-core";
import { beforeAll, expect, it } from "vitest";
import { RBAC, configMap, clusterRoleBinding, grant, ok, refTo, until, user } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, shownNames, useBrowser } from "./browser.ts";

const server = useServer({
  console: true,
  users: [
    { name: "root", groups: ["system:masters"] },
    { name: "ann", groups: ["team-a"] },
    { name: "plain" },
  ],
});
const browser = useBrowser();
const maps = "/api/v1/namespaces/default/configmaps";
const attack = "<img src=x onerror=\"document.title='attacked'\">";
const labelsOf = async (name: string) =>
  (await server.admin.get(`${maps}/${name}`)).body.metadata.labels as Record<string, string> | undefined;
const markOf = (page: Page, name: string) =>
  page.getByRole("checkbox", { name: `Mark ${name}`, exact: true });

beforeAll(async () => {
  const role = clusterRoleBinding("view", refTo("ClusterRole", "view"), [user("ann")]);
  await ok(server.admin.post(`${RBAC}/clusterrolebindings`, role));
});

it("marked objects are labelled and deleted together; a failure is named", async () => {
  for (const name of ["one", "two", "three"]) await ok(server.admin.post(maps, configMap(`bulk-${name}`)));
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    "#/list/core/configmaps?namespace=default&search=bulk",
  );
  await page.getByRole("row", { name: /bulk-two/ }).waitFor();
  await markOf(page, "bulk-one").click();
  await page.keyboard.press("j");
  await markOf(page, "bulk-two").focus();
  await page.locator(".table").focus();
  await page.getByText("1 marked").waitFor();
  await markOf(page, "bulk-two").click();
  await page.getByText("2 marked").waitFor();
  await page.getByRole("button", { name: "Label…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Labels").fill("nothing");
  await dialog.getByText("nothing is neither key=value nor key-").waitFor();
  expect(await dialog.getByRole("button", { name: "Label 2" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Labels").fill("team=shop");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Label 2" }).click();
  await until(
    () => dialog.count(),
    (count) => count === 0,
  );
  expect([await labelsOf("bulk-one"), await labelsOf("bulk-two"), await labelsOf("bulk-three")]).toEqual([
    { team: "shop" },
    { team: "shop" },
    undefined,
  ]);
  await page.getByRole("checkbox", { name: "Mark all rows" }).click();
  await page.getByText("3 marked").waitFor();
  await page.getByRole("button", { name: "Delete…" }).click();
  await dialog.getByText("No other object goes with them.").waitFor();
  await expectAccessible(page);
  await page.route(`**${maps}/bulk-two`, (route) =>
    route.fulfill({ status: 403, body: JSON.stringify({ message: attack }) }),
  );
  await dialog.getByRole("button", { name: "Delete 3" }).click();
  await dialog.getByText(`bulk-two: ${attack}`).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await until(
    () => shownNames(page),
    (names) => names.join() === "bulk-two",
  );
  await page.getByText("1 marked").waitFor();
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("filters and the order are in the URL, a favorite keeps them, and shown objects are recent", async () => {
  for (const [name, count] of [
    ["few", 1],
    ["many", 3],
  ] as const) {
    const data = Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ""]));
    await ok(server.admin.post(maps, configMap(`sorted-${name}`, data)));
  }
  const { page } = await browser.signIn(
    server,
    "root",
    "#/list/core/configmaps?namespace=default&search=sorted&sort=-Data",
  );
  await until(
    () => shownNames(page),
    (names) => names.join() === "sorted-many,sorted-few",
  );
  await page.getByRole("columnheader", { name: "Data" }).getByRole("button").click();
  await until(
    () => shownNames(page),
    (names) => names.join() === "sorted-few,sorted-many",
  );
  expect(page.url()).toMatch(/sort=Data$/);
  await page.getByRole("button", { name: "Favorite" }).click();
  await page.getByRole("button", { name: "sorted-few" }).click();
  await page.getByRole("region", { name: "Data", exact: true }).waitFor();
  await page
    .getByRole("navigation", { name: "Recent" })
    .getByRole("link", { name: "sorted-few, configmaps in default" })
    .waitFor();
  await expectAccessible(page);
  await page.reload();
  await page
    .getByRole("navigation", { name: "Favorites" })
    .getByRole("link", { name: "configmaps in default sorted" })
    .click();
  await until(
    () => shownNames(page),
    (names) => names.join() === "sorted-few,sorted-many",
  );
  await page.getByRole("button", { name: "Favorite" }).click();
  expect(await page.getByRole("navigation", { name: "Favorites" }).count()).toBe(0);
});

it("states have words, colors and marks: 0/1 is not 1/1", async () => {
  const spec = { containers: [{ name: "a", image: "a" }] };
  const pods = "/api/v1/namespaces/default/pods";
  for (const [name, ready] of [
    ["state-on", true],
    ["state-off", false],
  ] as const) {
    await ok(server.admin.post(pods, { metadata: { name }, spec }));
    const containerStatuses = [
      { name: "a", image: "a", imageID: "", ready, restartCount: 0, state: { running: {} } },
    ];
    await ok(
      server.admin.patch(`${pods}/${name}/status`, { status: { phase: "Running", containerStatuses } }),
    );
  }
  const { page } = await browser.signIn(server, "root", "#/list/core/pods?namespace=default&search=state");
  const cell = (text: string) => page.getByRole("gridcell", { name: text, exact: true });
  await cell("1/1").waitFor();
  const look = (text: string) =>
    page.evaluate<string>(`(() => {
      const cells = [...document.querySelectorAll("[role=gridcell]")];
      const element = cells.find(({ textContent }) => textContent === ${JSON.stringify(text)});
      return element.className + getComputedStyle(element, "::before").content;
    })()`);
  const [on, off] = [await look("1/1"), await look("0/1")];
  expect(on).toContain("good");
  expect(off).toContain("waiting");
  expect([on.includes("●"), off.includes("◐")]).toEqual([true, true]);
});

it("an object is copied as YAML, and as commands of kubectl and curl", async () => {
  await ok(server.admin.post(maps, configMap("copied", { key: "value" })));
  const { page } = await browser.signIn(server, "root", "#/object/core/configmaps/default/copied/overview");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("region", { name: "Data", exact: true }).waitFor();
  const copied: string[] = [];
  for (const label of ["YAML", "kubectl command", "curl command"]) {
    await page.getByText("Copy", { exact: true }).click();
    await page.getByRole("button", { name: label, exact: true }).click();
    copied.push(await page.evaluate<string>("navigator.clipboard.readText()"));
    await page.getByText("Copy", { exact: true }).click();
  }
  expect(copied[0]).toContain("\n  key: value\n");
  expect(copied[1]).toBe("kubectl get configmaps copied --namespace=default --output=yaml");
  expect(copied[2]).toContain(`${server.server.url!}${maps}/copied`);
  await expectAccessible(page);
});

it("an edit that others overtake is merged field by field, and the user decides about fields that both changed", async () => {
  await ok(server.admin.post(maps, configMap("merged", { mine: "1", theirs: "1", both: "1" })));
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    "#/object/core/configmaps/default/merged/edit",
  );
  const editor = page.getByRole("textbox", { name: "YAML of merged" });
  for (const field of ["both", "mine"]) {
    await editor.getByText(`${field}: "1"`).click();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.insertText("0 of mine");
  }
  await ok(server.admin.patch(`${maps}/merged`, { data: { theirs: "2", both: attack } }));
  await page.getByRole("button", { name: "Bring my changes to the newest version" }).click();
  await editor.getByText('theirs: "2"').waitFor();
  await editor.getByText("mine: 10 of mine").or(editor.getByText('mine: "10 of mine"')).waitFor();
  const conflicts = page.getByRole("group", { name: "Changed by both" });
  await conflicts.getByText("data.both").waitFor();
  await expectAccessible(page);
  await conflicts
    .getByRole("group", { name: "data.both" })
    .getByRole("button", { name: "Take theirs" })
    .click();
  await editor.getByText(attack).waitFor();
  expect(await conflicts.count()).toBe(0);
  await page.getByRole("button", { name: "Preview (dry run)" }).click();
  await page
    .getByRole("button", { name: /^(Apply|Preview taking)/ })
    .first()
    .click();
  const apply = page.getByRole("button", { name: /^Apply/ });
  if ((await apply.count()) > 0) await apply.first().click();
  await page.getByText("Applied.").waitFor();
  expect((await server.admin.get(`${maps}/merged`)).body.data).toEqual({
    mine: "10 of mine",
    theirs: "2",
    both: attack,
  });
  expect(complaints).toEqual([]);
});

it("the form of a new object opens with its required fields, the name first", async () => {
  const { page } = await browser.signIn(server, "root", "#/create/apps/deployments?namespace=default");
  const form = page.getByRole("group", { name: "Fields of Deployment" });
  await form.getByLabel(/^name/).waitFor();
  const labels = await form.locator("label").allTextContents();
  expect(labels[0]).toBe("name required");
  await form.getByText(/^selector/).waitFor();
  await expectAccessible(page);
});

it("the form of a new object, and the editor of an object, begin again for another kind or object", async () => {
  const { page } = await browser.signIn(server, "root", "#/create/core/configmaps?namespace=default");
  const editor = page.getByRole("textbox", { name: /^YAML of/ });
  await expect.poll(() => editor.textContent()).toContain("kind: ConfigMap");
  await page.goto(`${server.server.url}/console/#/create/apps/deployments?namespace=default`);
  await page.getByRole("group", { name: "Fields of Deployment" }).waitFor();
  await expect.poll(() => editor.textContent()).toContain("kind: Deployment");
  for (const name of ["editor-a", "editor-b"]) await ok(server.admin.post(maps, configMap(name)));
  for (const name of ["editor-a", "editor-b"]) {
    await page.goto(`${server.server.url}/console/#/object/core/configmaps/default/${name}/edit`);
    await expect.poll(() => editor.textContent()).toContain(`name: ${name}`);
  }
});

it("charts have axes with units, and the latency has p50, p95 and p99", async () => {
  const { page } = await browser.signIn(server, "root", "#/server");
  const chart = page.getByRole("figure").filter({ hasText: "Latency" });
  await chart.getByText(/^p95/).waitFor();
  const texts = (await chart.locator(".legend").textContent())!;
  for (const name of ["p50", "p95", "p99"]) expect(texts).toContain(name);
  expect(await chart.locator("svg text").count()).toBe(5);
  await chart.getByText("ms", { exact: true }).waitFor();
  await expectAccessible(page);
});

it("a user without rights sees their own rights and a start page without refusals", async () => {
  const { page, complaints } = await browser.signIn(server, "plain");
  await page
    .getByRole("region", { name: "What you may do" })
    .getByRole("link", { name: "All my rights" })
    .waitFor();
  await page.getByRole("region", { name: "Events" }).getByText("You may not read this.").waitFor();
  expect(await page.locator("main").textContent()).not.toContain("forbidden");
  await expectAccessible(page);
  await page.getByRole("link", { name: "All my rights" }).click();
  await page.getByText("You are plain").waitFor();
  await page.getByRole("row", { name: /selfsubjectaccessreviews/ }).waitFor();
  expect(await page.getByText("View as user").count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("tab", { name: "Who can" }).click();
  await page.getByLabel("Verb").fill("get");
  await page.getByLabel("Resource").fill("pods");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "You may not ask this about others" }).waitFor();
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});

it("an administrator sees the console as another user, and is themselves again", async () => {
  await ok(server.admin.post(maps, configMap("viewed")));
  await grant(server.admin, "ann", [{ verbs: ["create"], apiGroups: [""], resources: ["configmaps"] }]);
  const { page, complaints } = await browser.signIn(server, "root", "#/access/mine");
  await page.getByLabel("View as user").fill("ann");
  await page.getByLabel("In groups").fill("team-a");
  await page.keyboard.press("Enter");
  await page.getByText("You see the console as ann").waitFor();
  await page.getByText("You are ann").waitFor();
  await expectAccessible(page);
  await page.evaluate('location.hash = "#/object/core/configmaps/default/viewed/overview"');
  const remove = page.getByRole("button", { name: "Delete" });
  await remove.and(page.locator('[aria-disabled="true"]')).waitFor();
  await remove.press("Enter");
  await page.getByRole("heading", { name: "You may not delete configmaps viewed in default" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await page.reload();
  await page.getByText("You see the console as ann").waitFor();
  await page.getByRole("button", { name: "Be root again" }).click();
  await remove.and(page.locator('[aria-disabled="false"]')).waitFor();
  expect(await page.getByText("You see the console as").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("the start page has health, changes, events, bindings without effect, certificates and counts", async () => {
  await ok(server.admin.post(maps, configMap("newest")));
  await ok(
    server.admin.post("/api/v1/namespaces/default/events", {
      metadata: { name: "newest.1" },
      involvedObject: { kind: "ConfigMap", apiVersion: "v1", name: "newest", namespace: "default" },
      type: "Warning",
      reason: "Noted",
      message: attack,
      lastTimestamp: new Date().toISOString(),
    }),
  );
  const lost = clusterRoleBinding("lost", refTo("ClusterRole", "missing"), [user("ann")]);
  await ok(server.admin.post(`${RBAC}/clusterrolebindings`, lost));
  const { page, complaints } = await browser.signIn(server, "root");
  const card = (name: string) => page.getByRole("region", { name, exact: true });
  await card("Health")
    .getByText(/all \d+ checks pass/)
    .waitFor();
  await card("Newest changes").getByRole("link", { name: "ConfigMap newest" }).waitFor();
  await card("Events").getByText(attack).waitFor();
  await card("Events").getByRole("link", { name: "ConfigMap newest" }).waitFor();
  await card("Bindings without effect").getByText("ClusterRole missing doesn't exist").waitFor();
  await card("Certificates").getByText("serving certificate").waitFor();
  await card("What you may do").getByText("Everything, in all namespaces.").waitFor();
  await card("Kinds")
    .getByRole("listitem")
    .filter({ hasText: /^ConfigMap \d+$/ })
    .waitFor();
  await expectAccessible(page);
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(complaints).toEqual([]);
});

it("a lost connection is said, and the list and the object go on by themselves when it is back", async () => {
  await ok(server.admin.post(maps, configMap("kept", { key: "before" })));
  const { page, complaints } = await browser.signIn(
    server,
    "root",
    "#/list/core/configmaps?namespace=default&search=kept",
  );
  await page.getByRole("row", { name: /kept/ }).waitFor();
  // The streams that are open end, and new ones fail.
  await page.route("**/configmaps*", (route) => route.abort());
  await page.evaluate('location.hash = "#/list/core/configmaps?search=kept"');
  await page.getByText("The connection is lost").waitFor();
  await expectAccessible(page);
  await page.unroute("**/configmaps*");
  await page.getByRole("row", { name: /kept/ }).waitFor();
  await page.route("**/configmaps/kept", (route) => route.abort());
  await page.getByRole("button", { name: "kept", exact: true }).click();
  await page.getByRole("heading", { name: "ConfigMap kept can't be read" }).waitFor();
  await page.getByText("It is tried again every few seconds.").waitFor();
  await expectAccessible(page);
  await page.unroute("**/configmaps/kept");
  await page.getByRole("region", { name: "Data", exact: true }).getByText("before").waitFor();
  expect(complaints).toEqual([]);
});

it("an empty list says what would be there, and how to make it", async () => {
  await ok(server.admin.post(maps, configMap("findable")));
  const { page } = await browser.signIn(server, "root", "#/list/batch/jobs?namespace=default");
  await page.getByRole("heading", { name: "No jobs in default" }).waitFor();
  await page.getByRole("link", { name: "Look in all namespaces" }).click();
  await page.getByRole("heading", { name: "No jobs", exact: true }).waitFor();
  await expectAccessible(page);
  await page.goBack();
  await page.evaluate('location.hash = "#/list/core/configmaps?search=nothing-has-this"');
  await page.getByRole("button", { name: "Show all" }).click();
  await page
    .getByRole("row", { name: /findable/ })
    .first()
    .waitFor();
});
