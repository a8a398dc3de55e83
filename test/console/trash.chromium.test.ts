import { expect, it } from "vitest";
import { configMap, ok } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";
import { expectAccessible, useBrowser } from "./browser.ts";

const users = [{ name: "root", groups: ["system:masters"] }, { name: "ann" }];
const server = useServer({ console: true, keptHistory: ["configmaps=1d", "limitranges=1d"], users });
const plain = useServer({ console: true, users });
const browser = useBrowser();
const maps = "/api/v1/namespaces/default/configmaps";
const limits = "/api/v1/namespaces/default/limitranges";

it("the trash lists deleted objects by kind, and restores one after a preview", async () => {
  const owner = await ok(server.admin.post(maps, configMap("owner")));
  const { uid } = owner.body.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  await ok(server.admin.post(maps, configMap("gone", { color: "red" }, { ownerReferences })));
  await ok(server.admin.post(limits, { metadata: { name: "bounds" }, spec: { limits: [] } }));
  await ok(server.admin.delete(`${maps}/gone`));
  await ok(server.admin.delete(`${limits}/bounds`));
  await ok(server.admin.delete(`${maps}/owner`));
  await ok(server.admin.post(maps, configMap("owner")));
  const { page, complaints } = await browser.signIn(server, "root");
  await page.getByRole("link", { name: "Trash" }).click();
  await page.getByRole("row", { name: /LimitRange default bounds .* ago admin/ }).waitFor();
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(
    expect.arrayContaining(["gone", "bounds"]),
  );
  await expectAccessible(page);
  await page.getByLabel("Kind", { exact: true }).selectOption("configmaps");
  await page.getByRole("row", { name: /LimitRange/ }).waitFor({ state: "detached" });
  expect(await page.getByRole("rowheader").allTextContents()).toEqual(["gone"]);
  expect(page.url()).toContain("#/trash?kind=configmaps");
  await page.getByRole("button", { name: "Restore gone" }).click();
  await page.getByText("Owner ConfigMap owner was created again; the reference is to the new one.").waitFor();
  await page.getByLabel("YAML").getByText("color").waitFor();
  await expectAccessible(page);
  expect((await server.admin.get(`${maps}/gone`)).status).toBe(404);
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByRole("status").getByRole("link", { name: "ConfigMap gone" }).waitFor();
  await page.getByText("Nothing that was deleted can come back: no configmaps.").waitFor();
  const { data, metadata } = (await ok(server.admin.get(`${maps}/gone`))).body;
  expect(data).toEqual({ color: "red" });
  expect(metadata.ownerReferences[0].uid).not.toBe(uid);
  expect(Object.keys(metadata.annotations ?? {})).toEqual([]);
  expect(complaints).toEqual([]);
});

it("a restore that the server refuses is explained", async () => {
  await ok(server.admin.post(maps, configMap("taken")));
  await ok(server.admin.delete(`${maps}/taken`));
  const { page } = await browser.signIn(server, "root", "#/trash?kind=configmaps");
  await page.getByRole("button", { name: "Restore taken" }).waitFor();
  await ok(server.admin.post(maps, configMap("taken")));
  await page.getByRole("button", { name: "Restore taken" }).click();
  await page.getByRole("alert").getByText("already exists").waitFor();
  expect(await page.getByRole("button", { name: "Restore", exact: true }).count()).toBe(0);
});

it("a server without kept history, and a user without rights, are told what is missing", async () => {
  const without = await browser.signIn(plain, "root", "#/trash");
  await without.page.getByRole("heading", { name: "No trash" }).waitFor();
  await expectAccessible(without.page);
  const { page } = await browser.signIn(server, "ann", "#/trash");
  await page.getByText("if you may list them").waitFor();
});

it("a trash that can't be read has a way to try again", async () => {
  const { page } = await browser.signIn(server, "root");
  await page.route("**/*deleted=true*", (route) => route.fulfill({ status: 500, body: "broken" }));
  await page.getByRole("link", { name: "Trash" }).click();
  await page.getByRole("alert").getByText("The trash can't be read").waitFor();
  await page.unroute("**/*deleted=true*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Trash" }).waitFor();
});
