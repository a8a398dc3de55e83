import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defaultRelease } from "../../src/base/releases.ts";
import { pluginsOf } from "../../src/server/admission/plugin-table.ts";
import { TestServer } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService } from "../support/https-service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const containers = [{ name: "a", image: "a", resources: { limits: { cpu: "1", memory: "1Mi" } } }];
const template = { metadata: { labels: { a: "b" } }, spec: { containers } };
const claim = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
const rbac = "/apis/rbac.authorization.platform.io/v1";

/** A request that makes one object of each kind that some plugin is about, and of some that none is about. */
const creations: readonly (readonly [place: string, body: object])[] = [
  ["/api/v1/namespaces", {}],
  ["/api/v1/nodes", {}],
  [
    "/api/v1/persistentvolumes",
    { spec: { ...claim, capacity: { storage: "1Gi" }, hostPath: { path: "/a" } } },
  ],
  ["/api/v1/namespaces/default/configmaps", {}],
  ["/api/v1/namespaces/default/endpoints", {}],
  ["/api/v1/namespaces/default/events", { involvedObject: { namespace: "default" } }],
  ["/api/v1/namespaces/default/persistentvolumeclaims", { spec: claim }],
  ["/api/v1/namespaces/default/pods", { spec: { containers } }],
  ["/api/v1/namespaces/default/resourcequotas", {}],
  ["/api/v1/namespaces/default/secrets", {}],
  ["/api/v1/namespaces/default/serviceaccounts", {}],
  ["/api/v1/namespaces/default/services", { spec: { ports: [{ port: 80 }] } }],
  [
    "/apis/apps/v1/namespaces/default/deployments",
    { spec: { selector: { matchLabels: { a: "b" } }, template } },
  ],
  [
    "/apis/networking.platform.io/v1/namespaces/default/ingresses",
    { spec: { defaultBackend: { service: { name: "a", port: { number: 80 } } } } },
  ],
  ["/apis/networking.platform.io/v1/ingressclasses", { spec: { controller: "example.com/a" } }],
  ["/apis/storage.platform.io/v1/storageclasses", { provisioner: "example.com/a" }],
  ["/apis/scheduling.platform.io/v1/priorityclasses", { value: 1 }],
  ["/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations", { webhooks: [] }],
  [`${rbac}/clusterroles`, { rules }],
  [`${rbac}/namespaces/default/roles`, { rules }],
];

const folder = temporaryFolder();
/** Allows every image. */
let images: HttpsService;
beforeAll(async () => {
  images = await HttpsService.start(({ text }) => {
    return { body: { ...(JSON.parse(text) as object), status: { allowed: true } } };
  });
});
afterAll(async () => {
  await images.close();
  folder.remove();
});

/** Configures the plugins that don't start without. */
function configuration(): string {
  const kubeConfigFile = clientConfiguration(folder.path, images);
  const limits = [{ type: "Server", qps: 1000, burst: 1000 }];
  const plugins = [
    { name: "ImagePolicyWebhook", configuration: { imagePolicy: { kubeConfigFile } } },
    {
      name: "EventRateLimit",
      configuration: {
        apiVersion: "eventratelimit.admission.platform.io/v1alpha1",
        kind: "Configuration",
        limits,
      },
    },
  ];
  const file = path.join(folder.path, "admission.yaml");
  const apiVersion = "apiserver.config.platform.io/v1";
  writeFileSync(file, JSON.stringify({ apiVersion, kind: "AdmissionConfiguration", plugins }));
  return file;
}

test("C-4.9-06 a dry run passes every built-in plugin except AlwaysDeny and returns the same response as a normal request", async () => {
  const enabledAdmissionPlugins = pluginsOf(defaultRelease)
    .filter(({ name }) => name !== "AlwaysDeny")
    .map(({ name }) => name);
  expect(enabledAdmissionPlugins.length).toBeGreaterThan(30);
  const server = await TestServer.start({
    enabledAdmissionPlugins,
    featureGates: "AllAlpha=true",
    runtimeConfig: "imagepolicy.platform.io/v1alpha1=true",
    admissionConfigurationFile: configuration(),
  });
  const account = "/api/v1/namespaces/default/serviceaccounts";
  while ((await server.admin.get(`${account}/default`)).status !== 200);
  for (const [place, body] of creations) {
    const object = { ...body, metadata: { name: "it" } };
    const dry = await server.admin.post(`${place}?dryRun=All`, object);
    expect(dry.status, dry.text).toBe(201);
    expect((await server.admin.get(`${place}/it`)).status).toBe(404);
    const real = await server.admin.post(place, object);
    expect([real.status, comparable(real.body)]).toEqual([201, comparable(dry.body)]);
    for (const { ask, status } of [
      {
        ask: (query: string) =>
          server.admin.patch(`${place}/it${query}`, { metadata: { labels: { a: "b" } } }),
        status: 200,
      },
      { ask: (query: string) => server.admin.delete(`${place}/it${query}`), status: 200 },
    ]) {
      const tried = await ask("?dryRun=All");
      expect(tried.status, tried.text).toBe(status);
      expect((await ask("")).status).toBe(status);
    }
  }
  expect(images.received.length).toBeGreaterThan(0);
  await server.close();
});

test("C-4.9-06 AlwaysDeny rejects a dry run like a normal request", async () => {
  const server = await TestServer.start({ enabledAdmissionPlugins: ["AlwaysDeny"] });
  const maps = "/api/v1/namespaces/default/configmaps";
  const answers = [];
  for (const query of ["?dryRun=All", ""]) {
    const { status, body } = await server.admin.post(`${maps}${query}`, { metadata: { name: "it" } });
    answers.push([status, body.reason, body.message]);
  }
  await server.close();
  expect(answers[0]).toEqual([403, "Forbidden", expect.stringContaining("is denying all")]);
  expect(answers[1]).toEqual(answers[0]);
});

/** An object without what a dry run makes up. */
function comparable({ metadata, spec, ...others }: { metadata: object; spec?: object }): object {
  const text = JSON.stringify({ ...others, spec });
  const { labels, annotations, finalizers } = metadata as Record<string, unknown>;
  return [
    text.replaceAll(/api-access-[a-z0-9]{5}/g, "api-access").replaceAll(/10\.\d+\.\d+\.\d+/g, "ip"),
    labels,
    annotations,
    finalizers,
  ];
}
