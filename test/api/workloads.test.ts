import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestServer } from "../support/api.ts";

const pods = "/api/v1/namespaces/default/pods";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const table = { accept: "application/json;as=Table;g=meta.platform.io;v=v1" };
const container = { name: "main", image: "example/app:1" };
const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [container], ...spec },
});

describe("pods and workloads over HTTP", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.close());

  it("a strategic merge patch of a pod changes the image of the named container and nothing else", async () => {
    const made = await server.admin.post(pods, pod("a"));
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ status: { phase: "Pending", qosClass: "Burstable" } });
    expect(made.body.metadata).not.toHaveProperty("generation");

    const image = { spec: { containers: [{ name: "main", image: "example/app:2" }] } };
    const patched = await server.admin.patch(`${pods}/a`, image, "strategic");
    expect(patched.status).toBe(200);
    expect(patched.body.spec.containers[0]).toMatchObject({
      image: "example/app:2",
      imagePullPolicy: "IfNotPresent",
    });

    const refused = await server.admin.patch(`${pods}/a`, { spec: { hostNetwork: true } });
    expect(refused.status).toBe(422);
    expect(refused.body.details.causes.map(({ field }: { field: string }) => field)).toContain("spec");
  });

  it("every error of a pod has a cause with its field", async () => {
    const { status, body } = await server.admin.post(
      pods,
      pod("b", { containers: [{ name: "B" }], dnsPolicy: "None" }),
    );
    expect(status).toBe(422);
    const causes = body.details.causes.map(({ field, reason }: { field: string; reason: string }) => [
      field,
      reason,
    ]);
    expect(causes).toEqual([
      ["spec.containers[0].name", "FieldValueInvalid"],
      ["spec.containers[0].image", "FieldValueRequired"],
      ["spec.dnsConfig", "FieldValueRequired"],
    ]);
  });

  it("a field of a disabled feature gate is dropped", async () => {
    const { body } = await server.admin.post(
      pods,
      pod("c", { schedulingGates: [{ name: "example.com/a" }] }),
    );
    expect(body.spec).not.toHaveProperty("schedulingGates");
    expect(body.status).not.toHaveProperty("conditions");
  });

  it("a status write changes only the status, and field selectors use it", async () => {
    await server.admin.post(pods, pod("d"));
    const written = await server.admin.patch(`${pods}/d/status`, {
      status: { phase: "Running", podIP: "192.0.2.7" },
      spec: { hostPID: true },
    });
    expect(written.status).toBe(200);
    expect(written.body.status).toMatchObject({ phase: "Running", podIPs: [{ ip: "192.0.2.7" }] });
    expect(written.body.spec).not.toHaveProperty("hostPID");
    const selected = await server.admin.get(`${pods}?fieldSelector=status.podIP%3D192.0.2.7`);
    expect(selected.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      "d",
    ]);
  });

  it("the table row of a finished pod has its phase", async () => {
    await server.admin.post(pods, pod("e"));
    await server.admin.patch(`${pods}/e/status`, { status: { phase: "Succeeded" } });
    const { body } = await server.admin.get(`${pods}/e`, table);
    expect(body.rows[0].cells.slice(0, 4)).toEqual(["e", "0/1", "Succeeded", "0"]);
    expect(body.rows[0].conditions).toMatchObject([
      { type: "Completed", status: "True", reason: "Succeeded" },
    ]);
  });

  it("a pod bound to a node gets a grace period on deletion", async () => {
    await server.admin.post(pods, pod("f"));
    const bound = await server.admin.post(`${pods}/f/binding`, {
      metadata: { name: "f" },
      target: { kind: "Node", name: "n1" },
    });
    expect(bound.status).toBe(201);
    const going = await server.admin.delete(`${pods}/f`);
    expect(going.body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30 });
    expect((await server.admin.get(`${pods}/f`, table)).body.rows[0].cells[2]).toBe("Terminating");
    await server.admin.delete(`${pods}/f?gracePeriodSeconds=0`);
    expect((await server.admin.get(`${pods}/f`)).status).toBe(404);
  });

  it("a deployment is scaled by an update or its scale subresource; its generation increases", async () => {
    const labels = { app: "web" };
    const spec = {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    };
    const made = await server.admin.post(deployments, { metadata: { name: "web" }, spec });
    expect(made.status).toBe(201);
    expect(made.body.metadata.generation).toBe(1);

    const scale = await server.admin.get(`${deployments}/web/scale`);
    expect(scale.body).toMatchObject({
      kind: "Scale",
      spec: { replicas: 1 },
      status: { replicas: 0, selector: "app=web" },
    });
    const scaled = await server.admin.put(`${deployments}/web/scale`, {
      ...scale.body,
      spec: { replicas: 3 },
    });
    expect(scaled.body.spec).toEqual({ replicas: 3 });

    const { body } = await server.admin.get(`${deployments}/web`);
    expect(body.spec.replicas).toBe(3);
    expect(body.metadata.generation).toBe(2);
    const status = await server.admin.patch(`${deployments}/web/status`, {
      status: { replicas: 3, observedGeneration: 2 },
    });
    expect(status.body.metadata.generation).toBe(2);
    const other = await server.admin.patch(`${deployments}/web`, {
      spec: { selector: { matchLabels: { app: "db" } } },
    });
    expect(other.status).toBe(422);
  });

  it("a strategic merge patch replaces the source of a volume", async () => {
    const labels = { app: "vol" };
    const template = {
      metadata: { labels },
      spec: { containers: [container], volumes: [{ name: "v", emptyDir: {} }] },
    };
    await server.admin.post(deployments, {
      metadata: { name: "vol" },
      spec: { selector: { matchLabels: labels }, template },
    });
    const volumes = [{ name: "v", $retainKeys: ["name", "secret"], secret: { secretName: "s" } }];
    const { status, body } = await server.admin.patch(
      `${deployments}/vol`,
      { spec: { template: { spec: { volumes } } } },
      "strategic",
    );
    expect(status).toBe(200);
    expect(body.spec.template.spec.volumes).toEqual([
      { name: "v", secret: { secretName: "s", defaultMode: 420 } },
    ]);
  });

  it("an equivalent write changes nothing", async () => {
    const labels = { app: "same", tier: "x" };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    const spec = { selector: { matchLabels: labels }, template };
    const made = await server.admin.post(deployments, { metadata: { name: "same" }, spec });
    // Without defaults, and with keys in another order.
    const again = {
      template: { spec: { containers: [container] }, metadata: { labels: { tier: "x", app: "same" } } },
      selector: spec.selector,
    };
    const put = await server.admin.put(`${deployments}/same`, { metadata: { name: "same" }, spec: again });
    expect(put.status).toBe(200);
    expect(put.body.metadata.generation).toBe(1);
    expect(put.body.metadata.resourceVersion).toBe(made.body.metadata.resourceVersion);
  });
});
