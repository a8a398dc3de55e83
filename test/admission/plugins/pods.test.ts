import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdmissionPlugin } from "../../../src/admission/admission-chain.ts";
import type { Pod } from "../../../src/kinds/core/pod/pod.ts";
import { causeFields, ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { pod, PODS, rejected } from "./support.ts";

/** Starts a server with the default plugins and `enabledAdmissionPlugins`. */
function withPlugins(...enabledAdmissionPlugins: string[]): () => TestServer {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ enabledAdmissionPlugins, controllers: [] });
  });
  afterAll(() => server.close());
  return () => server;
}

describe("AlwaysPullImages", () => {
  const server = withPlugins("AlwaysPullImages");

  test("C-4.13-19 sets the pull policy of every container of a new pod to Always", async () => {
    const { body } = await ok(
      server().admin.post(
        PODS,
        pod("pulls", {
          containers: [
            { name: "a", image: "i:1", imagePullPolicy: "Never" },
            { name: "b", image: "i:2" },
          ],
          initContainers: [{ name: "c", image: "i:3", imagePullPolicy: "IfNotPresent" }],
        }),
      ),
    );
    const { containers, initContainers } = body.spec;
    expect([...containers, ...initContainers].map((one) => one.imagePullPolicy)).toEqual(
      Array(3).fill("Always"),
    );
  });

  test("an update keeps the stored pull policy, and returns 422 when a container image changes", async () => {
    const folder = temporaryFolder();
    const storage = { engine: "embedded", dir: path.join(folder.path, "store") } as const;
    const containers = [{ name: "a", image: "i:1", imagePullPolicy: "Never" }];
    const before = await TestServer.start({ controllers: [], storage });
    await ok(before.admin.post(PODS, pod("old", { containers })));
    await before.close();
    const enabledAdmissionPlugins = ["AlwaysPullImages"];
    const after = await TestServer.start({ controllers: [], storage, enabledAdmissionPlugins });
    try {
      const { body } = await ok(after.admin.patch(`${PODS}/old`, { metadata: { labels: { a: "b" } } }));
      expect(body.spec.containers[0].imagePullPolicy).toBe("Never");
      // imagePullPolicy is immutable, so the change by the plugin is rejected.
      const changed = structuredClone(body);
      changed.spec.containers[0].image = "i:2";
      const refused = await after.admin.put(`${PODS}/old`, changed);
      expect([refused.status, causeFields(refused)]).toEqual([422, ["spec"]]);
      expect(refused.body.message).toContain("pod updates may not change fields");
    } finally {
      await after.close();
      folder.remove();
    }
  });

  test("a Pod whose pull policy is changed by a later plugin returns 403, and the message names the containers", async () => {
    const undo: AdmissionPlugin = {
      name: "Undo",
      concerns: (operation, { resource }) => operation === "CREATE" && resource.kind.name === "Pod",
      mutate({ object }) {
        const { spec } = object as unknown as Pod;
        for (const one of [...spec!.containers, ...(spec!.initContainers ?? [])])
          one.imagePullPolicy = one.name === "stays" ? "Always" : "IfNotPresent";
      },
    };
    const options = { admissionPlugins: [undo], enabledAdmissionPlugins: ["AlwaysPullImages"] };
    const undoing = await TestServer.start({ controllers: [], ...options });
    try {
      const containers = ["a", "stays"].map((name) => ({ name, image: "i" }));
      const initContainers = [{ name: "i", image: "i" }];
      const fault = 'imagePullPolicy: Unsupported value: "IfNotPresent": supported values: "Always"';
      await rejected(
        undoing.admin.post(PODS, pod("undone", { containers, initContainers })),
        `[spec.initContainers[0].${fault}, spec.containers[0].${fault}]`,
      );
      await ok(undoing.admin.post(PODS, pod("done", { containers: [containers[1]!] })));
    } finally {
      await undoing.close();
    }
  });
});

test("C-4.13-18 AlwaysPullImages is off by default", async () => {
  const server = await TestServer.start({ controllers: [] });
  try {
    const { body } = await ok(
      server.admin.post(
        PODS,
        pod("keeps", { containers: [{ name: "a", image: "i:1", imagePullPolicy: "Never" }] }),
      ),
    );
    expect(body.spec.containers[0].imagePullPolicy).toBe("Never");
  } finally {
    await server.close();
  }
});

describe("DefaultTolerationSeconds", () => {
  const server = withPlugins();
  const added = (seconds: number) =>
    ["not-ready", "unreachable"].map((taint) => ({
      key: `node.platform.io/${taint}`,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: seconds,
    }));

  test("C-4.13-36 C-4.13-37 is on by default and adds the two tolerations to a pod that lacks them", async () => {
    const { body } = await ok(server().admin.post(PODS, pod("plain")));
    expect(body.spec.tolerations).toEqual(added(300));
  });

  test("a Pod keeps its own toleration of the taint and effect", async () => {
    const own = {
      key: "node.platform.io/not-ready",
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds: 7,
    };
    const { body } = await ok(server().admin.post(PODS, pod("says", { tolerations: [own] })));
    expect(body.spec.tolerations).toEqual([own, added(300)[1]]);
    const every = { operator: "Exists" };
    const all = await ok(server().admin.post(PODS, pod("all", { tolerations: [every] })));
    expect(all.body.spec.tolerations).toEqual([every]);
    // A toleration of another effect doesn't count.
    const other = { key: "node.platform.io/not-ready", operator: "Exists", effect: "NoSchedule" };
    const both = await ok(server().admin.post(PODS, pod("other", { tolerations: [other] })));
    expect(both.body.spec.tolerations).toEqual([other, ...added(300)]);
  });

  test("the added tolerations have no field manager", async () => {
    const { body } = await ok(server().admin.post(PODS, pod("owned")));
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain("tolerations");
  });

  test("C-4.13-38 the toleration seconds are set by options", async () => {
    const other = await TestServer.start({
      tolerationSeconds: { notReady: 1, unreachable: 0 },
      controllers: [],
    });
    try {
      const { body } = await ok(other.admin.post(PODS, pod("timed")));
      expect(
        body.spec.tolerations.map((one: { tolerationSeconds: number }) => one.tolerationSeconds),
      ).toEqual([1, 0]);
    } finally {
      await other.close();
    }
  });

  test("can be disabled, which has precedence over enabling", async () => {
    const off = await TestServer.start({
      enabledAdmissionPlugins: ["DefaultTolerationSeconds"],
      disabledAdmissionPlugins: ["DefaultTolerationSeconds"],
      controllers: [],
    });
    try {
      const { body } = await ok(off.admin.post(PODS, pod("plain")));
      expect(body.spec.tolerations).toBeUndefined();
    } finally {
      await off.close();
    }
  });
});

describe("ExtendedResourceToleration", () => {
  const server = withPlugins("ExtendedResourceToleration");

  const container = (name: string, limits: object) => ({ name, image: "i", resources: { limits } });
  /** The tolerations of a new pod, without those that other plugins add. */
  const tolerationsOf = async (name: string, spec: object) => {
    const { body } = await ok(server().admin.post(PODS, pod(name, spec)));
    return body.spec.tolerations.filter(({ key }: { key: string }) => !key.startsWith("node."));
  };
  const added = (key: string) => ({ key, operator: "Exists", effect: "NoSchedule" });

  test("C-4.13-47 a pod tolerates the taints named after the extended resources that it requests", async () => {
    const limits = { "example.com/gpu": "1", cpu: "1", "hugepages-2Mi": "2Mi" };
    const spec = { containers: [container("c", limits), container("d", { "example.com/fpga": "1" })] };
    expect(await tolerationsOf("gpu", spec)).toEqual([added("example.com/fpga"), added("example.com/gpu")]);
    expect(await tolerationsOf("none", { containers: [container("c", { cpu: "1" })] })).toEqual([]);
  });

  test("C-4.13-47 a pod tolerates the taints named after the extended resources that its init containers request", async () => {
    const initContainers = [container("i", { "example.com/gpu": "1" })];
    expect(await tolerationsOf("init", { initContainers })).toEqual([added("example.com/gpu")]);
  });

  test("C-4.13-47 an existing toleration of the resource is not added again, and one with another effect is kept", async () => {
    const other = { ...added("example.com/gpu"), effect: "NoExecute" };
    const containers = [container("c", { "example.com/gpu": "1" })];
    const tolerations = [other, added("example.com/gpu")];
    expect(await tolerationsOf("has", { containers, tolerations })).toEqual(tolerations);
  });
});

test("C-4.13-46 ExtendedResourceToleration is off by default", async () => {
  const server = await TestServer.start({ controllers: [] });
  try {
    const resources = { limits: { "example.com/gpu": "1" } };
    const { body } = await ok(
      server.admin.post(PODS, pod("gpu", { containers: [{ name: "c", image: "i", resources }] })),
    );
    expect(JSON.stringify(body.spec.tolerations)).not.toContain("gpu");
  } finally {
    await server.close();
  }
});

describe("LimitPodHardAntiAffinityTopology", () => {
  const server = withPlugins("LimitPodHardAntiAffinityTopology");
  const apart = (topologyKey: string, how: string) => {
    const term = { topologyKey, labelSelector: {} };
    const listed = how.startsWith("required") ? term : { weight: 1, podAffinityTerm: term };
    return { affinity: { podAntiAffinity: { [how]: [listed] } } };
  };
  const required = "requiredDuringSchedulingIgnoredDuringExecution";

  test("C-4.13-57 required anti-affinity with a topology key other than the host name returns 403", async () => {
    await rejected(
      server().admin.post(PODS, pod("zone", apart("topology.platform.io/zone", required))),
      "only key platform.io/hostname is allowed",
    );
    await ok(server().admin.post(PODS, pod("host", apart("platform.io/hostname", required))));
    const preferred = "preferredDuringSchedulingIgnoredDuringExecution";
    await ok(server().admin.post(PODS, pod("wish", apart("topology.platform.io/zone", preferred))));
  });
});

test("C-4.13-56 C-4.13-109 LimitPodHardAntiAffinityTopology and SecurityContextDeny are off by default", async () => {
  const server = await TestServer.start({ controllers: [], disabledAdmissionPlugins: ["PodSecurity"] });
  try {
    const term = { topologyKey: "zone", labelSelector: {} };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await ok(server.admin.post(PODS, pod("both", { affinity, securityContext: { runAsUser: 1 } })));
  } finally {
    await server.close();
  }
});

describe("SecurityContextDeny", () => {
  const server = withPlugins("SecurityContextDeny");

  test.each([
    [{ securityContext: { supplementalGroups: [1] } }, "SupplementalGroups"],
    [{ securityContext: { seLinuxOptions: { level: "s0" } } }, "SELinuxOptions"],
    [{ securityContext: { runAsUser: 1 } }, "RunAsUser"],
    [{ securityContext: { fsGroup: 1 } }, "FSGroup"],
    [
      { containers: [{ name: "c", image: "i", securityContext: { runAsUser: 1 } }] },
      "SecurityContext.RunAsUser",
    ],
    [
      { initContainers: [{ name: "i", image: "i", securityContext: { seLinuxOptions: { level: "s0" } } }] },
      "SecurityContext.SELinuxOptions",
    ],
  ])("C-4.13-110 a Pod with %j returns 403", async (spec, field) => {
    await rejected(server().admin.post(PODS, pod("denied", spec)), `${field} is forbidden`);
  });

  test("other fields of the security context are allowed", async () => {
    const spec = { securityContext: { runAsNonRoot: true }, hostname: "h" };
    await ok(server().admin.post(PODS, pod("let-through", spec)));
  });
});

describe("Priority", () => {
  const server = withPlugins();
  const CLASSES = "/apis/scheduling.platform.io/v1/priorityclasses";
  const made = async (name: string, spec: object = {}) =>
    (await ok(server().admin.post(PODS, pod(name, spec)))).body.spec;

  test("C-4.13-101 C-4.13-102 sets the priority of a pod from its class, or 0 when it has no class", async () => {
    expect(await made("none")).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
    await ok(
      server().admin.post(CLASSES, { metadata: { name: "high" }, value: 1000, preemptionPolicy: "Never" }),
    );
    // The class applies to the next request.
    expect(await made("high", { priorityClassName: "high" })).toMatchObject({
      priorityClassName: "high",
      priority: 1000,
      preemptionPolicy: "Never",
    });
    expect(await made("system", { priorityClassName: "system-node-critical" })).toMatchObject({
      priority: 2_000_001_000,
    });
  });

  test("C-4.13-103 a Pod with a missing class returns 403", async () => {
    await rejected(
      server().admin.post(PODS, pod("lost", { priorityClassName: "missing" })),
      "no PriorityClass with name missing was found",
    );
  });

  test("a Pod whose priority or preemptionPolicy differs from its class returns 403", async () => {
    await rejected(
      server().admin.post(PODS, pod("states", { priority: 5 })),
      "priority (5) must not be provided",
    );
    await rejected(
      server().admin.post(PODS, pod("states", { preemptionPolicy: "Never" })),
      "PreemptionPolicy (Never) must not be provided",
    );
    expect(await made("agrees", { priority: 0, preemptionPolicy: "PreemptLowerPriority" })).toMatchObject({
      priority: 0,
    });
  });

  test("the default class applies to Pods without a class, and a second default class returns 403", async () => {
    await ok(server().admin.post(CLASSES, { metadata: { name: "usual" }, value: 7, globalDefault: true }));
    expect(await made("usual")).toMatchObject({ priority: 7, priorityClassName: "usual" });
    const second = { metadata: { name: "second" }, value: 8, globalDefault: true };
    await rejected(server().admin.post(CLASSES, second), "PriorityClass usual is already marked as default");
    await ok(server().admin.patch(`${CLASSES}/usual`, { description: "the usual" }));
    await ok(server().admin.post(CLASSES, { ...second, globalDefault: false }));
    await rejected(
      server().admin.patch(`${CLASSES}/second`, { globalDefault: true }),
      "PriorityClass usual is already marked as default",
    );
    await ok(server().admin.delete(`${CLASSES}/usual`));
    expect(await made("again")).toMatchObject({ priority: 0 });
  });

  test("an update without a priority keeps the stored one", async () => {
    const spec = await made("kept");
    const { body } = await ok(server().admin.get(`${PODS}/kept`));
    const { priority: _, preemptionPolicy: __, ...rest } = spec;
    const changed = { ...body, metadata: { ...body.metadata, labels: { a: "b" } }, spec: rest };
    const after = await ok(server().admin.put(`${PODS}/kept`, changed));
    expect(after.body.spec.priority).toBe(spec.priority);
  });
});

describe("RuntimeClass", () => {
  const server = withPlugins();
  const CLASSES = "/apis/node.platform.io/v1/runtimeclasses";
  const sandbox = {
    metadata: { name: "sandbox" },
    handler: "sandbox",
    overhead: { podFixed: { cpu: "100m", memory: "64Mi" } },
    scheduling: { nodeSelector: { sandbox: "yes" }, tolerations: [{ key: "sandbox", operator: "Exists" }] },
  };
  beforeAll(async () => {
    await ok(server().admin.post(CLASSES, sandbox));
  });

  test("C-4.13-106 C-4.13-108 sets overhead, nodeSelector and tolerations of a new Pod from its RuntimeClass", async () => {
    const { body } = await ok(server().admin.post(PODS, pod("boxed", { runtimeClassName: "sandbox" })));
    expect(body.spec.overhead).toEqual({ cpu: "100m", memory: "64Mi" });
    expect(body.spec.nodeSelector).toEqual({ sandbox: "yes" });
    expect(body.spec.tolerations).toContainEqual({ key: "sandbox", operator: "Exists" });
  });

  test("C-4.13-107 a new Pod that sets an overhead returns 403, with and without a class", async () => {
    const overhead = { cpu: "1" };
    await rejected(
      server().admin.post(PODS, pod("sets", { overhead })),
      "the overhead is set by the runtime class",
    );
    await rejected(
      server().admin.post(PODS, pod("sets", { overhead, runtimeClassName: "sandbox" })),
      "the overhead is set by the runtime class",
    );
  });

  test("a missing class, or a nodeSelector that conflicts with the class, returns 403", async () => {
    await rejected(
      server().admin.post(PODS, pod("lost", { runtimeClassName: "missing" })),
      'RuntimeClass "missing" not found',
    );
    await rejected(
      server().admin.post(
        PODS,
        pod("torn", { runtimeClassName: "sandbox", nodeSelector: { sandbox: "no" } }),
      ),
      "conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes",
    );
  });
});
