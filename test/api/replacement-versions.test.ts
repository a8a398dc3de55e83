import { describe, expect, it } from "vitest";
import { type Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { causeFields, ok } from "./support.ts";

/** Conventions 9.3: the differences of versions that replaced removed ones. */

const server = useServer();

const ingresses = "/apis/networking.platform.io/v1/namespaces/default/ingresses";
const slices = "/apis/discovery.platform.io/v1/namespaces/default/endpointslices";
const workloads = (resource: string) => `/apis/apps/v1/namespaces/default/${resource}`;
const template = {
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "web", image: "web:1" }] },
};
const selector = { matchLabels: { app: "web" } };
const kinds = [
  ["daemonsets", {}],
  ["deployments", {}],
  ["statefulsets", { serviceName: "web" }],
  ["replicasets", {}],
] as const;

function strictly(place: string, body: object): Promise<Answer> {
  return server.admin.post(`${place}?fieldValidation=Strict&dryRun=All`, body);
}

/** The defaults of a workload with only the required fields. */
async function defaultsOf(resource: string): Promise<Record<string, unknown>> {
  const body = {
    metadata: { name: "plain" },
    spec: { selector, template, ...(resource === "statefulsets" ? { serviceName: "web" } : {}) },
  };
  const made = await ok(server.admin.post(`${workloads(resource)}?dryRun=All`, body));
  return made.body.spec as Record<string, unknown>;
}

describe("ingresses of networking v1", () => {
  const backend = { service: { name: "web", port: { number: 80 } } };
  const named = { service: { name: "web", port: { name: "http" } } };
  const withPath = (one: object) => ({
    metadata: { name: "one" },
    spec: { rules: [{ http: { paths: [one] } }] },
  });

  it("C-9.3-42 C-9.3-43 C-9.3-44 have a default backend with a service and a port number or name", async () => {
    for (const defaultBackend of [backend, named]) {
      const { status, body } = await strictly(ingresses, {
        metadata: { name: "one" },
        spec: { defaultBackend },
      });
      expect(status).toBe(201);
      expect(body.spec).toEqual({ defaultBackend });
    }
  });

  it.each([
    ["C-9.3-42", "spec.backend", { metadata: { name: "one" }, spec: { backend, defaultBackend: backend } }],
    [
      "C-9.3-43",
      "spec.defaultBackend.serviceName",
      { metadata: { name: "one" }, spec: { defaultBackend: { ...backend, serviceName: "web" } } },
    ],
    [
      "C-9.3-44",
      "spec.defaultBackend.servicePort",
      { metadata: { name: "one" }, spec: { defaultBackend: { ...backend, servicePort: 80 } } },
    ],
  ])("%s: the field %s of the older version is unknown", async (_id, field, body) => {
    const { status, body: answer } = await strictly(ingresses, body);
    expect(status).toBe(400);
    expect(answer.message).toContain(`unknown field "${field}"`);
  });

  it("C-9.3-45 a path requires one of three types", async () => {
    for (const pathType of ["Prefix", "Exact", "ImplementationSpecific"]) {
      expect((await strictly(ingresses, withPath({ path: "/", pathType, backend }))).status).toBe(201);
    }
    for (const type of [{}, { pathType: "Regex" }, { pathType: "prefix" }]) {
      const refused = await strictly(ingresses, withPath({ path: "/", backend, ...type }));
      expect(refused.status).toBe(422);
      expect(causeFields(refused)).toContain("spec.rules[0].http.paths[0].pathType");
    }
  });
});

describe("endpoint slices of discovery v1", () => {
  const slice = (endpoint: object) => ({
    metadata: { name: "web" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], ...endpoint }],
  });

  it("C-9.3-46 endpoints have nodeName and zone; topology is unknown", async () => {
    const { status, body } = await strictly(slices, slice({ nodeName: "node-1", zone: "a" }));
    expect(status).toBe(201);
    expect(body.endpoints[0]).toMatchObject({ nodeName: "node-1", zone: "a" });
    const refused = await strictly(slices, slice({ topology: { a: "b" } }));
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain('unknown field "endpoints[0].topology"');
  });

  it("C-9.3-47 deprecatedTopology is accepted, but its value is dropped", async () => {
    const made = await ok(server.admin.post(slices, slice({ deprecatedTopology: { a: "b" } })));
    expect(made.body.endpoints[0]).not.toHaveProperty("deprecatedTopology");
    const changed = {
      ...made.body,
      endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology: { a: "b" } }],
    };
    const { body } = await ok(server.admin.put(`${slices}/web`, changed));
    expect(body.endpoints[0]).not.toHaveProperty("deprecatedTopology");
  });
});

describe("workloads of apps v1", () => {
  it.each(kinds)("C-9.3-50 C-9.3-51 %s require a selector, which is immutable", async (resource, more) => {
    const place = workloads(resource);
    const refused = await server.admin.post(place, {
      metadata: { name: "web" },
      spec: { template, ...more },
    });
    expect(refused.status).toBe(422);
    // Without a selector the DaemonSet's template can't match it, as in the reference.
    const said = resource === "daemonsets" ? "spec.template.metadata.labels" : "spec.selector";
    expect(causeFields(refused)).toContain(said);

    const body = { metadata: { name: "web" }, spec: { selector, template, ...more } };
    const made = await ok(server.admin.post(place, body));
    const labels = { app: "web", tier: "front" };
    const other = {
      ...made.body,
      spec: {
        ...made.body.spec,
        selector: { matchLabels: labels },
        template: { ...template, metadata: { labels } },
      },
    };
    const changed = await server.admin.put(`${place}/web`, other);
    expect(changed.status).toBe(422);
    // A StatefulSet has its own message about its mutable fields.
    const field = resource === "statefulsets" ? "spec" : "spec.selector";
    expect(causeFields(changed)).toContain(field);
  });

  it.each([
    ["C-9.3-52", "daemonsets", "templateGeneration", 3],
    ["C-9.3-54", "deployments", "rollbackTo", { revision: 1 }],
  ])("%s %s have no field %s", async (_id, resource, field, value) => {
    const body = { metadata: { name: "web" }, spec: { selector, template, [field]: value } };
    const { status, body: answer } = await strictly(workloads(resource), body);
    expect(status).toBe(400);
    expect(answer.message).toContain(`unknown field "spec.${field}"`);
  });

  it.each([
    ["C-9.3-53", "daemonsets", { updateStrategy: { type: "RollingUpdate" } }],
    ["C-9.3-55", "deployments", { progressDeadlineSeconds: 600 }],
    ["C-9.3-56", "deployments", { revisionHistoryLimit: 10 }],
    [
      "C-9.3-57",
      "deployments",
      { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } } },
    ],
    ["C-9.3-58", "statefulsets", { updateStrategy: { type: "RollingUpdate" } }],
  ])("%s %s have the defaults %j", async (_id, resource, defaults) => {
    expect(await defaultsOf(resource)).toMatchObject(defaults);
  });
});
