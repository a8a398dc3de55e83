import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { definition, served, version } from "../api/custom-resources/support.ts";
import { configMap, ok, until } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, useBrowser, type ConsolePage } from "./browser.ts";

const users = [{ name: "root", groups: ["system:masters"] }];
const server = useServer({ console: true, users });
const browser = useBrowser();
const attack = "<img src=x onerror=\"document.title='attacked'\">";
const core = "/api/v1/namespaces/default";
const rbac = "/apis/rbac.authorization.platform.io/v1";
let opened: ConsolePage;
let tenants = "";

beforeAll(async () => {
  const { admin } = server;
  await ok(
    admin.post(`${core}/configmaps`, {
      ...configMap(
        "settings",
        { color: attack, "app.yaml": "a: 1\nb: 2\n" },
        { annotations: { note: attack } },
      ),
      binaryData: { logo: "AAEC" },
    }),
  );
  await ok(
    admin.post(`${core}/secrets`, {
      metadata: { name: "database" },
      stringData: { password: `s3cret ${attack}` },
    }),
  );
  const labels = { app: "web" };
  const container = {
    name: "web",
    image: attack,
    ports: [{ containerPort: 8080, name: "http" }],
    envFrom: [{ configMapRef: { name: "settings" } }],
    env: [{ name: "P", valueFrom: { secretKeyRef: { name: "database", key: "password" } } }],
  };
  const spec = { serviceAccountName: "default", containers: [container] };
  await ok(
    admin.post("/apis/apps/v1/namespaces/default/deployments", {
      metadata: { name: "web", labels },
      spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    }),
  );
  await ok(admin.post(`${core}/pods`, { metadata: { name: "web-1", labels }, spec }));
  const containerStatuses = [
    {
      name: "web",
      image: "web",
      imageID: "",
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: "ImagePullBackOff", message: attack } },
    },
  ];
  const conditions = [
    { type: "Initialized", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
    {
      type: "Ready",
      status: "False",
      reason: "NotYet",
      message: attack,
      lastTransitionTime: "2026-01-02T00:00:00Z",
    },
  ];
  await ok(
    admin.patch(`${core}/pods/web-1/status`, { status: { phase: "Pending", conditions, containerStatuses } }),
  );
  const ports = [{ name: "http", port: 80, targetPort: "http" }];
  await ok(admin.post(`${core}/services`, { metadata: { name: "web" }, spec: { selector: labels, ports } }));
  const rules = Array.from({ length: 40 }, (_, at) => ({
    verbs: ["get"],
    apiGroups: [at === 0 ? attack : ""],
    resources: [`things-${at}`],
  }));
  await ok(admin.post(`${rbac}/clusterroles`, { metadata: { name: "many" }, rules }));
  const subjects = [
    { kind: "User", apiGroup: "rbac.authorization.platform.io", name: attack },
    { kind: "ServiceAccount", name: "default", namespace: "default" },
  ];
  const roleRef = { kind: "ClusterRole", name: "many", apiGroup: "rbac.authorization.platform.io" };
  await ok(
    admin.post(`${rbac}/namespaces/default/rolebindings`, { metadata: { name: "many" }, roleRef, subjects }),
  );
  const text = { type: "string" };
  const properties = {
    plan: { type: "string", description: "What they pay for." },
    secretRef: { type: "object", properties: { name: text } },
    limits: { type: "array", items: { type: "object", properties: { of: text, max: { type: "integer" } } } },
  };
  const schema = {
    openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } },
  };
  const additionalPrinterColumns = [{ name: "Plan", type: "string", jsonPath: ".spec.plan", priority: 1 }];
  tenants = await served(
    admin,
    definition({ versions: [version("v1", { schema, additionalPrinterColumns })] }),
  );
  await ok(
    admin.post(tenants, {
      apiVersion: tenants.split("/").slice(2, 4).join("/"),
      kind: "Order",
      metadata: { name: "first" },
      spec: { plan: attack, secretRef: { name: "database" }, limits: [{ of: attack, max: 5 }] },
    }),
  );
  opened = await browser.signIn(server, "root");
});

const section = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
async function show(place: string, heading: string): Promise<Page> {
  const { page } = opened;
  await page.evaluate(`location.hash = ${JSON.stringify(`#/object/${place}/overview`)}`);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  return page;
}

afterAll(async () => {
  // Every text of the objects was tried as code.
  expect(await opened.page.locator("img[src=x]").count()).toBe(0);
  expect(await opened.page.title()).not.toBe("attacked");
  expect(opened.complaints).toEqual([]);
  const hosts = new Set(opened.requested.map((url) => new URL(url).origin));
  expect([...hosts]).toEqual([new URL(server.server.url!).origin]);
});

it("a config map shows its data, and what uses it", async () => {
  const page = await show("core/configmaps/default/settings", "ConfigMap settings");
  const data = section(page, "Data");
  await data.getByText(attack).waitFor();
  await data.getByLabel("Value of app.yaml").getByText("b: 2").waitFor();
  await data.getByText("binary, 3 bytes").waitFor();
  const users = section(page, "Used by");
  await users.getByRole("link", { name: "Deployment web" }).waitFor();
  await users.getByRole("link", { name: "Pod web-1" }).waitFor();
  await section(page, "Metadata").getByRole("link", { name: "default" }).waitFor();
  await expectAccessible(page);
});

it("a secret is masked, and decoded when asked for", async () => {
  const page = await show("core/secrets/default/database", "Secret database");
  const data = section(page, "Data");
  await data.getByText("••••••••").waitFor();
  expect(await page.locator("main").textContent()).not.toContain("s3cret");
  await data.getByRole("button", { name: "Show password" }).click();
  await data.getByText(`s3cret ${attack}`).waitFor();
  await data.getByRole("button", { name: "Hide password" }).click();
  await data.getByText("••••••••").waitFor();
  await section(page, "Used by").getByRole("link", { name: "Order first" }).waitFor();
  await expectAccessible(page);
});

it("a pod shows containers with states, conditions as a time line, and links in both directions", async () => {
  const page = await show("core/pods/default/web-1", "Pod web-1");
  await section(page, "Containers")
    .first()
    .getByRole("row", { name: /web .* ImagePullBackOff .* no 3 8080 http/ })
    .waitFor();
  await page.getByRole("listitem").filter({ hasText: "Ready False NotYet" }).waitFor();
  const names = await page.locator(".timeline strong").allTextContents();
  expect(names).toEqual(["Ready", "Initialized"]);
  const users = section(page, "Used by");
  await users.getByRole("link", { name: "Service web" }).waitFor();
  await users.getByRole("link", { name: "Deployment web" }).waitFor();
  await expectAccessible(page);
  await section(page, "Refers to").getByRole("link", { name: "ServiceAccount default" }).click();
  await page.getByRole("heading", { name: "ServiceAccount default" }).waitFor();
  await section(page, "Used by").getByRole("link", { name: "RoleBinding many" }).waitFor();
  await section(page, "Access").getByRole("link", { name: "graph" }).click();
  await page.getByRole("link", { name: "ClusterRole many" }).waitFor();
});

it("a deployment and a service show what they select, with ports, replicas and words for states", async () => {
  const deployment = await show("apps/deployments/default/web", "Deployment web");
  await section(deployment, "Replicas").getByText("0/2").waitFor();
  await section(deployment, "Selects").getByRole("row", { name: "web-1 Pending 0/1" }).waitFor();
  const page = await show("core/services/default/web", "Service web");
  await section(page, "Ports")
    .getByRole("row", { name: /^80 http http/ })
    .waitFor();
  await section(page, "Selects").getByRole("link", { name: "web-1" }).waitFor();
  await section(page, "Selects").getByRole("link", { name: "As a list" }).click();
  await page.getByRole("row", { name: /web-1/ }).waitFor();
  expect(await page.getByLabel("Label selector").inputValue()).toBe("app=web");
});

it("a role folds its rules, and a binding links its role and its subjects", async () => {
  const page = await show("rbac.authorization.platform.io/clusterroles/-/many", "ClusterRole many");
  const rules = section(page, "Rules");
  await rules.getByRole("cell", { name: "things-0", exact: true }).waitFor();
  expect(await rules.getByRole("row").count()).toBe(16);
  await rules.getByRole("button", { name: "Show all 40 rules" }).click();
  expect(await rules.getByRole("row").count()).toBe(41);
  await expectAccessible(page);
  await section(page, "Used by").getByRole("link", { name: "RoleBinding many" }).click();
  await page.getByRole("heading", { name: "RoleBinding many" }).waitFor();
  await section(page, "Subjects").getByRole("link", { name: "default/default" }).waitFor();
  await expectAccessible(page);
  await section(page, "Role").getByRole("link", { name: "ClusterRole many" }).click();
  await page.getByRole("heading", { name: "ClusterRole many" }).waitFor();
  await page.getByRole("link", { name: "Who can change it" }).click();
  await page.getByRole("row", { name: /Group system:masters/ }).waitFor();
});

it("a custom kind shows its columns, and its fields with the descriptions of the schema", async () => {
  const group = tenants.split("/")[2]!;
  const page = await show(`${group}/orders/default/first`, "Order first");
  await section(page, "Summary").getByText(attack).waitFor();
  const spec = section(page, "Spec");
  await spec.getByText("What they pay for.").waitFor();
  await spec.getByRole("row").filter({ hasText: attack }).filter({ hasText: "5" }).waitFor();
  await spec.getByRole("link", { name: "database" }).click();
  await page.getByRole("heading", { name: "Secret database" }).waitFor();
});

it("pages by kind are accessible in dark colors too, also in a narrow window", async () => {
  const { page } = await browser.signIn(server, "root", "#/object/core/pods/default/web-1/overview", "dark");
  for (const width of [1280, 420]) {
    await page.setViewportSize({ width, height: 800 });
    for (const place of [
      "core/pods/default/web-1",
      "core/secrets/default/database",
      "rbac.authorization.platform.io/clusterroles/-/many",
    ]) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/object/${place}/overview`)}`);
      await section(page, "Used by").getByRole("link").first().waitFor();
      await expectAccessible(page);
    }
  }
});

it("a namespace has the numbers of its objects", async () => {
  const page = await show("core/namespaces/-/default", "Namespace default");
  await section(page, "Contents").getByRole("link", { name: "Deployment" }).waitFor();
  await expectAccessible(page);
});

it("pages and links are the same in the kubernetes vocabulary", async () => {
  const other = await TestServer.start({ console: true, users, vocabulary: "kubernetes" });
  try {
    const { page, complaints } = await browser.signIn(
      other,
      "root",
      "#/object/rbac.authorization.k8s.io/clusterroles/-/view/overview",
    );
    await section(page, "Rules").getByRole("row").nth(1).waitFor();
    await section(page, "Used by").getByText("Nothing refers to it.").waitFor();
    await page.evaluate(
      'location.hash = "#/object/rbac.authorization.k8s.io/clusterrolebindings/-/system:discovery/overview"',
    );
    await section(page, "Role").getByRole("link", { name: "ClusterRole system:discovery" }).waitFor();
    await page.evaluate('location.hash = "#/access/mine"');
    await page.getByText("You are root").waitFor();
    await page.evaluate('location.hash = "#/"');
    await section(page, "Certificates").getByText("serving certificate").waitFor();
    await until(
      () => section(page, "Bindings without effect").textContent(),
      (text) => text?.includes("system:node") ?? false,
    );
    expect(complaints).toEqual([]);
  } finally {
    await other.close();
  }
});
