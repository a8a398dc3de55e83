import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";
import { certificateRequest } from "../support/certificate-request.ts";

const table = { accept: "application/json;as=Table;g=meta.platform.io;v=v1" };
const binary = "application/vnd.platform.protobuf";
const pods = { spec: { containers: [{ name: "main", image: "example/app:1" }], restartPolicy: "Never" } };

describe("jobs, autoscalers, certificate requests and definitions over HTTP", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  it("a job gets a selector with its own uid, and the object read can be written back", async () => {
    const jobs = "/apis/batch/v1/namespaces/default/jobs";
    const made = await server.admin.post(jobs, { metadata: { name: "a" }, spec: { template: pods } });
    expect(made.status).toBe(201);
    const { uid } = made.body.metadata;
    expect(made.body.spec.selector).toEqual({ matchLabels: { "controller-uid": uid } });
    expect(made.body.spec.template.metadata.labels).toEqual({ "controller-uid": uid, "job-name": "a" });
    expect(made.body.metadata.generation).toBe(1);

    const written = await server.admin.put(`${jobs}/a`, {
      ...made.body,
      spec: { ...made.body.spec, parallelism: 2 },
    });
    expect(written).toMatchObject({ status: 200, body: { metadata: { generation: 2 } } });
    const refused = await server.admin.patch(`${jobs}/a`, { spec: { completions: 2 } });
    expect(refused.status).toBe(422);
    expect(refused.body.details.causes.map(({ field }: { field: string }) => field)).toEqual([
      "spec.completions",
    ]);

    const selected = await server.admin.get(`${jobs}?fieldSelector=status.successful%3D0`, table);
    expect(selected.body.rows[0].cells).toEqual([
      "a",
      "0/1",
      "",
      expect.any(String),
      "main",
      "example/app:1",
      `controller-uid=${uid}`,
    ]);
  });

  it("an autoscaler is the same object in both versions", async () => {
    const path = (version: string) =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    const spec = { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage: 60 };
    const made = await server.admin.post(path("v1"), { metadata: { name: "a" }, spec });
    expect(made).toMatchObject({
      status: 201,
      body: { apiVersion: "autoscaling/v1", spec: { ...spec, minReplicas: 1 } },
    });

    const now = await server.admin.get(`${path("v2")}/a`);
    expect(now.body.spec.metrics).toHaveLength(1);
    const memory = {
      type: "Resource",
      resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
    };
    const changed = await server.admin.patch(`${path("v2")}/a`, { spec: { metrics: [memory] } });
    expect(changed.status).toBe(200);

    const old = await server.admin.get(`${path("v1")}/a`);
    expect(old.body.spec).not.toHaveProperty("targetCPUUtilizationPercentage");
    expect(JSON.parse(old.body.metadata.annotations["autoscaling.alpha.platform.io/metrics"])).toEqual([
      { type: "Resource", resource: { name: "memory", targetAverageValue: "1Gi" } },
    ]);
    const back = await server.admin.put(`${path("v1")}/a`, {
      ...old.body,
      spec: { ...old.body.spec, maxReplicas: 9 },
    });
    expect(back.status).toBe(200);
    const after = await server.admin.get(`${path("v2")}/a`);
    expect(after.body.spec).toMatchObject({ maxReplicas: 9, metrics: [memory] });
    expect(after.body.metadata).not.toHaveProperty("annotations");
    for (const version of ["v1", "v2"]) {
      const { body } = await server.admin.get(`${path(version)}/a`, table);
      expect(body.rows[0].cells.slice(0, 6)).toEqual(["a", "Deployment/web", "<unknown>/1Gi", "1", 9, 0]);
    }
  });

  it("a certificate request records its creator as the user, and is approved through its subresource", async () => {
    const path = "/apis/certificates.platform.io/v1/certificatesigningrequests";
    const spec = {
      request: Buffer.from(certificateRequest("alice")).toString("base64"),
      usages: ["client auth"],
      signerName: "example.com/mine",
      username: "somebody else",
    };
    const made = await server.admin.post(path, { metadata: { name: "A B" }, spec });
    expect(made.status).toBe(201);
    expect(made.body.spec.username).not.toBe("somebody else");
    expect(made.body.spec.groups).toContain("system:masters");

    const conditions = [{ type: "Approved", status: "True", reason: "R" }];
    const one = `${path}/A%20B`;
    const elsewhere = await server.admin.put(`${one}/status`, { ...made.body, status: { conditions } });
    expect(elsewhere.status).toBe(422);
    const approved = await server.admin.put(`${one}/approval`, { ...made.body, status: { conditions } });
    expect(approved.status).toBe(200);
    expect(approved.body.status.conditions[0].lastUpdateTime).toMatch(/^\d{4}-/);
    const rows = await server.admin.get(`${path}?fieldSelector=spec.signerName%3Dexample.com/mine`, table);
    expect(rows.body.rows.map(({ cells }: { cells: unknown[] }) => cells.at(-1))).toEqual(["Approved"]);
  });

  it("a definition keeps its schema in the binary encoding", async () => {
    const path = "/apis/apiextensions.platform.io/v1/customresourcedefinitions";
    const schema = {
      type: "object",
      properties: {
        list: { type: "array", items: { type: "string" }, "x-platform-list-type": "set" },
        free: { type: "object", additionalProperties: { type: "integer", maximum: 5, default: 1 } },
        none: { type: "object", additionalProperties: true },
        any: { "x-platform-int-or-string": true, enum: [1, "a", null] },
      },
    };
    const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
    const definition = {
      metadata: { name: "widgets.example.com" },
      spec: {
        group: "example.com",
        names: { plural: "widgets", kind: "Widget" },
        scope: "Namespaced",
        versions,
      },
    };
    const made = await server.admin.post(path, definition);
    expect(made.status).toBe(201);
    expect(made.body.spec.versions[0].schema.openAPIV3Schema).toEqual(schema);
    expect(made.body.status.storedVersions).toEqual(["v1"]);

    const packed = await server.admin.get(`${path}/widgets.example.com`, { accept: binary });
    expect(packed.headers["content-type"]).toBe(binary);
    const written = await server.admin.ask("PUT", `${path}/widgets.example.com`, {
      raw: packed.bytes,
      contentType: binary,
      accept: "application/json",
    });
    expect(written.status).toBe(200);
    expect(written.body.spec.versions).toEqual(made.body.spec.versions);
    expect(written.body.metadata.generation).toBe(1);
  });

  it("a PUT creates a missing lease", async () => {
    const one = "/apis/coordination.platform.io/v1/namespaces/default/leases/a";
    const spec = { holderIdentity: "me", renewTime: "2024-01-01T00:00:00.000001Z" };
    const made = await server.admin.put(one, { metadata: { name: "a" }, spec });
    expect(made).toMatchObject({ status: 201, body: { spec } });
  });

  it("C-9.3-01 a priority level has assuredConcurrencyShares in the older version", async () => {
    const path = (version: string) =>
      `/apis/flowcontrol.apiserver.platform.io/${version}/prioritylevelconfigurations`;
    const limited = { assuredConcurrencyShares: 7, limitResponse: { type: "Reject" } };
    const made = await server.admin.post(path("v1beta2"), {
      metadata: { name: "a" },
      spec: { type: "Limited", limited },
    });
    expect(made.status).toBe(201);
    expect(made.warnings.join()).toContain("deprecated");
    const now = await server.admin.get(`${path("v1beta3")}/a`);
    expect(now.body.spec.limited).toMatchObject({ nominalConcurrencyShares: 7 });
  });
});
