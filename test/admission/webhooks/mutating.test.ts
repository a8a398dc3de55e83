import { afterEach, describe, expect, it } from "vitest";
import { hook, patched, useWebhook } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const fixture = useWebhook();
afterEach(() => fixture.server.admin.ask("DELETE", `${PODS}?gracePeriodSeconds=0`));

const map = (name: string, metadata: object = {}) => ({ metadata: { name, ...metadata }, data: { a: "1" } });
const named = (name: string, changes: object = {}) =>
  hook(fixture.webhook.client(`/${name}`), { name: `${name}.test.example.com`, ...changes });
const add = (path: string, value: unknown) => ({ response: patched({ op: "add", path, value }) });

describe("C-4.13-62 MutatingAdmissionWebhook is on by default", () => {
  it("C-2.9-02 a patch is applied to the stored object", async () => {
    fixture.webhook.answer = () => add("/data/b", "2");
    await fixture.configurations.mutating("first", named("a"));
    const created = await fixture.server.admin.post(MAPS, map("a"));
    expect([created.status, created.body.data]).toEqual([201, { a: "1", b: "2" }]);
    expect((await fixture.server.admin.get(`${MAPS}/a`)).body.data).toEqual({ a: "1", b: "2" });
  });

  it("fields that a webhook adds have no field manager", async () => {
    fixture.webhook.answer = () => add("/data/b", "2");
    await fixture.configurations.mutating("first", named("a"));
    const { body } = await fixture.server.admin.post(`${MAPS}?fieldManager=me`, map("a"));
    expect(body.metadata.managedFields).toHaveLength(1);
    expect(body.metadata.managedFields[0].fieldsV1["f:data"]).toEqual({ ".": {}, "f:a": {} });
  });

  it("C-4.13-08 webhooks are called sequentially in order of configuration names, and each receives the previous changes", async () => {
    let running = 0;
    const seen: unknown[] = [];
    fixture.webhook.answer = async ({ request }, path) => {
      expect(++running).toBe(1);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      seen.push([path, request.object.data]);
      return add(`/data${path}`, "by webhook");
    };
    await fixture.configurations.mutating("second", named("z"));
    await fixture.configurations.mutating("first", named("y"), named("x"));
    await fixture.server.admin.post(MAPS, map("m"));
    expect(seen).toEqual([
      ["/y", { a: "1" }],
      ["/x", { a: "1", y: "by webhook" }],
      ["/z", { a: "1", x: "by webhook", y: "by webhook" }],
    ]);
  });

  it("C-4.13-12 a validating webhook sees the object after all mutation", async () => {
    fixture.webhook.answer = (_, path) =>
      path === "/a" ? add("/data/b", "2") : { response: { allowed: true } };
    await fixture.configurations.mutating("first", named("a"));
    await fixture.configurations.validating("second", named("v"));
    await fixture.server.admin.post(MAPS, map("a"));
    expect(fixture.webhook.paths).toEqual(["/a", "/v"]);
    expect(fixture.webhook.calls[1]!.review.request.object.data).toEqual({ a: "1", b: "2" });
  });

  it("numbers beyond double precision stay exact in the review and in a patch", async () => {
    const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
    const resources = ["controllerrevisions"];
    const rules = [{ operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources }];
    const patch = Buffer.from(`[{"op":"add","path":"/data/more","value":9007199254740995}]`).toString(
      "base64",
    );
    fixture.webhook.answer = () => ({ response: { allowed: true, patchType: "JSONPatch", patch } });
    await fixture.configurations.mutating("first", named("a", { rules }));
    const raw = `{"metadata":{"name":"r"},"revision":1,"data":{"large":9007199254740993}}`;
    const created = await fixture.server.admin.ask("POST", revisions, {
      raw,
      contentType: "application/json",
    });
    expect(created.status).toBe(201);
    expect(fixture.webhook.calls[0]!.received.text).toContain(`"large":9007199254740993`);
    const { text } = await fixture.server.admin.get(`${revisions}/r`);
    expect(text).toContain(`"data":{"large":9007199254740993,"more":9007199254740995}`);
    await fixture.server.admin.delete(`${revisions}/r`);
  });
});

describe("a patched object", () => {
  it("gets defaults for omitted fields and the changes of other plugins", async () => {
    const container = { name: "sidecar", image: "example.com/sidecar" };
    fixture.webhook.answer = () => add("/spec/containers/-", container);
    const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
    await fixture.configurations.mutating("first", named("a", { rules }));
    const { status, body } = await fixture.server.admin.post(PODS, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    expect(status).toBe(201);
    expect(body.spec.containers).toHaveLength(2);
    const [main, sidecar] = body.spec.containers;
    expect(sidecar).toMatchObject({
      ...container,
      imagePullPolicy: "Always",
      terminationMessagePolicy: "File",
    });
    // The plugin ServiceAccount runs before webhooks, and once more after they have changed the object.
    expect(main.volumeMounts).toHaveLength(1);
    expect(sidecar.volumeMounts).toEqual(main.volumeMounts);
    expect(body.spec.volumes).toHaveLength(1);
  });

  it("is validated, and returns 422 when it is invalid", async () => {
    fixture.webhook.answer = () => add("/data/not~1a~1key", "x");
    await fixture.configurations.mutating("first", named("a"));
    expect((await fixture.server.admin.post(MAPS, map("a"))).status).toBe(422);
  });

  it("drops unknown fields", async () => {
    fixture.webhook.answer = () => add("/nonsense", "x");
    await fixture.configurations.mutating("first", named("a"));
    const { status, body } = await fixture.server.admin.post(MAPS, map("a"));
    expect([status, body.nonsense]).toEqual([201, undefined]);
  });

  it("is created under the name that the patch sets", async () => {
    fixture.webhook.answer = () => add("/metadata/name", "other");
    await fixture.configurations.mutating("first", named("a"));
    const created = await fixture.server.admin.post(MAPS, map("a"));
    expect([created.status, created.body.metadata.name]).toEqual([201, "other"]);
    expect((await fixture.server.admin.get(`${MAPS}/a`)).status).toBe(404);
    expect((await fixture.server.admin.get(`${MAPS}/other`)).body.metadata.name).toBe("other");
    expect((await fixture.server.admin.post(MAPS, map("b"))).body.reason).toBe("AlreadyExists");
  });

  it("returns 422 on update when the patch changes name, namespace or uid", async () => {
    const { body: before } = await fixture.server.admin.post(MAPS, map("a"));
    await fixture.configurations.mutating("first", named("a"));
    for (const [path, value] of [
      ["/metadata/name", "other"],
      ["/metadata/namespace", "other"],
      ["/metadata/uid", "other"],
    ] as const) {
      fixture.webhook.answer = () => add(path, value);
      const answer = await fixture.server.admin.patch(`${MAPS}/a`, { data: { a: "2" } });
      expect([path, answer.status, answer.body.reason]).toEqual([path, 422, "Invalid"]);
    }
    expect((await fixture.server.admin.get(`${MAPS}/a`)).body).toEqual(before);
  });

  it("keeps uid, creationTimestamp and deletionTimestamp of the server on create", async () => {
    fixture.webhook.answer = () => ({
      response: patched(
        { op: "add", path: "/metadata/uid", value: "mine" },
        { op: "add", path: "/metadata/resourceVersion", value: "7" },
        { op: "add", path: "/metadata/deletionTimestamp", value: "2020-01-01T00:00:00Z" },
        { op: "remove", path: "/metadata/creationTimestamp" },
      ),
    });
    await fixture.configurations.mutating("first", named("a"));
    const { status, body } = await fixture.server.admin.post(MAPS, map("a"));
    expect(status).toBe(201);
    expect(body.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata.creationTimestamp).toBeDefined();
    expect(body.metadata.deletionTimestamp).toBeUndefined();
  });

  it("changes the status only through the status subresource, which changes no other field", async () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    await fixture.server.admin.post(PODS, pod);
    const rules = [
      { operations: ["UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods", "pods/status"] },
    ];
    await fixture.configurations.mutating("first", named("a", { rules }));
    fixture.webhook.answer = () => ({
      response: patched(
        { op: "add", path: "/metadata/labels", value: { by: "webhook" } },
        { op: "add", path: "/spec/activeDeadlineSeconds", value: 77 },
        { op: "add", path: "/status/message", value: "by webhook" },
      ),
    });
    const updated = await fixture.server.admin.patch(`${PODS}/p`, { metadata: { annotations: { x: "y" } } });
    expect(updated.status).toBe(200);
    expect([updated.body.spec.activeDeadlineSeconds, updated.body.status.message]).toEqual([77, undefined]);
    const status = await fixture.server.admin.patch(`${PODS}/p/status`, { status: { reason: "Told" } });
    expect(status.body.status).toMatchObject({ reason: "Told", message: "by webhook" });
    fixture.webhook.answer = () => add("/spec/activeDeadlineSeconds", 5);
    const again = await fixture.server.admin.patch(`${PODS}/p/status`, { status: { reason: "Again" } });
    expect(again.body.spec.activeDeadlineSeconds).toBe(77);
  });

  it("changes the replicas of the scaled object when it is a Scale", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const labels = { app: "a" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
    await fixture.server.admin.post(deployments, {
      metadata: { name: "d" },
      spec: { selector: { matchLabels: labels }, template },
    });
    const rules = [
      { operations: ["UPDATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments/scale"] },
    ];
    fixture.webhook.answer = () => add("/spec/replicas", 2);
    await fixture.configurations.mutating("first", named("a", { rules }));
    const scaled = await fixture.server.admin.patch(`${deployments}/d/scale`, { spec: { replicas: 9 } });
    expect([scaled.status, scaled.body.spec.replicas]).toEqual([200, 2]);
    expect((await fixture.server.admin.get(`${deployments}/d`)).body.spec.replicas).toBe(2);
    await fixture.server.admin.delete(`${deployments}/d`);
  });

  it("is converted to the version of the rule and back without loss", async () => {
    const scalers = (version: string) =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const rules = [
      {
        operations: ["CREATE"],
        apiGroups: ["autoscaling"],
        apiVersions: ["v1"],
        resources: ["horizontalpodautoscalers"],
      },
    ];
    fixture.webhook.answer = () => add("/spec/targetCPUUtilizationPercentage", 42);
    await fixture.configurations.mutating("first", named("a", { rules }));
    const created = await fixture.server.admin.post(scalers("v2"), {
      metadata: { name: "a" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        maxReplicas: 3,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
          },
          {
            type: "Resource",
            resource: { name: "memory", target: { type: "Utilization", averageUtilization: 60 } },
          },
        ],
      },
    });
    expect(created.status).toBe(201);
    const targets = (created.body.spec.metrics as { resource: { name: string; target: object } }[]).map(
      ({ resource: { name, target } }) => [name, target],
    );
    // Fields that v1 lacks are kept by the conversion.
    expect(Object.fromEntries(targets)).toEqual({
      cpu: { type: "Utilization", averageUtilization: 42 },
      memory: { type: "Utilization", averageUtilization: 60 },
    });
    await fixture.server.admin.delete(`${scalers("v2")}/a`);
  });
});

describe("reinvocation", () => {
  const again = { reinvocationPolicy: "IfNeeded" };

  it("calls a webhook with IfNeeded again when a later webhook changed the object", async () => {
    fixture.webhook.answer = (_, path) =>
      path === "/b" ? add("/data/b", "2") : { response: { allowed: true } };
    await fixture.configurations.mutating("first", named("a", again), named("b", again), named("c"));
    await fixture.server.admin.post(MAPS, map("m"));
    expect(fixture.webhook.paths).toEqual(["/a", "/b", "/c", "/a"]);
    expect(fixture.webhook.calls[3]!.review.request.object.data).toEqual({ a: "1", b: "2" });
  });

  it("does not happen when nothing changed afterwards or the policy is Never", async () => {
    fixture.webhook.answer = (_, path) =>
      path === "/b" ? add("/data/b", "2") : { response: { allowed: true } };
    await fixture.configurations.mutating("first", named("a"), named("b", again));
    await fixture.server.admin.post(MAPS, map("m"));
    expect(fixture.webhook.paths).toEqual(["/a", "/b"]);
  });

  it("happens at most once", async () => {
    fixture.webhook.answer = (_, path) => add(`/data${path}`, String(fixture.webhook.calls.length));
    await fixture.configurations.mutating("first", named("x", again), named("y", again));
    await fixture.server.admin.post(MAPS, map("m"));
    expect(fixture.webhook.paths).toEqual(["/x", "/y", "/x", "/y"]);
  });

  it("happens when a plugin changed the object after the webhook", async () => {
    const rules = [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }];
    fixture.webhook.answer = ({ request }) =>
      request.object.spec.containers.length === 1
        ? add("/spec/containers/-", { name: "sidecar", image: "i" })
        : { response: { allowed: true } };
    await fixture.configurations.mutating("first", named("a", { rules, ...again }));
    await fixture.server.admin.post(PODS, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    expect(fixture.webhook.calls).toHaveLength(2);
    // Before the second call, the plugin ServiceAccount has mounted the token into the new container.
    expect(fixture.webhook.calls[1]!.review.request.object.spec.containers[1].volumeMounts).toHaveLength(1);
  });
});

describe("a webhook for service account tokens", () => {
  const ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default/token";
  const rules = [
    { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["serviceaccounts/token"] },
  ];
  const request = async (value: unknown, path: string) => {
    fixture.webhook.answer = () => add(path, value);
    await fixture.configurations.mutating("first", named("t", { rules }));
    return fixture.server.admin.post(ACCOUNT, { spec: {} });
  };

  it("changes the token; it sees no default audiences", async () => {
    const { body } = await request(["vault"], "/spec/audiences");
    expect(fixture.webhook.calls[0]!.review.request.object.spec.audiences).toBeNull();
    const { token } = body["status"] as { token: string };
    expect(body["spec"]).toMatchObject({ audiences: ["vault"] });
    expect(JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).aud).toEqual(["vault"]);
  });

  it("can't set a lifetime that a client can't request", async () => {
    const answer = await request(10, "/spec/expirationSeconds");
    expect([answer.status, answer.body.message]).toEqual([422, expect.stringContaining("10 minutes")]);
  });
});
