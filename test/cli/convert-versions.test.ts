import { describe, expect, it } from "vitest";
import { convertText, documents } from "./convert-support.ts";

const budget = (apiVersion: string) => ({
  apiVersion,
  kind: "PodDisruptionBudget",
  metadata: { name: "web" },
  spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } },
});
const autoscaler = {
  apiVersion: "autoscaling/v1",
  kind: "HorizontalPodAutoscaler",
  metadata: {
    name: "web",
    annotations: {
      "autoscaling.alpha.platform.io/metrics":
        '[{"type":"Pods","pods":{"metricName":"hits","targetAverageValue":"10"}}]',
    },
  },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 4,
    targetCPUUtilizationPercentage: 50,
  },
};
const autoscalerV2 = {
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 4,
    metrics: [
      {
        type: "Pods",
        pods: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "10" } },
      },
      {
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
      },
    ],
  },
};
const level = (version: string, shares: string) => ({
  apiVersion: `flowcontrol.apiserver.platform.io/${version}`,
  kind: "PriorityLevelConfiguration",
  metadata: { name: "busy" },
  spec: { type: "Limited", limited: { [shares]: 40, limitResponse: { type: "Reject" } } },
});
const capacity = (version: string) => ({
  apiVersion: `storage.platform.io/${version}`,
  kind: "CSIStorageCapacity",
  metadata: { name: "fast" },
  storageClassName: "fast",
  capacity: "10Gi",
});
const eventTimes = {
  eventTime: "2024-05-01T10:00:00.000000Z",
  type: "Normal",
  reason: "Started",
  action: "Starting",
};
const coreEvent = {
  apiVersion: "v1",
  kind: "Event",
  metadata: { name: "web", namespace: "shop" },
  ...eventTimes,
  involvedObject: { kind: "Pod", namespace: "shop", name: "web" },
  message: "started",
  reportingComponent: "example.com/runner",
  reportingInstance: "one",
};
const newEvent = {
  apiVersion: "events.platform.io/v1",
  kind: "Event",
  metadata: { name: "web", namespace: "shop" },
  ...eventTimes,
  regarding: { kind: "Pod", namespace: "shop", name: "web" },
  note: "started",
  reportingController: "example.com/runner",
  reportingInstance: "one",
};

describe("served versions are converted by the conversion functions of their kinds", () => {
  it.each<[string, object, object]>([
    ["autoscaling/v1 to v2, with the metrics of its annotations", autoscaler, autoscalerV2],
    ["autoscaling/v2 to v1", autoscalerV2, autoscaler],
    [
      "a priority level to v1beta3",
      level("v1beta2", "assuredConcurrencyShares"),
      level("v1beta3", "nominalConcurrencyShares"),
    ],
    [
      "a priority level to v1beta2",
      level("v1beta3", "nominalConcurrencyShares"),
      level("v1beta2", "assuredConcurrencyShares"),
    ],
    ["a capacity to v1", capacity("v1beta1"), capacity("v1")],
    ["a capacity to v1beta1", capacity("v1"), capacity("v1beta1")],
    ["a removed capacity by way of the served one", capacity("v1alpha1"), capacity("v1")],
    ["an event to its own group", coreEvent, newEvent],
    ["an event to the core group", newEvent, coreEvent],
  ])("%s", async (_what, before, after) => {
    const { apiVersion } = after as { apiVersion: string };
    const { output, lines, code } = await convertText(
      before,
      "--vocabulary=platform",
      `--output-version=${apiVersion}`,
    );
    expect(documents(output)).toEqual([after]);
    expect(lines).toEqual([]);
    expect(code).toBe(0);
  });

  it("without --output-version, versions that aren't deprecated are unchanged", async () => {
    for (const object of [autoscaler, autoscalerV2, coreEvent]) {
      expect(documents((await convertText(object)).output)).toEqual([object]);
    }
  });

  it("a removed version is converted to the stored version and then to another served one", async () => {
    const old = {
      ...autoscalerV2,
      apiVersion: "autoscaling/v2beta1",
      spec: {
        ...autoscalerV2.spec,
        metrics: [{ type: "Resource", resource: { name: "cpu", targetAverageUtilization: 50 } }],
      },
    };
    const { output } = await convertText(old, "--output-version", "autoscaling/v1");
    expect(documents(output)).toEqual([{ ...autoscaler, metadata: { name: "web" } }]);
  });
});

describe("--output-version", () => {
  it("leaves objects of this version and of other groups unchanged, and reports them with --verbose", async () => {
    const text = [budget("policy/v1"), budget("policy/v1beta1"), capacity("v1beta1")].map((one) =>
      JSON.stringify(one),
    );
    const run = (...words: string[]) =>
      convertText(text.join("\n---\n"), "--output-version=policy/v1", ...words);
    const quiet = await run();
    expect(documents(quiet.output)).toEqual([budget("policy/v1"), budget("policy/v1"), capacity("v1beta1")]);
    expect(quiet.lines).toEqual([]);
    expect((await run("--verbose")).lines).toEqual([
      "-: document 1 (PodDisruptionBudget web): it is of policy/v1 already",
      "-: document 3 (CSIStorageCapacity fast): storage.platform.io/v1beta1 CSIStorageCapacity is no kind of policy/v1",
    ]);
  });

  it("converts kinds from their former group", async () => {
    const old = {
      apiVersion: "extensions/v1beta1",
      kind: "ReplicaSet",
      spec: { selector: { matchLabels: { a: "b" } } },
    };
    const ingress = {
      apiVersion: "extensions/v1beta1",
      kind: "Ingress",
      spec: { backend: { serviceName: "a" } },
    };
    const { output } = await convertText(
      `${JSON.stringify(old)}\n---\n${JSON.stringify(ingress)}`,
      "--output-version=apps/v1",
    );
    expect(documents(output).map(({ apiVersion }) => apiVersion)).toEqual(["apps/v1", "extensions/v1beta1"]);
  });

  it("reports an object of the group that has no conversion to it, and leaves it unchanged", async () => {
    const { output, lines, code } = await convertText(
      capacity("v1"),
      "--output-version=storage.platform.io/v1beta1",
    );
    expect([documents(output)[0].apiVersion, lines, code]).toEqual(["storage.platform.io/v1beta1", [], 0]);
    const other = {
      apiVersion: "storage.platform.io/v1",
      kind: "StorageClass",
      metadata: { name: "a" },
      provisioner: "b",
    };
    const failed = await convertText(other, "--output-version=storage.platform.io/v1beta1");
    expect(documents(failed.output)).toEqual([other]);
    expect(failed.lines).toEqual([
      "-: document 1 (StorageClass a): cannot be converted: no conversion leads to storage.platform.io/v1beta1",
    ]);
    expect(failed.code).toBe(1);
  });
});
