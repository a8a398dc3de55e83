import { describe, expect, it } from "vitest";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { cellOf, container, podWith, type Part } from "./pod-support.ts";
import { readAs } from "./support.ts";

const now = Date.parse("2024-01-01T01:00:00Z");
const ago5m = "2024-01-01T00:55:00Z";

const running = { name: "main", ready: true, state: { running: {} } };
const waiting = (reason: string) => ({ name: "main", state: { waiting: { reason } } });
const ended = (terminated: Part) => ({ name: "main", state: { terminated } });
const restarted = { restartCount: 3, lastState: { terminated: { exitCode: 1, finishedAt: ago5m } } };
const ready = { conditions: [{ type: "Ready", status: "True" }] };

const two = { containers: [container, { ...container, name: "side" }] };
const init = {
  initContainers: [
    { name: "i", image: "a" },
    { name: "j", image: "a" },
  ],
};

function row(status: Part, spec: Part = {}, metadata: Part = {}): unknown[] {
  const pod = readAs(Pod, { metadata: { name: "one", ...metadata }, ...podWith(spec), status });
  return ["Ready", "Status", "Restarts"].map((column) => cellOf(Pod, pod, column, now));
}

describe("Pod table cells", () => {
  it.each<[title: string, cells: unknown[], expected: unknown[]]>([
    ["pending", row({ phase: "Pending" }), ["0/1", "Pending", "0"]],
    [
      "pending with a scheduling gate",
      row({
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
      }),
      ["0/1", "SchedulingGated", "0"],
    ],
    [
      "a container that is being created",
      row({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
      ["0/1", "ContainerCreating", "0"],
    ],
    [
      "all containers running",
      row({ phase: "Running", containerStatuses: [running] }),
      ["1/1", "Running", "0"],
    ],
    [
      "one of two containers running",
      row({ phase: "Running", containerStatuses: [running] }, two),
      ["1/2", "Running", "0"],
    ],
    [
      "CrashLoopBackOff with the time of the last restart",
      row({ phase: "Running", containerStatuses: [{ ...waiting("CrashLoopBackOff"), ...restarted }] }),
      ["0/1", "CrashLoopBackOff", "3 (5m ago)"],
    ],
    [
      "restarts without a known time",
      row({ phase: "Running", containerStatuses: [{ ...running, restartCount: 2 }] }),
      ["1/1", "Running", "2"],
    ],
    [
      "two waiting containers, of which the first gives the reason",
      row({ phase: "Running", containerStatuses: [waiting("A"), waiting("B")] }, two),
      ["0/2", "A", "0"],
    ],
    [
      "succeeded",
      row({ phase: "Succeeded", containerStatuses: [ended({ exitCode: 0, reason: "Completed" })] }),
      ["0/1", "Completed", "0"],
    ],
    [
      "one container completed, one running, and the Pod ready",
      row(
        {
          phase: "Running",
          ...ready,
          containerStatuses: [ended({ exitCode: 0, reason: "Completed" }), running],
        },
        two,
      ),
      ["1/2", "Running", "0"],
    ],
    [
      "one container completed, one running, and the Pod not ready",
      row(
        { phase: "Running", containerStatuses: [ended({ exitCode: 0, reason: "Completed" }), running] },
        two,
      ),
      ["1/2", "NotReady", "0"],
    ],
    [
      "failed with a signal",
      row({ phase: "Failed", containerStatuses: [ended({ exitCode: 0, signal: 9 })] }),
      ["0/1", "Signal:9", "0"],
    ],
    [
      "failed with an exit code",
      row({ phase: "Failed", containerStatuses: [ended({ exitCode: 7 })] }),
      ["0/1", "ExitCode:7", "0"],
    ],
    ["evicted", row({ phase: "Failed", reason: "Evicted" }), ["0/1", "Evicted", "0"]],
    [
      "init: first container",
      row({ phase: "Pending", initContainerStatuses: [waiting("PodInitializing")] }, init),
      ["0/1", "Init:0/2", "0"],
    ],
    [
      "init: second container",
      row({ phase: "Pending", initContainerStatuses: [ended({ exitCode: 0 }), running] }, init),
      ["0/1", "Init:1/2", "0"],
    ],
    [
      "init: CrashLoopBackOff",
      row(
        { phase: "Pending", initContainerStatuses: [{ ...waiting("CrashLoopBackOff"), ...restarted }] },
        init,
      ),
      ["0/1", "Init:CrashLoopBackOff", "3 (5m ago)"],
    ],
    [
      "init: exit code",
      row({ phase: "Pending", initContainerStatuses: [ended({ exitCode: 2 })] }, init),
      ["0/1", "Init:ExitCode:2", "0"],
    ],
    [
      "init: signal",
      row({ phase: "Pending", initContainerStatuses: [ended({ exitCode: 1, signal: 6 })] }, init),
      ["0/1", "Init:Signal:6", "0"],
    ],
    [
      "init: reason",
      row({ phase: "Pending", initContainerStatuses: [ended({ exitCode: 1, reason: "Error" })] }, init),
      ["0/1", "Init:Error", "0"],
    ],
    [
      "init: all completed, whose restarts are not counted",
      row(
        {
          phase: "Running",
          initContainerStatuses: [{ ...ended({ exitCode: 0 }), restartCount: 4 }],
          containerStatuses: [running],
        },
        init,
      ),
      ["1/1", "Running", "0"],
    ],
    [
      "terminating",
      row({ phase: "Running", containerStatuses: [running] }, {}, { deletionTimestamp: ago5m }),
      ["1/1", "Terminating", "0"],
    ],
    [
      "terminating on a lost node",
      row({ phase: "Running", reason: "NodeLost" }, {}, { deletionTimestamp: ago5m }),
      ["0/1", "Unknown", "0"],
    ],
  ])("%s", (_title, cells, expected) => expect(cells).toEqual(expected));

  it("shows the wide columns", () => {
    const pod = readAs(Pod, {
      ...podWith({
        nodeName: "n",
        readinessGates: [{ conditionType: "a.example/x" }, { conditionType: "a.example/y" }],
      }),
      status: {
        podIPs: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }],
        nominatedNodeName: "m",
        conditions: [
          { type: "a.example/x", status: "True" },
          { type: "a.example/y", status: "False" },
        ],
      },
    });
    const wide = ["IP", "Node", "Nominated Node", "Readiness Gates"];
    expect(wide.map((column) => cellOf(Pod, pod, column))).toEqual(["192.0.2.1", "n", "m", "1/2"]);
    const bare = readAs(Pod, podWith({}));
    expect(wide.map((column) => cellOf(Pod, bare, column))).toEqual(["<none>", "<none>", "<none>", "<none>"]);
  });

  it.each([
    ["Succeeded", ["Succeeded"]],
    ["Failed", ["Failed"]],
    ["Running", []],
  ])("row conditions of phase %s", (phase, reasons) => {
    const conditions = Pod.rowConditions!(readAs(Pod, { ...podWith({}), status: { phase } }));
    expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual(
      reasons.map((reason) => ["Completed", "True", reason]),
    );
  });

  it("supports field selectors", () => {
    const pod = readAs(Pod, {
      ...podWith({ nodeName: "n", serviceAccountName: "a" }),
      status: { phase: "Running", podIP: "192.0.2.1", nominatedNodeName: "m" },
    });
    const texts = Object.entries(Pod.selectable).map(([name, text]) => [name, text(pod)]);
    expect(Object.fromEntries(texts)).toEqual({
      "spec.nodeName": "n",
      "spec.restartPolicy": "Always",
      "spec.schedulerName": "default-scheduler",
      "spec.serviceAccountName": "a",
      "status.phase": "Running",
      "status.podIP": "192.0.2.1",
      "status.nominatedNodeName": "m",
    });
  });
});
