import { beforeAll, describe, expect, test } from "vitest";
import { namespace, ok, RBAC, rbacGroup } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { rejected } from "./support.ts";

const server = useServer({ users: [{ name: "maker" }], enabledControllers: ["resourcequota"] });

let count = 0;
/** A namespace of its own with one quota. */
async function limited(hard: object, scopes: object = {}): Promise<string> {
  const name = `quota-${++count}`;
  await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
  await ok(
    server.admin.post(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } }),
  );
  await ok(server.admin.post(quotasIn(name), quota("quota", hard, scopes)));
  return name;
}

const at = (where: string, resource: string) => `/api/v1/namespaces/${where}/${resource}`;
const quotasIn = (where: string) => at(where, "resourcequotas");
const quota = (name: string, hard: object, scopes: object = {}) => ({
  metadata: { name },
  spec: { hard, ...scopes },
});
const container = (name: string, resources: object = {}) => ({ name, image: "example.com/i:1", resources });
const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [container("c", resources)], ...spec },
});
const roleThat = (verb: string, resource: string, group: string) => ({
  metadata: { name: verb },
  rules: [{ apiGroups: [group], resources: [resource], verbs: [verb] }],
});
const configMap = (name: string) => ({ metadata: { name } });

/** The status of a namespace's quota, when it is what is expected. */
const usedIn = async (where: string, name = "quota") =>
  (await ok(server.admin.get(`${quotasIn(where)}/${name}`))).body.status.used;

test("C-4.13-104 ResourceQuota is on by default, and can be turned off", async () => {
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

test("C-4.13-105 rejects requests that would exceed a ResourceQuota of the namespace", async () => {
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

const gi = (amount: number) => `${amount}Gi`;
const both = (requests: object, limits: object = requests) => ({ requests, limits });

describe("what a pod uses", () => {
  const cases: [what: string, made: object, used: Record<string, string>][] = [
    [
      "its containers together",
      pod(
        "p",
        {},
        {
          containers: [
            container("a", both({ cpu: "100m", memory: gi(1) }, { cpu: "1", memory: gi(2) })),
            container("b", both({ cpu: "200m", memory: gi(2) }, { cpu: "2", memory: gi(2) })),
          ],
        },
      ),
      {
        cpu: "300m",
        "requests.cpu": "300m",
        "limits.cpu": "3",
        memory: gi(3),
        "requests.memory": gi(3),
        "limits.memory": gi(4),
        pods: "1",
        "count/pods": "1",
      },
    ],
    [
      "an init container where that is more, by resource",
      pod("p", both({ cpu: "1", memory: gi(1) }), {
        initContainers: [
          container("i", both({ cpu: "3", memory: "1Mi" })),
          container("j", both({ cpu: "2", memory: "1Mi" })),
        ],
      }),
      { "requests.cpu": "3", "limits.cpu": "3", "requests.memory": gi(1), "limits.memory": gi(1) },
    ],
    [
      "local storage, huge pages and devices",
      pod(
        "p",
        both({
          "ephemeral-storage": gi(1),
          cpu: "1",
          memory: gi(1),
          "hugepages-2Mi": "4Mi",
          "example.com/gpu": "2",
        }),
      ),
      {
        "ephemeral-storage": gi(1),
        "requests.ephemeral-storage": gi(1),
        "limits.ephemeral-storage": gi(1),
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
        "requests.example.com/gpu": "2",
      },
    ],
  ];
  test.each(cases)("%s", async (_what, made, used) => {
    const where = await limited(Object.fromEntries(Object.keys(used).map((name) => [name, "1Ti"])));
    await ok(server.admin.post(at(where, "pods"), made));
    await expect.poll(() => usedIn(where)).toEqual(used);
  });

  test("the overhead of its runtime class comes on top", async () => {
    await ok(
      server.admin.post("/apis/node.platform.io/v1/runtimeclasses", {
        metadata: { name: "heavy" },
        handler: "heavy",
        overhead: { podFixed: { cpu: "250m" } },
      }),
    );
    const where = await limited({ "requests.cpu": "1", "limits.cpu": "2" });
    const made = pod("p", both({ cpu: "500m" }, { cpu: "1" }), { runtimeClassName: "heavy" });
    await ok(server.admin.post(at(where, "pods"), made));
    await expect.poll(() => usedIn(where)).toEqual({ "requests.cpu": "750m", "limits.cpu": "1250m" });
  });

  test("nothing once it has ended, though it still counts as an object", async () => {
    const where = await limited({ pods: "1", "requests.cpu": "1", "count/pods": "2" });
    const cpu = { requests: { cpu: "1" } };
    for (const [name, phase] of [
      ["a", "Succeeded"],
      ["b", "Failed"],
    ]) {
      await ok(server.admin.post(at(where, "pods"), pod(name!, cpu)));
      await ok(server.admin.patch(`${at(where, "pods")}/${name}/status`, { status: { phase } }));
    }
    await expect.poll(() => usedIn(where)).toEqual({ pods: "0", "requests.cpu": "0", "count/pods": "2" });
    await rejected(
      server.admin.post(at(where, "pods"), pod("c", cpu)),
      "requested: count/pods=1, used: count/pods=2, limited: count/pods=2",
    );
  });

  test("what a quota limits of processors and memory, every container must set", async () => {
    const where = await limited({ "limits.cpu": "1", memory: gi(1), pods: "5" });
    const spec = {
      containers: [container("a", { requests: { memory: gi(1) } }), container("b")],
      initContainers: [container("i", both({ cpu: "1", memory: "1Mi" }))],
    };
    await rejected(
      server.admin.post(at(where, "pods"), { metadata: { name: "p" }, spec }),
      "failed quota: quota: must specify limits.cpu for: a,b; memory for: b",
    );
  });

  test("updates of a pod are not charged", async () => {
    const where = await limited({ pods: "1" }, { scopes: ["Terminating"] });
    await ok(server.admin.post(at(where, "pods"), pod("a", {}, { activeDeadlineSeconds: 60 })));
    await ok(server.admin.post(at(where, "pods"), pod("b")));
    await ok(server.admin.patch(`${at(where, "pods")}/b`, { spec: { activeDeadlineSeconds: 60 } }));
    await expect.poll(() => usedIn(where)).toEqual({ pods: "2" });
    await rejected(
      server.admin.post(at(where, "pods"), pod("c", {}, { activeDeadlineSeconds: 60 })),
      "used: pods=2, limited: pods=1",
    );
  });
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
      "two of them",
      { scopes: ["BestEffort", "NotTerminating"] },
      pod("p"),
      pod("p", {}, { activeDeadlineSeconds: 5 }),
    ],
    ["PriorityClass exists", priority("Exists"), pod("p", {}, high), pod("p")],
    ["PriorityClass doesn't exist", priority("DoesNotExist"), pod("p"), pod("p", {}, high)],
    ["PriorityClass in", priority("In", "low", "high"), pod("p", {}, high), pod("p")],
    ["PriorityClass not in", priority("NotIn", "high"), pod("p"), pod("p", {}, high)],
  ];
  beforeAll(async () => {
    await ok(
      server.admin.post("/apis/scheduling.platform.io/v1/priorityclasses", {
        metadata: { name: "high" },
        value: 10,
      }),
    );
  });
  test.each(cases)("%s", async (_what, scopes, inScope, outside) => {
    const where = await limited({ pods: "0" }, scopes);
    await rejected(server.admin.post(at(where, "pods"), inScope), "exceeded quota: quota, requested: pods=1");
    await ok(server.admin.post(at(where, "pods"), outside));
    await expect.poll(() => usedIn(where)).toEqual({ pods: "0" });
  });

  test("nothing but pods is in a scope", async () => {
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
  test("of each type, with the node ports that they ask for", async () => {
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

  test("an update is charged for what it adds, and gives back what it takes away", async () => {
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

test("claims: storage and number, of all classes and of each", async () => {
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

describe("numbers of objects", () => {
  test.each([
    ["configmaps", "configmaps", configMap("a")],
    ["secrets", "count/secrets", configMap("a")],
    ["resourcequotas", "count/resourcequotas", quota("b", { pods: "1" })],
    ["serviceaccounts", "count/serviceaccounts", configMap("a")],
  ])("%s, as %s", async (resource, name, object) => {
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

  test("of any group, in whichever version it is written", async () => {
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

  test("events are never counted, and what nobody serves isn't used", async () => {
    const where = await limited({ "count/events": "0", "count/things.example.com": "0", configmaps: "3" });
    const involvedObject = { kind: "Pod", name: "p", namespace: where };
    await ok(server.admin.post(at(where, "events"), { metadata: { name: "e" }, involvedObject }));
    await expect.poll(() => usedIn(where)).toEqual({ configmaps: "0" });
  });
});

describe("what counts when", () => {
  test("a new quota counts for the very next request, and so do its changes and its end", async () => {
    const where = await limited({ "count/secrets": "0" });
    const post = (name: string) => server.admin.post(at(where, "configmaps"), configMap(name));
    for (let round = 0; round < 20; round++) {
      await ok(post(`a-${round}`));
      await ok(server.admin.post(quotasIn(where), quota("next", { configmaps: String(2 * round + 1) })));
      await rejected(post(`b-${round}`), "exceeded quota: next");
      await ok(
        server.admin.patch(`${quotasIn(where)}/next`, {
          spec: { hard: { configmaps: String(2 * round + 2) } },
        }),
      );
      await ok(post(`b-${round}`));
      await rejected(post(`c-${round}`), "exceeded quota: next");
      await ok(server.admin.delete(`${quotasIn(where)}/next`));
    }
  });

  test("what is deleted is free for the very next request", async () => {
    const where = await limited({ configmaps: "1" });
    for (let round = 0; round < 20; round++) {
      await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
      await rejected(server.admin.post(at(where, "configmaps"), configMap("b")), "exceeded quota");
      await ok(server.admin.delete(`${at(where, "configmaps")}/a`));
    }
  });

  test("a dry run is refused what a write would be, and is charged nothing", async () => {
    const where = await limited({ configmaps: "1" });
    const dry = (name: string) => server.admin.post(`${at(where, "configmaps")}?dryRun=All`, configMap(name));
    for (let i = 0; i < 3; i++) await ok(dry("a"));
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    await rejected(dry("b"), "exceeded quota");
  });

  test("C-4.13-05 what a later plugin rejects isn't charged", async () => {
    const where = await limited({ [`count/roles.${rbacGroup}`]: "1" });
    await ok(server.admin.post(`${RBAC}/namespaces/${where}/roles`, roleThat("create", "roles", rbacGroup)));
    await ok(
      server.admin.post(`${RBAC}/namespaces/${where}/rolebindings`, {
        metadata: { name: "maker" },
        roleRef: { apiGroup: rbacGroup, kind: "Role", name: "create" },
        subjects: [{ apiGroup: rbacGroup, kind: "User", name: "maker" }],
      }),
    );
    await ok(
      server.admin.patch(`${quotasIn(where)}/quota`, {
        spec: { hard: { [`count/roles.${rbacGroup}`]: "2" } },
      }),
    );
    const maker = server.as("maker");
    for (let i = 0; i < 3; i++) {
      await rejected(
        maker.post(`${RBAC}/namespaces/${where}/roles`, roleThat("delete", "secrets", "")),
        "attempting to grant RBAC permissions not currently held",
      );
    }
    await ok(server.admin.post(`${RBAC}/namespaces/${where}/roles`, roleThat("delete", "secrets", "")));
    await rejected(
      server.admin.post(`${RBAC}/namespaces/${where}/roles`, roleThat("get", "secrets", "")),
      "exceeded quota",
    );
  });

  test("a create that finds the name taken isn't charged", async () => {
    const where = await limited({ configmaps: "2" });
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    for (let i = 0; i < 5; i++) {
      const { status } = await server.admin.post(at(where, "configmaps"), configMap("a"));
      expect(status).toBe(409);
    }
    await ok(server.admin.post(at(where, "configmaps"), configMap("b")));
  });

  test("of several quotas each must allow it", async () => {
    const where = await limited({ configmaps: "5" });
    await ok(server.admin.post(quotasIn(where), quota("a-tight", { configmaps: "1" })));
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    await rejected(server.admin.post(at(where, "configmaps"), configMap("b")), "exceeded quota: a-tight");
  });

  test("an object that changes nothing that is limited can be updated where everything is used", async () => {
    const where = await limited({ configmaps: "1" });
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    await ok(server.admin.patch(`${at(where, "configmaps")}/a`, { data: { a: "b" } }));
  });
});
