import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { AddressRange, canonicalAddress } from "../../src/resources/services/address-range.ts";
import { claimPrefix } from "../../src/resources/services/claims.ts";
import { storeOf, TestServer } from "../support/api.ts";

const services = "/api/v1/namespaces/default/services";
const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
});
const causesOf = (body: { details?: { causes?: { field: string; message: string }[] } }) =>
  (body.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);

test("the writer of a Service owns the fields sent, also those cleared for its new type", async () => {
  const server = await TestServer.start({ enabledControllers: [] });
  try {
    const at = `${services}?fieldManager=m`;
    const local = { type: "NodePort", externalTrafficPolicy: "Local" };
    await server.admin.post(at, service("s", local));
    const { body } = await server.admin.patch(`${services}/s?fieldManager=m`, {
      spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] },
    });
    expect(body.spec.externalTrafficPolicy).toBeUndefined();
    expect(body.metadata.managedFields).toHaveLength(1);
    expect(body.metadata.managedFields[0].fieldsV1["f:spec"]).toHaveProperty("f:externalTrafficPolicy");
  } finally {
    await server.close();
  }
});

describe("cluster IPs and node ports of services", () => {
  let server: TestServer;
  const make = (name: string, spec: object = {}, query = "") =>
    server.admin.post(services + query, service(name, spec));
  /** The claims by address or port, without their revision. */
  const claims = async () => {
    const store = storeOf(server);
    const { entries } = await store.range({ prefix: claimPrefix });
    return Object.fromEntries(
      entries.map(({ key, body }) => [
        key.slice(claimPrefix.length),
        (JSON.parse(Buffer.from(body).toString()) as { owner: string }).owner,
      ]),
    );
  };
  beforeAll(async () => {
    server = await TestServer.start({
      serviceClusterIpRanges: ["10.1.2.0/28"],
      serviceNodePortRange: "30000-30003",
    });
    // The API's own Service releases its address, so the range is free.
    await server.admin.delete(`${services}/platform`);
  });
  afterAll(() => server.close());

  it("a service without clusterIP gets an address of the range", async () => {
    const { status, body } = await make("plain");
    expect(status).toBe(201);
    const { clusterIP } = body.spec;
    expect(clusterIP).toMatch(/^10\.1\.2\.([1-9]|1[0-4])$/);
    expect(body.spec).toMatchObject({
      type: "ClusterIP",
      clusterIPs: [clusterIP],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
    });
    expect((await claims())[`addresses/${clusterIP}`]).toBe("default/plain");
    await server.admin.delete(`${services}/plain`);
    expect(await claims()).toEqual({});
  });

  it("a requested address is allocated only once", async () => {
    expect((await make("first", { clusterIP: "10.1.2.9" })).status).toBe(201);
    const second = await make("second", { clusterIP: "10.1.2.9" });
    expect(second.status).toBe(422);
    expect(causesOf(second.body)).toEqual([
      'spec.clusterIPs: Invalid value: ["10.1.2.9"]: failed to allocate IP 10.1.2.9: provided IP is already allocated',
    ]);
    expect((await server.admin.get(`${services}/second`)).status).toBe(404);
    await server.admin.delete(`${services}/first`);
    expect((await make("second", { clusterIP: "10.1.2.9" })).status).toBe(201);
    await server.admin.delete(`${services}/second`);
  });

  it("an address outside the range is 422", async () => {
    const { status, body } = await make("far", { clusterIP: "10.9.9.9" });
    expect(status).toBe(422);
    expect(causesOf(body)[0]).toContain("it is not in the range 10.1.2.0/28");
  });

  it("a headless service and an ExternalName service get no address", async () => {
    const headless = await make("headless", { clusterIP: "None" });
    expect(headless.body.spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"] });
    const name = await make("name", { type: "ExternalName", externalName: "example.com", ports: undefined });
    expect(name.status).toBe(201);
    expect(name.body.spec).not.toHaveProperty("clusterIP");
    expect(await claims()).toEqual({});
    for (const one of ["headless", "name"]) await server.admin.delete(`${services}/${one}`);
  });

  it("an exhausted range is reported, and released addresses are allocated again", async () => {
    const made = await Promise.all(Array.from({ length: 14 }, (_, i) => make(`s${i}`)));
    expect(made.map(({ status }) => status)).toEqual(Array.from({ length: 14 }, () => 201));
    expect(new Set(made.map(({ body }) => body.spec.clusterIP)).size).toBe(14);
    const none = await make("late");
    expect(none.status).toBe(500);
    expect(none.body.message).toContain("the range 10.1.2.0/28 is full");
    await server.admin.delete(`${services}/s3`);
    expect((await make("late")).body.spec.clusterIP).toBe(made[3]!.body.spec.clusterIP);
    const names = (await server.admin.get(services)).body.items.map(
      (item: { metadata: { name: string } }) => item.metadata.name,
    );
    for (const name of names) await server.admin.delete(`${services}/${name}`);
    expect(await claims()).toEqual({});
  });

  it("node ports are allocated, requested, in conflict, out of range, shared by protocols and released", async () => {
    const chosen = await make("chosen", { type: "NodePort" });
    const port = chosen.body.spec.ports[0].nodePort as number;
    expect(port).toBeGreaterThanOrEqual(30000);
    expect(port).toBeLessThanOrEqual(30003);
    const taken = await make("taken", { type: "NodePort", ports: [{ port: 80, nodePort: port }] });
    expect(causesOf(taken.body)).toEqual([
      `spec.ports[0].nodePort: Invalid value: ${port}: provided port is already allocated`,
    ]);
    const outside = await make("outside", { type: "NodePort", ports: [{ port: 80, nodePort: 40000 }] });
    expect(causesOf(outside.body)[0]).toContain("The range of valid ports is 30000-30003");
    const both = await make("both", {
      type: "NodePort",
      ports: [
        { name: "tcp", port: 53, protocol: "TCP" },
        { name: "udp", port: 53, protocol: "UDP" },
      ],
    });
    const [tcp, udp] = both.body.spec.ports;
    expect(tcp.nodePort).toBe(udp.nodePort);
    const inside = await server.admin.patch(`${services}/chosen`, {
      spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: null }] },
    });
    expect(inside.status).toBe(200);
    expect(inside.body.spec.ports[0]).not.toHaveProperty("nodePort");
    expect(await claims()).not.toHaveProperty(`ports/${port}`);
    for (const name of ["chosen", "both"]) await server.admin.delete(`${services}/${name}`);
    expect(await claims()).toEqual({});
  });

  it("an update keeps the allocated address and port", async () => {
    const { body } = await make("kept", { type: "NodePort" });
    const put = await server.admin.put(`${services}/kept`, {
      ...service("kept", { type: "NodePort", ports: [{ port: 81 }] }),
    });
    expect(put.status).toBe(200);
    expect(put.body.spec.ports[0].nodePort).toBe(body.spec.ports[0].nodePort);
    expect(put.body.spec.clusterIP).toBe(body.spec.clusterIP);
    await server.admin.delete(`${services}/kept`);
    expect(await claims()).toEqual({});
  });

  it("C-4.9-08 a dry run allocates nothing", async () => {
    const dry = await make("dry", { type: "NodePort" }, "?dryRun=All");
    expect(dry.status).toBe(201);
    expect(dry.body.spec.clusterIP).toMatch(/^10\.1\.2\./);
    expect(await claims()).toEqual({});
  });

  it("a failed create releases its allocations", async () => {
    await make("twice");
    const before = await claims();
    expect((await make("twice")).status).toBe(409);
    expect(await claims()).toEqual(before);
    await server.admin.delete(`${services}/twice`);
  });
});

describe("dual-stack services", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ serviceClusterIpRanges: ["10.1.2.0/24", "fd00::/112"] });
  });
  afterAll(() => server.close());

  it.each([
    [{}, ["IPv4"]],
    [{ ipFamilies: ["IPv6"] }, ["IPv6"]],
    [{ ipFamilyPolicy: "PreferDualStack" }, ["IPv4", "IPv6"]],
    [{ ipFamilyPolicy: "RequireDualStack", ipFamilies: ["IPv6"] }, ["IPv6", "IPv4"]],
  ])("%j gets addresses of %j", async (spec, families) => {
    const { body } = await server.admin.post(services, service("s", spec));
    expect(body.spec.ipFamilies).toEqual(families);
    expect(body.spec.clusterIPs.map((ip: string) => (ip.includes(":") ? "IPv6" : "IPv4"))).toEqual(families);
    expect(body.spec.clusterIP).toBe(body.spec.clusterIPs[0]);
    await server.admin.delete(`${services}/s`);
  });
});

test("RequireDualStack is 422 on a single-stack server", async () => {
  const server = await TestServer.start();
  const { status, body } = await server.admin.post(
    services,
    service("s", { ipFamilyPolicy: "RequireDualStack" }),
  );
  expect(status).toBe(422);
  expect(causesOf(body)[0]).toContain("spec.ipFamilyPolicy");
  await server.close();
});

describe("address ranges", () => {
  test.each([
    ["10.0.0.0/24", "IPv4", 254, "10.0.0.1", "10.0.0.254"],
    ["10.0.0.77/30", "IPv4", 2, "10.0.0.77", "10.0.0.78"],
    ["fd00::/112", "IPv6", 65_535, "fd00::1", "fd00::ffff"],
    ["fd00:1:2:3::/64", "IPv6", 65_535, "fd00:1:2:3::1", "fd00:1:2:3::ffff"],
  ])("%s", (text, family, size, first, last) => {
    const range = AddressRange.parse(text)!;
    expect([range.family, range.size, range.at(0), range.at(size - 1)]).toEqual([family, size, first, last]);
    expect(range.contains(last)).toBe(true);
    expect(range.contains("192.168.1.1")).toBe(false);
  });

  test.each([
    "",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/32",
    "x/8",
    "10.0.0.0/8/8",
    "fd00::/129",
    "fe80::1%eth0/64",
  ])("%j is no valid range", (text) => {
    expect(AddressRange.parse(text)).toBeUndefined();
  });

  test.each([
    ["fd00:0:0::1", "fd00::1"],
    ["FD00:0000::0001:0:0:1", "fd00::1:0:0:1"],
    ["::", "::"],
    ["::ffff:10.0.0.1", "::ffff:a00:1"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"],
    ["10.0.0.1", "10.0.0.1"],
  ])("%s in canonical form is %s", (given, canonical) => {
    expect(canonicalAddress(given)).toBe(canonical);
  });
});

describe("allocations of a service", () => {
  test("a service never gets the same node port twice", async () => {
    const server = await TestServer.start({ serviceNodePortRange: "30000-30029" });
    const ports = Array.from({ length: 30 }, (_, i) => ({ name: `p${i}`, port: 1000 + i }));
    const { status, body } = await server.admin.post(services, service("all", { type: "NodePort", ports }));
    expect(status).toBe(201);
    const numbers = body.spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort);
    expect(new Set(numbers).size).toBe(30);
    const dry = await server.admin.post(`${services}?dryRun=All`, service("none", { type: "NodePort" }));
    expect(dry.status).toBe(500);
    await server.close();
  });

  test("a service keeps its allocations when the server's ranges change", async () => {
    const dir = mkdtempSync(path.join(tmpdir(), "plinth-ranges-"));
    const storage = { engine: "embedded", dir } as const;
    const first = await TestServer.start({ storage, serviceClusterIpRanges: ["10.1.0.0/24"] });
    const made = await first.admin.post(services, service("old", { type: "NodePort" }));
    await first.close();
    const second = await TestServer.start({
      storage,
      serviceClusterIpRanges: ["10.9.0.0/24"],
      serviceNodePortRange: "31000-31010",
    });
    const patched = await second.admin.patch(`${services}/old`, { metadata: { labels: { a: "b" } } });
    expect(patched.status).toBe(200);
    expect(patched.body.spec.clusterIP).toBe(made.body.spec.clusterIP);
    await second.close();
    rmSync(dir, { recursive: true });
  });
});
