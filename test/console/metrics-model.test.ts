import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { accessPaths } from "../../console/src/model/access-graph.ts";
import { auditRows, type AuditEvent } from "../../console/src/model/audit-events.ts";
import { leaseRows, systemNamespace } from "../../console/src/model/leases.ts";
import { bucketsOf, parseMetrics, quantileBetween, sumOf, sumsBy } from "../../console/src/model/metrics.ts";
import { toneOf } from "../../console/src/model/tones.ts";
import { TestServer } from "../support/api.ts";

describe("a metrics page", () => {
  const page = [
    "# HELP requests_total Requests.",
    "# TYPE requests_total counter",
    'requests_total{verb="GET",code="200"} 3',
    'requests_total{verb="GET",code="500"} 1 1700000000000',
    String.raw`requests_total{verb="a\"b\\c\nd}",code=""} 2`,
    "plain 1.5e3",
    "broken",
    "broken{",
    'broken{a="b',
    "",
  ].join("\n");

  it("is read with labels, also with escapes, and without lines that aren't samples", () => {
    const metrics = parseMetrics(page);
    expect([...metrics.keys()]).toEqual(["requests_total", "plain"]);
    expect(sumOf(metrics, "requests_total")).toBe(6);
    expect(sumOf(metrics, "requests_total", ({ code }) => code === "500")).toBe(1);
    expect(sumsBy(metrics, "requests_total", "verb")).toEqual(
      new Map([
        ["GET", 4],
        ['a"b\\c\nd}', 2],
      ]),
    );
    expect(sumOf(metrics, "plain")).toBe(1500);
    expect(sumOf(metrics, "missing")).toBe(0);
  });

  it("of any text is read without an exception", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "{", "}", "=", '"', ",", "\\", " ", "1", "\n")), (parts) => {
        expect(parseMetrics(parts.join("")).size).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it("of a server has the metrics of the console's charts", async () => {
    const server = await TestServer.start({ console: true });
    try {
      await server.admin.get("/api/v1/namespaces");
      const metrics = parseMetrics((await server.admin.get("/metrics")).text);
      for (const name of [
        "apiserver_request_total",
        "apiserver_storage_objects",
        "apiserver_storage_revision",
        "apiserver_flowcontrol_current_executing_requests",
        "apiserver_flowcontrol_current_limit_seats",
        "workqueue_depth",
        "workqueue_adds_total",
        "process_resident_memory_bytes",
        "process_cpu_seconds_total",
      ])
        expect([name, metrics.has(name)]).toEqual([name, true]);
      expect(bucketsOf(metrics, "apiserver_request_duration_seconds").at(-1)![1]).toBeGreaterThan(0);
    } finally {
      await server.close();
    }
  });
});

describe("a quantile between two states of a histogram", () => {
  const state = (...counts: readonly [number, number][]) => counts;

  it("is interpolated in its bucket, and is the last bound above all others", () => {
    const before = state([1, 10], [2, 10], [Infinity, 10]);
    expect(quantileBetween(before, state([1, 10], [2, 20], [Infinity, 20]), 0.5)).toBe(1.5);
    expect(quantileBetween(before, state([1, 20], [2, 20], [Infinity, 20]), 0.5)).toBe(0.5);
    expect(quantileBetween(before, state([1, 10], [2, 10], [Infinity, 20]), 0.5)).toBe(2);
  });

  it("is no number without observations", () => {
    expect(quantileBetween(state([1, 1]), state([1, 1]), 0.5)).toBeNaN();
    expect(quantileBetween([], [], 0.5)).toBeNaN();
  });
});

it("the paths of a user lead over their bindings, also to roles that don't exist", () => {
  const binding = (
    name: string,
    namespace: string | undefined,
    kind: string,
    subjects: readonly object[],
  ) => ({
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    roleRef: { kind, name: "r" },
    subjects: subjects as never,
  });
  const rules = [{ verbs: ["get"] }];
  const objects = {
    clusterRoles: [{ metadata: { name: "r" }, rules }],
    roles: [{ metadata: { name: "r", namespace: "b" }, rules: null }],
    clusterRoleBindings: [binding("all", undefined, "ClusterRole", [{ kind: "User", name: "ann" }])],
    roleBindings: [
      binding("lost", "a", "Role", [{ kind: "Group", name: "team" }]),
      binding("empty", "b", "Role", [{ kind: "Group", name: "team" }]),
      binding("other", "b", "Role", [{ kind: "User", name: "bob" }]),
      binding("robot", "b", "ClusterRole", [{ kind: "ServiceAccount", name: "x" }]),
    ],
  };
  const short = (user: string, groups: readonly string[]) =>
    accessPaths(objects, user, groups).map((path) => [
      path.subject,
      path.binding,
      path.namespace,
      path.rules,
    ]);
  expect(short("ann", ["team"])).toEqual([
    ["Group team", "RoleBinding lost", "a", undefined],
    ["Group team", "RoleBinding empty", "b", []],
    ["User ann", "ClusterRoleBinding all", "", rules],
  ]);
  expect(short("system:serviceaccount:b:x", [])).toEqual([
    ["ServiceAccount x", "RoleBinding robot", "b", rules],
  ]);
});

it("texts of states have tones", () => {
  expect(["Running", "Pending", "CrashLoopBackOff", "3", "NotReady"].map(toneOf)).toEqual([
    "good",
    "waiting",
    "bad",
    undefined,
    "bad",
  ]);
});

it("an audited request has one row, with its last stage, and the newest is first", () => {
  const event = (auditID: string, stage: string, code?: number): AuditEvent => ({
    auditID,
    stage,
    verb: "get",
    requestURI: `/api/${auditID}`,
    stageTimestamp: "2026-01-02T03:04:05.678901Z",
    user: { username: "ann" },
    ...(code !== undefined && { responseStatus: { code, message: "text" } }),
  });
  const impersonated = { ...event("two", "ResponseComplete", 403), impersonatedUser: { username: "bob" } };
  const events = [
    event("one", "RequestReceived"),
    event("three", "RequestReceived"),
    impersonated,
    event("one", "ResponseComplete", 200),
  ];
  const rows = auditRows(events).map(({ id, user, code, message }) => [id, user, code, message]);
  expect(rows).toEqual([
    ["one", "ann", 200, ""],
    ["two", "ann as bob", 403, "text"],
    ["three", "ann", undefined, ""],
  ]);
});

it("the leases of the server begin with the leader, and are expired when their duration is over", () => {
  const nowMs = Date.parse("2026-01-01T00:01:00Z");
  const lease = (name: string, renewTime: string | null) => ({
    metadata: { name },
    spec: {
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      renewTime,
      acquireTime: null,
      leaseTransitions: 2,
    },
  });
  const rows = leaseRows(
    [
      { metadata: { name: "unused" } },
      lease("apiserver-1", "2026-01-01T00:00:50Z"),
      lease("kube-apiserver-controllers", "2026-01-01T00:00:40Z"),
    ],
    nowMs,
  );
  expect(
    rows.map(({ name, holder, isElection, isExpired }) => [name, holder, isElection, isExpired]),
  ).toEqual([
    ["kube-apiserver-controllers", "a", true, true],
    ["apiserver-1", "a", false, false],
    ["unused", "", false, false],
  ]);
  expect(["k8s.io", "platform.io"].map(systemNamespace)).toEqual(["kube-system", "platform-system"]);
});
