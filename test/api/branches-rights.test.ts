import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import {
  branch,
  compare,
  dataOf,
  inShort,
  maps,
  merge,
  tenancy,
  within,
  withBranches,
  workspacesPath,
} from "./branches-support.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  ok,
  type PolicyRule,
  RBAC,
  refTo,
  user,
} from "./support.ts";

const group = { apiGroups: [tenancy] };
const mayBranch = { ...group, verbs: ["create"], resources: ["workspacediffs", "workspacemerges"] };
const server = useServer({
  ...withBranches,
  users: ["mara", "devi", "omar", "nora"].map((name) => ({ name })),
});
const admin = () => server.admin;
const secrets = "/api/v1/namespaces/default/secrets";

async function allow(name: string, rules: readonly PolicyRule[], where = ""): Promise<void> {
  await ok(admin().post(within(where, `${RBAC}/clusterroles`), clusterRole(`for-${name}`, rules)));
  await ok(
    admin().post(
      within(where, `${RBAC}/clusterrolebindings`),
      clusterRoleBinding(`for-${name}`, refTo("ClusterRole", `for-${name}`), [user(name)]),
    ),
  );
}

/** Creates a branch of the server in which a user may do everything, but see only what they may see in the server. */
const branchOf = async (name: string, owner: string) =>
  ok(
    admin().post(workspacesPath, {
      metadata: { name },
      spec: { from: {}, admins: [{ kind: "User", name: owner }] },
    }),
  );

describe("a merge", () => {
  test("needs the right to enter the workspace, and the target", async () => {
    await branch(admin(), "shut");
    await allow("devi", [mayBranch]);
    const devi = server.as("devi");
    for (const answer of [
      await merge(devi, { workspace: "shut" }),
      await compare(devi, { workspace: "shut" }),
      await merge(devi, { workspace: "missing" }),
    ])
      expect([answer.status, answer.body.message]).toMatchObject([
        403,
        expect.stringContaining("cannot access resource"),
      ]);
    expect((await merge(server.as("nora"), { workspace: "shut" })).status).toBe(403);
  });

  test("writes with the rights that the user has in the target now", async () => {
    await ok(admin().post(maps, configMap("kept", { a: "1" })));
    await allow("mara", [
      mayBranch,
      { ...group, verbs: ["access"], resources: ["workspaces"] },
      { apiGroups: [""], verbs: ["get", "create"], resources: ["configmaps"] },
    ]);
    await branchOf("hers", "mara");
    const mara = server.as("mara");
    await ok(mara.post(within("hers", maps), configMap("new", { a: "1" })));
    await ok(mara.patch(within("hers", `${maps}/kept`), { data: { a: "2" } }));
    const refused = await merge(mara, { workspace: "hers" });
    expect([refused.status, refused.body.message]).toMatchObject([
      403,
      expect.stringMatching(
        /^update configmaps "kept" in namespace "default": .*cannot update resource "configmaps".*nothing was written$/,
      ),
    ]);
    expect((await admin().get(`${maps}/new`)).status).toBe(404);
    await ok(mara.delete(within("hers", `${maps}/new`)));
    await ok(
      admin().patch(`${RBAC}/clusterroles/for-mara`, {
        rules: [
          mayBranch,
          { ...group, verbs: ["access"], resources: ["workspaces"] },
          { apiGroups: [""], verbs: ["get", "update"], resources: ["configmaps"] },
        ],
      }),
    );
    await ok(merge(mara, { workspace: "hers" }));
    expect(await dataOf(admin(), "", "kept")).toEqual({ a: "2" });
  });

  test("can't give more rights than the user has", async () => {
    await branchOf("rising", "mara");
    await ok(
      admin().patch(`${RBAC}/clusterroles/for-mara`, {
        rules: [
          mayBranch,
          { ...group, verbs: ["access"], resources: ["workspaces"] },
          {
            apiGroups: ["rbac.authorization.platform.io"],
            verbs: ["get", "create", "update"],
            resources: ["*"],
          },
        ],
      }),
    );
    const mara = server.as("mara");
    const everything = clusterRole("everything", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }]);
    await ok(mara.post(within("rising", `${RBAC}/clusterroles`), everything));
    const refused = await merge(mara, { workspace: "rising" });
    expect([refused.status, refused.body.message]).toMatchObject([
      403,
      expect.stringContaining("attempting to grant"),
    ]);
    await ok(mara.delete(within("rising", `${RBAC}/clusterroles/everything`)));
    await ok(
      mara.post(
        within("rising", `${RBAC}/clusterrolebindings`),
        clusterRoleBinding("rise", refTo("ClusterRole", "cluster-admin"), [user("mara")]),
      ),
    );
    expect((await merge(mara, { workspace: "rising" })).status).toBe(403);
    expect((await admin().get(`${RBAC}/clusterrolebindings/rise`)).status).toBe(404);
  });

  test("leaves out what the user may not see, and tells the number", async () => {
    await ok(admin().post(secrets, { metadata: { name: "root-key" }, stringData: { key: "secret" } }));
    await allow("omar", [
      mayBranch,
      { ...group, verbs: ["access"], resources: ["workspaces"] },
      { apiGroups: [""], verbs: ["get", "create", "update", "delete"], resources: ["configmaps"] },
    ]);
    await branchOf("blind", "omar");
    await ok(admin().patch(within("blind", `${secrets}/root-key`), { stringData: { key: "changed" } }));
    await ok(admin().post(within("blind", maps), configMap("seen", {})));
    const omar = server.as("omar");
    const difference = await ok(compare(omar, { workspace: "blind" }));
    expect(inShort(difference)).toEqual(["created ConfigMap seen"]);
    expect(difference.body.status).toMatchObject({
      hidden: 1,
      message: "1 object differs; 1 object that you may not read left out",
    });
    await ok(admin().delete(within("blind", `${secrets}/root-key`)));
    const merged = await ok(merge(omar, { workspace: "blind" }));
    expect([inShort(merged), merged.body.status.hidden]).toEqual([["create ConfigMap seen"], 1]);
    expect((await admin().get(`${secrets}/root-key`)).status).toBe(200);
    // Values of secrets aren't shown to those who may read them either: answers may be logged.
    const all = (await ok(compare(admin(), { workspace: "blind" }))).text;
    expect(all).not.toContain("c2VjcmV0");
  });

  test("reads what it compares with the rights in the target", async () => {
    await branchOf("unread", "nora");
    await allow("nora", [
      mayBranch,
      { ...group, verbs: ["access"], resources: ["workspaces"] },
      { apiGroups: [""], verbs: ["create"], resources: ["configmaps"] },
    ]);
    const nora = server.as("nora");
    await ok(nora.post(within("unread", maps), configMap("hers", {})));
    const refused = await merge(nora, { workspace: "unread" });
    expect([refused.status, refused.body.message]).toMatchObject([
      403,
      expect.stringContaining("you may not get it in the target"),
    ]);
  });
});
