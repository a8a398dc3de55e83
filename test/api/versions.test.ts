import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { builtInKinds } from "../../src/kinds/all.ts";
import { lifeCycleOf } from "../../src/kinds/life-cycles.ts";
import { apiVersionOf } from "../../src/cli/convert/registry.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { ok, until } from "./support.ts";

/** Conventions 9: the served versions and their warnings. */
let server: TestServer;
let withAlpha: TestServer;
beforeAll(async () => {
  [server, withAlpha] = await Promise.all([
    TestServer.start(),
    TestServer.start({ runtimeConfig: "api/alpha=true" }),
  ]);
});
afterAll(() => Promise.all([server.close(), withAlpha.close()]));

const pathOf = (version: string) => (version.includes("/") ? `/apis/${version}` : `/api/${version}`);
/** The collection of all namespaces; for create-only kinds that of one namespace. */
const collectionOf = (kind: Kind) => {
  const scope = kind.scope === "Namespaced" && !kind.verbs.includes("list") ? "/namespaces/default" : "";
  return `${pathOf(apiVersionOf(kind, platform))}${scope}/${kind.resource}`;
};
const nameOf = (kind: Kind) => `${apiVersionOf(kind, platform)} ${kind.name}`;
/** The expected status of a served kind's collection: create-only kinds have none. */
const wanted = (kind: Kind) => (kind.verbs.includes("list") ? 200 : kind.verbs.length > 0 ? 405 : 404);

function expectNotFound({ status, body }: Answer): void {
  expect(status).toBe(404);
  expect(body).toMatchObject({
    apiVersion: "v1",
    kind: "Status",
    status: "Failure",
    reason: "NotFound",
    code: 404,
  });
}

/** Kinds with a path of their own; the others are below the paths of objects. */
const ofPaths = builtInKinds.filter(
  ({ name }) => !["Binding", "Eviction", "ObjectVersion", "Scale", "TokenRequest"].includes(name),
);
const alphas = ofPaths.filter(({ version }) => version.includes("alpha"));
const betas = ofPaths.filter(({ version }) => version.includes("beta"));
const stables = ofPaths.filter(({ version }) => /^v\d+$/.test(version));
const minorOf = (release: string) => Number(release.split(".")[1]);
const introduced = ({ group, version, name }: Kind) => minorOf(lifeCycleOf(group, version, name)!.introduced);

describe("stability levels", () => {
  it.each(alphas.map((kind) => [nameOf(kind), kind] as const))(
    "C-9.1-01 C-9.1-02 alpha %s is off until it is enabled",
    async (_name, kind) => {
      const path = collectionOf(kind);
      expectNotFound(await server.admin.get(path));
      expect((await withAlpha.admin.get(path)).status).toBe(wanted(kind));
    },
  );

  it("C-9.1-03 newer betas are off by default, except those that the reference enables", async () => {
    const on = new Set([
      "flowcontrol.apiserver.platform.io/v1beta2",
      "flowcontrol.apiserver.platform.io/v1beta3",
    ]);
    const newer = betas.filter((kind) => introduced(kind) >= 22);
    expect(newer.length).toBeGreaterThan(0);
    for (const kind of newer) {
      const { status } = await server.admin.get(collectionOf(kind));
      expect(status, nameOf(kind)).toBe(on.has(apiVersionOf(kind, platform)) ? 200 : 404);
    }
  });

  it("C-9.1-04 older betas that are not removed are on", async () => {
    const older = betas.filter((kind) => introduced(kind) < 22);
    expect(older.map(nameOf)).toEqual(["storage.platform.io/v1beta1 CSIStorageCapacity"]);
    for (const kind of older) expect((await server.admin.get(collectionOf(kind))).status).toBe(200);
  });

  it.each(stables.map((kind) => [nameOf(kind), kind] as const))(
    "C-9.1-06 stable %s is on",
    async (_name, kind) => {
      expect((await server.admin.get(collectionOf(kind))).status).toBe(wanted(kind));
    },
  );

  it("C-9.1-07 lists and objects have their apiVersion: v1 in the core group, group/version elsewhere", async () => {
    for (const kind of ofPaths.filter((one) => one.verbs.includes("list"))) {
      const { body } = await ok(withAlpha.admin.get(collectionOf(kind)));
      expect(body.apiVersion, nameOf(kind)).toBe(apiVersionOf(kind, platform));
      expect(body.kind).toBe(`${kind.name}List`);
    }
    expect((await server.admin.get("/api/v1/namespaces/default")).body.apiVersion).toBe("v1");
    const roles = "/apis/rbac.authorization.platform.io/v1/clusterroles";
    expect((await server.admin.get(`${roles}/view`)).body.apiVersion).toBe(
      "rbac.authorization.platform.io/v1",
    );
  });

  it("C-9.2-01 every resource of a served version is available", async () => {
    const { body } = await server.admin.get("/apis/flowcontrol.apiserver.platform.io/v1beta2");
    expect(body.resources.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      "flowschemas",
      "flowschemas/status",
      "prioritylevelconfigurations",
      "prioritylevelconfigurations/status",
    ]);
    // The former name of a field remains only in the older version.
    const level = (version: string, shares: string) =>
      server.admin.post(
        `/apis/flowcontrol.apiserver.platform.io/${version}/prioritylevelconfigurations?dryRun=All&fieldValidation=Strict`,
        {
          metadata: { name: "busy" },
          spec: { type: "Limited", limited: { [shares]: 7, limitResponse: { type: "Reject" } } },
        },
      );
    expect(
      (await level("v1beta2", "assuredConcurrencyShares")).body.spec.limited.assuredConcurrencyShares,
    ).toBe(7);
    expect((await level("v1beta2", "nominalConcurrencyShares")).status).toBe(400);
    expect((await level("v1beta3", "assuredConcurrencyShares")).status).toBe(400);
  });
});

/** Resources of a removed version, and the version that replaced it. */
const removed: readonly (readonly [id: string, version: string, resources: string, instead: string])[] = [
  ["C-9.3-07", "flowcontrol.apiserver.platform.io/v1beta1", "flowschemas", ""],
  ["C-9.3-08", "flowcontrol.apiserver.platform.io/v1beta1", "prioritylevelconfigurations", ""],
  ["C-9.3-09", "autoscaling/v2beta2", "horizontalpodautoscalers", "autoscaling/v2"],
  ["C-9.3-10", "batch/v1beta1", "cronjobs", "batch/v1"],
  ["C-9.3-11", "discovery.platform.io/v1beta1", "endpointslices", "discovery.platform.io/v1"],
  ["C-9.3-12", "events.platform.io/v1beta1", "events", "events.platform.io/v1"],
  ["C-9.3-13", "autoscaling/v2beta1", "horizontalpodautoscalers", ""],
  ["C-9.3-14", "policy/v1beta1", "poddisruptionbudgets", "policy/v1"],
  ["C-9.3-15", "policy/v1beta1", "podsecuritypolicies", ""],
  ["C-9.3-17", "node.platform.io/v1beta1", "runtimeclasses", "node.platform.io/v1"],
  [
    "C-9.3-18",
    "admissionregistration.platform.io/v1beta1",
    "mutatingwebhookconfigurations",
    "admissionregistration.platform.io/v1",
  ],
  [
    "C-9.3-19",
    "admissionregistration.platform.io/v1beta1",
    "validatingwebhookconfigurations",
    "admissionregistration.platform.io/v1",
  ],
  [
    "C-9.3-20",
    "apiextensions.platform.io/v1beta1",
    "customresourcedefinitions",
    "apiextensions.platform.io/v1",
  ],
  ["C-9.3-21", "apiregistration.platform.io/v1beta1", "apiservices", "apiregistration.platform.io/v1"],
  ["C-9.3-22", "authentication.platform.io/v1beta1", "tokenreviews", "authentication.platform.io/v1"],
  [
    "C-9.3-23",
    "certificates.platform.io/v1beta1",
    "certificatesigningrequests",
    "certificates.platform.io/v1",
  ],
  ["C-9.3-24", "coordination.platform.io/v1beta1", "leases", "coordination.platform.io/v1"],
  ["C-9.3-25", "extensions/v1beta1", "ingresses", ""],
  ["C-9.3-26", "networking.platform.io/v1beta1", "ingresses", "networking.platform.io/v1"],
  ["C-9.3-27", "networking.platform.io/v1beta1", "ingressclasses", "networking.platform.io/v1"],
  ["C-9.3-28", "scheduling.platform.io/v1beta1", "priorityclasses", "scheduling.platform.io/v1"],
  ["C-9.3-29", "storage.platform.io/v1beta1", "csidrivers", "storage.platform.io/v1"],
  ["C-9.3-30", "storage.platform.io/v1beta1", "csinodes", "storage.platform.io/v1"],
  ["C-9.3-31", "storage.platform.io/v1beta1", "storageclasses", "storage.platform.io/v1"],
  ["C-9.3-32", "storage.platform.io/v1beta1", "volumeattachments", "storage.platform.io/v1"],
  ["C-9.3-33", "extensions/v1beta1", "networkpolicies", "networking.platform.io/v1"],
  ["C-9.3-34", "extensions/v1beta1", "daemonsets deployments statefulsets replicasets", "apps/v1"],
  ["C-9.3-35", "apps/v1beta1", "daemonsets deployments statefulsets replicasets", "apps/v1"],
  ["C-9.3-36 C-9.3-37", "apps/v1beta2", "daemonsets deployments statefulsets replicasets", "apps/v1"],
  ["C-9.3-38", "extensions/v1beta1", "podsecuritypolicies", ""],
];

describe("removed versions", () => {
  it.each(removed)("%s %s is not served for %s", async (_ids, version, resources, instead) => {
    for (const resource of resources.split(" ")) {
      expectNotFound(await server.admin.get(`${pathOf(version)}/${resource}`));
      expectNotFound(await server.admin.post(`${pathOf(version)}/namespaces/default/${resource}`, {}));
      if (instead === "") continue;
      const { status } = await server.admin.get(`${pathOf(instead)}/${resource}`);
      expect(status).toBe(resource === "tokenreviews" ? 405 : 200);
    }
  });

  it("C-9.3-15 no version of the policy group has pod security policies", async () => {
    for (const version of ["v1", "v1beta1"]) {
      expectNotFound(await server.admin.get(`/apis/policy/${version}/podsecuritypolicies`));
    }
  });

  it("C-9.3-16 the admission plugin PodSecurityPolicy is unknown", async () => {
    const { plinthHere } = await import("../support/program-here.ts");
    const { temporaryFolder } = await import("../support/temporary-folder.ts");
    const folder = temporaryFolder();
    const { code, stderr } = await plinthHere(
      "serve",
      `--data-dir=${folder.path}`,
      "--secure-port=0",
      "--enable-admission-plugins=PodSecurityPolicy",
    );
    folder.remove();
    expect(stderr).toContain('"PodSecurityPolicy"');
    expect(code).toBe(2);
  });

  it("are not in discovery, and neither is a group without other versions", async () => {
    const { body } = await server.admin.get("/apis");
    const groups = new Map(
      body.groups.map((one: { name: string; versions: { version: string }[] }) => [
        one.name,
        one.versions.map(({ version }) => version),
      ]),
    );
    expect(groups.has("extensions")).toBe(false);
    expect(groups.get("apps")).toEqual(["v1"]);
    expect(groups.get("policy")).toEqual(["v1"]);
    expect(groups.get("autoscaling")).toEqual(["v2", "v1"]);
    expect(groups.get("flowcontrol.apiserver.platform.io")).toEqual(["v1beta2", "v1beta3"]);
    expect(groups.get("storage.platform.io")).toEqual(["v1", "v1beta1"]);
  });
});

describe("deprecated API versions", () => {
  const flow = "flowcontrol.apiserver.platform.io";
  it.each([
    [
      "C-9.3-01",
      `/apis/${flow}/v1beta2/flowschemas`,
      `${flow}/v1beta2 FlowSchema is deprecated in v1.26+, unavailable in v1.29+; use ${flow}/v1beta3 FlowSchema`,
    ],
    [
      "C-9.3-02",
      `/apis/${flow}/v1beta2/prioritylevelconfigurations`,
      `${flow}/v1beta2 PriorityLevelConfiguration is deprecated in v1.26+, unavailable in v1.29+; use ${flow}/v1beta3 PriorityLevelConfiguration`,
    ],
    [
      "C-9.3-05",
      "/apis/storage.platform.io/v1beta1/csistoragecapacities",
      "storage.platform.io/v1beta1 CSIStorageCapacity is deprecated in v1.24+, unavailable in v1.27+; use storage.platform.io/v1 CSIStorageCapacity",
    ],
    ["C-9.2-22", "/api/v1/componentstatuses", "v1 ComponentStatus is deprecated in v1.19+"],
  ])("%s %s is served with a warning", async (_id, path, message) => {
    const { status, headers, warnings } = await server.admin.get(path);
    expect(status).toBe(200);
    expect(warnings).toEqual([message]);
    // RFC 7234, 5.5: a three-digit code, the warn-agent and a quoted text.
    expect(headers["warning"]).toMatch(/^299 - "[^"\\]*"$/);
  });

  it.each([
    ["C-9.3-03", `/apis/${flow}/v1beta3/flowschemas`],
    ["C-9.3-03", `/apis/${flow}/v1beta3/prioritylevelconfigurations`],
    ["C-9.3-06", "/apis/storage.platform.io/v1/csistoragecapacities"],
  ])("%s %s is served without a warning", async (_id, path) => {
    const { status, warnings } = await server.admin.get(path);
    expect([status, warnings]).toEqual([200, []]);
  });

  it("C-9.2-22 every verb warns, including watch", async () => {
    const path = `/apis/${flow}/v1beta2/flowschemas`;
    const body = { metadata: { name: "warned" }, spec: { priorityLevelConfiguration: { name: "none" } } };
    const answers = [
      await server.admin.post(path, body),
      await server.admin.get(`${path}/warned`),
      await server.admin.patch(`${path}/warned`, { spec: { matchingPrecedence: 77 } }),
      await server.admin.get(`${path}?watch=true&timeoutSeconds=1`),
      await server.admin.delete(`${path}/warned`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200]);
    for (const { warnings } of answers) expect(warnings.join()).toContain("is deprecated in v1.26+");
  });

  it.each([
    ["404", "GET", `/apis/${flow}/v1beta2/flowschemas/none`],
    ["422", "POST", `/apis/${flow}/v1beta2/flowschemas`],
  ])("C-9.2-22 a %s response warns too", async (code, method, path) => {
    const { status, warnings } = await server.admin.ask(method, path, method === "POST" ? { body: {} } : {});
    expect(String(status)).toBe(code);
    expect(warnings.join()).toContain("is deprecated in v1.26+");
  });

  it("C-9.2-24 C-9.2-25 the gauge has the requested deprecated resources with the release that removes them", async () => {
    const fresh = await TestServer.start();
    const gauges = async () =>
      (await fresh.admin.get("/metrics")).text
        .split("\n")
        .filter((line) => line.startsWith("apiserver_requested_deprecated_apis{"));
    await fresh.admin.get("/apis/storage.platform.io/v1/csistoragecapacities");
    expect(await gauges()).toEqual([]);
    await fresh.admin.get("/apis/storage.platform.io/v1beta1/csistoragecapacities");
    await fresh.admin.get("/apis/storage.platform.io/v1beta1/csistoragecapacities");
    await fresh.admin.get(`/apis/${flow}/v1beta2/flowschemas/none/status`);
    expect((await gauges()).toSorted()).toEqual([
      `apiserver_requested_deprecated_apis{group="${flow}",version="v1beta2",resource="flowschemas",subresource="status",removed_release="1.29"} 1`,
      'apiserver_requested_deprecated_apis{group="storage.platform.io",version="v1beta1",resource="csistoragecapacities",subresource="",removed_release="1.27"} 1',
    ]);
    await fresh.close();
  });
});

describe("runtime configuration", () => {
  it("C-9.1-09 pairs are separated by commas; a key without a value is enabled", async () => {
    const one = await TestServer.start({
      runtimeConfig: "resource.platform.io/v1alpha1, batch/v1=false,apps/v1=true",
    });
    expect((await one.admin.get("/apis/resource.platform.io/v1alpha1/resourceclaims")).status).toBe(200);
    expect((await one.admin.get("/apis/batch/v1/jobs")).status).toBe(404);
    expect((await one.admin.get("/apis/apps/v1/deployments")).status).toBe(200);
    await one.close();
  });

  it("C-9.1-10 batch/v1=false makes the server answer as if the version were removed", async () => {
    const off = await TestServer.start({ runtimeConfig: "batch/v1=false" });
    const asRemoved = await server.admin.get("/apis/batch/v1beta1/jobs");
    expectNotFound(asRemoved);
    for (const path of [
      "/apis/batch",
      "/apis/batch/v1",
      "/apis/batch/v1/jobs",
      "/apis/batch/v1/namespaces/default/cronjobs/a",
    ]) {
      const answer = await off.admin.get(path);
      expectNotFound(answer);
      expect(answer.body).toEqual(asRemoved.body);
    }
    expectNotFound(await off.admin.post("/apis/batch/v1/namespaces/default/jobs", {}));
    const { body } = await off.admin.get("/apis");
    expect(body.groups.map(({ name }: { name: string }) => name)).not.toContain("batch");
    expect((await off.admin.get("/openapi/v3")).text).not.toContain("apis/batch");
    await off.close();
  });

  it("C-9.1-11 a key may name one resource of a version", async () => {
    const one = await TestServer.start({
      runtimeConfig: "batch/v1/jobs=false,resource.platform.io/v1alpha1/resourceclasses",
    });
    expectNotFound(await one.admin.get("/apis/batch/v1/jobs"));
    expect((await one.admin.get("/apis/batch/v1/cronjobs")).status).toBe(200);
    expect((await one.admin.get("/apis/resource.platform.io/v1alpha1/resourceclasses")).status).toBe(200);
    expectNotFound(await one.admin.get("/apis/resource.platform.io/v1alpha1/resourceclaims"));
    const { body } = await one.admin.get("/apis/batch/v1");
    expect(body.resources.map(({ name }: { name: string }) => name)).toEqual(["cronjobs", "cronjobs/status"]);
    await one.close();
  });

  test("C-9.1-12 a changed configuration applies after a restart, to requests and controllers", async () => {
    const storage = createMemoryStore({ clock: systemClock });
    const enabledControllers = ["ttl-after-finished", "namespace"];
    const jobs = "/apis/batch/v1/namespaces/default/jobs";
    const limited = await TestServer.start({ storage, enabledControllers, runtimeConfig: "batch/v1=false" });
    // Another server with the same store has the other configuration from its start, and runs no controllers.
    const other = await TestServer.start({ storage, enabledControllers: [] });
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    await ok(
      other.admin.post(jobs, { metadata: { name: "done" }, spec: { template, ttlSecondsAfterFinished: 0 } }),
    );
    const now = new Date().toISOString();
    const conditions = [{ type: "Complete", status: "True", lastTransitionTime: now }];
    const status = { startTime: now, completionTime: now, conditions };
    await ok(other.admin.patch(`${jobs}/done/status`, { status }));
    // The controllers of the first server run, but not for kinds that it doesn't serve.
    await ok(other.admin.post("/api/v1/namespaces", { metadata: { name: "passing" } }));
    await ok(other.admin.delete("/api/v1/namespaces/passing"));
    await until(
      () => other.admin.get("/api/v1/namespaces/passing"),
      (answer) => answer.status === 404,
    );
    expectNotFound(await limited.admin.get(`${jobs}/done`));
    const left = await ok(other.admin.get(`${jobs}/done`));
    expect(left.body.metadata.deletionTimestamp).toBeUndefined();
    await limited.close();
    const restarted = await TestServer.start({ storage, enabledControllers });
    expect((await restarted.admin.get(jobs)).status).toBe(200);
    await until(
      () => restarted.admin.get(`${jobs}/done`),
      ({ body }) => body.metadata.deletionTimestamp !== undefined,
    );
    await restarted.close();
    await other.close();
    await storage.close();
  });
});
