import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { blockOf } from "../support/pages.ts";
import { useServer } from "../support/use-server.ts";
import { configMap, ok } from "./support.ts";
import { map, remove, transactionsPath } from "./transactions-support.ts";
import { changeBy, maps, undo, undosPath, withUndos } from "./undo-support.ts";

const server = useServer({ users: [], ...withUndos });
const admin = () => server.admin;
interface Done {
  readonly action: string;
  readonly name: string;
}
const get = async (name: string) => (await ok(admin().get(`${maps}/${name}`))).body;

describe("an undo of a request", () => {
  test("sets its fields back, keeps those that others changed since, and answers with both", async () => {
    await changeBy(admin(), "POST", maps, configMap("u-a", { keep: "1", own: "1" }), "maker");
    const change = await changeBy(admin(), "PATCH", `${maps}/u-a`, { data: { own: "2", added: "2" } });
    await changeBy(admin(), "PATCH", `${maps}/u-a`, { data: { keep: "3" } }, "other");
    const { status, body } = await undo(admin(), { change });
    expect([status, body.kind, body.status]).toEqual([
      201,
      "Undo",
      {
        message: "1 object written",
        resourceVersion: expect.stringMatching(/^\d+$/),
        objects: [
          {
            action: "update",
            apiVersion: "v1",
            kind: "ConfigMap",
            namespace: "default",
            name: "u-a",
            fields: [
              { path: ".data.added", from: '"2"' },
              { path: ".data.own", from: '"2"', to: '"1"' },
            ],
          },
        ],
      },
    ]);
    const object = await get("u-a");
    expect(object.data).toEqual({ keep: "3", own: "1" });
    expect(object.metadata.resourceVersion).toBe(body.status.resourceVersion);
    expect((await undo(admin(), { change })).body.status).toMatchObject({
      message: "nothing is left to undo",
      objects: [{ action: "none", name: "u-a" }],
    });
  });

  test("is refused with every conflict when others changed the same fields, and writes nothing", async () => {
    await ok(admin().post(maps, configMap("u-b", { a: "1", b: "1", c: "1" })));
    const change = await changeBy(admin(), "PATCH", `${maps}/u-b`, { data: { a: "2", b: "2", c: null } });
    await changeBy(admin(), "PATCH", `${maps}/u-b`, { data: { a: "3", b: null, c: "3" } }, "other");
    const refused = await undo(admin(), { change });
    expect([refused.status, refused.body.reason]).toEqual([409, "Conflict"]);
    expect(refused.body.details.causes).toEqual([
      {
        reason: "FieldManagerConflict",
        field: ".data.a",
        message:
          'configmaps "u-b" in namespace "default": .data.a was changed since by "other": "1" before the change, "2" after it, "3" now',
      },
      expect.objectContaining({
        field: ".data.c",
        message: expect.stringContaining('absent after it, "3" now'),
      }),
      expect.objectContaining({
        field: ".data.b",
        message: expect.stringContaining(".data.b was changed since: "),
      }),
    ]);
    expect(refused.body.message).toContain("because of 3 conflicts");
    expect((await get("u-b")).data).toEqual({ a: "3", c: "3" });
    const { body } = await undo(admin(), { change }, "?dryRun=All");
    expect(body.status.message).toBe("dry run: the change can't be undone because of 3 conflicts");
    expect(body.status.conflicts[0]).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: "default",
      name: "u-b",
      path: ".data.a",
      reason: "Changed",
      managers: ["other"],
      before: '"1"',
      after: '"2"',
      now: '"3"',
    });
  });

  test("deletes what it created, if that is unchanged", async () => {
    const change = await changeBy(admin(), "POST", maps, configMap("u-c"));
    const dry = await undo(admin(), { change }, "?dryRun=All");
    expect(dry.body.status).toMatchObject({
      message: "dry run: 1 object would be written",
      objects: [{ action: "delete" }],
    });
    await get("u-c");
    await ok(undo(admin(), { change }));
    expect((await admin().get(`${maps}/u-c`)).status).toBe(404);
  });

  test("creates what it deleted, with the contents and another uid; undone again, it is deleted", async () => {
    const labels = { labels: { tier: "web" }, finalizers: [] };
    await ok(admin().post(maps, configMap("u-d", { a: "1" }, labels)));
    const before = await get("u-d");
    const change = await changeBy(admin(), "DELETE", `${maps}/u-d`, undefined);
    await ok(undo(admin(), { change }));
    const after = await get("u-d");
    expect([after.data, after.metadata.labels]).toEqual([{ a: "1" }, { tier: "web" }]);
    expect(after.metadata.uid).not.toBe(before.metadata.uid);
  });

  test("undone again gives the state before it", async () => {
    await ok(admin().post(maps, configMap("u-e", { a: "1" })));
    const change = await changeBy(admin(), "PATCH", `${maps}/u-e`, { data: { a: "2", b: "2" } });
    const before = await get("u-e");
    const undone = await changeBy(admin(), "POST", undosPath, { spec: { change } });
    expect((await get("u-e")).data).toEqual({ a: "1" });
    await ok(undo(admin(), { change: undone }));
    expect((await get("u-e")).data).toEqual(before.data);
  });

  test("keeps the status, and distinguishes the items of lists by their keys", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const container = (name: string, image: string) => ({ name, image });
    const labels = { app: "u-f" };
    await ok(
      admin().post(deployments, {
        metadata: { name: "u-f" },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [container("a", "one"), container("b", "one")] },
          },
        },
      }),
    );
    const change = await changeBy(admin(), "PATCH", `${deployments}/u-f`, {
      spec: { template: { spec: { containers: [container("a", "two"), container("b", "one")] } } },
    });
    await changeBy(admin(), "PATCH", `${deployments}/u-f/status`, { status: { replicas: 7 } }, "controller");
    await changeBy(
      admin(),
      "PATCH",
      `${deployments}/u-f`,
      { spec: { template: { spec: { containers: [container("a", "two"), container("b", "three")] } } } },
      "other",
    );
    const { body } = await ok(undo(admin(), { change }));
    expect(body.status.objects[0].fields).toEqual([
      { path: '.spec.template.spec.containers[name="a"].image', from: '"two"', to: '"one"' },
    ]);
    const after = (await ok(admin().get(`${deployments}/u-f`))).body;
    const images = after.spec.template.spec.containers.map(({ image }: { image: string }) => image);
    expect([images, after.status.replicas]).toEqual([["one", "three"], 7]);
  });
});

describe("an undo of the creation of a namespace", () => {
  test("is refused while it has objects that the change didn't create", async () => {
    const change = await changeBy(admin(), "POST", "/api/v1/namespaces", { metadata: { name: "u-used" } });
    await ok(admin().post("/api/v1/namespaces/u-used/configmaps", configMap("precious")));
    const { status, body } = await undo(admin(), { change });
    expect([status, body.details.causes[0].message]).toEqual([
      409,
      'namespaces "u-used": it was created by the change, and contains configmaps "precious" in namespace "u-used", which the change didn\'t create',
    ]);
    await ok(admin().delete("/api/v1/namespaces/u-used/configmaps/precious"));
    await ok(undo(admin(), { change }));
    const after = await admin().get("/api/v1/namespaces/u-used");
    expect([200, 404]).toContain(after.status);
    if (after.status === 200) expect(after.body.status.phase).toBe("Terminating");
  });
});

describe("an undo of a transaction", () => {
  test("takes all of its operations back at one resource version", async () => {
    await ok(admin().post(maps, configMap("t-changed", { a: "1" })));
    await ok(admin().post(maps, configMap("t-deleted", { a: "1" })));
    const change = randomUUID();
    const operations = [
      { verb: "create", object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "t-space" } } },
      { verb: "create", object: map("t-created") },
      { verb: "update", object: map("t-changed", { a: "2" }) },
      remove("t-deleted"),
    ];
    const headers = { "Audit-ID": change };
    await ok(admin().post(transactionsPath, { spec: { operations } }, { headers }));
    const { body } = await ok(undo(admin(), { change }));
    expect(body.status.objects.map(({ action, name }: Done) => [action, name])).toEqual([
      ["create", "t-deleted"],
      ["update", "t-changed"],
      ["delete", "t-created"],
      ["delete", "t-space"],
    ]);
    expect((await get("t-changed")).data).toEqual({ a: "1" });
    expect((await get("t-deleted")).metadata.resourceVersion).toBe(body.status.resourceVersion);
    expect((await admin().get(`${maps}/t-created`)).status).toBe(404);
  });

  test("links the owner references of what it creates again to the new owners, and drops those without one", async () => {
    const owner = (await ok(admin().post(maps, configMap("o-owner")))).body.metadata;
    const kept = (await ok(admin().post(maps, configMap("o-kept")))).body.metadata;
    const gone = (await ok(admin().post(maps, configMap("o-gone")))).body.metadata;
    const reference = ({ name, uid }: { name: string; uid: string }) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name,
      uid,
    });
    const ownerReferences = [reference(owner), reference(kept), reference(gone)];
    await ok(admin().post(maps, configMap("o-dependent", {}, { ownerReferences })));
    const change = randomUUID();
    // Dependents first, as the garbage collector would delete them with their owner.
    const operations = [remove("o-dependent"), remove("o-owner")];
    await ok(admin().post(transactionsPath, { spec: { operations } }, { headers: { "Audit-ID": change } }));
    await ok(admin().delete(`${maps}/o-gone`));
    const { body } = await ok(undo(admin(), { change }));
    expect(body.status.objects).toMatchObject([
      { action: "create", name: "o-owner" },
      {
        action: "create",
        name: "o-dependent",
        notes: ['the owner reference to ConfigMap "o-gone" was dropped: there is no such owner'],
      },
    ]);
    const linked = (await get("o-dependent")).metadata.ownerReferences;
    expect(linked).toEqual([reference((await get("o-owner")).metadata), reference(kept)]);
    expect(linked[0].uid).not.toBe(owner.uid);
  });
});

describe("an undo of what a manager or user did", () => {
  test("takes back the writes of the manager in the interval, one by one", async () => {
    const spec = { manager: "batch", from: "2020-01-01T00:00:00Z" };
    await changeBy(admin(), "POST", maps, configMap("m-a", { a: "1", b: "1" }), "maker");
    await changeBy(admin(), "PATCH", `${maps}/m-a`, { data: { a: "2" } }, "batch");
    await changeBy(admin(), "PATCH", `${maps}/m-a`, { data: { b: "9" } }, "other");
    await changeBy(admin(), "PATCH", `${maps}/m-a`, { data: { a: "3", b: "2" } }, "batch");
    await changeBy(admin(), "POST", maps, configMap("m-b"), "batch");
    const later = await undo(admin(), { ...spec, from: "2100-01-01T00:00:00Z" });
    expect([later.status, later.body.message]).toEqual([
      404,
      "the history has no such writes of objects that you may read",
    ]);
    const other = await undo(admin(), { ...spec, namespace: "kube-system", resources: ["configmaps"] });
    expect(other.status).toBe(404);
    const { body } = await ok(undo(admin(), { ...spec, resources: ["configmaps"], namespace: "default" }));
    expect(body.status.objects.map(({ action, name }: Done) => [action, name])).toEqual([
      ["update", "m-a"],
      ["delete", "m-b"],
    ]);
    expect((await get("m-a")).data).toEqual({ a: "1", b: "9" });
  });

  test("takes the request of the page", async () => {
    const { spec } = JSON.parse(blockOf("docs/undo.md", "json request"));
    await ok(admin().post("/api/v1/namespaces", { metadata: { name: spec.namespace } }));
    const path = `/api/v1/namespaces/${spec.namespace}/configmaps`;
    await changeBy(admin(), "POST", path, configMap("imported"), spec.manager);
    // The test runs after the interval of the page.
    const { body } = await ok(
      undo(admin(), { ...spec, to: "2100-01-01T00:00:00Z", from: "2020-01-01T00:00:00Z" }),
    );
    expect(body.status.objects).toMatchObject([{ action: "delete", name: "imported" }]);
  });
});
