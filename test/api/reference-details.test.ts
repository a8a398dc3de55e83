import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { causeFields, configMap, ok } from "./support.ts";

/** Details of single kinds that clients of the reference rely on. */

const core = "/api/v1/namespaces/default";
const apps = "/apis/apps/v1/namespaces/default";
const template = {
  metadata: { labels: { app: "x" } },
  spec: { containers: [{ name: "main", image: "i" }] },
};
const selector = { matchLabels: { app: "x" } };
const merge = "application/merge-patch+json";

const server = useServer();

/** The fields of the first managedFields entry. */
const owned = (body: {
  metadata: { managedFields: { fieldsV1: Record<string, Record<string, unknown>> }[] };
}) => body.metadata.managedFields[0]!.fieldsV1;

describe("field ownership of a created object", () => {
  test("has one entry for an atomic struct, also when the kind always has the struct", async () => {
    const { body: scaler } = await ok(
      server.admin.post("/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", {
        metadata: { name: "scaler" },
        spec: { maxReplicas: 2, scaleTargetRef: { kind: "Deployment", name: "web" } },
      }),
    );
    expect(owned(scaler)["f:spec"]).toMatchObject({ "f:maxReplicas": {}, "f:scaleTargetRef": {} });
    const { body: event } = await ok(
      server.admin.post(`${core}/events`, {
        metadata: { name: "e.1" },
        involvedObject: { kind: "Pod", name: "p", namespace: "default" },
        reason: "Tested",
      }),
    );
    expect(owned(event)).toEqual({ "f:involvedObject": {}, "f:reason": {} });
  });

  test("has one entry for the data of a ControllerRevision", async () => {
    const sent = { metadata: { name: "r" }, data: { spec: { a: 1 } }, revision: 1 };
    const { body } = await ok(server.admin.post(`${apps}/controllerrevisions`, sent));
    expect(owned(body)).toEqual({ "f:data": {}, "f:revision": {} });
  });

  test("includes the generation annotation of a DaemonSet", async () => {
    const sent = { metadata: { name: "d" }, spec: { selector, template } };
    const { body } = await ok(server.admin.post(`${apps}/daemonsets`, sent));
    const name = "deprecated.daemonset.template.generation";
    expect(body.metadata.annotations).toEqual({ [name]: "1" });
    expect(owned(body)["f:metadata"]).toEqual({ "f:annotations": { ".": {}, [`f:${name}`]: {} } });
  });

  test("has the manager unknown for a request without User-Agent", async () => {
    const { body } = await ok(server.admin.post(`${core}/configmaps`, configMap("nobody")));
    expect(body.metadata.managedFields[0].manager).toBe("unknown");
  });
});

test("null timestamps of a condition lose their owner together with the condition", async () => {
  const sent = { metadata: { name: "w" }, spec: { selector, template } };
  await ok(server.admin.post(`${apps}/deployments`, sent));
  const conditions = [{ type: "Available", status: "True" }];
  const path = `${apps}/deployments/w/status`;
  const write = async (status: object) =>
    ok(server.admin.ask("PATCH", path, { body: { status }, contentType: merge }));
  const text = JSON.stringify((await write({ conditions })).body.metadata.managedFields);
  expect(text).toContain("f:lastTransitionTime");
  const { body } = await write({ conditions: null, replicas: 1 });
  expect(JSON.stringify(body.metadata.managedFields)).not.toContain("f:lastTransitionTime");
});

test("a Service changed to ExternalName loses internalTrafficPolicy", async () => {
  const spec = { ports: [{ port: 80 }], selector: { app: "x" } };
  const { body: before } = await ok(server.admin.post(`${core}/services`, { metadata: { name: "s" }, spec }));
  expect(before.spec.internalTrafficPolicy).toBe("Cluster");
  const { body } = await ok(
    server.admin.patch(`${core}/services/s`, { spec: { type: "ExternalName", externalName: "a.example" } }),
  );
  expect(body.spec).not.toHaveProperty("internalTrafficPolicy");
});

test("a deleted namespace has no deletionGracePeriodSeconds", async () => {
  await ok(server.admin.post("/api/v1/namespaces", { metadata: { name: "ends" } }));
  const { body } = await ok(server.admin.delete("/api/v1/namespaces/ends"));
  expect(body.metadata.deletionTimestamp).toBeTypeOf("string");
  expect(body.metadata).not.toHaveProperty("deletionGracePeriodSeconds");
});

test("DELETE of a Job without a propagation policy warns that its pods remain", async () => {
  const jobs = "/apis/batch/v1/namespaces/default/jobs";
  const spec = { template: { spec: { ...template.spec, restartPolicy: "Never" } } };
  for (const [query, warned] of [
    ["", true],
    ["?propagationPolicy=Background", false],
    ["?orphanDependents=false", false],
  ] as const) {
    const { body } = await ok(server.admin.post(jobs, { metadata: { generateName: "job-" }, spec }));
    const { warnings } = await ok(server.admin.delete(`${jobs}/${body.metadata.name}${query}`));
    expect(warnings.some((text) => text.includes("child pods are preserved by default"))).toBe(warned);
  }
});

test("the scale of a missing object is 404, and details.kind has the subresource", async () => {
  const { status, body } = await server.admin.get(`${apps}/deployments/absent/scale`);
  expect([status, body.details]).toEqual([404, { name: "absent", group: "apps", kind: "deployments/scale" }]);
});

test("a generation sent for a kind without generations is kept, and updates don't change it", async () => {
  const { body } = await ok(
    server.admin.post(`${core}/configmaps`, configMap("seven", {}, { generation: 7 })),
  );
  expect(body.metadata.generation).toBe(7);
  const changed = await ok(server.admin.put(`${core}/configmaps/seven`, configMap("seven", { a: "b" })));
  expect(changed.body.metadata.generation).toBe(7);
});

describe("the field of a cause matches the reference", () => {
  test("for a key in both maps of a ConfigMap", async () => {
    const sent = { ...configMap("both", { a: "1" }), binaryData: { a: "MQ==" } };
    expect(causeFields(await server.admin.post(`${core}/configmaps`, sent))).toEqual(["data[a]"]);
  });

  test("for two sources of a volume", async () => {
    const volumes = [{ name: "v", hostPath: { path: "/a" }, emptyDir: {} }];
    const sent = { metadata: { name: "p" }, spec: { ...template.spec, volumes } };
    expect(causeFields(await server.admin.post(`${core}/pods`, sent))).toEqual(["spec.volumes[0].hostPath"]);
  });
});
