import { describe, expect, test } from "vitest";
import { type Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { RBAC, causeFields, clusterRole, configMap, namespace, ok, podReader } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const leases = "/apis/coordination.platform.io/v1/namespaces/default/leases";
const pods = "/api/v1/namespaces/default/pods";

const server = useServer({ enabledControllers: [], disabledAdmissionPlugins: ["ServiceAccount"] });

const reasons = ({ status, body }: Answer): unknown => [
  status,
  body.reason,
  (body.details?.causes ?? []).map(({ field, reason }: { field: string; reason: string }) => [field, reason]),
];
const invalid = (...fields: string[]): unknown => [
  422,
  "Invalid",
  fields.map((field) => [field, "FieldValueInvalid"]),
];

describe("metadata of a new object", () => {
  const owner = (more: object) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "a",
    uid: "u",
    ...more,
  });
  test.each<readonly [string, object, string]>([
    ["an unqualified finalizer", { finalizers: ["example.com/a", "mine"] }, "metadata.finalizers[1]"],
    [
      "both ways to treat dependents",
      { finalizers: ["orphan", "foregroundDeletion"] },
      "metadata.finalizers",
    ],
    [
      "an Event as owner",
      { ownerReferences: [owner({ apiVersion: "v1", kind: "Event" })] },
      "metadata.ownerReferences",
    ],
    ["a negative generation", { generation: -1 }, "metadata.generation"],
    [
      "generateName with a dot at its end",
      { name: undefined, generateName: "a.b." },
      "metadata.generateName",
    ],
    ["generateName that is only a dash", { generateName: "-" }, "metadata.generateName"],
  ])("%s is refused with 422", async (_what, metadata, field) => {
    expect(reasons(await server.admin.post(configMaps, configMap("refused", {}, metadata)))).toEqual(
      invalid(field),
    );
  });

  test.each<readonly [string, object]>([
    ["the server's own finalizers", { finalizers: ["orphan"] }],
    ["that of dependents in the foreground", { finalizers: ["foregroundDeletion"] }],
    ["that of namespaces", { finalizers: ["platform"] }],
    [
      "an Event of another version as owner",
      { ownerReferences: [owner({ apiVersion: "v2", kind: "Event" })] },
    ],
    ["generateName with dashes at its end", { generateName: "a.b--" }],
    ["a generation, which the server sets", { generation: 7 }],
  ])("%s is accepted", async (_what, metadata) => {
    await ok(server.admin.post(`${configMaps}?dryRun=All`, configMap("taken", {}, metadata)));
  });

  test("the generateName of a role may end with any character that its name may have", async () => {
    await ok(
      server.admin.post(
        `${RBAC}/clusterroles?dryRun=All`,
        clusterRole("", [podReader], { generateName: "a.b:" }),
      ),
    );
  });

  test("a kind without domain-qualified finalizers accepts any name", async () => {
    await ok(server.admin.post(leases, { metadata: { name: "one", finalizers: ["mine"] }, spec: {} }));
  });

  test("the finalizers in a namespace's spec must be qualified names too", async () => {
    const { body } = await ok(server.admin.post("/api/v1/namespaces", namespace("formed")));
    const answer = await server.admin.put("/api/v1/namespaces/formed/finalize", {
      ...body,
      spec: { finalizers: ["mine"] },
    });
    expect(reasons(answer)).toEqual(invalid("spec.finalizers[0]"));
  });
});

describe("metadata of an update", () => {
  const apply = (path: string, body: object) =>
    server.admin.ask("PATCH", `${path}?fieldManager=m&force=true`, {
      body,
      contentType: "application/apply-patch+yaml",
    });

  test("a different uid is 422 in a patch or an apply, and 409 in a PUT", async () => {
    await ok(server.admin.post(configMaps, configMap("same")));
    const path = `${configMaps}/same`;
    const uid = { uid: "other" };
    expect(reasons(await server.admin.patch(path, { metadata: uid }))).toEqual(
      invalid("metadata.uid", "metadata.uid"),
    );
    const patched = await server.admin.patch(
      path,
      [{ op: "replace", path: "/metadata/uid", value: "other" }],
      "json",
    );
    expect(reasons(patched)).toEqual(invalid("metadata.uid", "metadata.uid"));
    expect(reasons(await apply(path, configMap("same", {}, uid)))).toEqual(
      invalid("metadata.uid", "metadata.uid"),
    );
    expect(reasons(await server.admin.put(path, configMap("same", {}, uid)))).toEqual([409, "Conflict", []]);
  });

  test("a PUT with a uid on a missing object is 409, whether a PUT may create the kind or not", async () => {
    const uid = { uid: "other" };
    expect(reasons(await server.admin.put(`${configMaps}/none`, configMap("none", {}, uid)))).toEqual([
      409,
      "Conflict",
      [],
    ]);
    const role = clusterRole("none", [podReader], uid);
    expect(reasons(await server.admin.put(`${RBAC}/clusterroles/none`, role))).toEqual([409, "Conflict", []]);
    expect((await server.admin.put(`${configMaps}/none`, configMap("none"))).status).toBe(404);
  });

  test("a write can't set deletionTimestamp and start a deletion", async () => {
    await ok(server.admin.post(configMaps, configMap("alive", {}, { finalizers: ["example.com/a"] })));
    const path = `${configMaps}/alive`;
    const time = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const grace = { deletionGracePeriodSeconds: 5 };
    expect(reasons(await server.admin.patch(path, { metadata: time }))).toEqual(
      invalid("metadata.deletionTimestamp", "metadata.deletionTimestamp"),
    );
    expect(reasons(await server.admin.put(path, configMap("alive", {}, time)))).toEqual(
      invalid("metadata.deletionTimestamp", "metadata.deletionTimestamp"),
    );
    expect(reasons(await server.admin.patch(path, { metadata: grace }))).toEqual(
      invalid("metadata.deletionGracePeriodSeconds", "metadata.deletionGracePeriodSeconds"),
    );
    // The server ignores deletionTimestamp of a terminating object; the grace period is immutable.
    await ok(server.admin.delete(path));
    await ok(server.admin.patch(path, { metadata: time }));
    expect(causeFields(await server.admin.patch(path, { metadata: grace }))).toEqual([
      "metadata.deletionGracePeriodSeconds",
      "metadata.deletionGracePeriodSeconds",
    ]);
  });

  test("a deletionTimestamp in a pod's status write is ignored", async () => {
    await ok(
      server.admin.post(pods, {
        metadata: { name: "one" },
        spec: { containers: [{ name: "c", image: "i" }] },
      }),
    );
    const metadata = { deletionTimestamp: "2026-01-01T00:00:00Z" };
    const { body } = await ok(server.admin.patch(`${pods}/one/status`, { metadata }));
    expect(body.metadata).not.toHaveProperty("deletionTimestamp");
    expect(reasons(await server.admin.patch(`${pods}/one`, { metadata }))).toEqual(
      invalid("metadata.deletionTimestamp", "metadata.deletionTimestamp"),
    );
  });
});

describe('resourceVersion "0"', () => {
  const zero = { resourceVersion: "0" };

  test("is no precondition of any write", async () => {
    await ok(server.admin.post(configMaps, configMap("zero", {}, zero)));
    const path = `${configMaps}/zero`;
    await ok(server.admin.put(path, configMap("zero", { a: "1" }, zero)));
    await ok(server.admin.patch(path, { metadata: zero, data: { a: "2" } }));
    await ok(server.admin.patch(path, { metadata: zero, data: { a: "3" } }, "strategic"));
    const json = [{ op: "replace", path: "/metadata/resourceVersion", value: "0" }];
    await ok(server.admin.patch(path, json, "json"));
    const apply = (name: string) =>
      server.admin.ask("PATCH", `${configMaps}/${name}?fieldManager=m&force=true`, {
        body: configMap(name, { a: "4" }, zero),
        contentType: "application/apply-patch+yaml",
      });
    expect((await apply("zero")).status).toBe(200);
    expect((await apply("applied")).status).toBe(201);
    const role = clusterRole("by-put", [podReader], zero);
    expect((await server.admin.put(`${RBAC}/clusterroles/by-put`, role)).status).toBe(201);
  });

  test("is no precondition of a write of a subresource", async () => {
    const sets = "/apis/apps/v1/namespaces/default/replicasets";
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const spec = { selector: { matchLabels: { a: "b" } }, template };
    await ok(server.admin.post(sets, { metadata: { name: "zero" }, spec }));
    await ok(
      server.admin.put(`${sets}/zero/scale`, { metadata: { name: "zero", ...zero }, spec: { replicas: 2 } }),
    );
    await ok(server.admin.patch(`${sets}/zero/scale`, { metadata: zero, spec: { replicas: 3 } }));
    await ok(server.admin.patch(`${sets}/zero/status`, { metadata: zero, status: { replicas: 3 } }));
    expect((await server.admin.get(`${sets}/zero`)).body.spec.replicas).toBe(3);
  });

  test("is no version for kinds whose update requires one: 422", async () => {
    await ok(server.admin.post(leases, { metadata: { name: "versioned" }, spec: {} }));
    const answer = await server.admin.put(`${leases}/versioned`, {
      metadata: { name: "versioned", ...zero },
      spec: {},
    });
    expect([answer.status, causeFields(answer)]).toEqual([422, ["metadata.resourceVersion"]]);
  });
});

describe("a patch whose result doesn't decode as the kind", () => {
  test.each([
    ["json", [{ op: "add", path: "/data", value: 5 }]],
    ["merge", { data: ["x"] }],
    ["strategic", { data: 5 }],
  ] as const)("%s: 422 with the cause on the patch", async (kind, patch) => {
    await server.admin.post(configMaps, configMap("unreadable"));
    expect(reasons(await server.admin.patch(`${configMaps}/unreadable`, patch, kind))).toEqual(
      invalid("patch"),
    );
  });
});
