import { describe, expect, it } from "vitest";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { container, containerWith, podWith, type Part } from "./pod-support.ts";
import { judgeUpdate } from "./support.ts";

type Case = readonly [title: string, before: Part, now: Part, faults: readonly string[]];

function check(
  cases: readonly Case[],
  options: { gates?: readonly string[]; subresource?: string } = {},
): void {
  it.each(cases)("%s", (_title, before, now, faults) => {
    const found = judgeUpdate(Pod, before, now, options).faults;
    expect(found.map((fault) => fault.replace("FieldValue", ""))).toEqual(faults);
  });
}

describe("Pod updates", () => {
  const tolerations = [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }];
  check([
    ["accepts an unchanged spec", podWith({}), podWith({}), []],
    [
      "accepts a changed image",
      podWith({}),
      containerWith({ image: "other", imagePullPolicy: "IfNotPresent" }),
      [],
    ],
    [
      "accepts a changed image of an init container",
      podWith({ initContainers: [{ name: "i", image: "a:1" }] }),
      podWith({ initContainers: [{ name: "i", image: "a:2" }] }),
      [],
    ],
    ["rejects a changed command", podWith({}), containerWith({ command: ["a"] }), ["spec: Forbidden"]],
    [
      "rejects an added container",
      podWith({}),
      podWith({ containers: [container, { ...container, name: "b" }] }),
      ["spec.containers: Forbidden"],
    ],
    [
      "rejects an added init container",
      podWith({}),
      podWith({ initContainers: [{ name: "i", image: "a" }] }),
      ["spec.initContainers: Forbidden"],
    ],
    [
      "rejects a changed nodeName",
      podWith({ nodeName: "a" }),
      podWith({ nodeName: "b" }),
      ["spec: Forbidden"],
    ],
    ["accepts an added activeDeadlineSeconds", podWith({}), podWith({ activeDeadlineSeconds: 5 }), []],
    [
      "accepts a decreased activeDeadlineSeconds",
      podWith({ activeDeadlineSeconds: 5 }),
      podWith({ activeDeadlineSeconds: 4 }),
      [],
    ],
    [
      "rejects an increased activeDeadlineSeconds",
      podWith({ activeDeadlineSeconds: 5 }),
      podWith({ activeDeadlineSeconds: 6 }),
      ["spec.activeDeadlineSeconds: Invalid"],
    ],
    [
      "rejects a removed activeDeadlineSeconds",
      podWith({ activeDeadlineSeconds: 5 }),
      podWith({}),
      ["spec.activeDeadlineSeconds: Invalid"],
    ],
    [
      "accepts an added toleration",
      podWith({ tolerations }),
      podWith({ tolerations: [{ key: "b", operator: "Exists" }, ...tolerations] }),
      [],
    ],
    [
      "accepts increased tolerationSeconds",
      podWith({ tolerations }),
      podWith({ tolerations: [{ ...tolerations[0], tolerationSeconds: 9 }] }),
      [],
    ],
    [
      "rejects a replaced toleration",
      podWith({ tolerations }),
      podWith({ tolerations: [{ key: "b", operator: "Exists" }] }),
      ["spec.tolerations: Forbidden"],
    ],
    [
      "rejects a changed terminationGracePeriodSeconds",
      podWith({ terminationGracePeriodSeconds: 5 }),
      podWith({ terminationGracePeriodSeconds: 1 }),
      ["spec: Forbidden"],
    ],
    [
      "accepts a terminationGracePeriodSeconds changed from negative to 1",
      podWith({ terminationGracePeriodSeconds: -5 }),
      podWith({ terminationGracePeriodSeconds: 1 }),
      [],
    ],
    [
      "rejects a terminationGracePeriodSeconds changed from negative to another value than 1",
      podWith({ terminationGracePeriodSeconds: -5 }),
      podWith({ terminationGracePeriodSeconds: 2 }),
      ["spec: Forbidden"],
    ],
    [
      "rejects an image with surrounding spaces",
      podWith({}),
      containerWith({ image: "other " }),
      ["spec.containers[0].image: Invalid"],
    ],
    [
      "rejects an added AppArmor annotation",
      podWith({}),
      {
        metadata: { annotations: { "container.apparmor.security.beta.platform.io/main": "unconfined" } },
        ...podWith({}),
      },
      ["metadata.annotations[container.apparmor.security.beta.platform.io/main]: Forbidden"],
    ],
  ]);
});

describe("Pod updates: scheduling gates", () => {
  const gates = (...names: string[]) => podWith({ schedulingGates: names.map((name) => ({ name })) });
  check(
    [
      ["accepts a removed scheduling gate", gates("a", "b"), gates("b"), []],
      ["accepts the removal of the last scheduling gate", gates("a"), gates(), []],
      [
        "rejects an added scheduling gate",
        gates("a"),
        gates("a", "b"),
        ["spec.schedulingGates[1].name: Forbidden"],
      ],
    ],
    { gates: ["PodSchedulingReadiness"] },
  );
});

describe("Pod status", () => {
  it("is not changed by an update of the pod", () => {
    const { object } = judgeUpdate(Pod, podWith({}), { ...podWith({}), status: { phase: "Running" } });
    expect(object["status"]).toEqual({ phase: "Pending", qosClass: "BestEffort" });
  });

  it("is the only change when the status subresource is written", () => {
    const written = { ...containerWith({ image: "other" }), status: { phase: "Running" } };
    const { object, faults } = judgeUpdate(Pod, podWith({}), written, { subresource: "status" });
    expect(faults).toEqual([]);
    expect(object["status"]).toEqual({ phase: "Running" });
    expect(object).toMatchObject({ spec: { containers: [container] } });
  });

  it.each<[status: Part, told: Part]>([
    [{ podIP: "192.0.2.1" }, { podIP: "192.0.2.1", podIPs: [{ ip: "192.0.2.1" }] }],
    [{ podIPs: [{ ip: "192.0.2.1" }] }, { podIP: "192.0.2.1", podIPs: [{ ip: "192.0.2.1" }] }],
    [
      { podIP: "192.0.2.2", podIPs: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }] },
      { podIP: "192.0.2.2", podIPs: [{ ip: "192.0.2.2" }] },
    ],
  ])("podIP and podIPs are synchronized: %o becomes %o", (status, told) => {
    const { object } = judgeUpdate(Pod, podWith({}), { ...podWith({}), status }, { subresource: "status" });
    expect(object["status"]).toEqual(told);
  });

  const state = (status: Part) => ({ ...podWith({}), status });
  check(
    [
      ["accepts an unknown phase", podWith({}), state({ phase: "Dreaming" }), []],
      [
        "rejects a malformed condition type",
        podWith({}),
        state({ conditions: [{ type: "a b", status: "True" }] }),
        ["status.conditions[0].type: Invalid"],
      ],
      [
        "accepts a condition type with a domain",
        podWith({}),
        state({ conditions: [{ type: "example.com/a", status: "True" }] }),
        [],
      ],
      [
        "rejects a malformed nominatedNodeName",
        podWith({}),
        state({ nominatedNodeName: "A" }),
        ["status.nominatedNodeName: Invalid"],
      ],
      ["rejects a malformed podIP", podWith({}), state({ podIP: "x" }), ["status.podIPs[0]: Invalid"]],
      [
        "accepts an IPv4 and an IPv6 address",
        podWith({}),
        state({ podIPs: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }] }),
        [],
      ],
      [
        "rejects two addresses of the same IP family",
        podWith({}),
        state({ podIPs: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }] }),
        ["status.podIPs: Invalid"],
      ],
      [
        "rejects a duplicate address",
        podWith({}),
        state({ podIPs: [{ ip: "192.0.2.1" }, { ip: "192.0.2.1" }] }),
        ["status.podIPs[1]: Duplicate", "status.podIPs: Invalid"],
      ],
    ],
    { subresource: "status" },
  );

  const ended = (exitCode: number) => ({ name: "main", state: { terminated: { exitCode } } });
  const runs = { name: "main", state: { running: {} } };
  it.each<[policy: string, list: string, exitCode: number, faults: string[]]>([
    ["Always", "containerStatuses", 1, []],
    ["Never", "containerStatuses", 1, ["status.containerStatuses[0].state: FieldValueForbidden"]],
    ["OnFailure", "containerStatuses", 1, []],
    ["OnFailure", "containerStatuses", 0, ["status.containerStatuses[0].state: FieldValueForbidden"]],
    ["Never", "initContainerStatuses", 0, ["status.initContainerStatuses[0].state: FieldValueForbidden"]],
    [
      "OnFailure",
      "ephemeralContainerStatuses",
      1,
      ["status.ephemeralContainerStatuses[0].state: FieldValueForbidden"],
    ],
  ])(
    "with restartPolicy %s, validates %s that change from exit code %i to running",
    (restartPolicy, list, exitCode, faults) => {
      const spec = podWith({ restartPolicy });
      const live = { ...Pod, prepareCreate: undefined };
      const before = { ...spec, status: { [list]: [ended(exitCode)] } };
      const now = { ...spec, status: { [list]: [runs] } };
      expect(judgeUpdate(live, before, now, { subresource: "status" }).faults).toEqual(faults);
    },
  );
});

describe("Pod ephemeral containers", () => {
  const debug = { name: "debug", image: "sh" };
  const live = { ...Pod, prepareCreate: undefined };
  const withDebug = (...ephemeralContainers: Part[]) => podWith({ ephemeralContainers });
  const at = "spec.ephemeralContainers";
  it.each<[title: string, before: Part, now: Part, faults: string[]]>([
    ["accepts an added ephemeral container", podWith({}), withDebug(debug), []],
    ["accepts a targetContainerName", podWith({}), withDebug({ ...debug, targetContainerName: "main" }), []],
    [
      "rejects an unknown targetContainerName",
      podWith({}),
      withDebug({ ...debug, targetContainerName: "x" }),
      [`${at}[0].targetContainerName: FieldValueNotFound`],
    ],
    [
      "rejects a name that a container has",
      podWith({}),
      withDebug({ ...debug, name: "main" }),
      [`${at}[0].name: FieldValueDuplicate`],
    ],
    ["rejects a removed ephemeral container", withDebug(debug), podWith({}), [`${at}: FieldValueForbidden`]],
    [
      "rejects a changed ephemeral container",
      withDebug(debug),
      withDebug({ ...debug, command: ["a"] }),
      [`${at}: FieldValueForbidden`],
    ],
    [
      "accepts reordered ephemeral containers",
      withDebug(debug, { ...debug, name: "b" }),
      withDebug({ ...debug, name: "b" }, debug),
      [],
    ],
    [
      "rejects an ephemeral container with ports, resources, probes and lifecycle",
      podWith({}),
      withDebug({
        ...debug,
        ports: [{ containerPort: 1 }],
        resources: { limits: { cpu: "1" } },
        livenessProbe: { exec: { command: ["a"] } },
        lifecycle: { preStop: { exec: { command: ["a"] } } },
      }),
      [
        `${at}[0].ports: FieldValueForbidden`,
        `${at}[0].livenessProbe: FieldValueForbidden`,
        `${at}[0].lifecycle: FieldValueForbidden`,
        `${at}[0].resources: FieldValueForbidden`,
      ],
    ],
  ])("%s", (_title, before, now, faults) => {
    expect(judgeUpdate(live, before, now, { subresource: "ephemeralcontainers" }).faults).toEqual(faults);
  });

  it("no other field changes through the ephemeralcontainers subresource", () => {
    const now = containerWith({ image: "other" }, { ephemeralContainers: [debug] });
    const { object } = judgeUpdate(live, podWith({}), now, { subresource: "ephemeralcontainers" });
    expect(object).toMatchObject({ spec: { containers: [container], ephemeralContainers: [debug] } });
  });

  it("mirror pods reject ephemeral containers", () => {
    const metadata = { annotations: { "platform.io/config.mirror": "x" } };
    const before = { metadata, ...podWith({ nodeName: "n" }) };
    const now = { metadata, ...podWith({ nodeName: "n", ephemeralContainers: [debug] }) };
    expect(judgeUpdate(live, before, now, { subresource: "ephemeralcontainers" }).faults).toEqual([
      ": FieldValueForbidden",
    ]);
  });
});
