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

describe("updates of a pod", () => {
  const tolerations = [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: 5 }];
  check([
    ["nothing", podWith({}), podWith({}), []],
    ["an image", podWith({}), containerWith({ image: "other", imagePullPolicy: "IfNotPresent" }), []],
    [
      "an init container's image",
      podWith({ initContainers: [{ name: "i", image: "a:1" }] }),
      podWith({ initContainers: [{ name: "i", image: "a:2" }] }),
      [],
    ],
    ["a command", podWith({}), containerWith({ command: ["a"] }), ["spec: Forbidden"]],
    [
      "one container more",
      podWith({}),
      podWith({ containers: [container, { ...container, name: "b" }] }),
      ["spec.containers: Forbidden"],
    ],
    [
      "one init container more",
      podWith({}),
      podWith({ initContainers: [{ name: "i", image: "a" }] }),
      ["spec.initContainers: Forbidden"],
    ],
    ["another node", podWith({ nodeName: "a" }), podWith({ nodeName: "b" }), ["spec: Forbidden"]],
    ["a first deadline", podWith({}), podWith({ activeDeadlineSeconds: 5 }), []],
    ["a closer deadline", podWith({ activeDeadlineSeconds: 5 }), podWith({ activeDeadlineSeconds: 4 }), []],
    [
      "a later deadline",
      podWith({ activeDeadlineSeconds: 5 }),
      podWith({ activeDeadlineSeconds: 6 }),
      ["spec.activeDeadlineSeconds: Invalid"],
    ],
    [
      "no deadline any more",
      podWith({ activeDeadlineSeconds: 5 }),
      podWith({}),
      ["spec.activeDeadlineSeconds: Invalid"],
    ],
    [
      "a further toleration",
      podWith({ tolerations }),
      podWith({ tolerations: [{ key: "b", operator: "Exists" }, ...tolerations] }),
      [],
    ],
    [
      "a toleration for longer",
      podWith({ tolerations }),
      podWith({ tolerations: [{ ...tolerations[0], tolerationSeconds: 9 }] }),
      [],
    ],
    [
      "another toleration",
      podWith({ tolerations }),
      podWith({ tolerations: [{ key: "b", operator: "Exists" }] }),
      ["spec.tolerations: Forbidden"],
    ],
    [
      "grace",
      podWith({ terminationGracePeriodSeconds: 5 }),
      podWith({ terminationGracePeriodSeconds: 1 }),
      ["spec: Forbidden"],
    ],
    [
      "negative grace",
      podWith({ terminationGracePeriodSeconds: -5 }),
      podWith({ terminationGracePeriodSeconds: 1 }),
      [],
    ],
    [
      "negative grace to another",
      podWith({ terminationGracePeriodSeconds: -5 }),
      podWith({ terminationGracePeriodSeconds: 2 }),
      ["spec: Forbidden"],
    ],
    [
      "blanks around an image",
      podWith({}),
      containerWith({ image: "other " }),
      ["spec.containers[0].image: Invalid"],
    ],
    [
      "profile of a container",
      podWith({}),
      {
        metadata: { annotations: { "container.apparmor.security.beta.platform.io/main": "unconfined" } },
        ...podWith({}),
      },
      ["metadata.annotations[container.apparmor.security.beta.platform.io/main]: Forbidden"],
    ],
  ]);
});

describe("scheduling gates", () => {
  const gates = (...names: string[]) => podWith({ schedulingGates: names.map((name) => ({ name })) });
  check(
    [
      ["one less", gates("a", "b"), gates("b"), []],
      ["none any more", gates("a"), gates(), []],
      ["a new one", gates("a"), gates("a", "b"), ["spec.schedulingGates[1].name: Forbidden"]],
    ],
    { gates: ["PodSchedulingReadiness"] },
  );
});

describe("a pod's state", () => {
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
  ])("%o tells %o", (status, told) => {
    const { object } = judgeUpdate(Pod, podWith({}), { ...podWith({}), status }, { subresource: "status" });
    expect(object["status"]).toEqual(told);
  });

  const state = (status: Part) => ({ ...podWith({}), status });
  check(
    [
      ["a value that isn't published", podWith({}), state({ phase: "Dreaming" }), []],
      [
        "condition",
        podWith({}),
        state({ conditions: [{ type: "a b", status: "True" }] }),
        ["status.conditions[0].type: Invalid"],
      ],
      ["own condition", podWith({}), state({ conditions: [{ type: "example.com/a", status: "True" }] }), []],
      [
        "nominated node",
        podWith({}),
        state({ nominatedNodeName: "A" }),
        ["status.nominatedNodeName: Invalid"],
      ],
      ["address", podWith({}), state({ podIP: "x" }), ["status.podIPs[0]: Invalid"]],
      ["two families", podWith({}), state({ podIPs: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }] }), []],
      [
        "one family twice",
        podWith({}),
        state({ podIPs: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }] }),
        ["status.podIPs: Invalid"],
      ],
      [
        "address twice",
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
  ])("%s: %s that ended with %i run again", (restartPolicy, list, exitCode, faults) => {
    const spec = podWith({ restartPolicy });
    const live = { ...Pod, prepareCreate: undefined };
    const before = { ...spec, status: { [list]: [ended(exitCode)] } };
    const now = { ...spec, status: { [list]: [runs] } };
    expect(judgeUpdate(live, before, now, { subresource: "status" }).faults).toEqual(faults);
  });
});

describe("temporary containers", () => {
  const debug = { name: "debug", image: "sh" };
  const live = { ...Pod, prepareCreate: undefined };
  const withDebug = (...ephemeralContainers: Part[]) => podWith({ ephemeralContainers });
  const at = "spec.ephemeralContainers";
  it.each<[title: string, before: Part, now: Part, faults: string[]]>([
    ["added", podWith({}), withDebug(debug), []],
    ["aimed at another", podWith({}), withDebug({ ...debug, targetContainerName: "main" }), []],
    [
      "aimed at nothing",
      podWith({}),
      withDebug({ ...debug, targetContainerName: "x" }),
      [`${at}[0].targetContainerName: FieldValueNotFound`],
    ],
    [
      "of a name that is taken",
      podWith({}),
      withDebug({ ...debug, name: "main" }),
      [`${at}[0].name: FieldValueDuplicate`],
    ],
    ["removed", withDebug(debug), podWith({}), [`${at}: FieldValueForbidden`]],
    ["changed", withDebug(debug), withDebug({ ...debug, command: ["a"] }), [`${at}: FieldValueForbidden`]],
    [
      "in another order",
      withDebug(debug, { ...debug, name: "b" }),
      withDebug({ ...debug, name: "b" }, debug),
      [],
    ],
    [
      "with what they don't have",
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
