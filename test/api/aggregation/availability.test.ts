import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { StatusError } from "../../../src/base/status-error.ts";
import { checkAvailability, type ServiceObjects } from "../../../src/aggregation/availability.ts";
import { RemoteApiService } from "../../../src/aggregation/remote-api-service.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { closedPort } from "../../support/backends.ts";
import { TestServer } from "../../support/api.ts";
import { apiService, apiServices, availability, ExtensionServer } from "../../support/extension-server.ts";
import { ok, until } from "../support.ts";

const target = {
  service: { namespace: "ns", name: "s", port: 443 },
  caBundle: "",
  insecureSkipTLSVerify: true,
};
const service = (spec: object) => ({ metadata: { name: "s", namespace: "ns" }, spec });
const endpoints = (...subsets: object[]) => ({ metadata: { name: "s" }, subsets });
const addresses = [{ ip: "192.0.2.1" }];
const portless = { ports: [{ name: "https", port: 443 }] };
const unreadable = () => Promise.reject(new StatusError("ServiceUnavailable", "the store is away"));

/** The availability that results from the objects of the service's namespace. */
const cases: readonly [
  reason: string,
  status: string,
  message: string,
  objects: Record<"service" | "endpoints", unknown>,
][] = [
  [
    "ServiceNotFound",
    "False",
    'service/s in "ns" is not present',
    { service: undefined, endpoints: undefined },
  ],
  [
    "ServiceAccessError",
    "Unknown",
    'service/s in "ns" cannot be checked due to: the store is away',
    { service: unreadable, endpoints: undefined },
  ],
  [
    "ServicePortError",
    "False",
    'service/s in "ns" is not listening on port 443',
    { service: service({ ports: [{ port: 80 }] }), endpoints: undefined },
  ],
  [
    "EndpointsNotFound",
    "False",
    'cannot find endpoints for service/s in "ns"',
    { service: service(portless), endpoints: undefined },
  ],
  [
    "EndpointsAccessError",
    "Unknown",
    'service/s in "ns" cannot be checked due to: the store is away',
    { service: service(portless), endpoints: unreadable },
  ],
  [
    "MissingEndpoints",
    "False",
    'endpoints for service/s in "ns" have no addresses with port name "https"',
    {
      service: service(portless),
      endpoints: endpoints(
        { addresses, ports: [{ name: "http", port: 1 }] },
        { addresses: [], ports: [{ name: "https", port: 1 }] },
      ),
    },
  ],
];

describe("the service of an extension server", () => {
  test.each(cases)(
    "gives the condition reason %s",
    async (reason, status, message, { service: one, endpoints: two }) => {
      const give = (value: unknown) =>
        typeof value === "function" ? (value as () => Promise<never>)() : Promise.resolve(value);
      const objects = { service: () => give(one), endpoints: () => give(two) } as ServiceObjects;
      const connections = {
        clock: systemClock,
        resolve: () => Promise.reject(new Error("nobody is to be asked")),
        certificate: () => undefined,
      };
      const remote = new RemoteApiService(
        "v1.g",
        "g",
        "v1",
        { group: 1, version: 1 },
        target,
        false,
        connections,
      );
      expect(await checkAvailability(remote, objects, {})).toEqual({ reason, status, message });
    },
  );
});

describe("an APIService", () => {
  let server: TestServer;
  let extension: ExtensionServer;
  beforeAll(async () => {
    server = await TestServer.start({ connections: { allowLoopback: true } });
    extension = await ExtensionServer.start();
    await extension.register(server.admin);
  });
  afterAll(async () => {
    await server.close();
    await extension.close();
  });
  const conditionOf = async (name: string) => availability(await server.admin.get(`${apiServices}/${name}`));
  const conditionIs = (name: string, status: string) =>
    until(
      () => conditionOf(name),
      (one) => one?.status === status,
    );
  const check = { client: "", "x-remote-user": "system:aggregator", "x-remote-group": "system:masters" };

  test("is available when its server answers discovery of its group version to the aggregator", async () => {
    expect(await conditionOf(extension.name)).toMatchObject({
      reason: "Passed",
      message: "all checks passed",
    });
    const [asked] = extension.asked;
    expect({ ...asked!.headers, client: asked!.client }).toMatchObject(check);
    expect(asked).toMatchObject({ method: "GET", url: extension.path });
    const table = await server.admin.get(`${apiServices}/${extension.name}`, {
      accept: "application/json;as=Table;g=meta.platform.io;v=v1",
    });
    expect(table.body.rows[0].cells.slice(0, 3)).toEqual([extension.name, "default/extension", "True"]);
  });

  test("is unavailable soon after its server stops and its Service changes, and requests are 503 immediately", async () => {
    const { port } = extension;
    await extension.close();
    const touch = (to: string) =>
      ok(
        server.admin.patch("/api/v1/namespaces/default/services/extension", { metadata: { labels: { to } } }),
      );
    await touch("a");
    const condition = await conditionIs(extension.name, "False");
    expect(condition!.reason).toBe("FailedDiscoveryCheck");
    expect(condition!.message).toMatch(
      /^failing or missing response from https:\/\/extension\.default\.svc:\d+\/apis\/widgets/,
    );
    const refused = await server.admin.get(`${extension.path}/widgets`);
    expect([refused.status, refused.body.reason, refused.headers["retry-after"]]).toEqual([
      503,
      "ServiceUnavailable",
      undefined,
    ]);
    expect(refused.body.message).toContain("service unavailable");
    const { text } = await server.admin.get("/metrics");
    expect(text).toContain(`aggregator_unavailable_apiservice{name="${extension.name}"} 1`);
    expect(text).toContain(
      `aggregator_unavailable_apiservice_total{name="${extension.name}",reason="FailedDiscoveryCheck"} 1`,
    );
    await extension.reopen(port);
    await touch("b");
    await conditionIs(extension.name, "True");
    expect((await server.admin.get(`${extension.path}/widgets`)).status).toBe(200);
  });

  test("is no longer served when it is deleted", async () => {
    const other = await ExtensionServer.start({ group: "gone.example.com", service: "gone" });
    await other.register(server.admin);
    expect((await server.admin.get(`${other.path}/widgets`)).status).toBe(200);
    await ok(server.admin.delete(`${apiServices}/${other.name}`));
    const gone = await until(
      () => server.admin.get(`${other.path}/widgets`),
      ({ status }) => status !== 200,
    );
    expect(gone.status).toBe(404);
    expect((await server.admin.get("/metrics")).text).not.toContain(`apiservice{name="${other.name}"}`);
    await other.close();
  });

  test.each([
    [
      "whose authority isn't that of the caBundle",
      { caBundle: Buffer.from("").toString("base64") },
      /certificate/,
    ],
    [
      "whose Service isn't there",
      { service: { namespace: "default", name: "nowhere", port: 443 } },
      /not present/,
    ],
  ])("%s is not available", async (_title, changes, why) => {
    const other = await ExtensionServer.start({ group: `x${Math.floor(performance.now())}.example.com` });
    await other.registerOnly(server.admin, changes);
    const condition = await conditionIs(other.name, "False");
    expect(condition!.message).toMatch(why);
    await other.close();
  });

  test("with insecureSkipTLSVerify is available with any certificate", async () => {
    const other = await ExtensionServer.start({ group: "insecure.example.com" });
    await other.registerOnly(server.admin, { caBundle: undefined, insecureSkipTLSVerify: true });
    await conditionIs(other.name, "True");
    expect((await server.admin.get(`${other.path}/widgets`)).status).toBe(200);
    await other.close();
  });

  test("whose server has a certificate for another name is not available", async () => {
    const other = await ExtensionServer.start({ group: "misnamed.example.com", service: "misnamed" });
    await other.registerOnly(server.admin, {
      service: { namespace: "default", name: "extension", port: other.port },
    });
    expect((await conditionIs(other.name, "False"))!.message).toMatch(/extension\.default\.svc/);
    await other.close();
  });

  test("without a listening server is not available, and its condition is written once", async () => {
    const port = await closedPort();
    const spec = { service: { namespace: "default", name: "extension", port }, insecureSkipTLSVerify: true };
    await ok(server.admin.post(apiServices, apiService("dead.example.com", "v1", spec)));
    await conditionIs("v1.dead.example.com", "False");
    const version = async () =>
      (await server.admin.get(`${apiServices}/v1.dead.example.com`)).body.metadata.resourceVersion;
    const before = await version();
    await ok(
      server.admin.patch("/api/v1/namespaces/default/services/extension", {
        metadata: { labels: { again: "1" } },
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await version()).toBe(before);
  });

  test("of the core group or of the group of APIServices doesn't replace this server", async () => {
    const spec = {
      service: { namespace: "default", name: "extension", port: extension.port },
      insecureSkipTLSVerify: true,
    };
    await ok(server.admin.post(apiServices, apiService("apiregistration.platform.io", "v1", spec)));
    await ok(server.admin.delete(`${apiServices}/v1.`));
    await ok(server.admin.post(apiServices, apiService("", "v1", spec)));
    const byOthers = () =>
      extension.received.filter(({ headers }) => headers["x-remote-user"] !== "system:aggregator").length;
    const count = byOthers();
    expect((await server.admin.get("/api/v1/namespaces")).status).toBe(200);
    expect((await server.admin.get(apiServices)).status).toBe(200);
    expect(byOthers()).toBe(count);
  });
});
