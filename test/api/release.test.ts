import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { TestServer } from "../support/api.ts";

const authorization = "/apis/authorization.platform.io";
const rbac = "/apis/rbac.authorization.platform.io";
const authentication = "/apis/authentication.platform.io";

interface ServedGroup {
  readonly versions: readonly { readonly groupVersion: string }[];
}

describe("API versions of the release", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());
  const status = async (path: string) => (await server.admin.get(path)).status;

  it("C-1-01 the server behaves as release 1.26: version, API versions, feature gates and defaults", async () => {
    const { body } = await server.admin.get("/version");
    expect([body.major, body.minor]).toEqual(["1", "26"]);
    const { groups } = (await server.admin.get("/apis")).body;
    const served = (groups as ServedGroup[]).flatMap(({ versions }) =>
      versions.map(({ groupVersion }) => groupVersion.replace(".platform.io", "")),
    );
    expect(served.toSorted()).toEqual([
      "admissionregistration/v1",
      "apiextensions/v1",
      "apiregistration/v1",
      "apps/v1",
      "authentication/v1",
      "authorization/v1",
      "autoscaling/v1",
      "autoscaling/v2",
      "batch/v1",
      "certificates/v1",
      "coordination/v1",
      "discovery/v1",
      "events/v1",
      "flowcontrol.apiserver/v1beta2",
      "flowcontrol.apiserver/v1beta3",
      "insight/v1",
      "networking/v1",
      "node/v1",
      "policy/v1",
      "rbac.authorization/v1",
      "scheduling/v1",
      "storage/v1",
      "storage/v1beta1",
    ]);
    const gates = (await server.admin.get("/metrics")).text.match(/^platform_feature_enabled.*$/gm)!;
    const changedBefore = [
      'platform_feature_enabled{name="APIServerIdentity",stage="BETA"} 1',
      'platform_feature_enabled{name="CPUManager",stage=""} 1',
      'platform_feature_enabled{name="PodSchedulingReadiness",stage="ALPHA"} 0',
    ];
    expect(gates).toEqual(expect.arrayContaining(changedBefore));
    for (const [name, release] of [
      ["CSRDuration", "removed"],
      ["InPlacePodVerticalScaling", "later"],
    ])
      expect(gates.join("\n"), release).not.toContain(`"${name}"`);
    const containers = [{ name: "a", image: "a", ports: [{ containerPort: 80 }] }];
    const pod = { metadata: { name: "defaulted" }, spec: { containers, hostNetwork: true } };
    const made = await server.admin.post("/api/v1/namespaces/default/pods?dryRun=All", pod);
    expect(made.body.spec.containers[0].ports).toEqual([
      { containerPort: 80, hostPort: 80, protocol: "TCP" },
    ]);
  });

  it("A-9-01 A-9-02 the stable versions of reviews and roles are served", async () => {
    expect(await status(`${authorization}/v1`)).toBe(200);
    expect(await status(`${rbac}/v1`)).toBe(200);
  });

  it("A-9-03 A-9-04 the alpha review is served only when it is enabled", async () => {
    const review = { apiVersion: "authentication.platform.io/v1alpha1", kind: "SelfSubjectReview" };
    const path = `${authentication}/v1alpha1/selfsubjectreviews`;
    expect((await server.admin.post(path, review)).status).toBe(404);
    const enabled = await TestServer.start({ runtimeConfig: "authentication.platform.io/v1alpha1=true" });
    expect((await enabled.admin.post(path, review)).status).toBe(201);
    await enabled.close();
  });

  it.each([
    ["A-9-05", `${authorization}/v1beta1/namespaces/default/localsubjectaccessreviews`],
    ["A-9-06", `${authorization}/v1beta1/selfsubjectaccessreviews`],
    ["A-9-07", `${authorization}/v1beta1/subjectaccessreviews`],
    ["A-9-08", `${authorization}/v1beta1/selfsubjectrulesreviews`],
    ["A-9-09", `${rbac}/v1beta1/clusterroles`],
    ["A-9-10", `${rbac}/v1beta1/clusterrolebindings`],
    ["A-9-11", `${rbac}/v1beta1/namespaces/default/roles`],
    ["A-9-12", `${rbac}/v1beta1/namespaces/default/rolebindings`],
  ])("%s %s is 404, as the version is removed", async (_id, path) => {
    const answer = await server.admin.post(path, {});
    expect([answer.status, answer.body.kind, answer.body.reason]).toEqual([404, "Status", "NotFound"]);
  });

  it("A-9-13 reviews support only the current name of the groups field", async () => {
    const attributes = { verb: "get", resource: "pods" };
    const ask = (spec: object) =>
      server.admin.post(`${authorization}/v1/subjectaccessreviews?fieldValidation=Strict`, { spec });
    expect((await ask({ user: "a", groups: ["g"], resourceAttributes: attributes })).status).toBe(201);
    const older = await ask({ user: "a", group: ["g"], resourceAttributes: attributes });
    expect([older.status, older.body.message.includes('unknown field "spec.group"')]).toEqual([400, true]);
  });

  it("C-9.3-45 an Ingress without pathType is 422", async () => {
    const ingress = (pathType?: string) => ({
      metadata: { name: "web" },
      spec: {
        rules: [
          {
            http: {
              paths: [{ path: "/", pathType, backend: { service: { name: "web", port: { number: 80 } } } }],
            },
          },
        ],
      },
    });
    const path = "/apis/networking.platform.io/v1/namespaces/default/ingresses?dryRun=All";
    const without = await server.admin.post(path, ingress());
    expect(without.status).toBe(422);
    expect(without.body.details.causes).toEqual([
      expect.objectContaining({
        field: "spec.rules[0].http.paths[0].pathType",
        reason: "FieldValueRequired",
      }),
    ]);
    for (const type of ["Prefix", "Exact", "ImplementationSpecific"]) {
      expect((await server.admin.post(path, ingress(type))).status).toBe(201);
    }
  });

  it("C-9.3-47 deprecatedTopology of an endpoint can't be written", async () => {
    const { status: code, body } = await server.admin.post(
      "/apis/discovery.platform.io/v1/namespaces/default/endpointslices",
      {
        metadata: { name: "s" },
        addressType: "IPv4",
        endpoints: [{ addresses: ["10.0.0.1"], deprecatedTopology: { zone: "a" } }],
      },
    );
    expect(code).toBe(201);
    expect(body.endpoints[0]).not.toHaveProperty("deprecatedTopology");
  });

  const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  it.each(["deployments", "daemonsets", "replicasets", "statefulsets"])(
    "C-9.3-50 C-9.3-51 %s require a selector, which is immutable",
    async (resource) => {
      const path = `/apis/apps/v1/namespaces/default/${resource}`;
      const object = (selector?: object) => ({ metadata: { name: "w" }, spec: { selector, template } });
      const without = await server.admin.post(path, object());
      expect(without.status).toBe(422);
      const fields = without.body.details.causes.map(({ field }: { field: string }) => field);
      expect(fields).toEqual(expect.arrayContaining([expect.stringMatching(/selector|labels/)]));
      expect((await server.admin.post(path, object({ matchLabels: { a: "b" } }))).status).toBe(201);
      const changed = await server.admin.put(
        `${path}/w`,
        object({ matchExpressions: [{ key: "a", operator: "Exists" }] }),
      );
      expect(changed.status).toBe(422);
    },
  );
});

test("C-4.4-06 with the gate APIListChunking off, limit is ignored", async () => {
  const server = await TestServer.start({ featureGates: "APIListChunking=false" });
  const path = "/api/v1/namespaces/default/configmaps";
  for (const name of ["a", "b", "c"]) await server.admin.post(path, { metadata: { name } });
  const { body } = await server.admin.get(`${path}?limit=1`);
  expect(body.items.length).toBeGreaterThanOrEqual(3);
  expect(body.metadata).not.toHaveProperty("continue");
  await server.close();
});
