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

  it("C-2.5-01 C-2.5-02 C-4.7-12 C-4.10-01 C-4.10-20 C-4.10-25 creates a missing object from JSON or YAML, and the manager owns the applied fields", async () => {
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

  it("applying the same configuration again changes nothing, not even the resourceVersion", async () => {
    const first = await apply(`${deployments}/same`, deployment("same", { replicas: 2 }), "fieldManager=me");
    const again = await apply(`${deployments}/same`, deployment("same", { replicas: 2 }), "fieldManager=me");
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  it("C-4.10-13 a field that is no longer applied is removed or gets its default", async () => {
    await apply(`${deployments}/back`, deployment("back", { replicas: 4, paused: true }), "fieldManager=me");
    const { status, body } = await apply(`${deployments}/back`, deployment("back"), "fieldManager=me");
    expect(status).toBe(200);
    expect(body.spec.replicas).toBe(1);
    expect(body.spec).not.toHaveProperty("paused");
  });

  it("C-4.10-10 C-7-08 a field of another manager is a conflict, with a cause for each field and manager", async () => {
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

  it("C-4.10-07 C-4.10-08 managers that apply the same value share the field, and another value conflicts with all of them", async () => {
    await apply(`${configMaps}/shared`, configMap("shared", { k: "v" }), "fieldManager=a");
    await apply(`${configMaps}/shared`, configMap("shared", { k: "v" }), "fieldManager=b");
    const refused = await apply(`${configMaps}/shared`, configMap("shared", { k: "w" }), "fieldManager=c");
    expect(refused.body.details.causes.map(({ message }: { message: string }) => message)).toEqual([
      'conflict with "a"',
      'conflict with "b"',
    ]);
  });

  it("C-4.10-05 C-4.10-06 C-4.10-09 an update records what it changed, and never conflicts", async () => {
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

  it("C-4.3-09 a write without fieldManager is recorded under the program name of the User-Agent", async () => {
    const { body } = await server.admin.ask("POST", configMaps, {
      raw: JSON.stringify(configMap("agent", { a: "1" })),
      headers: { "user-agent": "tool/1.2 (linux)" },
    });
    expect(body.metadata.managedFields).toMatchObject([{ manager: "tool", operation: "Update" }]);
  });

  it("status fields have managedFields entries of their own, and writers of the object don't own them", async () => {
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

  it("a write of the scale subresource takes the ownership of replicas from the manager that applied it", async () => {
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
    ["merge patch", "merge"],
    ["strategic merge patch", "strategic"],
    ["JSON patch", "json"],
    ["update", "put"],
  ] as const)(
    "C-4.10-27 C-4.10-28 C-4.10-29 managedFields with one empty entry clear all entries first, an empty list doesn't: %s",
    async (_title, how) => {
      const path = `${configMaps}/cleared`;
      const made = await apply(path, configMap("cleared", { a: "1", b: "1" }), "fieldManager=me");
      const write = (managedFields: object[], b: string) => {
        const at = `${path}?fieldManager=other`;
        const change = { metadata: { managedFields }, data: { b } };
        if (how === "put") {
          const metadata = { ...made.body.metadata, managedFields };
          delete metadata.resourceVersion;
          return server.admin.put(at, { ...made.body, metadata, data: { a: "1", b } });
        }
        if (how !== "json") return server.admin.patch(at, change, how);
        const operations = [
          { op: "replace", path: "/metadata/managedFields", value: managedFields },
          { op: "replace", path: "/data/b", value: b },
        ];
        return server.admin.patch(at, operations, "json");
      };
      const kept = await write([], "1");
      expect([kept.status, kept.body.metadata.managedFields]).toEqual([
        200,
        made.body.metadata.managedFields,
      ]);
      // Without other owned fields no owner remains; with another change, its writer owns only that change.
      expect((await write([{}], "1")).body.metadata).not.toHaveProperty("managedFields");
      await apply(path, configMap("cleared", { a: "1", b: "1" }), "fieldManager=me");
      const cleared = await write([{}], "2");
      expect(cleared.body.metadata.managedFields).toMatchObject([
        { manager: "other", operation: "Update", fieldsV1: { "f:data": { "f:b": {} } } },
      ]);
      await server.admin.delete(path);
    },
  );

  it("C-4.10-02 C-4.10-11 C-4.10-12 a conflict is solved by leaving out the field or by applying its current value", async () => {
    const path = `${configMaps}/ways`;
    await apply(path, configMap("ways", { a: "1", b: "1" }), "fieldManager=me");
    await server.admin.patch(`${path}?fieldManager=other`, { data: { a: "2" } });
    expect((await apply(path, configMap("ways", { a: "1", b: "1" }), "fieldManager=me")).status).toBe(409);
    const left = await apply(path, configMap("ways", { b: "1" }), "fieldManager=me");
    expect([left.status, left.body.data]).toEqual([200, { a: "2", b: "1" }]);
    expect(entryOf(left, "me")!.fieldsV1).toEqual({ "f:data": { "f:b": {} } });
    const shared = await apply(path, configMap("ways", { a: "2", b: "1" }), "fieldManager=me");
    expect(shared.status).toBe(200);
    expect(entryOf(shared, "me")!.fieldsV1).toEqual({ "f:data": { "f:a": {}, "f:b": {} } });
    expect(entryOf(shared, "other", "Update")!.fieldsV1).toEqual({ "f:data": { "f:a": {} } });
  });

  it("C-4.10-26 a field changes its manager when the new manager applies that field alone", async () => {
    const path = `${deployments}/handed`;
    await apply(path, deployment("handed", { replicas: 3 }), "fieldManager=user");
    const alone = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "handed" },
      spec: { replicas: 3 },
    };
    expect((await apply(path, alone, "fieldManager=scaler")).status).toBe(200);
    const after = await apply(path, deployment("handed"), "fieldManager=user");
    expect([after.status, after.body.spec.replicas]).toEqual([200, 3]);
    expect(entryOf(after, "scaler")!.fieldsV1).toEqual({ "f:spec": { "f:replicas": {} } });
    expect(JSON.stringify(entryOf(after, "user")!.fieldsV1)).not.toContain("f:replicas");
    const other = { ...alone, spec: { replicas: 4 } };
    expect((await apply(path, other, "fieldManager=user")).body.message).toContain('conflict with "scaler"');
  });

  it.each([
    ["C-4.10-03 no manager", deployment("bad"), "", 422],
    [
      "C-2.5-03 managed fields",
      { ...deployment("bad"), metadata: { name: "bad", managedFields: [{}] } },
      "fieldManager=m",
      400,
    ],
    ["no kind", { apiVersion: "apps/v1", metadata: { name: "bad" } }, "fieldManager=m", 400],
    ["no version", { kind: "Deployment", metadata: { name: "bad" } }, "fieldManager=m", 400],
    [
      "an empty name",
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "" } },
      "fieldManager=m",
      400,
    ],
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

  it.each([
    ["no metadata", {}],
    ["empty metadata", { metadata: {} }],
    ["metadata of nulls", { metadata: { name: null, uid: null, managedFields: null } }],
  ])("a body with %s changes the object of the URL and creates none", async (what, metadata) => {
    const path = `${configMaps}/named-${what.replaceAll(" ", "-")}`;
    const body = { apiVersion: "v1", kind: "ConfigMap", data: { a: "1" }, ...metadata };
    const refused = await apply(path, body, "fieldManager=me");
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringContaining("metadata.name must be"),
    ]);
    const name = path.split("/").at(-1)!;
    await server.admin.post(configMaps, configMap(name, { b: "2" }));
    const changed = await apply(path, body, "fieldManager=me");
    expect([changed.status, changed.body.metadata.name]).toEqual([200, name]);
    expect(entryOf(changed, "me")!.fieldsV1).toEqual({ "f:data": { "f:a": {} } });
  });

  it("null is applied: the manager owns the field, which is removed or gets its default", async () => {
    const path = `${deployments}/nulls`;
    const made = { ...deployment("nulls", { replicas: 3 }), metadata: { name: "nulls", labels: { a: "b" } } };
    expect((await server.admin.post(deployments, made)).status).toBe(201);
    const part = (spec: object | null, labels?: object | null) => ({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "nulls", ...(labels !== undefined && { labels }) },
      ...(spec !== undefined && { spec }),
    });
    const refused = await apply(path, part({ replicas: null }), "fieldManager=two");
    const causes = refused.body.details.causes as { field: string }[];
    expect([refused.status, causes.map(({ field }) => field)]).toEqual([409, [".spec.replicas"]]);
    const forced = await apply(path, part({ replicas: null }), "fieldManager=two&force=true");
    expect([forced.status, forced.body.spec.replicas, forced.body.metadata.generation]).toEqual([200, 1, 2]);
    expect(entryOf(forced, "two")!.fieldsV1).toEqual({ "f:spec": { "f:replicas": {} } });
    // A null doesn't remove an object whose fields have separate owners.
    const whole = await apply(path, part(null, null), "fieldManager=three");
    expect([whole.status, whole.body.metadata.labels, whole.body.spec.template]).toEqual([
      200,
      { a: "b" },
      forced.body.spec.template,
    ]);
    expect(entryOf(whole, "three")!.fieldsV1).toEqual({ "f:metadata": { "f:labels": {} }, "f:spec": {} });
    const [{ name }] = forced.body.spec.template.spec.containers;
    const image = { template: { spec: { containers: [{ name, image: null }] } } };
    const invalid = await apply(path, part(image), "fieldManager=two&force=true");
    expect([invalid.status, invalid.body.details.causes[0].field]).toEqual([
      422,
      "spec.template.spec.containers[0].image",
    ]);
  });

  it("a list item without a required key is rejected, and the error names the missing key", async () => {
    const path = `${deployments}/keyless`;
    await server.admin.post(deployments, deployment("keyless"));
    const part = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "keyless" },
      spec: { template: { spec: { containers: [{ image: "other" }] } } },
    };
    const { status, body } = await apply(path, part, "fieldManager=two&force=true");
    expect([status, body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ["spec.template.spec.containers[1].name"],
    ]);
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

  it("force is 422 for a patch that isn't an apply", async () => {
    await server.admin.post(configMaps, configMap("forced", {}));
    expect((await server.admin.patch(`${configMaps}/forced?force=true`, { data: {} })).status).toBe(422);
  });
});
