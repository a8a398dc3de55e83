import { describe, expect, it } from "vitest";
import { Binding } from "../../src/kinds/core/binding.ts";
import { PodTemplate } from "../../src/kinds/core/pod-template.ts";
import { imageTag } from "../../src/kinds/core/pod/image-name.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import {
  cellOf,
  container,
  containerWith,
  filledContainer,
  filledSpec,
  filledTemplate,
  podWith,
  template,
  type Part,
} from "./pod-support.ts";
import { judgeNew, readAs } from "./support.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

describe("Pod defaults", () => {
  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(Pod, podWith({}));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ ...filledSpec, enableServiceLinks: true });
    expect(object["status"]).toEqual({ phase: "Pending", qosClass: "BestEffort" });
  });

  it.each<[title: string, given: Part, filled: Part]>([
    [
      "requests default to limits",
      { resources: { limits: { cpu: "1" } } },
      { resources: { limits: { cpu: "1" }, requests: { cpu: "1" } } },
    ],
    [
      "requests of the client are kept",
      { resources: { limits: { cpu: "1", memory: "2Gi" }, requests: { cpu: "500m" } } },
      { resources: { limits: { cpu: "1", memory: "2Gi" }, requests: { cpu: "500m", memory: "2Gi" } } },
    ],
    [
      "quantities are rounded up to 0.001",
      { resources: { requests: { cpu: "100u" } } },
      { resources: { requests: { cpu: "1m" } } },
    ],
    [
      "imagePullPolicy defaults to Always for an image without a tag",
      { image: "nginx" },
      { image: "nginx", imagePullPolicy: "Always" },
    ],
    ["imagePullPolicy of the client is kept", { imagePullPolicy: "Never" }, { imagePullPolicy: "Never" }],
    [
      "the protocol of a port defaults to TCP",
      { ports: [{ containerPort: 80 }] },
      { ports: [{ containerPort: 80, protocol: "TCP" }] },
    ],
    [
      "probes get default values",
      { livenessProbe: { httpGet: { port: 80 } } },
      {
        livenessProbe: {
          httpGet: { path: "/", port: 80, scheme: "HTTP" },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    ],
    [
      "apiVersion of a fieldRef defaults to v1",
      { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] },
      { env: [{ name: "A", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } }] },
    ],
  ])("container: %s", (_title, given, filled) => {
    const { object, faults } = judgeNew(Pod, containerWith(given));
    expect(faults).toEqual([]);
    expect((object["spec"] as { containers: unknown[] }).containers).toEqual([
      { ...filledContainer, ...filled },
    ]);
  });

  it.each<[title: string, given: Part, filled: Part]>([
    [
      "serviceAccount is set to serviceAccountName",
      { serviceAccountName: "a" },
      { serviceAccountName: "a", serviceAccount: "a" },
    ],
    [
      "serviceAccountName is set to serviceAccount",
      { serviceAccount: "b" },
      { serviceAccountName: "b", serviceAccount: "b" },
    ],
    [
      "serviceAccountName overrides serviceAccount",
      { serviceAccountName: "a", serviceAccount: "b" },
      { serviceAccountName: "a", serviceAccount: "a" },
    ],
    [
      "a volume without a source gets emptyDir",
      { volumes: [{ name: "v" }] },
      { volumes: [{ name: "v", emptyDir: {} }] },
    ],
    [
      "defaultMode defaults to 0644",
      {
        volumes: [
          { name: "v", secret: { secretName: "s" } },
          { name: "w", configMap: { name: "c" } },
        ],
      },
      {
        volumes: [
          { name: "v", secret: { secretName: "s", defaultMode: 420 } },
          { name: "w", configMap: { name: "c", defaultMode: 420 } },
        ],
      },
    ],
    [
      "expirationSeconds of a serviceAccountToken defaults to 3600",
      {
        serviceAccountName: "a",
        serviceAccount: "a",
        volumes: [{ name: "v", projected: { sources: [{ serviceAccountToken: { path: "t" } }] } }],
      },
      {
        serviceAccountName: "a",
        serviceAccount: "a",
        volumes: [
          {
            name: "v",
            projected: {
              sources: [{ serviceAccountToken: { expirationSeconds: 3600, path: "t" } }],
              defaultMode: 420,
            },
          },
        ],
      },
    ],
  ])("spec: %s", (_title, given, filled) => {
    const { object, faults } = judgeNew(Pod, podWith(given));
    expect(faults).toEqual([]);
    expect(object["spec"]).toEqual({ ...filledSpec, enableServiceLinks: true, ...filled });
  });

  it("hostPort defaults to containerPort when hostNetwork is true", () => {
    const { object } = judgeNew(
      Pod,
      containerWith({ ports: [{ containerPort: 80 }] }, { hostNetwork: true }),
    );
    expect(object).toMatchObject({
      spec: { containers: [{ ports: [{ containerPort: 80, hostPort: 80 }] }] },
    });
  });

  it.each([
    ["nginx", "latest"],
    ["nginx:latest", "latest"],
    ["nginx:1.25", "1.25"],
    ["localhost:5000/a/b", "latest"],
    ["registry.example:5000/a/b:v1", "v1"],
    [`nginx@sha256:${"a".repeat(64)}`, undefined],
    [`nginx:latest@sha256:${"a".repeat(64)}`, "latest"],
    ["Nginx", undefined],
    ["", undefined],
    ["a:b:c", undefined],
    ["a".repeat(64), undefined],
  ])("tag of image %s", (image, tag) => expect(imageTag(image)).toBe(tag));

  it.each([
    ["a long name with hyphens", `${"a-".repeat(400)}!`],
    ["many path segments", `${"a/".repeat(500)}!`],
  ])("finds the tag of a long image name in less than 100 ms: %s", (_title, image) => {
    const usedMs = cpuStopwatch();
    imageTag(image);
    expect(usedMs()).toBeLessThan(100);
  });
});

describe("Pod QoS class", () => {
  const both = { cpu: "1", memory: "1Gi" };
  it.each<[expected: string, resources: Part]>([
    ["BestEffort", {}],
    ["BestEffort", { limits: { cpu: "0" } }],
    ["Burstable", { requests: { cpu: "1" } }],
    ["Burstable", { limits: { cpu: "1" } }],
    ["Guaranteed", { limits: both }],
    ["Guaranteed", { limits: both, requests: { cpu: "1000m", memory: "1024Mi" } }],
    ["Burstable", { limits: both, requests: { cpu: "1", memory: "1M" } }],
    ["BestEffort", { limits: { "ephemeral-storage": "1Gi" } }],
  ])("is %s for %j", (expected, resources) => {
    const { object } = judgeNew(Pod, containerWith({ resources }));
    expect((object["status"] as Part)["qosClass"]).toBe(expected);
  });

  it("depends on the resources of every container", () => {
    const spec = {
      containers: [
        { ...container, resources: { limits: both } },
        { ...container, name: "b" },
      ],
    };
    expect(judgeNew(Pod, podWith(spec)).object["status"]).toMatchObject({ qosClass: "Burstable" });
  });
});

describe("Pod create", () => {
  it("has its status set by the server and ignores the status of the request", () => {
    const { object } = judgeNew(Pod, { ...podWith({}), status: { phase: "Running", podIP: "192.0.2.1" } });
    expect(object["status"]).toEqual({ phase: "Pending", qosClass: "BestEffort" });
  });

  it("gets the condition SchedulingGated when it has scheduling gates", () => {
    const given = podWith({ schedulingGates: [{ name: "example.com/a" }] });
    const { object, faults } = judgeNew(Pod, given, { gates: ["PodSchedulingReadiness"] });
    expect(faults).toEqual([]);
    expect(object["status"]).toMatchObject({
      conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
    });
    const placed = podWith({ schedulingGates: [{ name: "example.com/a" }], nodeName: "n" });
    expect(judgeNew(Pod, placed, { gates: ["PodSchedulingReadiness"] }).faults).toEqual([
      "spec.nodeName: FieldValueForbidden",
    ]);
  });

  it("rejects ephemeral containers", () => {
    expect(judgeNew(Pod, podWith({ ephemeralContainers: [{ name: "debug", image: "sh" }] })).faults).toEqual([
      "spec.ephemeralContainers: FieldValueForbidden",
    ]);
  });
});

describe("Pod grace period on delete", () => {
  const running = { spec: { containers: [container], nodeName: "n", terminationGracePeriodSeconds: 20 } };
  it.each<[title: string, pod: Part, asked: number | undefined, seconds: number]>([
    ["defaults to terminationGracePeriodSeconds", running, undefined, 20],
    ["is the requested period", running, 5, 5],
    ["is 0 when 0 is requested", running, 0, 0],
    ["is 1 when a negative period is requested", running, -5, 1],
    ["is 0 for an unscheduled Pod", podWith({}), 5, 0],
    ["is 0 for a Pod in phase Failed", { ...running, status: { phase: "Failed" } }, 5, 0],
    ["is 0 for a Pod in phase Succeeded", { ...running, status: { phase: "Succeeded" } }, undefined, 0],
  ])("%s", (_title, pod, asked, seconds) => {
    expect(Pod.gracePeriodSeconds!(readAs(Pod, pod), asked)).toBe(seconds);
  });
});

describe("Pod warnings", () => {
  const context = { vocabulary: platform, enabled: () => false, subresource: "" };
  it.each<[pod: Part, warnings: string[]]>([
    [podWith({}), []],
    [podWith({ terminationGracePeriodSeconds: -1 }), []],
    [
      podWith({ nodeSelector: { "beta.platform.io/os": "linux" } }),
      ["spec.nodeSelector[beta.platform.io/os]"],
    ],
    [podWith({ volumes: [{ name: "v", gitRepo: { repository: "r" } }] }), ["spec.volumes[0].gitRepo"]],
    [
      podWith({ imagePullSecrets: [{ name: "a" }, { name: "a" }, {}] }),
      ["spec.imagePullSecrets[1].name", "spec.imagePullSecrets[2].name"],
    ],
    [
      containerWith({ resources: { limits: { memory: "100m" } } }),
      ["spec.containers[0].resources.limits[memory]", "spec.containers[0].resources.requests[memory]"],
    ],
    [
      containerWith({ env: [{ name: "A" }, { name: "A" }] }, { overhead: { memory: "100m" } }),
      ["spec.overhead[memory]", "spec.containers[0].env[1].name"],
    ],
    [podWith({ hostAliases: [{ ip: "192.0.2.1" }, { ip: "192.0.2.1" }] }), ["spec.hostAliases[1].ip"]],
    [
      { metadata: { annotations: { "scheduler.alpha.platform.io/critical-pod": "" } }, ...podWith({}) },
      ["metadata.annotations[scheduler.alpha.platform.io/critical-pod]"],
    ],
    [
      {
        metadata: { annotations: { "seccomp.security.alpha.platform.io/pod": "unconfined" } },
        ...podWith({ securityContext: { seccompProfile: { type: "Unconfined" } } }),
      },
      [],
    ],
  ])("returns the warnings of case %#", (pod, places) => {
    const warnings = Pod.warnings!(readAs(Pod, pod), context, undefined);
    expect(warnings.map((text) => text.slice(0, text.indexOf(": ")))).toEqual(places);
  });
});

describe("bindings", () => {
  it.each<[target: Part, faults: string[]]>([
    [{ name: "n" }, []],
    [{ kind: "Node", name: "n" }, []],
    [{ kind: "Minion", name: "n" }, ["target.kind: FieldValueNotSupported"]],
    [{ kind: "Node" }, ["target.name: FieldValueRequired"]],
  ])("%o", (target, faults) => expect(judgeNew(Binding, { target }).faults).toEqual(faults));
});

describe("PodTemplate", () => {
  it("a minimal object gets its defaults and is valid", () => {
    const { object, faults } = judgeNew(PodTemplate, { template });
    expect(faults).toEqual([]);
    expect(object["template"]).toEqual(filledTemplate);
  });

  it.each<[title: string, given: Part, faults: string[]]>([
    [
      "rejects an empty list of containers",
      { spec: { containers: [] } },
      ["template.spec.containers: FieldValueRequired"],
    ],
    [
      "rejects malformed labels",
      { metadata: { labels: { "a b": "c" } } },
      ["template.labels: FieldValueInvalid"],
    ],
    [
      "rejects malformed annotations",
      { metadata: { annotations: { "a b": "c" } } },
      ["template.annotations: FieldValueInvalid"],
    ],
    [
      "rejects ephemeral containers",
      { spec: { containers: [container], ephemeralContainers: [{ name: "d", image: "sh" }] } },
      ["template.spec.ephemeralContainers: FieldValueForbidden"],
    ],
    [
      "accepts an image with surrounding spaces",
      { spec: { containers: [{ ...container, image: " a" }] } },
      [],
    ],
  ])("%s", (_title, given, faults) => {
    expect(judgeNew(PodTemplate, { template: { ...template, ...given } }).faults).toEqual(faults);
  });

  it("shows its table cells", () => {
    const object = readAs(PodTemplate, { template });
    expect(cellOf(PodTemplate, object, "Containers")).toBe("main");
    expect(cellOf(PodTemplate, object, "Images")).toBe("example/app:1.0");
    expect(cellOf(PodTemplate, object, "Pod Labels")).toBe("app=web");
    expect(cellOf(PodTemplate, readAs(PodTemplate, {}), "Pod Labels")).toBe("<none>");
  });
});
