import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { TestServer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { ok } from "./support.ts";

const services = "/api/v1/namespaces/default/services";

describe("gates whose behavior is that of all later releases", () => {
  const releases: readonly Release[] = ["1.26", "1.28", "1.30", "1.37"];
  const servers: TestServer[] = [];
  beforeAll(async () => {
    for (const release of releases) {
      servers.push(
        await TestServer.start({ release, vocabulary: "kubernetes", serviceNodePortRange: "31000-31039" }),
      );
    }
  });
  afterAll(() => Promise.all(servers.map((one) => one.close())));
  const each = <T>(run: (server: TestServer) => Promise<T>): Promise<T[]> => Promise.all(servers.map(run));

  test("only services of type LoadBalancer have points of a load balancer in their status (1.29)", async () => {
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1", ipMode: "VIP" }] } };
    const written = async ({ admin }: TestServer, name: string, type: string) => {
      const spec = { type, ports: [{ port: 80 }] };
      const { body } = await ok(admin.post(services, { metadata: { name }, spec }));
      return admin.put(`${services}/${name}/status`, { ...body, status });
    };
    const answers = await each((server) => written(server, "plain", "ClusterIP"));
    expect(answers.map((one) => one.status)).toEqual([200, 200, 422, 422]);
    expect(answers[3]!.body.details.causes).toEqual([
      expect.objectContaining({ field: "status.loadBalancer.ingress", reason: "FieldValueForbidden" }),
    ]);
    expect((await each((server) => written(server, "lb", "LoadBalancer"))).map((one) => one.status)).toEqual([
      200, 200, 200, 200,
    ]);
  });

  test("the beginning of the range of node ports is left to requested ones (1.28)", async () => {
    const ports = Array.from({ length: 20 }, (_, index) => ({ name: `p${index}`, port: 80 + index }));
    const lowest = await each(async ({ admin }) => {
      const spec = { type: "NodePort", ports };
      const { body } = await ok(admin.post(services, { metadata: { name: "many" }, spec }));
      const allocated = (body.spec.ports as { nodePort: number }[]).map(({ nodePort }) => nodePort);
      return Math.min(...allocated);
    });
    for (const port of lowest.slice(1)) expect(port).toBeGreaterThanOrEqual(31_016);
    const requested = { type: "NodePort", ports: [{ port: 80, nodePort: 31_000 }] };
    const more = { type: "NodePort", ports };
    const [, ...later] = await each(async ({ admin }) => [
      (await admin.post(services, { metadata: { name: "requested" }, spec: requested })).status,
      (
        await admin.post(services, {
          metadata: { name: "rest" },
          spec: { ...more, ports: ports.slice(0, 15) },
        })
      ).status,
    ]);
    // When the rest of the range is full, its beginning is used.
    expect(later).toEqual([
      [201, 201],
      [201, 201],
      [201, 201],
    ]);
  });

  test("several pods may have a writable GCE disk (1.29)", async () => {
    const labels = { app: "a" };
    const volumes = [{ name: "d", gcePersistentDisk: { pdName: "d" } }];
    const template = { metadata: { labels }, spec: { volumes, containers: [{ name: "c", image: "i" }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    const url = "/apis/apps/v1/namespaces/default/replicasets?dryRun=All";
    expect(
      (await each(({ admin }) => admin.post(url, { metadata: { name: "r" }, spec }))).map(
        (one) => one.status,
      ),
    ).toEqual([422, 422, 201, 201]);
  });
});

describe("resources of a whole pod, release 1.37", () => {
  const server = useServer({
    release: "1.37",
    vocabulary: "kubernetes",
    enabledControllers: ["serviceaccount"],
  });
  const pods = "/api/v1/namespaces/default/pods";
  const made = async (name: string, resources: object, ...containers: object[]) => {
    const spec = {
      serviceAccountName: "default",
      resources,
      containers: containers.map((one, index) => ({ name: `c${index}`, image: "i", resources: one })),
    };
    const { body } = await ok(server.admin.post(pods, { metadata: { name }, spec }));
    return body;
  };

  test("limits are those of the containers or the requests of the pod, if all containers have them", async () => {
    const [one, two] = [{ limits: { cpu: "1", memory: "1Gi" } }, { limits: { cpu: "2" } }];
    const both = await made("both", { requests: { cpu: "5" } }, one, two);
    expect(both.spec.resources).toEqual({
      limits: { cpu: "5" },
      requests: { cpu: "5", memory: "1Gi" },
    });
    const single = await made("single", { requests: { cpu: "1" } }, one);
    expect(single.spec.resources).toEqual({
      limits: { cpu: "1", memory: "1Gi" },
      requests: { cpu: "1", memory: "1Gi" },
    });
    expect(single.status.qosClass).toBe("Guaranteed");
  });

  test("an empty field doesn't decide the quality of service", async () => {
    const { status, spec } = await made("empty", {}, { limits: { cpu: "1", memory: "1Gi" } });
    expect([spec.resources, status.qosClass]).toEqual([{}, "Guaranteed"]);
  });

  test("an update and a resize without the field keep it", async () => {
    const { spec, ...rest } = await made("kept", { limits: { cpu: "1" } }, {});
    const { resources, ...without } = spec;
    const updated = await ok(server.admin.put(`${pods}/kept`, { ...rest, spec: without }));
    expect(updated.body.spec.resources).toEqual(resources);
    const resized = await ok(server.admin.put(`${pods}/kept/resize`, { ...updated.body, spec: without }));
    expect(resized.body.spec.resources).toEqual(resources);
  });
});

describe("the gate OpenAPIEnums", () => {
  const on = useServer();
  const off = useServer({ featureGates: "OpenAPIEnums=false" });

  test("decides whether the documents have the allowed values of fields", async () => {
    const documents = async ({ admin }: TestServer) =>
      (await ok(admin.get("/openapi/v3/apis/batch/v1"))).text + (await ok(admin.get("/openapi/v2"))).text;
    expect(await documents(on)).toContain('"enum":["Allow","Forbid","Replace"]');
    expect(await documents(off)).not.toContain('"enum":["Allow"');
  });
});
