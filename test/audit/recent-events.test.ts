import { expect, test } from "vitest";
import { maxEvents, RecentEvents } from "../../src/http/audit/recent-events.ts";
import type { AuditEvent } from "../../src/http/audit/event.ts";
import { RBAC, clusterRole, clusterRoleBinding, ok, refTo, user } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import { AuditedServer, everythingAt, type Event } from "./support.ts";

const event: AuditEvent = {
  level: "RequestResponse",
  auditId: "one",
  stage: "ResponseComplete",
  requestUri: "/api/v1/pods",
  verb: "list",
  user: { name: "ann", uid: "", groups: [], extra: {} },
  impersonatedUser: undefined,
  impersonationConstraint: undefined,
  sourceIps: [],
  userAgent: "",
  objectRef: undefined,
  responseStatus: undefined,
  requestObject: '{"secret":"value"}',
  responseObject: undefined,
  receivedMicros: 1,
  stageMicros: 2,
  annotations: undefined,
};

test("the newest 1000 events are kept, of at most 1 MiB together and 16 KiB each", async () => {
  const recent = new RecentEvents("audit.k8s.io/v1");
  for (let at = 0; at < maxEvents + 10; at++) recent.record({ ...event, auditId: `id-${at}` });
  const ids = async () =>
    (await recent.newest(maxEvents)).map(({ text }) => (JSON.parse(text) as Event).auditID as string);
  expect(await ids()).toEqual(Array.from({ length: maxEvents }, (_, at) => `id-${at + 10}`));

  const long = "a".repeat(15_000);
  for (let at = 0; at < 100; at++) recent.record({ ...event, auditId: `long-${at}`, userAgent: long });
  const total = (await recent.newest(maxEvents)).reduce((sum, { text }) => sum + text.length, 0);
  expect(total).toBeLessThan(1100 * 1024);
  expect(total).toBeGreaterThan(1000 * 1024);
  expect((await ids()).at(-1)).toBe("long-99");

  recent.record({ ...event, auditId: "too-long", userAgent: "a".repeat(20_000) });
  expect((await ids()).at(-1)).toBe("long-99");
});

test("the recent events can be read, without the objects of requests, if the user may get their path", async () => {
  const server = await AuditedServer.start(everythingAt("RequestResponse"), {
    users: [{ name: "admin", groups: ["system:masters"] }, { name: "ann" }],
  });
  const { admin } = server.api;
  const ann = server.api.as("ann");
  const secret = { metadata: { name: "one" }, stringData: { password: "marker" } };
  await ok(admin.post("/api/v1/namespaces/default/secrets", secret));
  expect((await ann.get("/debug/audit")).status).toBe(403);

  const role = { rules: [{ verbs: ["get"], nonResourceURLs: ["/debug/audit"] }] };
  await ok(admin.post(`${RBAC}/clusterroles`, { ...clusterRole("audit", []), ...role }));
  const binding = clusterRoleBinding("audit", refTo("ClusterRole", "audit"), [user("ann")]);
  await ok(admin.post(`${RBAC}/clusterrolebindings`, binding));
  const { status, body } = await ann.get("/debug/audit");
  expect(status).toBe(200);
  expect(body).toMatchObject({ kind: "EventList", apiVersion: "audit.platform.io/v1", metadata: {} });
  const events = body.items as Event[];
  const created = events.find(
    ({ verb, objectRef }) => verb === "create" && objectRef?.resource === "secrets",
  );
  expect(created).toMatchObject({ kind: "Event", level: "RequestResponse", user: { username: "admin" } });
  expect(JSON.stringify(body)).not.toContain("marker");
  expect(JSON.stringify(await server.all())).toContain("marker");
  expect(events.filter(({ requestURI }) => String(requestURI).startsWith("/debug/audit"))).toEqual([]);

  const last = (await ann.get("/debug/audit?limit=1")).body.items as Event[];
  expect(last.map(({ auditID }) => auditID)).toEqual([events.at(-1).auditID]);
  for (const limit of ["0", "1001", "-1", "x"]) {
    const refused = await ann.get(`/debug/audit?limit=${limit}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining("parameter limit")]);
  }
  await server.close();
});

test("a server without an audit policy has no recent events", async () => {
  const server = await TestServer.start();
  expect((await server.admin.get("/debug/audit")).status).toBe(404);
  await server.close();
});
