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

describe("a pod's row", () => {
  it.each<[title: string, cells: unknown[], expected: unknown[]]>([
    ["not placed yet", row({ phase: "Pending" }), ["0/1", "Pending", "0"]],
    [
      "held by a gate",
      row({
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
      }),
      ["0/1", "SchedulingGated", "0"],
    ],
    [
      "being made",
      row({ phase: "Pending", containerStatuses: [waiting("ContainerCreating")] }),
      ["0/1", "ContainerCreating", "0"],
    ],
    ["running", row({ phase: "Running", containerStatuses: [running] }), ["1/1", "Running", "0"]],
    [
      "one of two runs",
      row({ phase: "Running", containerStatuses: [running] }, two),
      ["1/2", "Running", "0"],
    ],
    [
      "started again and again",
      row({ phase: "Running", containerStatuses: [{ ...waiting("CrashLoopBackOff"), ...restarted }] }),
      ["0/1", "CrashLoopBackOff", "3 (5m ago)"],
    ],
    [
      "started again, nobody knows when",
      row({ phase: "Running", containerStatuses: [{ ...running, restartCount: 2 }] }),
      ["1/1", "Running", "2"],
    ],
    [
      "the first with something to say",
      row({ phase: "Running", containerStatuses: [waiting("A"), waiting("B")] }, two),
      ["0/2", "A", "0"],
    ],
    [
      "done",
      row({ phase: "Succeeded", containerStatuses: [ended({ exitCode: 0, reason: "Completed" })] }),
      ["0/1", "Completed", "0"],
    ],
    [
      "one is done, one runs and is ready",
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
      "one is done, one runs, the pod isn't ready",
      row(
        { phase: "Running", containerStatuses: [ended({ exitCode: 0, reason: "Completed" }), running] },
        two,
      ),
      ["1/2", "NotReady", "0"],
    ],
    [
      "ended by a signal",
      row({ phase: "Failed", containerStatuses: [ended({ exitCode: 0, signal: 9 })] }),
      ["0/1", "Signal:9", "0"],
    ],
    [
      "ended with a code",
      row({ phase: "Failed", containerStatuses: [ended({ exitCode: 7 })] }),
      ["0/1", "ExitCode:7", "0"],
    ],
    ["evicted", row({ phase: "Failed", reason: "Evicted" }), ["0/1", "Evicted", "0"]],
    [
      "init: first",
      row({ phase: "Pending", initContainerStatuses: [waiting("PodInitializing")] }, init),
      ["0/1", "Init:0/2", "0"],
    ],
    [
      "init: second",
      row({ phase: "Pending", initContainerStatuses: [ended({ exitCode: 0 }), running] }, init),
      ["0/1", "Init:1/2", "0"],
    ],
    [
      "init: started again",
      row(
        { phase: "Pending", initContainerStatuses: [{ ...waiting("CrashLoopBackOff"), ...restarted }] },
        init,
      ),
      ["0/1", "Init:CrashLoopBackOff", "3 (5m ago)"],
    ],
    [
      "init: code",
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
      "init: all done, whose restarts no longer count",
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
      "going",
      row({ phase: "Running", containerStatuses: [running] }, {}, { deletionTimestamp: ago5m }),
      ["1/1", "Terminating", "0"],
    ],
    [
      "going from a lost node",
      row({ phase: "Running", reason: "NodeLost" }, {}, { deletionTimestamp: ago5m }),
      ["0/1", "Unknown", "0"],
    ],
  ])("%s", (_title, cells, expected) => expect(cells).toEqual(expected));

  it("wide columns", () => {
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
  ])("a pod that is %s is told to have finished by its row", (phase, reasons) => {
    const conditions = Pod.rowConditions!(readAs(Pod, { ...podWith({}), status: { phase } }));
    expect(conditions.map(({ type, status, reason }) => [type, status, reason])).toEqual(
      reasons.map((reason) => ["Completed", "True", reason]),
    );
  });

  it("fields that select", () => {
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
