import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import {
  branch,
  compare,
  dataOf,
  inShort,
  maps,
  merge,
  rebase,
  tenancy,
  within,
  withBranches,
  workspacesPath,
} from "./branches-support.ts";
import {
  clusterRole,
  clusterRoleBinding,
  configMap,
  namesIn,
  ok,
  RBAC,
  refTo,
  until,
  user,
} from "./support.ts";

const server = useServer({ ...withBranches, users: [{ name: "devi" }] });
const admin = () => server.admin;
const set = (where: string, map: string, data: object, manager = "tester") =>
  ok(admin().patch(within(where, `${maps}/${map}?fieldManager=${manager}`), { data }));
const add = (where: string, map: string, data: Record<string, string>) =>
  ok(admin().post(within(where, maps), configMap(map, data)));
const remove = (where: string, map: string) => ok(admin().delete(within(where, `${maps}/${map}`)));
const listed = async (where: string, start: string) =>
  namesIn(await ok(admin().get(within(where, maps)))).filter((name: string) => name.startsWith(start));

describe("a rebase", () => {
  test("brings what the base has changed, and keeps what the workspace has changed", async () => {
    for (const map of ["r-both", "r-base", "r-own", "r-gone", "r-hidden"])
      await add("", map, { a: "1", b: "1" });
    const made = await branch(admin(), "r1");
    await set("r1", "r-both", { a: "2" }, "inside");
    await set("r1", "r-own", { a: "2" });
    await remove("r1", "r-hidden");
    await add("r1", "r-new", { x: "1" });
    await set("", "r-both", { b: "3" }, "outside");
    await set("", "r-base", { a: "9" });
    await remove("", "r-gone");
    await add("", "r-added", {});
    expect(await dataOf(admin(), "r1", "r-base")).toEqual({ a: "1", b: "1" });
    const plan = await ok(rebase(admin(), { workspace: "r1" }, "?dryRun=All"));
    expect(inShort(plan)).toEqual(["update ConfigMap r-both"]);
    expect(await dataOf(admin(), "r1", "r-both")).toEqual({ a: "2", b: "1" });
    const done = (await ok(rebase(admin(), { workspace: "r1" }))).body.status;
    expect(done.message).toBe("1 object written");
    expect(await dataOf(admin(), "r1", "r-both")).toEqual({ a: "2", b: "3" });
    expect(await dataOf(admin(), "r1", "r-base")).toEqual({ a: "9", b: "1" });
    expect(await dataOf(admin(), "r1", "r-own")).toEqual({ a: "2", b: "1" });
    expect(await listed("r1", "r-")).toEqual(["r-added", "r-base", "r-both", "r-new", "r-own"]);
    const { status } = (await ok(admin().get(`${workspacesPath}/r1`))).body;
    expect(Number(status.bases[0].resourceVersion)).toBeGreaterThan(
      Number(made.status.bases[0].resourceVersion),
    );
    expect(inShort(await ok(compare(admin(), { workspace: "r1" })))).toEqual([
      "changed ConfigMap r-both",
      "deleted ConfigMap r-hidden",
      "created ConfigMap r-new",
      "changed ConfigMap r-own",
    ]);
    // An own value of an object that the base has created since hides it, and a deletion does not show it.
    await remove("r1", "r-added");
    await remove("r1", "r-both");
    expect(await listed("r1", "r-")).toEqual(["r-base", "r-new", "r-own"]);
  });

  test("lets a workspace go on after a merge, without conflicts", async () => {
    await add("", "again", { a: "1" });
    await branch(admin(), "r2");
    await set("r2", "again", { a: "2" });
    await add("r2", "again-new", { a: "1" });
    await ok(merge(admin(), { workspace: "r2" }));
    await ok(rebase(admin(), { workspace: "r2" }));
    expect((await ok(compare(admin(), { workspace: "r2", sinceStart: true }))).body.status.message).toBe(
      "no object differs",
    );
    await set("r2", "again", { a: "3" });
    await set("r2", "again-new", { a: "3" });
    expect(inShort(await ok(merge(admin(), { workspace: "r2" })))).toEqual([
      "update ConfigMap again",
      "update ConfigMap again-new",
    ]);
    expect(await dataOf(admin(), "", "again-new")).toEqual({ a: "3" });
  });

  test("with conflicts changes nothing unless a strategy resolves them", async () => {
    for (const map of ["k-both", "k-hidden", "k-gone"]) await add("", map, { a: "1" });
    await branch(admin(), "r3");
    for (const map of ["k-both", "k-gone"]) await set("r3", map, { a: "2" }, "inside");
    await remove("r3", "k-hidden");
    for (const map of ["k-both", "k-hidden"]) await set("", map, { a: "3" }, "outside");
    await remove("", "k-gone");
    const before = (await ok(admin().get(`${workspacesPath}/r3`))).body;
    const refused = await rebase(admin(), { workspace: "r3" });
    expect([
      refused.status,
      refused.body.details.causes.map((one: { message: string }) => one.message),
    ]).toEqual([
      409,
      [
        'configmaps "k-both" in namespace "default": .data.a was changed on both sides: "1" at the start, "3" in the base by "outside", "2" in the workspace by "inside"',
        'configmaps "k-gone" in namespace "default": the base has deleted it, and the workspace has changed .data.a from "1" to "2" by "inside"',
        expect.stringMatching(
          /"k-hidden".*the base has changed it by .*"outside".*, and the workspace has deleted it$/,
        ),
      ],
    ]);
    expect((await ok(admin().get(`${workspacesPath}/r3`))).body).toEqual(before);
    await branch(admin(), "r4", { workspace: "r3" });
    await ok(rebase(admin(), { workspace: "r3", strategy: "ours" }));
    expect(await dataOf(admin(), "r3", "k-both")).toEqual({ a: "2" });
    expect(await listed("r3", "k-")).toEqual(["k-both", "k-gone"]);
    // A branch of it still has the state with which it began.
    expect(await listed("r4", "k-")).toEqual(["k-both", "k-gone"]);
    await branch(admin(), "r5", { resourceVersion: before.status.bases[0].resourceVersion });
    await set("r5", "k-both", { a: "2" });
    await remove("r5", "k-hidden");
    await set("r5", "k-gone", { a: "2" });
    await ok(rebase(admin(), { workspace: "r5", strategy: "theirs" }));
    expect(await dataOf(admin(), "r5", "k-both")).toEqual({ a: "3" });
    expect(await listed("r5", "k-")).toEqual(["k-both", "k-hidden"]);
  });

  test("ends watches, and later ones need a new list", async () => {
    await branch(admin(), "r6");
    await add("r6", "w-own", {});
    const { resourceVersion } = (await ok(admin().get(within("r6", maps)))).body.metadata;
    const path = within("r6", `${maps}?watch=1&resourceVersion=${resourceVersion}`);
    const watching = await admin().watch(path);
    await add("", "w-later", {});
    await ok(rebase(admin(), { workspace: "r6" }));
    await watching.toEnd();
    expect((await admin().get(path)).status).toBe(410);
    expect(await listed("r6", "w-")).toEqual(["w-later", "w-own"]);
  });

  test("gives a tenant the new definitions and roles of its template", async () => {
    await branch(admin(), "template", null);
    await branch(admin(), "tenant", { workspace: "template" });
    await add("tenant", "own", {});
    await ok(admin().post(within("template", `${RBAC}/clusterroles`), clusterRole("new-role", [])));
    const definition = {
      metadata: { name: "toys.acme.dev" },
      spec: {
        group: "acme.dev",
        scope: "Namespaced",
        names: { plural: "toys", singular: "toy", kind: "Toy" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } },
        ],
      },
    };
    await ok(
      admin().post(
        within("template", "/apis/apiextensions.platform.io/v1/customresourcedefinitions"),
        definition,
      ),
    );
    const toys = "/apis/acme.dev/v1/namespaces/default/toys";
    await until(
      () => admin().get(within("template", toys)),
      ({ status }) => status === 200,
    );
    expect((await admin().get(within("tenant", toys))).status).toBe(404);
    await ok(rebase(admin(), { workspace: "tenant" }));
    expect((await admin().get(within("tenant", toys))).status).toBe(200);
    expect((await admin().get(within("tenant", `${RBAC}/clusterroles/new-role`))).status).toBe(200);
    expect((await admin().get(within("tenant", `${maps}/own`))).status).toBe(200);
    expect((await rebase(admin(), { workspace: "template" })).status).toBe(201);
  });

  test("is refused for wrong states, and without the right to update the workspace", async () => {
    const message = async (spec: object) => {
      const { status, body } = await rebase(admin(), spec);
      return [status, body.message];
    };
    expect(await message({ workspace: "r1", resourceVersion: "2" })).toMatchObject([
      400,
      expect.stringContaining("spec.resourceVersion: 2 is older than"),
    ]);
    expect(await message({ workspace: "r1", resourceVersion: "99999999" })).toMatchObject([
      400,
      expect.stringContaining("spec.resourceVersion: 99999999"),
    ]);
    expect((await rebase(admin(), { workspace: "r1", resourceVersion: "x" })).status).toBe(422);
    expect((await rebase(admin(), { workspace: "r1", strategy: "mine" })).status).toBe(422);
    expect((await rebase(admin(), { workspace: "missing" })).status).toBe(404);
    const rules = [
      { apiGroups: [tenancy], verbs: ["create"], resources: ["workspacerebases"] },
      { apiGroups: [tenancy], verbs: ["access"], resources: ["workspaces"] },
    ];
    await ok(admin().post(`${RBAC}/clusterroles`, clusterRole("rebaser", rules)));
    await ok(
      admin().post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("rebaser", refTo("ClusterRole", "rebaser"), [user("devi")]),
      ),
    );
    const refused = await rebase(server.as("devi"), { workspace: "r1" });
    expect([refused.status, refused.body.message]).toMatchObject([
      403,
      expect.stringContaining('cannot update resource "workspaces"'),
    ]);
  });
});
