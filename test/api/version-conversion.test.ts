import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer, type Api } from "../support/api.ts";
import { namespace, ok, until } from "./support.ts";

/** Conventions 9.2: one object in several versions. */
const flow = "/apis/flowcontrol.apiserver.platform.io";
const inNamespace = (version: string, resource: string) => `${version}/namespaces/default/${resource}`;

/** One object in each of two versions, with all fields set. */
interface Pair {
  readonly what: string;
  readonly older: string;
  readonly newer: string;
  readonly body: object;
  /** The `--runtime-config` key of the newer version. */
  readonly newerKey: string;
}

const selector = { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "Exists" }] };
const reference = { apiVersion: "networking.platform.io/v1", kind: "Ingress", name: "web" };
const pairs: readonly Pair[] = [
  {
    what: "an autoscaler",
    older: inNamespace("/apis/autoscaling/v1", "horizontalpodautoscalers"),
    newer: inNamespace("/apis/autoscaling/v2", "horizontalpodautoscalers"),
    newerKey: "autoscaling/v2",
    body: {
      metadata: { name: "everything", labels: { a: "b" }, annotations: { note: "kept" } },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        minReplicas: 2,
        maxReplicas: 9,
        metrics: [
          {
            type: "Resource",
            resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } },
          },
          {
            type: "Pods",
            pods: {
              metric: { name: "hits", selector },
              target: { type: "AverageValue", averageValue: "10" },
            },
          },
          {
            type: "Object",
            object: {
              describedObject: reference,
              metric: { name: "hits" },
              target: { type: "Value", value: "2k" },
            },
          },
          {
            type: "External",
            external: { metric: { name: "queue", selector }, target: { type: "Value", value: "30" } },
          },
          // In the older version this one has a field of its own, and is last.
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
          },
        ],
        behavior: {
          scaleUp: {
            stabilizationWindowSeconds: 0,
            selectPolicy: "Min",
            policies: [{ type: "Pods", value: 2, periodSeconds: 60 }],
          },
          scaleDown: {
            selectPolicy: "Disabled",
            policies: [{ type: "Percent", value: 10, periodSeconds: 30 }],
          },
        },
      },
    },
  },
  {
    what: "a priority level",
    older: `${flow}/v1beta2/prioritylevelconfigurations`,
    newer: `${flow}/v1beta3/prioritylevelconfigurations`,
    newerKey: "flowcontrol.apiserver.platform.io/v1beta3",
    body: {
      metadata: { name: "everything" },
      spec: {
        type: "Limited",
        limited: {
          nominalConcurrencyShares: 17,
          lendablePercent: 40,
          borrowingLimitPercent: 5,
          limitResponse: { type: "Queue", queuing: { queues: 3, handSize: 2, queueLengthLimit: 9 } },
        },
      },
    },
  },
  {
    what: "a flow schema",
    older: `${flow}/v1beta2/flowschemas`,
    newer: `${flow}/v1beta3/flowschemas`,
    newerKey: "flowcontrol.apiserver.platform.io/v1beta3",
    body: {
      metadata: { name: "everything" },
      spec: {
        priorityLevelConfiguration: { name: "everything" },
        matchingPrecedence: 321,
        distinguisherMethod: { type: "ByNamespace" },
        rules: [
          {
            subjects: [{ kind: "User", user: { name: "ann" } }],
            resourceRules: [
              { verbs: ["get"], apiGroups: [""], resources: ["pods"], namespaces: ["*"], clusterScope: true },
            ],
            nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["/metrics"] }],
          },
        ],
      },
    },
  },
  {
    what: "a storage capacity",
    older: inNamespace("/apis/storage.platform.io/v1beta1", "csistoragecapacities"),
    newer: inNamespace("/apis/storage.platform.io/v1", "csistoragecapacities"),
    newerKey: "storage.platform.io/v1",
    body: {
      metadata: { name: "everything" },
      storageClassName: "fast",
      nodeTopology: selector,
      capacity: "10Gi",
      maximumVolumeSize: "1Gi",
    },
  },
  {
    what: "an event",
    older: inNamespace("/api/v1", "events"),
    newer: inNamespace("/apis/events.platform.io/v1", "events"),
    newerKey: "events.platform.io/v1",
    body: {
      metadata: { name: "everything" },
      eventTime: "2024-05-01T10:00:00.000000Z",
      series: { count: 3, lastObservedTime: "2024-05-01T10:05:00.000000Z" },
      reportingController: "example.com/runner",
      reportingInstance: "one",
      action: "Starting",
      reason: "Started",
      regarding: { kind: "Pod", namespace: "default", name: "web", apiVersion: "v1" },
      related: { kind: "Node", name: "node-1", apiVersion: "v1" },
      note: "started",
      type: "Normal",
    },
  },
];

/** An object without the fields that every write changes, and without the server's status of a flow schema. */
function content(object: Found): object {
  const {
    resourceVersion: _version,
    generation: _generation,
    managedFields: _fields,
    ...metadata
  } = object.metadata;
  return object.kind === "FlowSchema" ? { ...object, metadata, status: {} } : { ...object, metadata };
}

interface Found {
  readonly kind: string;
  readonly metadata: Record<string, unknown>;
  readonly status?: { readonly conditions?: readonly object[] };
}

/** The object; a flow schema once the server has written its Dangling condition, so that no other write follows. */
function read(api: Api, place: string): Promise<Found> {
  return until(
    async () => (await ok(api.get(`${place}/everything`))).body as Found,
    ({ kind, status }) => kind !== "FlowSchema" || status?.conditions !== undefined,
  );
}

describe("C-9.2-02 an object is unchanged when it is written in one version, read in another and written back", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  it.each(pairs.map((pair) => [pair.what, pair] as const))("%s", async (_what, { older, newer, body }) => {
    const api = server.admin;
    const made = content((await ok(api.post(newer, body))).body as Found);
    expect(made).toMatchObject(body);
    // Written back as read in the older version, nothing changes in the newer one.
    const shown = await read(api, older);
    await ok(api.put(`${older}/everything`, shown));
    expect(content(await read(api, newer))).toEqual(made);
    expect(content(await read(api, older))).toEqual(content(shown));

    // Recreated from the older version, it equals the original except for server-set fields.
    await ok(api.delete(`${older}/everything`));
    const { uid: _uid, creationTimestamp: _time, resourceVersion: _version, ...metadata } = shown.metadata;
    await ok(api.post(older, { ...shown, metadata }));
    const again = content(await read(api, newer)) as { metadata: object };
    const given = { uid: expect.any(String), creationTimestamp: expect.any(String) };
    expect(again).toEqual({ ...made, metadata: { ...(made as { metadata: object }).metadata, ...given } });
  });

  it("an autoscaler with two CPU metrics", async () => {
    const [older, newer] = ["v1", "v2"].map((one) =>
      inNamespace(`/apis/autoscaling/${one}`, "horizontalpodautoscalers"),
    );
    const metrics = [50, 60].map((averageUtilization) => ({
      type: "Resource",
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization } },
    }));
    const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
    const body = { metadata: { name: "two" }, spec: { scaleTargetRef, maxReplicas: 3, metrics } };
    await ok(server.admin.post(newer!, body));
    await ok(server.admin.put(`${older!}/two`, (await ok(server.admin.get(`${older!}/two`))).body));
    expect((await server.admin.get(`${newer!}/two`)).body.spec.metrics).toHaveLength(2);
  });

  it("lists and watches return every object in the version of the URL", async () => {
    for (const { older, newer } of pairs) {
      for (const place of [older, newer]) {
        const version = place
          .split("/namespaces/")[0]!
          .split("/")
          .slice(place.startsWith("/api/") ? 2 : 2);
        const apiVersion = version.slice(0, place.startsWith("/api/") ? 1 : 2).join("/");
        const { body } = await ok(server.admin.get(place));
        expect(body.apiVersion).toBe(apiVersion);
        const watching = await server.admin.watch(place);
        const { object } = await watching.next();
        watching.close();
        expect(object.apiVersion).toBe(apiVersion);
      }
    }
  });

  it("C-9.3-04 the shares of a priority level have a different name in each version", async () => {
    const shares = async (version: string) =>
      (await read(server.admin, `${flow}/${version}/prioritylevelconfigurations`)) as unknown as {
        spec: { limited: object };
      };
    expect((await shares("v1beta2")).spec.limited).toMatchObject({ assuredConcurrencyShares: 17 });
    expect((await shares("v1beta2")).spec.limited).not.toHaveProperty("nominalConcurrencyShares");
    expect((await shares("v1beta3")).spec.limited).toMatchObject({ nominalConcurrencyShares: 17 });
    expect((await shares("v1beta3")).spec.limited).not.toHaveProperty("assuredConcurrencyShares");
    await ok(
      server.admin.patch(`${flow}/v1beta2/prioritylevelconfigurations/everything`, {
        spec: { limited: { assuredConcurrencyShares: 18 } },
      }),
    );
    expect((await shares("v1beta3")).spec.limited).toMatchObject({ nominalConcurrencyShares: 18 });
  });
});

describe("C-9.2-04 objects stored in a version that is no longer served", () => {
  const dir = mkdtempSync(path.join(tmpdir(), "plinth-versions-"));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const start = (runtimeConfig: string) =>
    TestServer.start({ runtimeConfig, storage: { engine: "embedded", dir } });

  it("are read, changed and stored in a served version", async () => {
    const before = await start("");
    for (const { newer, body } of pairs) await ok(before.admin.post(newer, body));
    const shown = await Promise.all(pairs.map(({ older }) => read(before.admin, older)));
    await before.close();

    const keys = [...new Set(pairs.map(({ newerKey }) => `${newerKey}=false`))];
    const without = await start(keys.join(","));
    for (const [index, { older, newer, what }] of pairs.entries()) {
      expect((await without.admin.get(`${newer}/everything`)).status, what).toBe(404);
      expect(await read(without.admin, older)).toEqual(shown[index]);
      await ok(without.admin.patch(`${older}/everything`, { metadata: { labels: { seen: "yes" } } }));
    }
    await without.close();

    const after = await start("");
    for (const { newer, body } of pairs) {
      const now = await read(after.admin, newer);
      expect(now.metadata["labels"]).toMatchObject({ seen: "yes" });
      expect(now).toMatchObject(body);
    }
    await after.close();
  });

  it("are available again when their only version is served again", async () => {
    const deployments = "/apis/apps/v1/namespaces/team/deployments";
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "a", image: "a" }] } };
    const before = await start("");
    await ok(before.admin.post("/api/v1/namespaces", namespace("team")));
    const body = { metadata: { name: "web" }, spec: { selector: { matchLabels: { a: "b" } }, template } };
    const made = await ok(before.admin.post(deployments, body));
    await before.close();
    const without = await start("apps/v1=false");
    expect((await without.admin.get(deployments)).status).toBe(404);
    await without.close();
    const after = await start("");
    expect((await after.admin.get(`${deployments}/web`)).body).toEqual(made.body);
    await after.close();
  });
});
