import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { branch, compare, dataOf, inShort, maps, merge, within, withBranches } from "./branches-support.ts";
import { configMap, ok, until } from "./support.ts";

const server = useServer(withBranches);
const admin = () => server.admin;
const put = (name: string, map: string, data: object, manager = "tester") =>
  ok(
    admin().patch(within(name, `${maps}/${map}?fieldManager=${manager}`), {
      data,
    }),
  );
const add = (name: string, map: string, data: Record<string, string>) =>
  ok(admin().post(within(name, maps), configMap(map, data)));

describe("a comparison of a workspace", () => {
  test("shows created, changed and deleted objects, with fields and their managers", async () => {
    for (const map of ["d-changed", "d-deleted", "d-same"]) await add("", map, { a: "1", b: "1" });
    await branch(admin(), "d1");
    expect(inShort(await ok(compare(admin(), { workspace: "d1" })))).toEqual([]);
    await put("d1", "d-changed", { a: "2" }, "editor");
    await put("", "d-changed", { b: "3" }, "other");
    await add("d1", "d-new", {});
    await ok(admin().delete(within("d1", `${maps}/d-deleted`)));
    const { status } = (await ok(compare(admin(), { workspace: "d1" }))).body;
    const names = { apiVersion: "v1", kind: "ConfigMap", namespace: "default" };
    expect(status).toEqual({
      message: "3 objects differ",
      objects: [
        {
          ...names,
          name: "d-changed",
          action: "changed",
          fields: [
            { path: ".data.a", from: '"1"', to: '"2"', managers: ["editor"], changedIn: "workspace" },
            { path: ".data.b", from: '"3"', to: '"1"', managers: ["unknown"], changedIn: "base" },
          ],
        },
        { ...names, name: "d-deleted", action: "deleted" },
        { ...names, name: "d-new", action: "created" },
      ],
    });
    const sinceStart = (await ok(compare(admin(), { workspace: "d1", sinceStart: true }))).body.status;
    expect(sinceStart.objects.map(({ fields }: { fields?: object[] }) => fields?.length)).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });

  test("with another workspace shows what differs between them, whoever is the base", async () => {
    await add("", "two", { a: "1" });
    await branch(admin(), "two1");
    await put("two1", "two", { a: "2" });
    await branch(admin(), "two2", { workspace: "two1" });
    await put("two2", "two", { a: "3" });
    await add("two1", "two-later", {});
    const fieldsOf = async (workspace: string, to: string) => {
      const { objects, message } = (await ok(compare(admin(), { workspace, to }))).body.status;
      return [
        message,
        objects.map(
          ({ fields, name, action }: { fields?: object[]; name: string; action: string }) =>
            fields?.[0] ?? `${action} ${name}`,
        ),
      ];
    };
    expect(await fieldsOf("two1", "two2")).toEqual([
      "2 objects differ",
      [{ path: ".data.a", from: '"2"', to: '"3"', managers: ["tester"] }, "deleted two-later"],
    ]);
    expect(await fieldsOf("two2", "two1")).toMatchObject([
      "2 objects differ",
      [{ from: '"3"', to: '"2"' }, "created two-later"],
    ]);
  });

  test("is refused with the field for wrong requests", async () => {
    const wrong = await compare(admin(), { workspace: "d1", to: "two1", sinceStart: true });
    expect([wrong.status, wrong.body.details.causes[0].field]).toEqual([422, "spec.sinceStart"]);
    expect((await compare(admin(), {})).status).toBe(422);
    const missing = await compare(admin(), { workspace: "missing" });
    expect([missing.status, missing.body.message]).toEqual([
      404,
      'workspaces.tenancy.platform.io "missing" not found',
    ]);
  });
});

describe("a merge", () => {
  test("brings creations, changes and deletions into the base, at one revision", async () => {
    for (const map of ["m-changed", "m-deleted", "m-same"]) await add("", map, { a: "1", b: "1" });
    await branch(admin(), "m1");
    await put("m1", "m-changed", { a: "2" });
    await put("", "m-changed", { b: "3" });
    await add("m1", "m-new", { x: "y" });
    await ok(admin().delete(within("m1", `${maps}/m-deleted`)));
    const plan = await ok(merge(admin(), { workspace: "m1" }, "?dryRun=All"));
    const expected = ["create ConfigMap m-new", "update ConfigMap m-changed", "delete ConfigMap m-deleted"];
    expect(inShort(plan)).toEqual(expected);
    expect(plan.body.status.message).toBe("dry run: 3 objects would be written");
    expect(await dataOf(admin(), "", "m-changed")).toEqual({ a: "1", b: "3" });
    const done = await ok(merge(admin(), { workspace: "m1" }));
    expect(inShort(done)).toEqual(expected);
    expect(await dataOf(admin(), "", "m-changed")).toEqual({ a: "2", b: "3" });
    expect((await admin().get(`${maps}/m-deleted`)).status).toBe(404);
    const created = (await ok(admin().get(`${maps}/m-new`))).body.metadata;
    expect(created.resourceVersion).toBe(done.body.status.resourceVersion);
    expect(created.managedFields.map((one: { manager: string }) => one.manager)).toEqual(["merger"]);
    const again = (await ok(merge(admin(), { workspace: "m1" }))).body.status;
    expect(again).toEqual({ message: "nothing is left to merge", objects: [] });
  });

  test("of an unchanged branch changes nothing", async () => {
    await branch(admin(), "m2");
    await ok(admin().patch(within("m2", "/api/v1/namespaces/default"), { metadata: { labels: { x: "y" } } }));
    await ok(
      admin().patch(within("m2", "/api/v1/namespaces/default"), { metadata: { labels: { x: null } } }),
    );
    expect((await ok(merge(admin(), { workspace: "m2" }))).body.status).toEqual({
      message: "nothing is left to merge",
      objects: [],
    });
  });

  test("with conflicts changes nothing unless a strategy resolves them", async () => {
    for (const map of ["c-both", "c-gone", "c-kept"]) await add("", map, { a: "1", b: "1" });
    await branch(admin(), "c1");
    await put("c1", "c-both", { a: "2", b: "2" }, "inside");
    await put("", "c-both", { a: "3" }, "outside");
    await put("c1", "c-gone", { a: "2" });
    await ok(admin().delete(`${maps}/c-gone`));
    await ok(admin().delete(within("c1", `${maps}/c-kept`)));
    await put("", "c-kept", { a: "9" });
    const refused = await merge(admin(), { workspace: "c1" });
    expect([
      refused.status,
      refused.body.details.causes.map((one: { message: string }) => one.message),
    ]).toEqual([
      409,
      [
        'configmaps "c-both" in namespace "default": .data.a was changed on both sides: "1" at the start, "2" in the workspace by "inside", "3" in the target by "outside"',
        expect.stringMatching(
          /^configmaps "c-gone" in namespace "default": the workspace has changed it by .*, and the target has deleted it$/,
        ),
        'configmaps "c-kept" in namespace "default": the workspace has deleted it, and the target has changed .data.a from "1" to "9" by "tester"',
      ],
    ]);
    expect(await dataOf(admin(), "", "c-both")).toEqual({ a: "3", b: "1" });
    const plan = (await ok(merge(admin(), { workspace: "c1" }, "?dryRun=All"))).body.status;
    expect(plan.conflicts[0]).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "default",
      name: "c-both",
      path: ".data.a",
      reason: "Changed",
      base: '"1"',
      theirs: '"2"',
      ours: '"3"',
      theirManagers: ["inside"],
      ourManagers: ["outside"],
    });
    expect(plan.conflicts[2]).toMatchObject({
      name: "c-kept",
      path: ".data.a",
      reason: "Deleted",
      ours: '"9"',
    });
    await ok(merge(admin(), { workspace: "c1", strategy: "ours" }));
    expect(await dataOf(admin(), "", "c-both")).toEqual({ a: "3", b: "2" });
    expect(await dataOf(admin(), "", "c-kept")).toEqual({ a: "9", b: "1" });
    expect((await admin().get(`${maps}/c-gone`)).status).toBe(404);
    const done = (await ok(merge(admin(), { workspace: "c1", strategy: "theirs" }))).body.status;
    expect(done.conflicts.every(({ resolution }: { resolution: string }) => resolution === "theirs")).toBe(
      true,
    );
    expect(await dataOf(admin(), "", "c-both")).toEqual({ a: "2", b: "2" });
    expect(await dataOf(admin(), "", "c-gone")).toEqual({ a: "2", b: "1" });
    expect((await admin().get(`${maps}/c-kept`)).status).toBe(404);
  });

  test("links owner references to the new uids, and creates namespaces with their content", async () => {
    await branch(admin(), "o1");
    await ok(admin().post(within("o1", "/api/v1/namespaces"), { metadata: { name: "shop" } }));
    const inShop = "/api/v1/namespaces/shop/configmaps";
    const owner = (await ok(admin().post(within("o1", inShop), { metadata: { name: "z-owner" } }))).body
      .metadata.uid;
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "z-owner" };
    await ok(
      admin().post(within("o1", inShop), {
        metadata: { name: "dependent", ownerReferences: [{ ...reference, uid: owner }] },
      }),
    );
    await until(
      () => admin().get(within("o1", "/api/v1/namespaces/shop/serviceaccounts/default")),
      ({ status }) => status === 200,
    );
    await ok(merge(admin(), { workspace: "o1" }));
    const uid = (await ok(admin().get(`${inShop}/z-owner`))).body.metadata.uid;
    expect(uid).not.toBe(owner);
    expect((await ok(admin().get(`${inShop}/dependent`))).body.metadata.ownerReferences).toEqual([
      { ...reference, uid },
    ]);
    expect((await ok(merge(admin(), { workspace: "o1" }))).body.status.message).toBe(
      "nothing is left to merge",
    );
  });

  test("goes into another workspace, and needs one if the workspace began empty", async () => {
    await branch(admin(), "e1", null);
    await branch(admin(), "e2", null);
    await add("e1", "only", { a: "1" });
    const refused = await merge(admin(), { workspace: "e1" });
    expect([refused.status, refused.body.message]).toMatchObject([
      400,
      expect.stringContaining("spec.into: must be set"),
    ]);
    await ok(merge(admin(), { workspace: "e1", into: "e2" }));
    expect(await dataOf(admin(), "e2", "only")).toEqual({ a: "1" });
    expect((await admin().get(`${maps}/only`)).status).toBe(404);
    expect((await merge(admin(), { workspace: "e1", into: "e1" })).status).toBe(422);
    expect((await merge(admin(), { workspace: "e1", into: "e2", strategy: "mine" })).status).toBe(422);
  });
});
