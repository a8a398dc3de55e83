import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Answer } from "../../support/api.ts";

interface Entry {
  manager: string;
  operation: string;
  apiVersion: string;
  time: string;
  fieldsV1: { "f:spec"?: Record<string, object> };
  subresource?: string;
}

const kinds = [
  { kind: "Deployment", apiVersion: "apps/v1", path: "/apis/apps/v1/namespaces/default/deployments" },
  { kind: "ReplicaSet", apiVersion: "apps/v1", path: "/apis/apps/v1/namespaces/default/replicasets" },
  { kind: "StatefulSet", apiVersion: "apps/v1", path: "/apis/apps/v1/namespaces/default/statefulsets" },
  {
    kind: "ReplicationController",
    apiVersion: "v1",
    path: "/api/v1/namespaces/default/replicationcontrollers",
  },
] as const;

/** Ownership of replicas moves between the object and its scale. */
describe.each(kinds)("apply and the scale of a $kind", ({ kind, apiVersion, path }) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  const labels = { a: "b" };
  const workload = (name: string, replicas?: number) => ({
    apiVersion,
    kind,
    metadata: { name },
    spec: {
      ...(replicas === undefined ? {} : { replicas }),
      selector: kind === "ReplicationController" ? labels : { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "i:1" }] } },
    },
  });
  const scale = (name: string, replicas?: number, metadata: object = {}) => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name, ...metadata },
    spec: replicas === undefined ? {} : { replicas },
  });
  const apply = (at: string, body: object, query: string) =>
    server.admin.ask("PATCH", `${path}/${at}?${query}`, {
      raw: JSON.stringify(body),
      contentType: "application/apply-patch+yaml",
    });
  const read = async (name: string) => (await server.admin.get(`${path}/${name}`)).body;
  /** The owners of spec.replicas, each as `manager operation subresource`. */
  const owners = async (name: string): Promise<string[]> => {
    const entries = (await read(name)).metadata.managedFields as Entry[];
    return entries
      .filter(({ fieldsV1 }) => fieldsV1["f:spec"]?.["f:replicas"] !== undefined)
      .map(({ manager, operation, subresource = "" }) => `${manager} ${operation} ${subresource}`.trim())
      .toSorted();
  };
  const conflicts = ({ status, body }: Answer) => ({
    status,
    causes: (body.details.causes as { message: string; field: string }[]).map(
      ({ message, field }) => `${message} at ${field}`,
    ),
  });

  it("C-4.10-06 C-4.10-08 a patch of the scale owns replicas, and a later apply of another number conflicts with its manager", async () => {
    await apply("patched", workload("patched", 1), "fieldManager=me");
    expect(await owners("patched")).toEqual(["me Apply"]);
    const change = { spec: { replicas: 5 } };
    expect((await server.admin.patch(`${path}/patched/scale?fieldManager=hpa`, change)).status).toBe(200);
    expect(await owners("patched")).toEqual(["hpa Update scale"]);
    expect(conflicts(await apply("patched", workload("patched", 1), "fieldManager=me"))).toEqual({
      status: 409,
      causes: [`conflict with "hpa" with subresource "scale" using ${apiVersion} at .spec.replicas`],
    });
    expect((await apply("patched", workload("patched"), "fieldManager=me")).body.spec.replicas).toBe(5);
    await apply("patched", workload("patched", 1), "fieldManager=me&force=true");
    expect(await owners("patched")).toEqual(["me Apply"]);
  });

  it("C-4.10-10 an apply of the scale conflicts with the applier of the object, and force takes replicas", async () => {
    await apply("forced", workload("forced", 1), "fieldManager=me");
    const refused = await apply("forced/scale", scale("forced", 17), "fieldManager=scaler");
    expect(conflicts(refused)).toEqual({ status: 409, causes: ['conflict with "me" at .spec.replicas'] });
    expect((await read("forced")).spec.replicas).toBe(1);
    const forced = await apply("forced/scale", scale("forced", 17), "fieldManager=scaler&force=true");
    expect(forced.status).toBe(200);
    expect(forced.body).toMatchObject({ kind: "Scale", spec: { replicas: 17 } });
    expect(forced.body.metadata).not.toHaveProperty("managedFields");
    const { metadata, spec } = await read("forced");
    expect(spec.replicas).toBe(17);
    const entries = metadata.managedFields as Entry[];
    expect(entries.find(({ manager }) => manager === "scaler")).toEqual({
      manager: "scaler",
      operation: "Apply",
      apiVersion,
      time: expect.stringMatching(/Z$/),
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
      subresource: "scale",
    });
    // The first applier keeps the ownership of its other fields.
    const kept = entries.find(({ manager }) => manager === "me")!;
    expect(Object.keys(kept.fieldsV1["f:spec"]!)).toEqual(["f:selector", "f:template"]);
  });

  it.each([7, 0])(
    "C-4.10-12 the same number (%i) is shared, whichever operation wrote it",
    async (replicas) => {
      const name = `shared-${replicas}`;
      await apply(name, workload(name, 3), "fieldManager=me");
      await server.admin.put(`${path}/${name}/scale?fieldManager=writer`, scale(name, replicas));
      expect(await owners(name)).toEqual(["writer Update scale"]);
      const shared = await apply(`${name}/scale`, scale(name, replicas), "fieldManager=co");
      expect(shared.status).toBe(200);
      await apply(name, workload(name, replicas), "fieldManager=me");
      expect(await owners(name)).toEqual(["co Apply scale", "me Apply", "writer Update scale"]);
      // Scaling again replaces three owners by one.
      await server.admin.patch(`${path}/${name}/scale?fieldManager=last`, { spec: { replicas: 9 } });
      expect(await owners(name)).toEqual(["last Update scale"]);
    },
  );

  it("applying the same number again changes nothing, not even the resourceVersion", async () => {
    await apply("same", workload("same"), "fieldManager=me");
    await apply("same/scale", scale("same", 2), "fieldManager=scaler&force=true");
    const first = await read("same");
    const again = await apply("same/scale", scale("same", 2), "fieldManager=scaler");
    expect(again.body.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it("C-4.10-11 C-4.10-14 a manager that gives replicas up through the scale leaves them to the other owners, if there are any", async () => {
    await apply("given", workload("given", 4), "fieldManager=me");
    await apply("given/scale", scale("given", 4), "fieldManager=scaler");
    await apply("given/scale", scale("given"), "fieldManager=scaler");
    expect(await owners("given")).toEqual(["me Apply"]);
    expect((await read("given")).spec.replicas).toBe(4);
    await apply("given/scale", scale("given", 4), "fieldManager=scaler");
    await apply("given", workload("given"), "fieldManager=me");
    expect((await apply("given/scale", scale("given"), "fieldManager=scaler")).body.spec).toEqual({});
    expect(await owners("given")).toEqual([]);
  });

  it("a scale write that doesn't change the number owns nothing, and can't set managedFields", async () => {
    await apply("left", workload("left", 1), "fieldManager=me");
    const managedFields = [{}];
    await server.admin.patch(`${path}/left/scale?fieldManager=other`, { status: { replicas: 42 } });
    await server.admin.patch(`${path}/left/scale?fieldManager=other`, { metadata: { managedFields } });
    await server.admin.put(`${path}/left/scale?fieldManager=other`, scale("left", 1, { managedFields }));
    expect(await owners("left")).toEqual(["me Apply"]);
  });

  it("C-4.10-03 C-2.5-03 an apply that is invalid for an object is invalid for its scale", async () => {
    await apply("bad", workload("bad", 1), "fieldManager=me");
    const { resourceVersion, uid } = (await read("bad")).metadata;
    const force = "fieldManager=m&force=true";
    const status = async (body: object, query = force) => (await apply("bad/scale", body, query)).status;
    expect(await status(scale("bad", 2), "")).toBe(422);
    expect(await status(scale("bad", 2, { managedFields: [{}] }))).toBe(400);
    expect(await status({ ...scale("bad", 2), kind: "Deployment" })).toBe(400);
    expect(await status({ ...scale("bad", 2), apiVersion: "apps/v1" })).toBe(400);
    expect(await status({ ...scale("bad", 2), kind: "" })).toBe(400);
    expect(await status(scale("worse", 2))).toBe(400);
    expect(await status(scale("bad", -1))).toBe(422);
    expect(await status(scale("bad", 2, { resourceVersion: "1" }))).toBe(409);
    expect(await status(scale("bad", 2, { uid: "other" }))).toBe(409);
    expect((await read("bad")).metadata.resourceVersion).toBe(resourceVersion);
    expect(await status(scale("bad", 2), `${force}&dryRun=All`)).toBe(200);
    expect((await read("bad")).spec.replicas).toBe(1);
    expect(await status(scale("bad", 2, { resourceVersion, uid }))).toBe(200);
    expect((await apply("none/scale", scale("none", 2), force)).status).toBe(404);
    const plain = await server.admin.patch(`${path}/bad/scale?force=true`, { spec: { replicas: 3 } });
    expect(plain.status).toBe(422);
  });
});
