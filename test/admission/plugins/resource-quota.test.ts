import { beforeAll, describe, expect, test } from "vitest";
import { ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { rejected } from "./support.ts";
import { at, quotasIn, quota, pod, configMap, gi, useQuotaServer } from "./resource-quota-support.ts";

const { server, limited, usedIn } = useQuotaServer();

test("C-4.13-104 ResourceQuota is on by default, and can be disabled", async () => {
  const where = await limited({ configmaps: "0" });
  await rejected(server.admin.post(at(where, "configmaps"), configMap("a")), "exceeded quota: quota");
  const off = await TestServer.start({ controllers: [], disabledAdmissionPlugins: ["ResourceQuota"] });
  try {
    await ok(off.admin.post(quotasIn("default"), quota("quota", { configmaps: "0" })));
    await ok(off.admin.post(at("default", "configmaps"), configMap("a")));
  } finally {
    await off.close();
  }
});

test("C-4.13-105 requests that would exceed a ResourceQuota of the namespace return 403", async () => {
  const where = await limited({ pods: "2", "requests.cpu": "1" });
  const cpu = (amount: string) => ({ requests: { cpu: amount } });
  await ok(server.admin.post(at(where, "pods"), pod("a", cpu("600m"))));
  await rejected(
    server.admin.post(at(where, "pods"), pod("b", cpu("500m"))),
    "exceeded quota: quota, requested: requests.cpu=500m, used: requests.cpu=600m, limited: requests.cpu=1",
  );
  await ok(server.admin.post(at(where, "pods"), pod("b", cpu("400m"))));
  await rejected(
    server.admin.post(at(where, "pods"), pod("c", cpu("1m"))),
    "exceeded quota: quota, requested: pods=1,requests.cpu=1m, used: pods=2,requests.cpu=1, limited: pods=2,requests.cpu=1",
  );
  await expect.poll(() => usedIn(where)).toEqual({ pods: "2", "requests.cpu": "1" });
});

describe("scopes", () => {
  const high = { priorityClassName: "high" };
  const affinity = (term: object) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "zone", labelSelector: {}, ...term }],
      },
    },
  });
  const priority = (operator: string, ...values: string[]) => ({
    scopeSelector: {
      matchExpressions: [{ scopeName: "PriorityClass", operator, ...(values.length > 0 ? { values } : {}) }],
    },
  });
  const cases: [what: string, scopes: object, inScope: object, outside: object][] = [
    ["Terminating", { scopes: ["Terminating"] }, pod("p", {}, { activeDeadlineSeconds: 5 }), pod("p")],
    ["NotTerminating", { scopes: ["NotTerminating"] }, pod("p"), pod("p", {}, { activeDeadlineSeconds: 5 })],
    ["BestEffort", { scopes: ["BestEffort"] }, pod("p"), pod("p", { requests: { cpu: "1m" } })],
    ["NotBestEffort", { scopes: ["NotBestEffort"] }, pod("p", { limits: { memory: "1Mi" } }), pod("p")],
    [
      "CrossNamespacePodAffinity",
      { scopes: ["CrossNamespacePodAffinity"] },
      pod("p", {}, affinity({ namespaces: ["other"] })),
      pod("p", {}, affinity({})),
    ],
    [
      "BestEffort and NotTerminating",
      { scopes: ["BestEffort", "NotTerminating"] },
      pod("p"),
      pod("p", {}, { activeDeadlineSeconds: 5 }),
    ],
    ["PriorityClass Exists", priority("Exists"), pod("p", {}, high), pod("p")],
    ["PriorityClass DoesNotExist", priority("DoesNotExist"), pod("p"), pod("p", {}, high)],
    ["PriorityClass In", priority("In", "low", "high"), pod("p", {}, high), pod("p")],
    ["PriorityClass NotIn", priority("NotIn", "high"), pod("p"), pod("p", {}, high)],
  ];
  beforeAll(async () => {
    await ok(
      server.admin.post("/apis/scheduling.platform.io/v1/priorityclasses", {
        metadata: { name: "high" },
        value: 10,
      }),
    );
  });
  test.each(cases)(
    "a quota with the scope %s counts only matching Pods",
    async (_what, scopes, inScope, outside) => {
      const where = await limited({ pods: "0" }, scopes);
      await rejected(
        server.admin.post(at(where, "pods"), inScope),
        "exceeded quota: quota, requested: pods=1",
      );
      await ok(server.admin.post(at(where, "pods"), outside));
      await expect.poll(() => usedIn(where)).toEqual({ pods: "0" });
    },
  );

  test("a scope matches only pods", async () => {
    const where = await limited({ "count/configmaps": "0" }, { scopes: ["BestEffort"] });
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
  });
});

describe("services", () => {
  const service = (name: string, type: string, ports: number, more: object = {}) => ({
    metadata: { name },
    spec: {
      type,
      ports: Array.from({ length: ports }, (_, i) => ({ name: `p${i}`, port: 80 + i })),
      ...more,
    },
  });
  test("are counted by type and by requested node ports", async () => {
    const where = await limited({
      services: "10",
      "count/services": "10",
      "services.nodeports": "10",
      "services.loadbalancers": "2",
    });
    await ok(server.admin.post(at(where, "services"), service("a", "ClusterIP", 3)));
    await ok(server.admin.post(at(where, "services"), service("b", "NodePort", 2)));
    await ok(server.admin.post(at(where, "services"), service("c", "LoadBalancer", 1)));
    const without = service("d", "LoadBalancer", 4, { allocateLoadBalancerNodePorts: false });
    await ok(server.admin.post(at(where, "services"), without));
    await expect
      .poll(() => usedIn(where))
      .toEqual({
        services: "4",
        "count/services": "4",
        "services.nodeports": "3",
        "services.loadbalancers": "2",
      });
  });

  test("an update is charged for added usage and releases removed usage", async () => {
    const where = await limited({ "services.nodeports": "2" });
    const services = at(where, "services");
    await ok(server.admin.post(services, service("a", "ClusterIP", 2)));
    await ok(server.admin.post(services, service("b", "NodePort", 1)));
    await rejected(
      server.admin.patch(`${services}/a`, { spec: { type: "NodePort" } }),
      "requested: services.nodeports=2, used: services.nodeports=1, limited: services.nodeports=2",
    );
    await ok(server.admin.patch(`${services}/b`, { spec: { type: "ClusterIP" } }));
    await ok(server.admin.patch(`${services}/a`, { spec: { type: "NodePort" } }));
    await ok(server.admin.patch(`${services}/a`, { metadata: { labels: { a: "b" } } }));
    await expect.poll(() => usedIn(where)).toEqual({ "services.nodeports": "2" });
  });
});

test("PersistentVolumeClaims are limited by storage and number, in total and per storage class", async () => {
  const gold = "gold.storageclass.storage.platform.io";
  const where = await limited({
    persistentvolumeclaims: "3",
    "requests.storage": gi(10),
    [`${gold}/requests.storage`]: gi(4),
    [`${gold}/persistentvolumeclaims`]: "2",
  });
  const claims = at(where, "persistentvolumeclaims");
  const claim = (name: string, storage: string, storageClassName: string) => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, storageClassName },
  });
  const storageClass = {
    metadata: { name: "gold" },
    provisioner: "example.com/p",
    allowVolumeExpansion: true,
  };
  await ok(server.admin.post("/apis/storage.platform.io/v1/storageclasses", storageClass));
  await ok(server.admin.post(claims, claim("a", gi(3), "gold")));
  await rejected(
    server.admin.post(claims, claim("b", gi(2), "gold")),
    `requested: ${gold}/requests.storage=2Gi, used: ${gold}/requests.storage=3Gi, limited: ${gold}/requests.storage=4Gi`,
  );
  await ok(server.admin.post(claims, claim("b", gi(6), "silver")));
  await ok(server.admin.patch(`${claims}/a/status`, { status: { phase: "Bound" } }));
  const grow = (storage: string) =>
    server.admin.patch(`${claims}/a`, { spec: { resources: { requests: { storage } } } });
  await rejected(grow(gi(5)), `requested: ${gold}/requests.storage=2Gi`);
  await ok(grow(gi(4)));
  await expect
    .poll(() => usedIn(where))
    .toEqual({
      persistentvolumeclaims: "2",
      "requests.storage": gi(10),
      [`${gold}/requests.storage`]: gi(4),
      [`${gold}/persistentvolumeclaims`]: "1",
    });
});

describe("object counts", () => {
  test.each([
    ["configmaps", "configmaps", configMap("a")],
    ["secrets", "count/secrets", configMap("a")],
    ["resourcequotas", "count/resourcequotas", quota("b", { pods: "1" })],
    ["serviceaccounts", "count/serviceaccounts", configMap("a")],
  ])("%s are limited by the quota resource %s", async (resource, name, object) => {
    const least = resource === "resourcequotas" || resource === "serviceaccounts" ? 1 : 0;
    const where = await limited({ [name]: String(least) });
    await rejected(
      server.admin.post(at(where, resource), object),
      `exceeded quota: quota, requested: ${name}=1, used: ${name}=${least}, limited: ${name}=${least}`,
    );
    await ok(
      server.admin.patch(`${quotasIn(where)}/quota`, { spec: { hard: { [name]: String(least + 1) } } }),
    );
    await ok(server.admin.post(at(where, resource), object));
  });

  test("objects of any group are counted in all their versions", async () => {
    const where = await limited({ "count/horizontalpodautoscalers.autoscaling": "1" });
    const scaler = (name: string) => ({
      metadata: { name },
      spec: { maxReplicas: 1, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
    });
    const scalers = (version: string) =>
      `/apis/autoscaling/${version}/namespaces/${where}/horizontalpodautoscalers`;
    await ok(server.admin.post(scalers("v1"), scaler("a")));
    await rejected(
      server.admin.post(scalers("v2"), scaler("b")),
      "count/horizontalpodautoscalers.autoscaling=1",
    );
  });

  test("events and resources that are not served are not counted", async () => {
    const where = await limited({ "count/events": "0", "count/things.example.com": "0", configmaps: "3" });
    const involvedObject = { kind: "Pod", name: "p", namespace: where };
    await ok(server.admin.post(at(where, "events"), { metadata: { name: "e" }, involvedObject }));
    await expect.poll(() => usedIn(where)).toEqual({ configmaps: "0" });
  });
});
