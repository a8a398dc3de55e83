import { describe, expect, test } from "vitest";
import { ok } from "../api/support.ts";
import { useServer } from "../support/use-server.ts";

const core = "/api/v1/namespaces/default";
const strict = "?fieldValidation=Strict";

interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** A member of the answer. */
  readonly expected: object;
  /** The first release in which the body is accepted. */
  readonly since: "1.27" | "1.28" | "1.29" | "1.30" | "1.31" | "1.34";
}

const pod = (spec: object) => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "i" }], ...spec },
});
const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
const indexed = { completions: 3, completionMode: "Indexed", template };
const sidecar = {
  name: "s",
  image: "i",
  restartPolicy: "Always",
  livenessProbe: { exec: { command: ["a"] } },
};

const cases: readonly Case[] = [
  {
    name: "sidecar containers",
    path: `${core}/pods`,
    body: pod({ initContainers: [sidecar] }),
    expected: { spec: { initContainers: [{ restartPolicy: "Always" }] } },
    since: "1.29",
  },
  {
    name: "AppArmor profiles",
    path: `${core}/pods`,
    body: pod({ securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }),
    expected: { spec: { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } } },
    since: "1.30",
  },
  {
    name: "the traffic distribution of services",
    path: `${core}/services`,
    body: { metadata: { name: "s" }, spec: { ports: [{ port: 80 }], trafficDistribution: "PreferClose" } },
    expected: { spec: { trafficDistribution: "PreferClose" } },
    since: "1.31",
  },
  {
    name: "backoff limits of job indexes",
    path: "/apis/batch/v1/namespaces/default/jobs",
    body: { metadata: { name: "j" }, spec: { ...indexed, backoffLimitPerIndex: 1 } },
    expected: { spec: { backoffLimitPerIndex: 1, backoffLimit: 2 ** 31 - 1 } },
    since: "1.29",
  },
  {
    name: "the success policy of jobs",
    path: "/apis/batch/v1/namespaces/default/jobs",
    body: {
      metadata: { name: "j" },
      spec: { ...indexed, successPolicy: { rules: [{ succeededIndexes: "0-1" }] } },
    },
    expected: { spec: { successPolicy: { rules: [{ succeededIndexes: "0-1" }] } } },
    since: "1.31",
  },
  {
    name: "classes of volume attributes",
    path: "/apis/storage.platform.io/v1/volumeattributesclasses",
    body: { metadata: { name: "c" }, driverName: "d.example.com", parameters: { iops: "5" } },
    expected: { driverName: "d.example.com" },
    since: "1.34",
  },
];

describe.each(["1.26", "1.28", "1.29", "1.30", "1.31", "1.34", "1.37"] as const)("release %s", (release) => {
  const server = useServer({ release });

  test.each(cases)("has $name from $since on", async ({ path, body, expected, since }) => {
    const isServed = Number(release.slice(2)) >= Number(since.slice(2));
    const answer = await server.admin.post(path + strict, body);
    if (isServed) {
      expect(answer.status).toBe(201);
      expect(answer.body).toMatchObject(expected);
      await ok(server.admin.delete(`${path}/${answer.body["metadata"].name}`));
      return;
    }
    if (answer.status !== 201) return expect([400, 404, 422]).toContain(answer.status);
    // A field whose gate is off is dropped.
    expect(answer.body).not.toMatchObject(expected);
    await ok(server.admin.delete(`${path}/${answer.body["metadata"].name}`));
  });
});

describe("rules of later fields", () => {
  const server = useServer({ release: "1.37", featureGates: "ContainerStopSignals=true" });
  const refused = async (path: string, body: object): Promise<string[]> => {
    const { status, body: answer } = await server.admin.post(path + strict, body);
    expect(status, JSON.stringify(answer)).toBe(422);
    return answer["details"].causes.map(({ field }: { field: string }) => field);
  };

  test.each([
    [
      { initContainers: [{ name: "s", image: "i", lifecycle: { preStop: { sleep: { seconds: 1 } } } }] },
      "spec.initContainers[0].lifecycle",
    ],
    [
      { containers: [{ name: "c", image: "i", lifecycle: { preStop: { sleep: { seconds: 31 } } } }] },
      "spec.containers[0].lifecycle.preStop.sleep",
    ],
    [
      { containers: [{ name: "c", image: "i", lifecycle: { stopSignal: "SIGTERM" } }] },
      "spec.containers[0].lifecycle.stopSignal",
    ],
    [
      {
        os: { name: "linux" },
        containers: [{ name: "c", image: "i", lifecycle: { stopSignal: "SIGNONE" } }],
      },
      "spec.containers[0].lifecycle.stopSignal",
    ],
    [
      { containers: [{ name: "c", image: "i", restartPolicy: "Sometimes" }] },
      "spec.containers[0].restartPolicy",
    ],
    [
      {
        containers: [
          { name: "c", image: "i", resizePolicy: [{ resourceName: "disk", restartPolicy: "NotRequired" }] },
        ],
      },
      "spec.containers[0].resizePolicy",
    ],
    [
      { securityContext: { appArmorProfile: { type: "Localhost" } } },
      "spec.securityContext.appArmorProfile.localhostProfile",
    ],
    [{ volumes: [{ name: "v", image: {} }] }, "spec.volumes[0].image.reference"],
    [
      {
        volumes: [{ name: "v", emptyDir: {} }],
        containers: [
          {
            name: "c",
            image: "i",
            volumeMounts: [{ name: "v", mountPath: "/v", recursiveReadOnly: "Enabled" }],
          },
        ],
      },
      "spec.containers[0].volumeMounts.recursiveReadOnly",
    ],
    [
      {
        volumes: [
          {
            name: "v",
            projected: { sources: [{ clusterTrustBundle: { path: "a", name: "b", signerName: "c" } }] },
          },
        ],
      },
      "spec.volumes[0].projected.sources[0].clusterTrustBundle",
    ],
  ])("of pods: %j", async (spec, field) => {
    expect(await refused(`${core}/pods`, pod(spec))).toContain(field);
  });

  test.each([
    [{ backoffLimitPerIndex: 1, template }, "spec.backoffLimitPerIndex"],
    [{ ...indexed, maxFailedIndexes: 1 }, "spec.backoffLimitPerIndex"],
    [{ ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 4 }, "spec.maxFailedIndexes"],
    [{ ...indexed, podReplacementPolicy: "Never" }, "spec.podReplacementPolicy"],
    [{ ...indexed, managedBy: "me" }, "spec.managedBy"],
    [{ ...indexed, successPolicy: { rules: [] } }, "spec.successPolicy.rules"],
    [
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: "2-1" }] } },
      "spec.successPolicy.rules[0].succeededIndexes",
    ],
    [
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: "0,3" }] } },
      "spec.successPolicy.rules[0].succeededIndexes",
    ],
    [
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: "0-1", succeededCount: 3 }] } },
      "spec.successPolicy.rules[0].succeededCount",
    ],
    [{ ...indexed, successPolicy: { rules: [{}] } }, "spec.successPolicy.rules[0]"],
  ])("of jobs: %j", async (spec, field) => {
    const job = { metadata: { name: "j" }, spec };
    expect(await refused("/apis/batch/v1/namespaces/default/jobs", job)).toContain(field);
  });

  test("a sidecar counts with the containers in quotas and tables", async () => {
    const hard = { "requests.cpu": "3" };
    await ok(server.admin.post(`${core}/resourcequotas`, { metadata: { name: "q" }, spec: { hard } }));
    const requests = (cpu: string) => ({ resources: { requests: { cpu } } });
    const spec = {
      initContainers: [
        { ...sidecar, ...requests("1") },
        { name: "init", image: "i", ...requests("2500m") },
      ],
      containers: [{ name: "c", image: "i", ...requests("1") }],
    };
    // The init container runs beside the sidecar that starts before it: 1 + 2.5.
    const above = await server.admin.post(`${core}/pods`, pod(spec));
    expect([above.status, above.body["message"]]).toEqual([403, expect.stringContaining("exceeded quota")]);
    const first = { ...spec, initContainers: spec.initContainers.toReversed() };
    await ok(server.admin.post(`${core}/pods`, pod(first)));
    // The init container runs alone now: 2.5, which leaves 0.5.
    const more = (cpu: string) => ({
      metadata: { name: "more" },
      spec: { containers: [{ name: "c", image: "i", ...requests(cpu) }] },
    });
    expect((await server.admin.post(`${core}/pods`, more("501m"))).status).toBe(403);
    await ok(server.admin.post(`${core}/pods?dryRun=All`, more("500m")));
    const table = await server.admin.get(`${core}/pods`, {
      accept: "application/json;as=Table;v=v1;g=meta.platform.io",
    });
    expect(table.body["rows"][0].cells[1]).toBe("0/2");
  });
});
