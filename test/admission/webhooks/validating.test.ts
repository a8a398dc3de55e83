import { describe, expect, it } from "vitest";
import { hook, useWebhook } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const fixture = useWebhook();

const map = (name: string, metadata: object = {}) => ({ metadata: { name, ...metadata }, data: { a: "1" } });
const denying = (status?: object) => () => ({ response: { allowed: false, ...(status && { status }) } });

describe("C-4.13-121 ValidatingAdmissionWebhook is on by default", () => {
  it("C-2.9-01 C-2.9-07 C-2.9-18 a configuration with a URL applies to the next request", async () => {
    fixture.webhook.answer = denying({ message: "not today" });
    await fixture.configurations.validating("first", hook(fixture.webhook.client("/check")));
    const refused = await fixture.server.admin.post(MAPS, map("a"));
    expect([refused.status, refused.body.message]).toEqual([
      400,
      'admission webhook "one.test.example.com" denied the request: not today',
    ]);
    await fixture.configurations.clear();
    expect((await fixture.server.admin.post(MAPS, map("a"))).status).toBe(201);
    expect(fixture.webhook.paths).toEqual(["/check"]);
  });

  it("C-4.13-10 C-4.13-11 the webhook receives an AdmissionReview in JSON in its first listed version", async () => {
    await fixture.configurations.validating(
      "first",
      hook(fixture.webhook.client(), { admissionReviewVersions: ["v9", "v1"] }),
    );
    await fixture.server.admin.post(`${MAPS}?fieldManager=me&fieldValidation=Strict`, map("a"));
    const { received, review } = fixture.webhook.calls[0]!;
    expect([received.method, received.headers["content-type"]]).toEqual(["POST", "application/json"]);
    expect(received.path).toBe("/?timeout=5s");
    const version1 = { group: "", version: "v1" };
    expect(review).toEqual({
      kind: "AdmissionReview",
      apiVersion: "admission.platform.io/v1",
      request: {
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        kind: { ...version1, kind: "ConfigMap" },
        resource: { ...version1, resource: "configmaps" },
        requestKind: { ...version1, kind: "ConfigMap" },
        requestResource: { ...version1, resource: "configmaps" },
        name: "a",
        namespace: "default",
        operation: "CREATE",
        userInfo: { username: "admin", groups: expect.arrayContaining(["system:masters"]) },
        object: expect.objectContaining({ kind: "ConfigMap", apiVersion: "v1", data: { a: "1" } }),
        oldObject: null,
        dryRun: false,
        options: {
          kind: "CreateOptions",
          apiVersion: "meta.platform.io/v1",
          fieldManager: "me",
          fieldValidation: "Strict",
        },
      },
    });
  });

  it("the review of an update has both objects, and that of a deletion the old object and its options", async () => {
    await fixture.server.admin.post(MAPS, map("a"));
    await fixture.configurations.validating("first", hook(fixture.webhook.client()));
    await fixture.server.admin.patch(`${MAPS}/a`, { data: { a: "2" } });
    await fixture.server.admin.delete(`${MAPS}/a`, {
      body: { gracePeriodSeconds: 3, propagationPolicy: "Background" },
    });
    const [update, deletion] = fixture.webhook.calls.map(({ review }) => review.request);
    expect([update.operation, update.oldObject.data, update.object.data]).toEqual([
      "UPDATE",
      { a: "1" },
      { a: "2" },
    ]);
    expect(update.options.kind).toBe("UpdateOptions");
    expect([deletion.operation, deletion.oldObject.data, deletion.object]).toEqual([
      "DELETE",
      { a: "2" },
      null,
    ]);
    expect(deletion.options).toEqual({
      kind: "DeleteOptions",
      apiVersion: "meta.platform.io/v1",
      gracePeriodSeconds: 3,
      propagationPolicy: "Background",
    });
  });

  it("a collection deletion calls the webhook for each object", async () => {
    for (const name of ["a", "b"]) await fixture.server.admin.post(MAPS, map(name));
    await fixture.configurations.validating("first", hook(fixture.webhook.client()));
    await fixture.server.admin.ask("DELETE", MAPS);
    expect(fixture.webhook.calls.map(({ review }) => review.request.name as string).toSorted()).toEqual([
      "a",
      "b",
    ]);
  });

  it("C-4.13-11 the webhook receives v1beta1 when it lists it first", async () => {
    await fixture.configurations.validating(
      "first",
      hook(fixture.webhook.client(), { admissionReviewVersions: ["v1beta1", "v1"] }),
    );
    expect((await fixture.server.admin.post(MAPS, map("a"))).status).toBe(201);
    expect(fixture.webhook.calls[0]!.review.apiVersion).toBe("admission.platform.io/v1beta1");
  });

  it("the review names the subresource, and a scale has the kind autoscaling Scale", async () => {
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
    await fixture.configurations.validating("first", hook(fixture.webhook.client(), { rules }));
    await fixture.server.admin.patch(`${deployments}/d/scale`, { spec: { replicas: 3 } });
    const { request } = fixture.webhook.calls[0]!.review;
    expect(request).toMatchObject({
      kind: { group: "autoscaling", version: "v1", kind: "Scale" },
      subResource: "scale",
      requestSubResource: "scale",
      object: { kind: "Scale", apiVersion: "autoscaling/v1", spec: { replicas: 3 } },
      oldObject: { kind: "Scale", spec: { replicas: 1 } },
    });
    await fixture.server.admin.delete(`${deployments}/d`);
  });
});

describe("a rejection", () => {
  it.each<[string, object | undefined, number, string | undefined, string]>([
    ["without a status returns 400", undefined, 400, undefined, " denied the request without explanation"],
    [
      "with a reason only returns 400 and the reason",
      { reason: "TooBad" },
      400,
      "TooBad",
      " denied the request: TooBad",
    ],
    [
      "with code 403 returns 403",
      { code: 403, reason: "Forbidden", message: "no" },
      403,
      "Forbidden",
      ": no",
    ],
    ["with a success code returns 400", { code: 200, message: "no" }, 400, undefined, ": no"],
    [
      "with any error code returns that code",
      { code: 418, reason: "Teapot", message: "no" },
      418,
      "Teapot",
      ": no",
    ],
  ])("%s", async (_, status, code, reason, message) => {
    fixture.webhook.answer = denying(status);
    await fixture.configurations.validating("first", hook(fixture.webhook.client()));
    const answer = await fixture.server.admin.post(MAPS, map("a"));
    expect([answer.status, answer.body.code, answer.body.reason]).toEqual([code, code, reason]);
    expect(answer.body.message).toContain(`admission webhook "one.test.example.com"`);
    expect(answer.body.message).toContain(message);
    expect((await fixture.server.admin.get(`${MAPS}/a`)).status).toBe(404);
  });

  it("the details of a rejection are returned to the client", async () => {
    const details = { causes: [{ reason: "FieldValueInvalid", message: "bad", field: "data.a" }] };
    fixture.webhook.answer = denying({ message: "no", details });
    await fixture.configurations.validating("first", hook(fixture.webhook.client()));
    expect((await fixture.server.admin.post(MAPS, map("a"))).body.details).toEqual(details);
  });

  it("C-4.13-09 validating webhooks are called in parallel, and the first rejection in order of configuration is returned", async () => {
    let waiting = 0;
    let all: () => void = () => undefined;
    const together = new Promise<void>((resolve) => (all = resolve));
    fixture.webhook.answer = async (_, path) => {
      if (++waiting === 3) all();
      // No webhook responds before all three have been called.
      await together;
      return { response: { allowed: path === "/a", status: { message: path } } };
    };
    await fixture.configurations.validating(
      "second",
      hook(fixture.webhook.client("/c"), { name: "c.test.example.com" }),
      hook(fixture.webhook.client("/b"), { name: "b.test.example.com" }),
    );
    await fixture.configurations.validating(
      "first",
      hook(fixture.webhook.client("/a"), { name: "a.test.example.com" }),
    );
    const answer = await fixture.server.admin.post(MAPS, map("a"));
    expect(answer.body.message).toBe('admission webhook "c.test.example.com" denied the request: /c');
    expect(fixture.webhook.paths.toSorted()).toEqual(["/a", "/b", "/c"]);
  });
});

describe("selectors", () => {
  it("objectSelector matches the new and the old labels", async () => {
    const objectSelector = { matchLabels: { checked: "yes" } };
    await fixture.configurations.validating("first", hook(fixture.webhook.client(), { objectSelector }));
    const labels = { checked: "yes" };
    await fixture.server.admin.post(MAPS, map("a"));
    expect(fixture.webhook.paths).toHaveLength(0);
    await fixture.server.admin.patch(`${MAPS}/a`, { metadata: { labels } });
    expect(fixture.webhook.paths).toHaveLength(1);
    await fixture.server.admin.patch(`${MAPS}/a`, { metadata: { labels: { checked: null } } });
    expect(fixture.webhook.paths).toHaveLength(2);
    await fixture.server.admin.patch(`${MAPS}/a`, { data: { a: "3" } });
    expect(fixture.webhook.paths).toHaveLength(2);
  });

  it("namespaceSelector matches the object's namespace or the Namespace itself, and is ignored for other cluster-scoped objects", async () => {
    const rules = [
      {
        operations: ["CREATE", "UPDATE"],
        apiGroups: ["*"],
        apiVersions: ["*"],
        resources: ["configmaps", "namespaces", "priorityclasses"],
      },
    ];
    const namespaceSelector = { matchExpressions: [{ key: "guarded", operator: "Exists" }] };
    await fixture.configurations.validating(
      "first",
      hook(fixture.webhook.client(), { rules, namespaceSelector }),
    );
    await fixture.server.admin.post("/api/v1/namespaces", { metadata: { name: "free" } });
    expect(fixture.webhook.calls).toHaveLength(0);
    await fixture.server.admin.post("/api/v1/namespaces", {
      metadata: { name: "kept", labels: { guarded: "" } },
    });
    expect(fixture.webhook.calls.map(({ review: { request } }) => [request.name, request.namespace])).toEqual(
      [["kept", "kept"]],
    );
    await fixture.server.admin.post("/api/v1/namespaces/free/configmaps", map("a"));
    expect(fixture.webhook.calls).toHaveLength(1);
    await fixture.server.admin.post("/api/v1/namespaces/kept/configmaps", map("a"));
    expect(fixture.webhook.calls).toHaveLength(2);
    const classes = "/apis/scheduling.platform.io/v1/priorityclasses";
    await fixture.server.admin.post(classes, { metadata: { name: "high" }, value: 1 });
    expect(fixture.webhook.calls).toHaveLength(3);
    // A removed label applies to the next request.
    await fixture.server.admin.patch("/api/v1/namespaces/kept", { metadata: { labels: { guarded: null } } });
    await fixture.server.admin.post("/api/v1/namespaces/kept/configmaps", map("b"));
    expect(fixture.webhook.calls).toHaveLength(3);
  });
});

describe("matching", () => {
  it("webhook configurations are never sent to webhooks", async () => {
    fixture.webhook.answer = denying();
    const rules = [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"] }];
    await fixture.configurations.validating("all", hook(fixture.webhook.client(), { rules }));
    await fixture.configurations.validating("more", hook(fixture.webhook.client(), { rules }));
    await fixture.configurations.clear();
    expect(fixture.webhook.calls).toEqual([]);
    expect((await fixture.server.admin.post(MAPS, map("a"))).status).toBe(201);
  });

  it("Equivalent converts the object to the version of the rule", async () => {
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
    const scaler = (name: string) => ({
      metadata: { name },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        maxReplicas: 3,
        metrics: [
          {
            type: "Resource",
            resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
          },
        ],
      },
    });
    await fixture.configurations.validating(
      "exact",
      hook(fixture.webhook.client("/exact"), { rules, matchPolicy: "Exact" }),
    );
    await fixture.configurations.validating(
      "equivalent",
      hook(fixture.webhook.client("/equivalent"), { rules }),
    );
    expect((await fixture.server.admin.post(scalers("v2"), scaler("a"))).status).toBe(201);
    expect(fixture.webhook.paths).toEqual(["/equivalent"]);
    expect(fixture.webhook.calls[0]!.review.request).toMatchObject({
      kind: { group: "autoscaling", version: "v1", kind: "HorizontalPodAutoscaler" },
      requestKind: { group: "autoscaling", version: "v2" },
      resource: { version: "v1" },
      requestResource: { version: "v2" },
      object: { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 70 } },
    });
  });

  it("a CONNECT request is sent with its options", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    await fixture.server.admin.post(pods, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false },
    });
    const rules = [
      { operations: ["CONNECT"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods/exec"] },
    ];
    fixture.webhook.answer = denying({ code: 403, message: "no shells" });
    await fixture.configurations.validating("first", hook(fixture.webhook.client(), { rules }));
    const answer = await fixture.server.admin.post(`${pods}/p/exec?command=sh&stdin=true`, undefined);
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining("no shells")]);
    expect(fixture.webhook.calls[0]!.review.request).toMatchObject({
      kind: { group: "", version: "v1", kind: "PodExecOptions" },
      operation: "CONNECT",
      subResource: "exec",
      object: { kind: "PodExecOptions", command: ["sh"], stdin: true },
      oldObject: null,
      options: null,
    });
  });
});

describe("an apply without changes", () => {
  it("calls a new webhook, whose rejection returns 400", async () => {
    const raw = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", ...map("a") });
    const contentType = "application/apply-patch+yaml";
    const apply = () => fixture.server.admin.ask("PATCH", `${MAPS}/a?fieldManager=me`, { raw, contentType });
    const statuses = [];
    for (let turn = 0; turn < 3; turn++) statuses.push((await apply()).status);
    expect(statuses).toEqual([201, 200, 200]);
    fixture.webhook.answer = denying();
    await fixture.configurations.validating("first", hook(fixture.webhook.client()));
    expect((await apply()).status).toBe(400);
    await fixture.configurations.clear();
    expect((await apply()).status).toBe(200);
    expect(fixture.webhook.calls).toHaveLength(1);
  });
});

describe("dry runs", () => {
  it("C-2.9-19 are marked as dryRun when the webhook has sideEffects NoneOnDryRun", async () => {
    await fixture.configurations.validating(
      "first",
      hook(fixture.webhook.client(), { sideEffects: "NoneOnDryRun" }),
    );
    expect((await fixture.server.admin.post(`${MAPS}?dryRun=All`, map("a"))).status).toBe(201);
    const { request } = fixture.webhook.calls[0]!.review;
    expect([request.dryRun, request.options.dryRun]).toEqual([true, ["All"]]);
  });
});

describe("warnings", () => {
  it("are returned to the client for allowed and rejected requests", async () => {
    await fixture.configurations.validating("first", hook(fixture.webhook.client()));
    fixture.webhook.answer = () => ({ response: { allowed: true, warnings: ["think again"] } });
    expect((await fixture.server.admin.post(MAPS, map("a"))).warnings).toContain("think again");
    fixture.webhook.answer = () => ({ response: { allowed: false, warnings: ["really"] } });
    expect((await fixture.server.admin.post(MAPS, map("b"))).warnings).toContain("really");
  });
});
