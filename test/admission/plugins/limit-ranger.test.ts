import { describe, expect, test } from "vitest";
import { namespace, ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { rejected } from "./support.ts";
import { blockOf } from "../../support/pages.ts";

const server = useServer({ controllers: [] });

let count = 0;
/** Creates a namespace with one LimitRange, and returns its name. */
async function limited(...limits: object[]): Promise<string> {
  const name = `limited-${++count}`;
  await ok(server.admin.post("/api/v1/namespaces", namespace(name)));
  await ok(
    server.admin.post(`/api/v1/namespaces/${name}/limitranges`, {
      metadata: { name: "limits" },
      spec: { limits },
    }),
  );
  return name;
}

const podsIn = (where: string) => `/api/v1/namespaces/${where}/pods`;
const container = (name: string, resources: object = {}) => ({
  name,
  image: "example.com/image:1",
  resources,
});
const pod = (...containers: object[]) => ({ metadata: { generateName: "p-" }, spec: { containers } });
const cpu = (requests: string | undefined, limits: string | undefined) => ({
  ...(requests === undefined ? {} : { requests: { cpu: requests } }),
  ...(limits === undefined ? {} : { limits: { cpu: limits } }),
});

test("C-4.13-58 LimitRanger is on by default, and can be turned off", async () => {
  const where = await limited({ type: "Container", defaultRequest: { cpu: "100m" } });
  const { body } = await ok(server.admin.post(podsIn(where), pod(container("c"))));
  expect(body.spec.containers[0].resources.requests).toEqual({ cpu: "100m" });
  const off = await TestServer.start({ controllers: [], disabledAdmissionPlugins: ["LimitRanger"] });
  try {
    const limits = [{ type: "Container", defaultRequest: { cpu: "100m" } }];
    await ok(
      off.admin.post("/api/v1/namespaces/default/limitranges", { metadata: { name: "l" }, spec: { limits } }),
    );
    const made = await ok(off.admin.post(podsIn("default"), pod(container("c"))));
    expect(made.body.spec.containers[0].resources).toEqual({});
  } finally {
    await off.close();
  }
});

describe("defaults", () => {
  test("C-4.13-60 containers without requests or limits get the default values of the LimitRange, and the annotation limit-ranger lists them", async () => {
    const where = await limited({
      type: "Container",
      default: { cpu: "500m", memory: "1Gi" },
      defaultRequest: { cpu: "100m", memory: "256Mi" },
    });
    const given = container("own", { requests: { cpu: "50m" }, limits: { memory: "2Gi" } });
    const init = { ...container("first"), resources: {} };
    const made = { ...pod(container("bare"), given) };
    const { body } = await ok(
      server.admin.post(podsIn(where), { ...made, spec: { ...made.spec, initContainers: [init] } }),
    );
    expect(body.spec.containers.map((one: { resources: object }) => one.resources)).toEqual([
      { requests: { cpu: "100m", memory: "256Mi" }, limits: { cpu: "500m", memory: "1Gi" } },
      // An unset request defaults to the limit, if the container has one.
      { requests: { cpu: "50m", memory: "2Gi" }, limits: { cpu: "500m", memory: "2Gi" } },
    ]);
    expect(body.spec.initContainers[0].resources.requests).toEqual({ cpu: "100m", memory: "256Mi" });
    expect(body.metadata.annotations["platform.io/limit-ranger"]).toBe(
      "LimitRanger plugin set: cpu, memory request for container bare; cpu, memory limit for container bare; " +
        "cpu limit for container own; cpu, memory request for init container first; " +
        "cpu, memory limit for init container first",
    );
    expect(body.status.qosClass).toBe("Burstable");
    expect(JSON.stringify(body.metadata.managedFields)).not.toContain("f:annotations");
  });

  test("max is the default limit, and min the default request when there is no max", async () => {
    const where = await limited({ type: "Container", max: { cpu: "1" }, min: { memory: "64Mi" } });
    const { body } = await ok(server.admin.post(podsIn(where), pod(container("c"))));
    expect(body.spec.containers[0].resources).toEqual({
      requests: { cpu: "1", memory: "64Mi" },
      limits: { cpu: "1" },
    });
  });

  test("a pod without missing values gets no annotation", async () => {
    const where = await limited({ type: "Container", defaultRequest: { cpu: "100m" } });
    const { body } = await ok(server.admin.post(podsIn(where), pod(container("c", cpu("1", undefined)))));
    expect(body.metadata.annotations).toBeUndefined();
  });

  test("a changed LimitRange applies to the next Pod, and a deleted one does not", async () => {
    const where = await limited({ type: "Container", defaultRequest: { cpu: "1m" } });
    const requestOf = async () =>
      (await ok(server.admin.post(podsIn(where), pod(container("c"))))).body.spec.containers[0].resources
        .requests;
    const at = `/api/v1/namespaces/${where}/limitranges/limits`;
    for (let milli = 2; milli < 20; milli++) {
      const limits = [{ type: "Container", defaultRequest: { cpu: `${milli}m` } }];
      await ok(server.admin.patch(at, { spec: { limits } }));
      expect(await requestOf()).toEqual({ cpu: `${milli}m` });
    }
    await ok(server.admin.delete(at));
    expect(await requestOf()).toBeUndefined();
  });
});

test("C-4.13-61 pods in the default namespace get a 0.1 CPU request by default, from the documented LimitRange", async () => {
  const other = await TestServer.start();
  try {
    const pods = podsIn("default");
    const { body } = await ok(other.admin.post(pods, pod(container("c"))));
    expect(body.spec.containers[0].resources).toEqual({ requests: { cpu: "100m" } });
    const own = await ok(other.admin.post(pods, pod(container("c", cpu("50m", undefined)))));
    expect(own.body.spec.containers[0].resources).toEqual({ requests: { cpu: "50m" } });
    const ranges = "/api/v1/namespaces/default/limitranges";
    const stored = await ok(other.admin.get(`${ranges}/limits`));
    await ok(other.admin.delete(`${ranges}/limits`));
    const without = await ok(other.admin.post(pods, pod(container("c"))));
    expect(without.body.spec.containers[0].resources).toEqual({});
    const raw = blockOf("docs/admission-plugins.md", "yaml limit-range");
    const again = await ok(other.admin.ask("POST", ranges, { raw, contentType: "application/yaml" }));
    expect(again.body.spec).toEqual(stored.body.spec);
  } finally {
    await other.close();
  }
});

describe("C-4.13-59 rejects requests that break a LimitRange of the namespace", () => {
  const rules = {
    type: "Container",
    min: { cpu: "100m" },
    max: { cpu: "2" },
    maxLimitRequestRatio: { cpu: "4" },
    default: { cpu: "1" },
    defaultRequest: { cpu: "500m" },
  };

  test.each([
    [
      "a request below the minimum",
      cpu("50m", "150m"),
      "minimum cpu usage per Container is 100m, but request is 50m",
    ],
    ["a limit above the maximum", cpu("1", "3"), "maximum cpu usage per Container is 2, but limit is 3"],
    [
      "a limit-to-request ratio above the maximum",
      cpu("100m", "1"),
      "cpu max limit to request ratio per Container is 4, but provided ratio is 10.000000",
    ],
  ])("%s", async (_what, resources, why) => {
    const where = await limited(rules);
    await rejected(server.admin.post(podsIn(where), pod(container("c", resources))), why);
    await rejected(
      server.admin.post(podsIn(where), {
        ...pod(container("ok")),
        spec: { containers: [container("ok")], initContainers: [container("c", resources)] },
      }),
      why,
    );
    await ok(server.admin.post(podsIn(where), pod(container("c", cpu("500m", "2")))));
  });

  test("the usage of a Pod is the sum of its containers or the largest init container", async () => {
    const where = await limited({ type: "Pod", max: { cpu: "2" }, min: { cpu: "100m" } });
    const post = (...containers: object[]) => server.admin.post(podsIn(where), pod(...containers));
    await ok(post(container("a", cpu("1", "1")), container("b", cpu("1", "1"))));
    await rejected(
      post(container("a", cpu("1", "1")), container("b", cpu("1", "1500m"))),
      "maximum cpu usage per Pod is 2, but limit is 2500m",
    );
    await rejected(post(container("a")), "maximum cpu usage per Pod is 2.  No limit is specified");
    const spec = {
      containers: [container("a", cpu("1", "1"))],
      initContainers: [container("i", cpu("3", "3"))],
    };
    await rejected(
      server.admin.post(podsIn(where), { metadata: { name: "init" }, spec }),
      "maximum cpu usage per Pod is 2, but limit is 3",
    );
  });

  test("all violations are reported together", async () => {
    const where = await limited({
      type: "Container",
      min: { cpu: "100m", memory: "64Mi" },
      max: { cpu: "2" },
    });
    const resources = { requests: { cpu: "1m", memory: "1Mi" }, limits: { cpu: "3" } };
    await rejected(
      server.admin.post(podsIn(where), pod(container("c", resources))),
      "[minimum cpu usage per Container is 100m, but request is 1m, minimum memory usage per Container is 64Mi, " +
        "but request is 1Mi, maximum cpu usage per Container is 2, but limit is 3]",
    );
  });

  test("PersistentVolumeClaims are checked on create and when their request increases", async () => {
    const where = await limited({
      type: "PersistentVolumeClaim",
      min: { storage: "1Gi" },
      max: { storage: "5Gi" },
    });
    const claims = `/api/v1/namespaces/${where}/persistentvolumeclaims`;
    const claim = (name: string, storage: string) => ({
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage } },
        storageClassName: "grows",
      },
    });
    await rejected(
      server.admin.post(claims, claim("small", "512Mi")),
      "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi",
    );
    await rejected(
      server.admin.post(claims, claim("large", "6Gi")),
      "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi",
    );
    const storageClass = {
      metadata: { name: "grows" },
      provisioner: "example.com/p",
      allowVolumeExpansion: true,
    };
    await ok(server.admin.post("/apis/storage.platform.io/v1/storageclasses", storageClass));
    await ok(server.admin.post(claims, claim("fits", "2Gi")));
    await ok(server.admin.patch(`${claims}/fits/status`, { status: { phase: "Bound" } }));
    const grow = (storage: string) =>
      server.admin.patch(`${claims}/fits`, { spec: { resources: { requests: { storage } } } });
    await rejected(grow("6Gi"), "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi");
    await ok(grow("5Gi"));
  });

  test("a terminating PersistentVolumeClaim isn't checked, so that its finalizers can be removed", async () => {
    const where = await limited({ type: "PersistentVolumeClaim", max: { storage: "10Gi" } });
    const at = `/api/v1/namespaces/${where}/persistentvolumeclaims`;
    const resources = { requests: { storage: "10Gi" } };
    const spec = { accessModes: ["ReadWriteOnce"], resources };
    const metadata = { name: "claim", finalizers: ["example.com/held"] };
    await ok(server.admin.post(at, { metadata, spec }));
    await ok(
      server.admin.patch(`/api/v1/namespaces/${where}/limitranges/limits`, {
        spec: { limits: [{ type: "PersistentVolumeClaim", max: { storage: "5Gi" } }] },
      }),
    );
    await ok(server.admin.delete(`${at}/claim`));
    await ok(server.admin.patch(`${at}/claim`, { metadata: { finalizers: null } }));
    expect((await server.admin.get(`${at}/claim`)).status).toBe(404);
  });

  test("quantities are compared exactly in any notation", async () => {
    const where = await limited({ type: "Container", max: { memory: "1Gi" } });
    const memory = (text: string) => pod(container("c", { limits: { memory: text } }));
    await ok(server.admin.post(podsIn(where), memory("1073741824")));
    await rejected(
      server.admin.post(podsIn(where), memory("1073741825")),
      "maximum memory usage per Container is 1Gi, but limit is 1073741825",
    );
  });

  test("other namespaces and updates of pods are not checked", async () => {
    const where = await limited({ type: "Container", max: { cpu: "1" } });
    await ok(server.admin.post(podsIn("default"), pod(container("c", cpu("3", "3")))));
    const { body } = await ok(server.admin.post(podsIn(where), pod(container("c", cpu("1", "1")))));
    const limits = [{ type: "Container", max: { cpu: "500m" } }];
    await ok(server.admin.patch(`/api/v1/namespaces/${where}/limitranges/limits`, { spec: { limits } }));
    await ok(
      server.admin.patch(`${podsIn(where)}/${body.metadata.name}`, { metadata: { labels: { a: "b" } } }),
    );
  });
});
