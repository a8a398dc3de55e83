import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const pods = "/api/v1/namespaces/default/pods";
const pod = (name: string, labels: object = {}) => ({
  metadata: { name, labels },
  spec: { containers: [{ name: "c", image: "i" }], terminationGracePeriodSeconds: 0 },
});

describe("binding and eviction of pods", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  const bind = (name: string, target: object = { kind: "Node", name: "n1" }, metadata: object = {}) =>
    server.admin.post(`${pods}/${name}/binding`, { metadata: { name, ...metadata }, target });

  it("binding: assigns the node once and sets the condition and the annotations", async () => {
    await server.admin.post(pods, pod("bound"));
    const done = await bind("bound", { kind: "Node", name: "n1" }, { annotations: { by: "me" } });
    expect([done.status, done.body.status]).toEqual([201, "Success"]);
    const { body } = await server.admin.get(`${pods}/bound`);
    expect(body.spec.nodeName).toBe("n1");
    expect(body.metadata.annotations).toMatchObject({ by: "me" });
    expect(body.status.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    const again = await bind("bound");
    expect([again.status, again.body.reason]).toEqual([409, "Conflict"]);
    expect((await bind("none")).status).toBe(404);
    expect((await bind("bound", { kind: "Pod", name: "n1" })).status).toBe(422);
  });

  it("binding: POST to bindings takes the pod's name from the body", async () => {
    await server.admin.post(pods, pod("named"));
    const { status } = await server.admin.post("/api/v1/namespaces/default/bindings", {
      metadata: { name: "named" },
      target: { name: "n2" },
    });
    expect(status).toBe(201);
    expect((await server.admin.get(`${pods}/named`)).body.spec.nodeName).toBe("n2");
    const nameless = await server.admin.post("/api/v1/namespaces/default/bindings", {
      target: { name: "n2" },
    });
    expect(nameless.status).toBe(400);
  });

  it("binding: a dry run assigns nothing", async () => {
    await server.admin.post(pods, pod("dry"));
    const body = { metadata: { name: "dry" }, target: { name: "n1" } };
    expect((await server.admin.post(`${pods}/dry/binding?dryRun=All`, body)).status).toBe(201);
    expect((await server.admin.get(`${pods}/dry`)).body.spec).not.toHaveProperty("nodeName");
  });

  const running = async (name: string, labels: object) => {
    await server.admin.post(pods, pod(name, labels));
    const { body } = await server.admin.get(`${pods}/${name}`);
    await server.admin.put(`${pods}/${name}/status`, {
      ...body,
      status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    });
  };
  const evict = (name: string, more: object = {}, query = "") =>
    server.admin.post(`${pods}/${name}/eviction${query}`, {
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: { name },
      ...more,
    });
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const budget = async (name: string, disruptionsAllowed: number) => {
    const made = await server.admin.post(budgets, {
      metadata: { name },
      spec: { selector: { matchLabels: { app: name } }, minAvailable: 1 },
    });
    const status = {
      observedGeneration: 1,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
      disruptionsAllowed,
    };
    await server.admin.put(`${budgets}/${name}/status`, { ...made.body, status });
  };

  it("eviction: a pod without a disruption budget is deleted", async () => {
    await running("free", { app: "free" });
    expect((await evict("free")).status).toBe(201);
    expect((await server.admin.get(`${pods}/free`)).status).toBe(404);
  });

  it("eviction: is allowed while the budget has disruptions left, and uses one", async () => {
    await budget("guarded", 1);
    await running("g1", { app: "guarded" });
    await running("g2", { app: "guarded" });
    expect((await evict("g1", {}, "?dryRun=All")).status).toBe(201);
    expect((await server.admin.get(`${pods}/g1`)).status).toBe(200);
    expect((await evict("g1")).status).toBe(201);
    const refused = await evict("g2");
    expect([refused.status, refused.body.reason]).toEqual([429, "TooManyRequests"]);
    expect(refused.body.details.causes[0].reason).toBe("DisruptionBudget");
    expect(refused.headers).not.toHaveProperty("retry-after");
    expect((await server.admin.get(`${pods}/g2`)).status).toBe(200);
    const { status } = (await server.admin.get(`${budgets}/guarded`)).body;
    expect(status.disruptionsAllowed).toBe(0);
    expect(Object.keys(status.disruptedPods)).toEqual(["g1"]);
  });

  it("eviction: a budget with an outdated status answers 429 with Retry-After", async () => {
    await server.admin.post(budgets, {
      metadata: { name: "fresh" },
      spec: { selector: { matchLabels: { app: "fresh" } }, minAvailable: 1 },
    });
    await running("f", { app: "fresh" });
    const later = await evict("f");
    expect([later.status, later.headers["retry-after"]]).toEqual([429, "10"]);
  });

  it("eviction: a pod with two budgets is 500; a pod that never ran counts against no budget", async () => {
    await budget("twice", 1);
    await server.admin.post(budgets, {
      metadata: { name: "twice-too" },
      spec: { selector: { matchLabels: { app: "twice" } }, minAvailable: 1 },
    });
    await running("t", { app: "twice" });
    expect((await evict("t")).status).toBe(500);
    await server.admin.post(pods, pod("waiting", { app: "twice" }));
    expect((await evict("waiting")).status).toBe(201);
  });

  it.each([
    ["C-9.3-48", "an empty selector selects all pods of its namespace", { selector: {} }, "guarded", 429],
    ["C-9.3-48", "an empty selector selects none of another namespace", { selector: {} }, "default", 201],
    ["C-9.3-49", "an unset selector selects none", {}, "guarded", 201],
  ])("%s eviction: a budget with %s", async (_id, _what, selector, place, status) => {
    const own = await TestServer.start({
      disabledAdmissionPlugins: ["ServiceAccount"],
      enabledControllers: [],
    });
    await own.admin.post("/api/v1/namespaces", { metadata: { name: "guarded" } });
    const made = await own.admin.post("/apis/policy/v1/namespaces/guarded/poddisruptionbudgets", {
      metadata: { name: "of-all" },
      spec: { ...selector, minAvailable: 1 },
    });
    expect(made.body.spec).toEqual({ ...selector, minAvailable: 1 });
    const spent = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    await own.admin.put("/apis/policy/v1/namespaces/guarded/poddisruptionbudgets/of-all/status", {
      ...made.body,
      status: { ...spent, disruptionsAllowed: 0 },
    });
    for (const labels of [{}, { app: "any" }]) {
      const at = `/api/v1/namespaces/${place}/pods`;
      const name = `p${Object.keys(labels).length}`;
      const { body } = await own.admin.post(at, pod(name, labels));
      const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
      await own.admin.put(`${at}/${name}/status`, { ...body, status: ready });
      const evicted = await own.admin.post(`${at}/${name}/eviction`, { metadata: { name } });
      expect(evicted.status, evicted.text).toBe(status);
    }
    await own.close();
  });

  it("eviction: supports policy/v1beta1 and preconditions, and rejects another kind", async () => {
    await running("old", { app: "old" });
    const wrong = await evict("old", { deleteOptions: { preconditions: { uid: "other" } } });
    expect(wrong.status).toBe(409);
    expect((await evict("old", { kind: "Binding" })).status).toBe(400);
    expect((await evict("old", { apiVersion: "policy/v1beta1" })).status).toBe(201);
  });
});

describe("a request for a subresource of a pod must not name another pod", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
    for (const name of ["p1", "p2"]) await server.admin.post(pods, pod(name));
  });
  afterAll(() => server.close());

  it.each([
    ["p2/binding", { metadata: { name: "p1" }, target: { name: "n" } }, 400],
    ["p2/eviction", { metadata: { name: "p1" } }, 400],
    ["p2/eviction", { metadata: { name: "p2", namespace: "kube" } }, 400],
    ["p2/eviction", { metadata: { name: "p2" }, deleteOptions: { dryRun: ["Bogus"] } }, 422],
    ["/binding", { metadata: { name: "p1" }, target: { name: "n" } }, 400],
    ["/eviction", { metadata: { name: "p1" } }, 400],
  ])("POST pods/%s %j is %i", async (path, body, status) => {
    expect((await server.admin.post(`${pods}/${path}`, body)).status).toBe(status);
    for (const name of ["p1", "p2"]) {
      expect((await server.admin.get(`${pods}/${name}`)).body.spec).not.toHaveProperty("nodeName");
    }
  });

  it("an eviction with dryRun in its options doesn't use the budget", async () => {
    const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    const made = await server.admin.post(budgets, {
      metadata: { name: "b" },
      spec: { selector: { matchLabels: { app: "guarded" } }, minAvailable: 1 },
    });
    const status = {
      observedGeneration: 1,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
      disruptionsAllowed: 1,
    };
    await server.admin.put(`${budgets}/b/status`, { ...made.body, status });
    const live = (await server.admin.post(pods, pod("g", { app: "guarded" }))).body;
    const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await server.admin.put(`${pods}/g/status`, { ...live, status: ready });
    const evict = (deleteOptions: object) =>
      server.admin.post(`${pods}/g/eviction`, { metadata: { name: "g" }, deleteOptions });
    expect((await evict({ dryRun: ["All"] })).status).toBe(201);
    expect((await server.admin.get(`${budgets}/b`)).body.status).toMatchObject({ disruptionsAllowed: 1 });
    // An unready pod is evicted without using the budget when enough others are healthy.
    const spent = (await server.admin.get(`${budgets}/b`)).body;
    await server.admin.put(`${budgets}/b/status`, { ...spent, status: { ...status, disruptionsAllowed: 0 } });
    expect((await evict({})).status).toBe(429);
    const waiting = (await server.admin.get(`${pods}/g`)).body;
    await server.admin.put(`${pods}/g/status`, { ...waiting, status: { phase: "Running", conditions: [] } });
    expect((await evict({})).status).toBe(201);
  });
});

describe("TokenReview", () => {
  let server: TestServer;
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-review-"));
  beforeAll(async () => {
    const tokenAuthFile = path.join(folder, "tokens.csv");
    writeFileSync(tokenAuthFile, 'good-token,jane,7,"devs,ops"\n');
    server = await TestServer.start({ tokenAuthFile });
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const review = (spec: object) =>
    server.admin.post("/apis/authentication.platform.io/v1/tokenreviews", { spec });

  it("a valid token returns its user and audiences", async () => {
    const { status, body } = await review({ token: "good-token" });
    expect(status).toBe(201);
    expect(body.status).toEqual({
      authenticated: true,
      user: { username: "jane", uid: "7", groups: ["devs", "ops", "system:authenticated"] },
      // The audiences of such a token: this server.
      audiences: ["https://platform.default.svc.cluster.local"],
    });
  });

  it("an unknown token is not authenticated, and a missing token is 400", async () => {
    expect((await review({ token: "bad" })).body.status).toEqual({ user: {}, error: "invalid bearer token" });
    expect((await review({})).status).toBe(400);
    expect((await review({ token: " " })).body.status).toEqual({ user: {}, error: "invalid bearer token" });
    expect((await review({ token: "good-token", audiences: ["elsewhere"] })).body.status).toMatchObject({
      user: {},
      error: expect.stringContaining("invalid bearer token"),
    });
  });
});
