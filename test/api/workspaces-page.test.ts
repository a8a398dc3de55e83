import { expect, test } from "vitest";
import { blockOf } from "../support/pages.ts";
import { useServer } from "../support/use-server.ts";
import { ok } from "./support.ts";

const workspaces = "/apis/tenancy.platform.io/v1alpha1/workspaces";
const server = useServer({ users: [], runtimeConfig: "tenancy.platform.io/v1alpha1=true" });

test("the workspaces of the page can be made, and a branch has the objects of its base", async () => {
  const { admin } = server;
  await ok(admin.post(workspaces, JSON.parse(blockOf("docs/workspaces.md", "json workspace")) as object));
  await ok(admin.post("/clusters/shop/api/v1/namespaces", { metadata: { name: "stock" } }));
  const branch = await ok(
    admin.post(workspaces, JSON.parse(blockOf("docs/workspaces.md", "json branch")) as object),
  );
  expect(branch.body.status.bases.map(({ workspace = "" }: { workspace?: string }) => workspace)).toEqual([
    "shop",
    "",
  ]);
  expect((await admin.get("/clusters/shop-preview/api/v1/namespaces/stock")).status).toBe(200);
});
