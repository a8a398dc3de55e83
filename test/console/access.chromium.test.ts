import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  RBAC,
  clusterRole,
  clusterRoleBinding,
  group,
  grant,
  namespace,
  ok,
  refTo,
  roleBinding,
  user,
} from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { expectAccessible, useBrowser } from "./browser.ts";

const folder = temporaryFolder();
const policyFile = path.join(folder.path, "policy.yaml");
writeFileSync(
  policyFile,
  "apiVersion: audit.platform.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n",
);
afterAll(() => folder.remove());
const server = useServer({
  audit: { policyFile },
  console: true,
  users: [{ name: "root", groups: ["system:masters"] }, { name: "ann" }],
});
const browser = useBrowser();

beforeAll(async () => {
  const rule = { verbs: ["get", "list"], apiGroups: [""], resources: ["configmaps"] };
  await ok(server.admin.post(`${RBAC}/clusterroles`, clusterRole("look", [rule])));
  const local = `${RBAC}/namespaces/default/rolebindings`;
  await ok(server.admin.post(local, roleBinding("looks", refTo("ClusterRole", "look"), [group("team")])));
  await ok(server.admin.post("/api/v1/namespaces", namespace("team-b")));
  const other = `${RBAC}/namespaces/team-b/rolebindings`;
  await ok(server.admin.post(other, roleBinding("looks-too", refTo("ClusterRole", "look"), [group("team")])));
  await ok(server.admin.post(local, roleBinding("lost", refTo("Role", "missing"), [group("team")])));
  const reads = [{ verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["secrets"] }];
  await grant(server.admin, "ann", reads);
  const insight = clusterRoleBinding("insight", refTo("ClusterRole", "system:insight-viewer"), [user("ann")]);
  await ok(server.admin.post(`${RBAC}/clusterrolebindings`, insight));
});

it("the forms explain why a user may do something, who can, and what they may do", async () => {
  const { page, complaints } = await browser.signIn(server, "root", "#/access/why");
  await page.getByLabel("User").fill("devi");
  await page.getByLabel("Groups").fill("team");
  await page.getByLabel("Verb").fill("list");
  await page.getByLabel("Resource").fill("cm");
  await page.getByRole("tabpanel").getByLabel("Namespace").fill("default");
  await page.keyboard.press("Enter");
  await page.getByText("Group team → RoleBinding default/looks → ClusterRole look").waitFor();
  await expectAccessible(page);
  await page.getByLabel("Verb").fill("update");
  await page.keyboard.press("Enter");
  await page.getByText('the verb is "update"; the rule gives "get", "list"').first().waitFor();

  await page.getByRole("tab", { name: "Who can" }).click();
  await page.getByText("RoleBinding default/looks").waitFor({ state: "detached" });
  await page.getByLabel("Verb").fill("list");
  await page.keyboard.press("Enter");
  await page.getByRole("row", { name: /Group team RoleBinding default\/looks ClusterRole look/ }).waitFor();
  await expectAccessible(page);

  await page.getByRole("tab", { name: "Matrix" }).click();
  await page.getByLabel("User").fill("devi");
  await page.getByLabel("Groups").fill("team");
  await page.keyboard.press("Enter");
  await page.getByRole("row", { name: "configmaps yes yes no no no no no no" }).waitFor();
  await expectAccessible(page);
  const columns = [
    ["default, team-b", /^configmaps get, list get, list$/],
    ["*", /^configmaps (nothing )*get, list (nothing )*get, list( nothing)*$/],
  ] as const;
  for (const [namespaces, row] of columns) {
    await page.getByLabel("Namespaces").fill(namespaces);
    await page.keyboard.press("Enter");
    await page.getByRole("columnheader", { name: "default" }).waitFor();
    // Named by the verbs in words; the marks are only shown.
    await page.getByRole("row", { name: row }).waitFor();
    await page.getByText("gl------").first().waitFor();
    await expectAccessible(page);
    await page.goBack();
    await page.getByRole("columnheader", { name: "default" }).waitFor({ state: "detached" });
  }

  await page.getByRole("tab", { name: "Graph" }).click();
  await page.getByText("Role missing").waitFor();
  await page.getByText("doesn't exist: the binding has no effect").waitFor();
  await page.getByText("get, list configmaps of core").first().waitFor();
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});

it("a disabled action says which rule comes closest, to a user who may ask", async () => {
  const { page } = await browser.signIn(server, "ann", "#/list/core/secrets?namespace=default");
  const create = page.getByRole("button", { name: "Create" });
  await create.and(page.locator('[aria-disabled="true"]')).waitFor();
  await create.press("Enter");
  await page.getByText('the verb is "create"; the rule gives "get", "list", "watch"').waitFor();
});

it("the page of the server shows health, leader, charts, priority levels, queues and objects", async () => {
  const now = new Date().toISOString();
  const spec = { holderIdentity: "server-1", leaseDurationSeconds: 3600, acquireTime: now, renewTime: now };
  const lease = { metadata: { name: "apiserver-controllers" }, spec: { ...spec, leaseTransitions: 7 } };
  const leases = "/apis/coordination.platform.io/v1/namespaces/platform-system/leases";
  await ok(server.admin.post(leases, lease));
  const { page, complaints } = await browser.signIn(server, "root", "#/server");
  await page.getByText("✓ ping").waitFor();
  await page
    .getByRole("row", { name: /^apiserver-controllers runs the controllers server-1 .* 7$/ })
    .waitFor();
  await page.getByRole("row", { name: /^global-default/ }).waitFor();
  await page.getByRole("row", { name: /^namespaces \d/ }).waitFor();
  await page.getByText(/reads [\d.]+/).waitFor();
  await ok(server.admin.get("/api/v1/namespaces/default/secrets"));
  const missing = await server.admin.get("/api/v1/namespaces/default/secrets/missing");
  expect(missing.status).toBe(404);
  const requests = page.getByRole("region", { name: "Newest requests" });
  await requests
    .getByRole("row", {
      name: /admin get \/api\/v1\/namespaces\/default\/secrets\/missing 404 secrets "missing" not found/,
    })
    .waitFor();
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});

it("a user without the right to the metrics sees why the page of the server is empty", async () => {
  const { page } = await browser.signIn(server, "ann", "#/server");
  await page.getByRole("alert").getByText('cannot get path "/metrics"').waitFor();
});

it("the metrics are not read after the sign-out", async () => {
  const { page, requested } = await browser.signIn(server, "root");
  await page.clock.install();
  await page.goto(`${server.server.url}/console/#/server`);
  await page.getByText("✓ ping").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  const reads = () => requested.filter((url) => url.endsWith("/metrics")).length;
  const before = reads();
  expect(before).toBeGreaterThan(0);
  await page.clock.runFor(10_000);
  // The event of this request comes after those of earlier ones.
  await page.evaluate("fetch('/livez').then(({ status }) => status)");
  expect(reads()).toBe(before);
});
