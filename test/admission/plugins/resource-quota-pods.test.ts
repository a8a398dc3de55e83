import { describe, expect, test } from "vitest";
import { ok, RBAC, rbacGroup } from "../../api/support.ts";
import { rejected } from "./support.ts";
import {
  at,
  quotasIn,
  quota,
  container,
  pod,
  configMap,
  gi,
  useQuotaServer,
} from "./resource-quota-support.ts";

const { server, limited, usedIn } = useQuotaServer();

const roleThat = (verb: string, resource: string, group: string) => ({
  metadata: { name: verb },
  rules: [{ apiGroups: [group], resources: [resource], verbs: [verb] }],
});

const both = (requests: object, limits: object = requests) => ({ requests, limits });

describe("quota usage of a Pod", () => {
  const cases: [what: string, made: object, used: Record<string, string>][] = [
    [
      "is the sum of its containers",
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
      "is the largest init container for each resource that exceeds the containers",
      pod("p", both({ cpu: "1", memory: gi(1) }), {
        initContainers: [
          container("i", both({ cpu: "3", memory: "1Mi" })),
          container("j", both({ cpu: "2", memory: "1Mi" })),
        ],
      }),
      { "requests.cpu": "3", "limits.cpu": "3", "requests.memory": gi(1), "limits.memory": gi(1) },
    ],
    [
      "includes ephemeral storage, huge pages and extended resources",
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

  test("the overhead of its runtime class is added", async () => {
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

  test("a completed pod uses no resources but still counts in count/pods", async () => {
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

  test("a Pod returns 403 when a container lacks a CPU or memory value that a quota limits", async () => {
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

  test("an update of a Pod into a scope is counted but not checked", async () => {
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

describe("when usage and quotas take effect", () => {
  test("a created, changed or deleted quota takes effect for the next request", async () => {
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

  test("the usage of a deleted object is released for the next request", async () => {
    const where = await limited({ configmaps: "1" });
    for (let round = 0; round < 20; round++) {
      await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
      await rejected(server.admin.post(at(where, "configmaps"), configMap("b")), "exceeded quota");
      await ok(server.admin.delete(`${at(where, "configmaps")}/a`));
    }
  });

  test("a dry run is checked against the quota but not charged", async () => {
    const where = await limited({ configmaps: "1" });
    const dry = (name: string) => server.admin.post(`${at(where, "configmaps")}?dryRun=All`, configMap(name));
    for (let i = 0; i < 3; i++) await ok(dry("a"));
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    await rejected(dry("b"), "exceeded quota");
  });

  test("C-4.13-05 a request that a later plugin rejects is not charged", async () => {
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

  test("a create is not charged when it returns 409", async () => {
    const where = await limited({ configmaps: "2" });
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    for (let i = 0; i < 5; i++) {
      const { status } = await server.admin.post(at(where, "configmaps"), configMap("a"));
      expect(status).toBe(409);
    }
    await ok(server.admin.post(at(where, "configmaps"), configMap("b")));
  });

  test("a request must fit into each of several quotas", async () => {
    const where = await limited({ configmaps: "5" });
    await ok(server.admin.post(quotasIn(where), quota("a-tight", { configmaps: "1" })));
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    await rejected(server.admin.post(at(where, "configmaps"), configMap("b")), "exceeded quota: a-tight");
  });

  test("an update without additional usage is allowed when the quota is exhausted", async () => {
    const where = await limited({ configmaps: "1" });
    await ok(server.admin.post(at(where, "configmaps"), configMap("a")));
    await ok(server.admin.patch(`${at(where, "configmaps")}/a`, { data: { a: "b" } }));
  });
});
