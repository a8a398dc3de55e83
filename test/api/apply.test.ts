import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Answer } from "../support/api.ts";

const deployments = "/apis/apps/v1/namespaces/default/deployments";
const configMaps = "/api/v1/namespaces/default/configmaps";
const container = (more: object = {}) => ({ name: "c", image: "i:1", ...more });
const deployment = (name: string, spec: object = {}, containers: object[] = [container()]) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers } },
    ...spec,
  },
});
const configMap = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

interface Entry {
  manager: string;
  operation: string;
  apiVersion: string;
  time: string;
  fieldsV1: object;
  subresource?: string;
}
const entryOf = ({ body }: Answer, manager: string, operation = "Apply") =>
  (body.metadata.managedFields as Entry[]).find(
    (one) => one.manager === manager && one.operation === operation,
  );

describe("server-side apply", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  const apply = (path: string, body: object | string, query: string) =>
    server.admin.ask("PATCH", `${path}?${query}`, {
      raw: typeof body === "string" ? body : JSON.stringify(body),
      contentType: "application/apply-patch+yaml",
    });

  it("C-4.7-12 C-4.10-01 creates what isn't there, from JSON or YAML, and owns what it names", async () => {
    const made = await apply(`${deployments}/made`, deployment("made", { replicas: 2 }), "fieldManager=me");
    expect(made.status).toBe(201);
    expect(entryOf(made, "me")).toEqual({
      manager: "me",
      operation: "Apply",
      apiVersion: "apps/v1",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      fieldsType: "FieldsV1",
      fieldsV1: {
        "f:spec": {
          "f:replicas": {},
          "f:selector": {},
          "f:template": {
            "f:metadata": { "f:labels": { "f:a": {} } },
            "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:image": {}, "f:name": {} } } },
          },
        },
      },
    });
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: '1'\n";
    expect((await apply(`${configMaps}/yaml`, yaml, "fieldManager=me")).status).toBe(201);
  });

  it("applying again changes nothing, not even the version", async () => {
    const first = await apply(`${deployments}/same`, deployment("same", { replicas: 2 }), "fieldManager=me");
    const again = await apply(`${deployments}/same`, deployment("same", { replicas: 2 }), "fieldManager=me");
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  it("what is no longer applied goes back to its default, or goes", async () => {
    await apply(`${deployments}/back`, deployment("back", { replicas: 4, paused: true }), "fieldManager=me");
    const { status, body } = await apply(`${deployments}/back`, deployment("back"), "fieldManager=me");
    expect(status).toBe(200);
    expect(body.spec.replicas).toBe(1);
    expect(body.spec).not.toHaveProperty("paused");
  });

  it("a field that another owns is a conflict, with a cause for each field and manager", async () => {
    await apply(`${deployments}/torn`, deployment("torn", { replicas: 4 }), "fieldManager=first");
    const other = deployment("torn", { replicas: 5 }, [container({ image: "i:2" })]);
    const refused = await apply(`${deployments}/torn`, other, "fieldManager=second");
    expect([refused.status, refused.body.reason]).toEqual([409, "Conflict"]);
    expect(refused.body.details.causes).toEqual([
      { reason: "FieldManagerConflict", message: 'conflict with "first"', field: ".spec.replicas" },
      {
        reason: "FieldManagerConflict",
        message: 'conflict with "first"',
        field: '.spec.template.spec.containers[name="c"].image',
      },
    ]);
    expect((await server.admin.get(`${deployments}/torn`)).body.spec.replicas).toBe(4);
    const forced = await apply(`${deployments}/torn`, other, "fieldManager=second&force=true");
    expect([forced.status, forced.body.spec.replicas]).toEqual([200, 5]);
    expect(JSON.stringify(entryOf(forced, "first")!.fieldsV1)).not.toContain("replicas");
  });

  it("the same value is shared, and another one conflicts with all who share it", async () => {
    await apply(`${configMaps}/shared`, configMap("shared", { k: "v" }), "fieldManager=a");
    await apply(`${configMaps}/shared`, configMap("shared", { k: "v" }), "fieldManager=b");
    const refused = await apply(`${configMaps}/shared`, configMap("shared", { k: "w" }), "fieldManager=c");
    expect(refused.body.details.causes.map(({ message }: { message: string }) => message)).toEqual([
      'conflict with "a"',
      'conflict with "b"',
    ]);
  });

  it("an update records what it changed, and never conflicts", async () => {
    await apply(`${configMaps}/updated`, configMap("updated", { a: "1", b: "1" }), "fieldManager=applier");
    const put = await server.admin.put(`${configMaps}/updated?fieldManager=writer`, {
      ...configMap("updated", { a: "2", b: "1" }),
    });
    expect(entryOf(put, "writer", "Update")!.fieldsV1).toEqual({ "f:data": { "f:a": {} } });
    expect(entryOf(put, "applier")!.fieldsV1).toEqual({ "f:data": { "f:b": {} } });
    const merged = await server.admin.patch(`${configMaps}/updated?fieldManager=patcher`, {
      data: { c: "3" },
    });
    expect(entryOf(merged, "patcher", "Update")!.fieldsV1).toEqual({ "f:data": { "f:c": {} } });
  });

  it("a write without a manager is recorded under the program's name", async () => {
    const { body } = await server.admin.ask("POST", configMaps, {
      raw: JSON.stringify(configMap("agent", { a: "1" })),
      headers: { "user-agent": "tool/1.2 (linux)" },
    });
    expect(body.metadata.managedFields).toMatchObject([{ manager: "tool", operation: "Update" }]);
  });

  it("status has entries of its own, and the object's writers don't own it", async () => {
    const made = await server.admin.post(`${deployments}?fieldManager=user`, deployment("stated"));
    expect(JSON.stringify(entryOf(made, "user", "Update")!.fieldsV1)).not.toContain("f:status");
    const written = await server.admin.put(`${deployments}/stated/status?fieldManager=ctl`, {
      ...made.body,
      status: { replicas: 1, observedGeneration: 1 },
    });
    expect(entryOf(written, "ctl", "Update")).toMatchObject({
      subresource: "status",
      fieldsV1: { "f:status": { "f:observedGeneration": {}, "f:replicas": {} } },
    });
    const status = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "stated" },
      status: { readyReplicas: 1 },
    };
    const applied = await apply(`${deployments}/stated/status`, status, "fieldManager=ctl");
    expect(applied.status).toBe(200);
    expect(entryOf(applied, "ctl")).toMatchObject({
      subresource: "status",
      fieldsV1: { "f:status": { "f:readyReplicas": {} } },
    });
    expect(applied.body.spec.replicas).toBe(1);
  });

  it("a scale takes the replicas from whoever applied them", async () => {
    await apply(`${deployments}/scaled`, deployment("scaled", { replicas: 2 }), "fieldManager=me");
    const { body } = await server.admin.get(`${deployments}/scaled/scale`);
    await server.admin.put(`${deployments}/scaled/scale?fieldManager=scaler`, {
      ...body,
      spec: { replicas: 6 },
    });
    const after = await server.admin.get(`${deployments}/scaled`);
    expect(entryOf(after, "scaler", "Update")).toMatchObject({
      subresource: "scale",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
    });
    const again = await apply(`${deployments}/scaled`, deployment("scaled"), "fieldManager=me");
    expect(again.body.spec.replicas).toBe(6);
  });

  it.each([
    ["merge patch", (entries: object) => ["merge", { metadata: { managedFields: entries } }] as const],
    [
      "JSON patch",
      (entries: object) =>
        ["json", [{ op: "replace", path: "/metadata/managedFields", value: entries }]] as const,
    ],
  ])("a list with one empty entry clears the entries, an empty one doesn't: %s", async (_title, patch) => {
    const path = `${configMaps}/cleared`;
    await apply(path, configMap("cleared", { a: "1" }), "fieldManager=me");
    const [kind, none] = patch([]);
    expect((await server.admin.patch(path, none, kind)).body.metadata.managedFields).toHaveLength(1);
    const [, empty] = patch([{}]);
    const cleared = await server.admin.patch(path, empty, kind);
    expect(cleared.status).toBe(200);
    expect(cleared.body.metadata).not.toHaveProperty("managedFields");
    await server.admin.delete(path);
  });

  it.each([
    ["no manager", deployment("bad"), "", 422],
    [
      "managed fields",
      { ...deployment("bad"), metadata: { name: "bad", managedFields: [{}] } },
      "fieldManager=m",
      400,
    ],
    ["no kind", { apiVersion: "apps/v1", metadata: { name: "bad" } }, "fieldManager=m", 400],
    ["no version", { kind: "Deployment", metadata: { name: "bad" } }, "fieldManager=m", 400],
    ["no name", { apiVersion: "apps/v1", kind: "Deployment", metadata: {} }, "fieldManager=m", 400],
    ["another name", deployment("worse"), "fieldManager=m", 400],
    ["two items with one key", deployment("bad", {}, [container(), container()]), "fieldManager=m", 400],
    ["what the kind's rules refuse", deployment("bad", { replicas: -1 }), "fieldManager=m", 422],
    [
      "an unknown field, strictly",
      deployment("bad", { nope: 1 }),
      "fieldManager=m&fieldValidation=Strict",
      400,
    ],
    ["a version of what isn't there", configMap("bad", {}, { resourceVersion: "1" }), "fieldManager=m", 400],
  ])("%s is refused", async (_what, body, query, status) => {
    expect((await apply(`${deployments}/bad`, body, query)).status).toBe(status);
    expect((await server.admin.get(`${deployments}/bad`)).status).toBe(404);
  });

  it("a resourceVersion is a precondition", async () => {
    const made = await apply(`${configMaps}/pre`, configMap("pre", { a: "1" }), "fieldManager=me");
    const { resourceVersion } = made.body.metadata;
    const at = (version: string, a: string) => configMap("pre", { a }, { resourceVersion: version });
    expect((await apply(`${configMaps}/pre`, at("1", "2"), "fieldManager=me")).status).toBe(409);
    expect((await apply(`${configMaps}/pre`, at(resourceVersion, "2"), "fieldManager=me")).status).toBe(200);
  });

  it("a dry run changes nothing", async () => {
    const dry = await apply(`${configMaps}/dry`, configMap("dry", { a: "1" }), "fieldManager=me&dryRun=All");
    expect(dry.status).toBe(201);
    expect((await server.admin.get(`${configMaps}/dry`)).status).toBe(404);
  });

  it("force is for applies only", async () => {
    await server.admin.post(configMaps, configMap("forced", {}));
    expect((await server.admin.patch(`${configMaps}/forced?force=true`, { data: {} })).status).toBe(422);
  });
});
