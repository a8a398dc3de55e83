import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allMachineAddresses } from "../../src/base/network/ip-address.ts";
import { deniedRanges, isRefused } from "../../src/http/backends/addresses.ts";
import { FakeBackend, makeNode, makePod, ownAddress } from "../support/backends.ts";
import { TestServer } from "../support/api.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { ok } from "./support.ts";

const core = "/api/v1/namespaces/default";

/** Rules on a machine with these addresses. */
const rules = (allowLoopback: boolean, denied: readonly string[] = [], own = ["10.20.30.40", "fd01::7"]) => ({
  allowLoopback,
  denied: deniedRanges(denied),
  own: () => own,
});

describe("allowed addresses of proxied connections", () => {
  test.each([
    ["10.1.2.3", true],
    ["192.168.1.1", true],
    ["172.16.0.1", true],
    ["100.64.0.1", true],
    ["8.8.8.8", true],
    ["fd00::1", true],
    ["2001:db8::1", true],
    ["::ffff:10.1.2.3", true],
    ["127.0.0.1", false],
    ["127.255.0.9", false],
    ["0.0.0.0", false],
    ["0.1.2.3", false],
    ["169.254.169.254", false],
    ["224.0.0.1", false],
    ["239.255.255.250", false],
    ["255.255.255.255", false],
    ["::", false],
    ["::1", false],
    ["0:0:0:0:0:0:0:1", false],
    ["::ffff:127.0.0.1", false],
    ["::ffff:7f00:1", false],
    ["::ffff:169.254.169.254", false],
    ["::ffff:0.0.0.0", false],
    ["::127.0.0.1", false],
    ["fe80::1", false],
    ["fe80::1%eth0", false],
    ["febf::1", false],
    ["ff02::1", false],
    ["", false],
    ["localhost", false],
    ["127.1", false],
    ["0x7f.0.0.1", false],
    ["2130706433", false],
    ["100.100.100.200", false],
    ["168.63.129.16", false],
    ["fd00:ec2::254", false],
    ["FD00:0EC2:0:0:0:0:0:254", false],
    ["fd00:ec2::253", true],
    ["64:ff9b::169.254.169.254", false],
    ["64:ff9b::a9fe:a9fe", false],
    ["64:ff9b::7f00:1", false],
    ["64:ff9b::10.20.30.40", false],
    ["64:ff9b::10.1.2.3", true],
    ["64:ff9b:1::10.1.2.3", false],
    ["2002:7f00:1::1", false],
    ["2002:a9fe:a9fe::", false],
    ["2002:6464:64c8:0:0:0:0:5", false],
    ["2002:0a01:0203::1", true],
    ["::ffff:100.100.100.200", false],
    ["::ffff:0:169.254.169.254", false],
    ["10.20.30.40", false],
    ["::ffff:10.20.30.40", false],
    ["fd01::7", false],
    ["fd01:0:0:0:0:0:0:7", false],
    ["fd01::8", true],
  ])("a connection to %s is allowed: %s", (address, allowed) => {
    expect(isRefused(address, rules(false))).toBe(!allowed);
  });

  test.each([
    ["127.0.0.1", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["0.0.0.0", false],
    ["169.254.169.254", false],
    ["fe80::1", false],
    ["::", false],
    ["10.20.30.40", true],
    ["fd01::7", true],
    ["64:ff9b::169.254.169.254", false],
  ])("with loopback allowed, a connection to %s is allowed: %s", (address, allowed) => {
    expect(isRefused(address, rules(true))).toBe(!allowed);
  });

  test.each([
    ["10.9.0.1", false],
    ["10.10.0.1", true],
    ["::ffff:10.9.0.1", false],
    ["64:ff9b::10.9.0.1", false],
    ["2002:0a09:0001::", false],
    ["fd09::1", false],
    ["192.0.2.7", false],
    ["192.0.2.8", true],
    ["127.0.0.9", false],
    ["127.0.0.1", true],
  ])("with denied ranges, a connection to %s is allowed: %s", (address, allowed) => {
    const denied = ["10.9.0.0/16", "fd09::/16", "192.0.2.7", "127.0.0.9"];
    expect(isRefused(address, rules(true, denied))).toBe(!allowed);
  });

  test("addresses of the machine's own interfaces are refused unless loopback is allowed", () => {
    for (const address of allMachineAddresses()) {
      expect(isRefused(address, { allowLoopback: false, denied: deniedRanges([]) })).toBe(true);
    }
    expect(allMachineAddresses()).toContain("127.0.0.1");
  });

  test.each(["10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10.0.0.0/8/8", "x", "10.0.0.0/-1"])(
    "the start fails with the denied range %s",
    async (range) => {
      const started = TestServer.start({ connections: { deniedRanges: [range] } });
      await expect(started).rejects.toThrow(`connections.deniedRanges: ${JSON.stringify(range)} is neither`);
    },
  );
});

describe("a connection to a target that is not allowed is refused", () => {
  let server: TestServer;
  let backend: FakeBackend;
  beforeAll(async () => {
    backend = await FakeBackend.start();
    server = await TestServer.start();
  });
  afterAll(async () => {
    expect(backend.requests).toEqual([]);
    await server.close();
    await backend.close();
  });

  test.each(["127.0.0.1", "169.254.169.254", "0.0.0.0", "::1", "fe80::1", "::ffff:127.0.0.1"])(
    "a pod at %s",
    async (ip) => {
      const name = `pod-${ip.replaceAll(/[:.]/g, "-")}x`;
      await makePod(server.admin, name, { ip, port: backend.port });
      const { status, body } = await server.admin.get(`${core}/pods/${name}/proxy/`);
      expect([status, body.reason]).toEqual([400, "BadRequest"]);
      expect(body.message).toMatch(
        /^address not allowed: ".*": the server connects to no .* its administrator denies/,
      );
    },
  );

  test("a pod without an address", async () => {
    await makePod(server.admin, "no-address");
    const { status, body } = await server.admin.get(`${core}/pods/no-address:80/proxy/`);
    expect([status, body.message]).toEqual([400, 'address not allowed: "": the object has no address yet']);
  });

  test.each([
    ["127.0.0.1", "InternalIP"],
    ["localhost", "Hostname"],
    ["2130706433", "InternalDNS"],
    ["127.1", "Hostname"],
    ["0x7f000001", "Hostname"],
  ])("a node at %s, for its proxy, another port and a log", async (address, type) => {
    const name = `node-${address.replaceAll(".", "-")}`;
    await makeNode(server.admin, name, { [type]: address }, backend.port);
    await makePod(server.admin, `on-${name}`, { node: name });
    for (const path of [
      `/api/v1/nodes/${name}/proxy/`,
      `/api/v1/nodes/${name}:1234/proxy/`,
      `${core}/pods/on-${name}/log`,
    ]) {
      const { status, body } = await server.admin.get(path);
      // A name that the operating system rejects is not found.
      if (status === 503) expect(body.message).toMatch(/no such host|can't be looked up/);
      else expect([status, body.message]).toEqual([400, expect.stringMatching(/^address not allowed: /)]);
    }
  });
});

describe("proxy of a node", () => {
  let server: TestServer;
  let agent: FakeBackend;
  let other: FakeBackend;
  beforeAll(async () => {
    const { serving } = createServingCertificates(["localhost"], systemClock);
    agent = await FakeBackend.start(undefined, { tls: { cert: serving.certificate, key: serving.key } });
    other = await FakeBackend.start();
    server = await TestServer.start({ connections: { allowLoopback: true } });
    await makeNode(server.admin, "node", { InternalIP: "127.0.0.1", ExternalIP: "10.0.0.1" }, agent.port);
    await makeNode(server.admin, "named", { ExternalIP: "10.0.0.1", Hostname: "localhost" }, agent.port);
    await makeNode(server.admin, "empty", {});
  });
  afterAll(async () => {
    await server.close();
    await agent.close();
    await other.close();
  });
  const at = (name: string) => `/api/v1/nodes/${name}/proxy`;

  test.each(["node", "named"])("the agent of %s is reached by TLS at its own port", async (name) => {
    const { status, body } = await server.admin.get(`${at(name)}/metrics?a=b`);
    expect([status, body.url]).toEqual([200, "/metrics?a=b"]);
  });

  test("the agent's port may be given in the name, and always uses the agent's scheme", async () => {
    for (const name of [`node:${agent.port}`, `http:node:${agent.port}`, "http:node:"]) {
      expect((await server.admin.get(`${at(name)}/x`)).body.url).toBe("/x");
    }
  });

  test("another port uses the given scheme, or HTTP without one", async () => {
    expect((await server.admin.get(`${at(`node:${other.port}`)}/x`)).body.url).toBe("/x");
    const { status } = await server.admin.get(`${at(`https:node:${other.port}`)}/x`);
    expect(status).toBe(503);
  });

  test("a node without an address is 503, a missing node 404, an invalid name 400", async () => {
    const empty = await server.admin.get(`${at("empty")}/`);
    expect([empty.status, empty.body.message]).toEqual([
      503,
      'no preferred addresses found for node "empty"; known addresses: []',
    ]);
    expect((await server.admin.get(`${at("missing")}/`)).status).toBe(404);
    expect((await server.admin.get(`${at("node:x")}/`)).status).toBe(400);
  });

  test("the preferred address types select the address", async () => {
    const connections = { allowLoopback: true, nodeAddressTypes: ["ExternalIP"] };
    const picky = await TestServer.start({ connections });
    await makeNode(picky.admin, "node", { InternalIP: "10.0.0.1", ExternalIP: "127.0.0.1" }, agent.port);
    await makeNode(picky.admin, "inside", { InternalIP: "127.0.0.1" }, agent.port);
    expect((await picky.admin.get(`${at("node")}/x`)).status).toBe(200);
    const { body } = await picky.admin.get(`${at("inside")}/x`);
    expect(body.message).toContain("known addresses: [InternalIP=127.0.0.1]");
    await picky.close();
  });
});

// Endpoints can't have loopback addresses, so these tests need a network address.
const address = ownAddress();
const title = address === undefined ? "services: skipped, because this machine has no network" : "services";
describe.skipIf(address === undefined)(title, () => {
  let server: TestServer;
  let backend: FakeBackend;
  const slices = "/apis/discovery.platform.io/v1/namespaces/default/endpointslices";
  const pod = { kind: "Pod", namespace: "default", name: "pod" };
  beforeAll(async () => {
    backend = await FakeBackend.start(undefined, { host: "0.0.0.0" });
    server = await TestServer.start({ connections: { allowLoopback: true } });
    await makePod(server.admin, "pod", { ip: address!, port: backend.port });
    await makePod(server.admin, "elsewhere", { ip: "10.9.9.9" });
  });
  afterAll(async () => {
    await server.close();
    await backend.close();
  });

  const at = (name: string) => `${core}/services/${name}/proxy/x?a=b`;
  const service = (name: string, spec: object = {}) =>
    ok(
      server.admin.post(`${core}/services`, {
        metadata: { name },
        spec: {
          ports: [
            { name: "web", port: 80 },
            { name: "other", port: 81 },
          ],
          ...spec,
        },
      }),
    );
  const endpoints = (name: string, subset: object) =>
    ok(server.admin.post(`${core}/endpoints`, { metadata: { name }, subsets: [subset] }));
  const ports = () => [{ name: "web", port: backend.port }];

  test("a service port may be given by name or number, with a scheme", async () => {
    await service("named");
    await endpoints("named", { addresses: [{ ip: address, targetRef: pod }], ports: ports() });
    for (const name of ["named:web", "named:80", "http:named:web", ":named:80"]) {
      const { status, body } = await server.admin.get(at(name));
      expect([status, body.url]).toEqual([200, "/x?a=b"]);
    }
    expect((await server.admin.get(at("https:named:web"))).status).toBe(503);
  });

  test("a service without a given port uses its unnamed port", async () => {
    await service("plain", { ports: [{ port: 80 }] });
    await endpoints("plain", {
      addresses: [{ ip: address, targetRef: pod }],
      ports: [{ port: backend.port }],
    });
    for (const name of ["plain", "plain:80", "http:plain:"])
      expect((await server.admin.get(at(name))).status).toBe(200);
  });

  const unavailable = async (name: string, message: string | RegExp) => {
    const { status, body } = await server.admin.get(at(name));
    expect([status, body.reason]).toEqual([503, "ServiceUnavailable"]);
    expect(body.message).toMatch(message);
  };

  test("a service without ready endpoints is 503", async () => {
    await service("lonely");
    await unavailable("lonely:web", /^no endpoints available for service "lonely"$/);
    await endpoints("lonely", { notReadyAddresses: [{ ip: address, targetRef: pod }], ports: ports() });
    await unavailable("lonely:web", /^no endpoints available for service "lonely"$/);
    await unavailable("lonely", /^no endpoints available for service "lonely"$/);
    await unavailable("lonely:99", /^no service port 99 found for service "lonely"$/);
    expect((await server.admin.get(at("missing"))).status).toBe(404);
    expect((await server.admin.get(at("a:b:c:d"))).status).toBe(400);
  });

  test("a service of type ExternalName is 503", async () => {
    await service("outside", { type: "ExternalName", externalName: "example.com", ports: [] });
    await unavailable("outside", /^no endpoints available for service "outside"/);
  });

  test.each([
    ["nobody's", undefined],
    ["another pod's", { ...pod, name: "elsewhere" }],
    ["that of no pod", { ...pod, name: "missing" }],
    ["another namespace's", { ...pod, namespace: "kube" }],
    ["another kind's", { ...pod, kind: "Node" }],
  ])("an endpoint address that is %s is skipped", async (what, targetRef) => {
    const name = what.replaceAll(/[^a-z]/g, "");
    await service(name);
    await endpoints(name, { addresses: [{ ip: address, ...(targetRef && { targetRef }) }], ports: ports() });
    await unavailable(`${name}:web`, /none of its addresses is that of the pod it names$/);
  });

  test("a reachable address among unreachable ones is used", async () => {
    await service("mixed");
    const bad = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((ip) => ({ ip }));
    await endpoints("mixed", { addresses: [...bad, { ip: address, targetRef: pod }], ports: ports() });
    for (let turn = 0; turn < 5; turn++) expect((await server.admin.get(at("mixed:web"))).status).toBe(200);
  });

  test("endpoint slices are used when there are no Endpoints", async () => {
    await service("sliced");
    const slice = (name: string, endpoint: object, port = backend.port) =>
      ok(
        server.admin.post(slices, {
          metadata: { name, labels: { "platform.io/service-name": "sliced" } },
          addressType: "IPv4",
          ports: [{ name: "web", port }],
          endpoints: [endpoint],
        }),
      );
    await slice("unready", { addresses: [address], conditions: { ready: false }, targetRef: pod });
    await unavailable("sliced:web", /no endpoints/);
    await slice("ready", { addresses: [address], targetRef: pod });
    expect((await server.admin.get(at("sliced:web"))).status).toBe(200);
    await endpoints("sliced", { notReadyAddresses: [{ ip: address }], ports: ports() });
    await unavailable("sliced:web", /no endpoints/);
  });
});
