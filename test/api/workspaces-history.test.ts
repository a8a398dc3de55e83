import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CreateServerOptions } from "../../src/index.ts";
import type { Api } from "../support/api.ts";
import { TestServer } from "../support/api.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { branch, rebase, within } from "./branches-support.ts";
import { maps, namesIn } from "./history-support.ts";
import { ManualClock, configMap, ok } from "./support.ts";
import { changeBy, undosPath, withUndos } from "./undo-support.ts";
import { roleFor, workspaces, workspacesOf } from "./workspaces-support.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const engines: Readonly<Record<string, CreateServerOptions["storage"]>> = {
  memory: { engine: "memory" },
  embedded: { engine: "embedded", dir: folder.path },
};

const minuteMs = 60_000;

describe.each(Object.entries(engines))("history in workspaces over the %s store", (_name, storage) => {
  const clock = new ManualClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({
      ...withUndos,
      users: [{ name: "devi" }, { name: "omar" }],
      storage,
      clock,
    });
  });
  afterAll(() => server.close());
  const admin = (): Api => server.admin;
  const set = (where: string, map: string, data: object) =>
    ok(admin().patch(within(where, `${maps}/${map}`), { data }));
  const versionsIn = async (api: Api, where: string, map: string) => {
    const { body } = await ok(api.get(within(where, `${maps}/${map}/history?contents=true`)));
    const items = body.items as { verb: string; deleted?: boolean; object: { data: { step: string } } }[];
    return items.map(({ verb, deleted, object }) => [verb, deleted === true ? "deleted" : object.data.step]);
  };

  test("the versions of an object begin with the state of the base, and what the base does later isn't among them", async () => {
    await ok(admin().post(maps, configMap("versions", { step: "of the base" })));
    await branch(admin(), "versions");
    await set("", "versions", { step: "later in the base" });
    await set("versions", "versions", { step: "in the branch" });
    await ok(admin().delete(within("versions", `${maps}/versions`)));
    await clock.advance(10 * minuteMs);
    expect(await versionsIn(admin(), "versions", "versions")).toEqual([
      ["delete", "deleted"],
      ["patch", "in the branch"],
      [undefined, "of the base"],
    ]);
    expect(await versionsIn(admin(), "", "versions")).toEqual([
      ["patch", "later in the base"],
      ["create", "of the base"],
    ]);
  });

  test("past states, the trash and watches reach back to the beginning of the workspace, and not before", async () => {
    const old = await ok(admin().post(maps, configMap("past", { step: "1" })));
    const made = await branch(admin(), "past");
    const start = made.status.bases[0].resourceVersion;
    await ok(admin().delete(within("past", `${maps}/past`)));
    await ok(admin().post(within("past", maps), configMap("past-own", { step: "2" })));
    await ok(admin().delete(within("past", `${maps}/past-own`)));
    await clock.advance(10 * minuteMs);
    const path = within("past", maps);
    expect(namesIn(await ok(admin().get(`${path}?at=${start}`)))).toContain("past");
    expect(namesIn(await ok(admin().get(path)))).not.toContain("past");
    const { body } = await ok(admin().get(`${path}?deleted=true`));
    const trash = body.items as { metadata: { name: string }; data: { step: string } }[];
    expect(trash.map(({ metadata, data }) => [metadata.name, data.step])).toEqual([
      ["past", "1"],
      ["past-own", "2"],
    ]);
    const before = await admin().refusal(
      "GET",
      `${path}?at=${Number(old.body.metadata.resourceVersion) - 1}`,
    );
    expect([before.status, before.body.reason]).toEqual([410, "Expired"]);
    const events = await admin().watch(`${path}?resourceVersion=${start}`);
    expect([await events.next(), await events.next(), await events.next()]).toMatchObject([
      { type: "DELETED", object: { metadata: { name: "past" } } },
      { type: "ADDED", object: { metadata: { name: "past-own" } } },
      { type: "DELETED", object: { metadata: { name: "past-own" } } },
    ]);
    await events.close();
  });

  test("an undo in a workspace takes back what was changed in it, also in objects of the base", async () => {
    await ok(admin().post(maps, configMap("undone", { step: "of the base" })));
    await branch(admin(), "undone");
    const path = within("undone", `${maps}/undone`);
    const update = await changeBy(admin(), "PATCH", path, { data: { step: "wrong" } });
    await ok(admin().post(within("undone", undosPath), { spec: { change: update } }));
    expect((await ok(admin().get(path))).body.data).toEqual({ step: "of the base" });
    await branch(admin(), "undone-deletion");
    const deleted = within("undone-deletion", `${maps}/undone`);
    const deletion = await changeBy(admin(), "DELETE", deleted, undefined);
    await ok(admin().post(within("undone-deletion", undosPath), { spec: { change: deletion } }));
    expect((await ok(admin().get(deleted))).body.data).toEqual({ step: "of the base" });
  });

  test("who may not get an object in the base sees neither its versions nor its past nor its deletion", async () => {
    const { create, admit } = workspacesOf(admin);
    await ok(admin().post(maps, configMap("hidden", { step: "1" })));
    await create("hidden", { from: {}, admins: [{ kind: "User", name: "devi" }] });
    await create("shown", { from: {}, admins: [{ kind: "User", name: "omar" }] });
    await admit("enter", ["devi", "omar"], ["hidden", "shown"]);
    await roleFor(
      admin(),
      "omar-reads",
      ["omar"],
      [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }],
    );
    for (const name of ["hidden", "shown"]) {
      const path = within(name, maps);
      await set(name, "hidden", { step: "2" });
      await ok(admin().delete(`${path}/hidden`));
      await ok(admin().post(path, configMap("own", { step: "1" })));
      await ok(admin().delete(`${path}/own`));
    }
    await clock.advance(10 * minuteMs);
    const trashOf = async (user: string, where: string) =>
      namesIn(await ok(server.as(user).get(within(where, `${maps}?deleted=true`))));
    expect(await trashOf("devi", "hidden")).toEqual(["own"]);
    expect(await trashOf("omar", "shown")).toContain("hidden");
    const refused = await server.as("devi").refusal("GET", within("hidden", `${maps}/hidden/history`));
    expect(refused.status).toBe(404);
    expect(await versionsIn(server.as("omar"), "shown", "hidden")).toHaveLength(3);
    expect(await versionsIn(server.as("devi"), "hidden", "own")).toHaveLength(2);
  });

  test("after a rebase there are no states from before it, not even over the new base", async () => {
    for (const map of ["moved", "moved-equal"])
      await ok(admin().post(maps, configMap(map, { step: "1", other: "1" })));
    await branch(admin(), "moved");
    await set("moved", "moved", { step: "2" });
    await set("moved", "moved-equal", { step: "2" });
    await set("", "moved", { other: "2" });
    const newest = await set("", "moved-equal", { step: "2" });
    const between = await ok(admin().post(within("moved", maps), configMap("moved-between", { step: "1" })));
    const done = await ok(rebase(admin(), { workspace: "moved" }));
    const path = within("moved", maps);
    for (const { body } of [newest, between]) {
      const version = body.metadata.resourceVersion;
      for (const query of [`at=${version}`, `resourceVersion=${version}&resourceVersionMatch=Exact`])
        expect((await admin().refusal("GET", `${path}?${query}`)).status).toBe(410);
      const spec = { from: { workspace: "moved", resourceVersion: version } };
      const refused = await admin().post(workspaces, { metadata: { name: "too-early" }, spec });
      expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining("spec.from")]);
    }
    await clock.advance(10 * minuteMs);
    const at = done.body.status.resourceVersion;
    expect((await ok(admin().get(`${path}/moved?at=${at}`))).body.data).toEqual({ step: "2", other: "2" });
    expect((await versionsIn(admin(), "moved", "moved")).length).toBe(1);
    expect(await versionsIn(admin(), "moved", "moved-equal")).toEqual([[undefined, "2"]]);
    expect(namesIn(await ok(admin().get(`${path}?at=${at}`)))).toContain("moved-between");
    expect((await ok(admin().get(`${path}?deleted=true`))).body.items).toEqual([]);
  });

  test("the history of a deleted workspace goes with it", async () => {
    await branch(admin(), "gone", null);
    await ok(admin().post(within("gone", maps), configMap("secret-plan", { step: "1" })));
    await ok(admin().delete(`${workspaces}/gone`));
    const statusLater = async () => {
      await clock.advance(1000);
      return (await admin().get(`${workspaces}/gone`)).status;
    };
    await expect.poll(statusLater, { timeout: 10_000 }).toBe(404);
    await branch(admin(), "gone", null);
    const trash = await ok(admin().get(within("gone", `${maps}?deleted=true`)));
    expect(trash.body.items).toEqual([]);
  });
});
