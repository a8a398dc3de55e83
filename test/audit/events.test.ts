import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../api/support.ts";
import { AuditedServer, everythingAt, type Event } from "./support.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";
const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

describe("audit events at level Metadata", () => {
  let server: AuditedServer;
  beforeAll(async () => (server = await AuditedServer.start(everythingAt("Metadata"))));
  afterAll(() => server.close());

  test("a request has an event when it is received and one when it is answered, with the Audit-ID of the response", async () => {
    const answer = await server.api.admin.get(`${configMaps}?limit=1`, {
      headers: { "user-agent": "tester/1.0" },
    });
    const [received, complete, ...more] = await server.events(answer.headers["audit-id"]);
    expect(more).toEqual([]);
    expect(received).toMatchObject({ stage: "RequestReceived" });
    expect(received.stageTimestamp).toBe(received.requestReceivedTimestamp);
    expect(received.responseStatus).toBeUndefined();
    expect(Object.keys(complete)).toEqual([
      "kind",
      "apiVersion",
      "level",
      "auditID",
      "stage",
      "requestURI",
      "verb",
      "user",
      "sourceIPs",
      "userAgent",
      "objectRef",
      "responseStatus",
      "requestReceivedTimestamp",
      "stageTimestamp",
      "annotations",
    ]);
    expect(complete).toMatchObject({
      kind: "Event",
      apiVersion: "audit.platform.io/v1",
      level: "Metadata",
      stage: "ResponseComplete",
      requestURI: `${configMaps}?limit=1`,
      verb: "list",
      user: { username: "admin", groups: ["system:masters", "system:authenticated"] },
      sourceIPs: ["127.0.0.1"],
      userAgent: "tester/1.0",
      objectRef: { resource: "configmaps", namespace: "default", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 200 },
      annotations: { "authorization.platform.io/decision": "allow" },
    });
    expect(complete.requestReceivedTimestamp).toMatch(microTime);
    expect(complete.stageTimestamp >= complete.requestReceivedTimestamp).toBe(true);
  });

  test("a client may set the Audit-ID", async () => {
    const answer = await server.api.admin.get("/version", { headers: { "audit-id": "mine-1" } });
    expect(answer.headers["audit-id"]).toBe("mine-1");
    const [event] = await server.events("mine-1");
    expect(event).toMatchObject({ verb: "get", requestURI: "/version" });
    expect(event.objectRef).toBeUndefined();
  });

  test("the name of a created object is taken from its body, and the object itself is not recorded", async () => {
    const secret = { metadata: { name: "one" }, stringData: { password: "very-secret-word" } };
    const answer = await server.api.admin.post("/api/v1/namespaces/default/secrets", secret);
    expect(answer.status).toBe(201);
    const event = (await server.events(answer.headers["audit-id"])).at(-1);
    expect(event).toMatchObject({
      verb: "create",
      objectRef: { resource: "secrets", namespace: "default", name: "one", apiVersion: "v1" },
      responseStatus: { code: 201 },
    });
    expect(event.requestObject).toBeUndefined();
    expect((await server.lines()).join("\n")).not.toContain("very-secret-word");
  });

  test("a failure is recorded with the Status of the response", async () => {
    const answer = await server.api.admin.get(`${configMaps}/absent`);
    const event = (await server.events(answer.headers["audit-id"])).at(-1);
    expect(event.responseStatus).toEqual({
      metadata: {},
      status: "Failure",
      message: 'configmaps "absent" not found',
      reason: "NotFound",
      details: { name: "absent", kind: "configmaps" },
      code: 404,
    });
    expect(event.responseObject).toBeUndefined();
  });

  test("sourceIPs has the proxies' addresses first and the connection's address last", async () => {
    const headers = { "x-forwarded-for": "10.1.1.1, nonsense, 10.1.1.2", "x-real-ip": "10.1.1.3" };
    const answer = await server.api.admin.get("/version", { headers });
    const [event] = await server.events(answer.headers["audit-id"]);
    expect(event.sourceIPs).toEqual(["10.1.1.1", "10.1.1.2", "10.1.1.3", "127.0.0.1"]);
  });

  test("an impersonated user is recorded beside the caller; a denied authorization is recorded as a decision", async () => {
    const answer = await server.api.admin.get(configMaps, {
      headers: { "impersonate-user": "someone", "impersonate-group": "team" },
    });
    expect(answer.status).toBe(403);
    const event = (await server.events(answer.headers["audit-id"])).at(-1);
    expect(event).toMatchObject({
      user: { username: "admin" },
      impersonatedUser: { username: "someone", groups: ["team", "system:authenticated"] },
      annotations: { "authorization.platform.io/decision": "forbid" },
      responseStatus: { reason: "Forbidden", code: 403 },
    });
  });

  test("an unauthenticated request is recorded once, without a user", async () => {
    const answer = await server.api.as("wrong-token").get(configMaps);
    expect(answer.status).toBe(401);
    const events = await server.events(answer.headers["audit-id"]);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      stage: "ResponseStarted",
      user: {},
      responseStatus: { reason: "Unauthorized", code: 401 },
    });
    expect((await server.lines()).join("\n")).not.toContain("wrong-token");
  });

  test("the event of rejected credentials has the reason, which the response doesn't have", async () => {
    const headers = {
      upgrade: "websocket",
      "sec-websocket-protocol": "base64url.bearer.authorization.platform.io.YQ",
    };
    const answer = await server.api.as(undefined).get(configMaps, { headers });
    expect([answer.status, answer.body.message]).toEqual([401, "Unauthorized"]);
    const [event] = await server.events(answer.headers["audit-id"]);
    expect(event.responseStatus.message).toMatch(/^Unauthorized: ./);
  });

  test("a watch has an event when its response begins, and one when it ends", async () => {
    const watch = await server.api.admin.watch(configMaps);
    const id = watch.headers["audit-id"];
    const stages = (events: Event[]) => events.map(({ stage }) => stage as string);
    expect(stages(await server.events(id))).toEqual(["RequestReceived", "ResponseStarted"]);
    watch.close();
    const events = await until(
      () => server.events(id),
      (found) => found.length === 3,
    );
    expect(events.at(-1)).toMatchObject({
      stage: "ResponseComplete",
      verb: "watch",
      responseStatus: { code: 200 },
    });
  });

  test("C-9.2-23 a request to a deprecated endpoint gets audit annotation platform.io/deprecated with value true", async () => {
    const answer = await server.api.admin.get("/apis/flowcontrol.apiserver.platform.io/v1beta2/flowschemas");
    expect(answer.status).toBe(200);
    const event = (await server.events(answer.headers["audit-id"])).at(-1);
    expect(event.annotations).toMatchObject({
      "platform.io/deprecated": "true",
      "platform.io/removed-release": "1.29",
    });
    const current = await server.api.admin.get("/apis/flowcontrol.apiserver.platform.io/v1beta3/flowschemas");
    const other = (await server.events(current.headers["audit-id"])).at(-1);
    expect(other.annotations).not.toHaveProperty(["platform.io/deprecated"]);
  });

  test("audit events and the audit levels of requests are counted", async () => {
    const before = (await server.api.admin.get("/metrics")).text;
    await server.api.admin.get("/version");
    const after = (await server.api.admin.get("/metrics")).text;
    const value = (text: string, name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
    const events = "apiserver_audit_event_total";
    const levels = 'apiserver_audit_level_total\\{level="Metadata"\\}';
    // The metrics request itself was received, and the one before it is complete.
    expect(value(after, events) - value(before, events)).toBe(4);
    expect(value(after, levels) - value(before, levels)).toBe(2);
  });
});

describe("audit events with objects", () => {
  let server: AuditedServer;
  beforeAll(async () => {
    server = await AuditedServer.start(`
rules:
  - {level: Metadata, resources: [{group: "", resources: [secrets, configmaps/status]}]}
  - {level: Metadata, resources: [{group: authentication.platform.io, resources: [tokenreviews]}]}
  - {level: Request, verbs: [patch]}
  - {level: RequestResponse, omitManagedFields: true, namespaces: [quiet]}
  - {level: RequestResponse}
omitStages: [RequestReceived]`);
    await server.api.admin.post("/api/v1/namespaces", { metadata: { name: "quiet" } });
  });
  afterAll(() => server.close());

  const eventOf = async (headers: Record<string, unknown>) => {
    const events = await server.events(headers["audit-id"]);
    expect(events.map(({ stage }) => stage as string)).toEqual(["ResponseComplete"]);
    return events[0];
  };

  test("level RequestResponse records the request object and the response object", async () => {
    const sent = { metadata: { name: "both" }, data: { text: "grüße\n" } };
    const answer = await server.api.admin.post(configMaps, sent);
    const event = await eventOf(answer.headers);
    expect(event.requestObject).toEqual(sent);
    expect(event.responseObject).toEqual(answer.body);
    expect(event.responseObject.metadata.managedFields).toHaveLength(1);
  });

  test("level Request records the patch, and no response", async () => {
    await server.api.admin.post(configMaps, { metadata: { name: "patched" } });
    const answer = await server.api.admin.patch(`${configMaps}/patched`, { data: { a: "1" } });
    const event = await eventOf(answer.headers);
    expect(event.requestObject).toEqual({ data: { a: "1" } });
    expect(event.responseObject).toBeUndefined();
  });

  test("an apply in YAML is recorded as JSON", async () => {
    const answer = await server.api.admin.ask("PATCH", `${configMaps}/applied?fieldManager=me`, {
      raw: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: applied\n",
      contentType: "application/apply-patch+yaml",
    });
    expect((await eventOf(answer.headers)).requestObject).toEqual({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "applied" },
    });
  });

  test.each([
    ["YAML", "application/yaml"],
    ["binary", "application/vnd.platform.protobuf"],
  ])("a %s response is recorded as JSON", async (_form, accept) => {
    const plain = await server.api.admin.get(configMaps);
    const answer = await server.api.admin.get(configMaps, { accept });
    expect(answer.headers["content-type"]).toContain(accept);
    expect((await eventOf(answer.headers)).responseObject).toEqual(plain.body);
    const one = await server.api.admin.get(`${configMaps}/both`, { accept });
    const same = await server.api.admin.get(`${configMaps}/both`);
    expect((await eventOf(one.headers)).responseObject).toEqual(same.body);
  });

  test("a list and a table are recorded as returned; an indented response is recorded on one line", async () => {
    const accept = "application/json;as=Table;g=meta.platform.io;v=v1";
    const table = await server.api.admin.get(configMaps, { accept });
    expect((await eventOf(table.headers)).responseObject).toEqual(table.body);
    const laidOut = await server.api.admin.get(`${configMaps}?pretty=true`);
    expect(laidOut.text).toContain("\n  ");
    expect((await eventOf(laidOut.headers)).responseObject).toEqual(laidOut.body);
  });

  test("omitManagedFields removes managedFields from the event, not from the response", async () => {
    const path = "/api/v1/namespaces/quiet/configmaps";
    const answer = await server.api.admin.post(path, { metadata: { name: "plain" }, data: { a: "1" } });
    expect(answer.body).toMatchObject({ metadata: { managedFields: [{}] } });
    const put = await server.api.admin.put(`${path}/plain`, answer.body);
    const list = await server.api.admin.get(path);
    const recorded = [
      (await eventOf(answer.headers)).responseObject,
      (await eventOf(put.headers)).requestObject,
      ...(await eventOf(list.headers)).responseObject.items,
    ];
    for (const object of recorded) {
      expect(object.metadata.uid ?? "").not.toBe("");
      expect(object.metadata.managedFields).toBeUndefined();
    }
  });

  test("secrets and reviewed tokens are not recorded when the policy has level Metadata for them", async () => {
    const secret = { metadata: { name: "two" }, stringData: { key: "hidden-word" } };
    await server.api.admin.post("/api/v1/namespaces/default/secrets", secret);
    await server.api.admin.get("/api/v1/namespaces/default/secrets");
    await server.api.admin.patch("/api/v1/namespaces/default/secrets/two", {
      stringData: { key: "another-hidden-word" },
    });
    await server.api.admin.post("/apis/authentication.platform.io/v1/tokenreviews", {
      spec: { token: "hidden-word" },
    });
    expect((await server.lines()).join("\n")).not.toContain("hidden-word");
  });

  test("the options of a delete and its Status are recorded", async () => {
    await server.api.admin.post(configMaps, { metadata: { name: "gone" } });
    const answer = await server.api.admin.ask("DELETE", `${configMaps}/gone`, {
      body: { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 },
    });
    const event = await eventOf(answer.headers);
    expect(event.requestObject).toMatchObject({ kind: "DeleteOptions", gracePeriodSeconds: 0 });
    expect(event.responseObject).toEqual(answer.body);
    expect(event.responseStatus).toMatchObject({ status: "Success", code: 200 });
  });

  test("an object that is too large is omitted, with an annotation", async () => {
    const text = "x".repeat(900_000);
    for (let index = 0; index < 10; index++) {
      await server.api.admin.post(configMaps, { metadata: { name: `large-${index}` }, data: { text } });
    }
    const answer = await server.api.admin.get(configMaps);
    expect(answer.body.items.length).toBeGreaterThanOrEqual(10);
    const event = await eventOf(answer.headers);
    expect(event.responseObject).toBeUndefined();
    expect(event.annotations["audit.platform.io/truncated"]).toBe("true");
    const { text: figures } = await server.api.admin.get("/metrics");
    expect(figures).toContain('apiserver_audit_error_total{plugin="truncate"} 1');
  });
});

test("a request at level None has an Audit-ID and no event", async () => {
  const server = await AuditedServer.start(`
rules:
  - {level: None, verbs: [get], nonResourceURLs: ["/healthz*", "/version"]}
  - {level: None, userGroups: [system:masters]}
  - {level: Metadata}`);
  try {
    const answer = await server.api.admin.get("/version");
    expect(answer.headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
    await server.api.admin.post(configMaps, { metadata: { name: "silent" } });
    expect(await server.lines()).toEqual([]);
  } finally {
    await server.close();
  }
});

test("names in events are those of the vocabulary", async () => {
  const server = await AuditedServer.start(everythingAt("Metadata"), { vocabulary: "kubernetes" });
  try {
    const answer = await server.api.admin.get("/apis/flowcontrol.apiserver.k8s.io/v1beta2/flowschemas");
    const event = (await server.events(answer.headers["audit-id"])).at(-1);
    expect(event.apiVersion).toBe("audit.k8s.io/v1");
    expect(event.annotations).toEqual({
      "k8s.io/deprecated": "true",
      "k8s.io/removed-release": "1.29",
      "authorization.k8s.io/decision": "allow",
      "authorization.k8s.io/reason": "",
    });
  } finally {
    await server.close();
  }
});

test("authorization reasons are recorded", async () => {
  const folder = temporaryFolder();
  const tokenAuthFile = path.join(folder.path, "tokens.csv");
  writeFileSync(tokenAuthFile, "viewer-token,vera,1\n");
  const server = await AuditedServer.start(everythingAt("Metadata"), { tokenAuthFile });
  try {
    const group = "rbac.authorization.platform.io";
    const binding = {
      metadata: { name: "vera" },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: "view" },
      subjects: [{ apiGroup: group, kind: "User", name: "vera" }],
    };
    await server.api.admin.post(`/apis/${group}/v1/clusterrolebindings`, binding);
    const answer = await server.api.as("viewer-token").get(configMaps);
    expect(answer.status).toBe(200);
    const event = (await server.events(answer.headers["audit-id"])).at(-1);
    expect(event.annotations["authorization.platform.io/reason"]).toContain('ClusterRoleBinding "vera"');
  } finally {
    await server.close();
    folder.remove();
  }
});
