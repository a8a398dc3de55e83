import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import type { Release } from "../../src/base/releases.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { ok } from "../api/support.ts";
import { addressObjects } from "../../src/controllers/services/address-objects.ts";
import { Client } from "../../src/resources/clients/client.ts";
import { engineOf, TestServer, type Api } from "../support/api.ts";
import { ManualClock } from "../support/manual-clock.ts";

const group = "/apis/networking.platform.io/v1";
const addresses = `${group}/ipaddresses`;
const ranges = `${group}/servicecidrs`;
const services = "/api/v1/namespaces/default/services";
const service = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

interface Address {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly parentRef: Readonly<Record<string, string>> };
}

/** Returns the addresses with objects and the names of their services, without those of the server's own service. */
async function addressesOf(admin: Api): Promise<Record<string, string>> {
  const { items } = (await ok(admin.get(addresses))).body as unknown as { items: Address[] };
  const pairs = items.map(({ metadata, spec }) => [metadata.name, spec.parentRef["name"]!] as const);
  return Object.fromEntries(pairs.filter(([, name]) => name !== "platform"));
}

describe("the addresses of services in release 1.37", () => {
  const clock = new ManualClock();
  let server: TestServer;
  let admin: Api;
  beforeAll(async () => {
    server = await TestServer.start({
      release: "1.37",
      serviceClusterIpRanges: ["10.0.0.0/24", "fd00::/112"],
      clock,
    });
    admin = server.admin;
  });
  afterAll(() => server.close());

  /** Moves time on until a condition is true. */
  const until = (condition: () => Promise<unknown>, expected: unknown) =>
    expect
      .poll(
        async () => {
          await clock.advance(20_000);
          return condition();
        },
        { timeout: 20_000 },
      )
      .toEqual(expected);

  test("a service has an object of each of its addresses until it is deleted", async () => {
    await ok(
      admin.post(
        services,
        service("a", {
          clusterIP: "10.0.0.77",
          clusterIPs: ["10.0.0.77", "fd00::4d"],
          ipFamilyPolicy: "RequireDualStack",
        }),
      ),
    );
    expect(await addressesOf(admin)).toEqual({ "10.0.0.77": "a", "fd00::4d": "a" });
    const { body } = await ok(admin.get(`${addresses}/fd00::4d`));
    const { metadata, spec } = body as unknown as Address;
    expect(metadata.labels).toEqual({
      "ipaddress.platform.io/ip-family": "IPv6",
      "ipaddress.platform.io/managed-by": "ipallocator.platform.io",
    });
    expect(spec.parentRef).toEqual({ resource: "services", namespace: "default", name: "a" });
    await ok(admin.put(`${services}/a`, service("a", { type: "ExternalName", externalName: "e.example" })));
    expect(await addressesOf(admin)).toEqual({});
    await ok(admin.post(services, service("b")));
    expect(Object.values(await addressesOf(admin))).toEqual(["b"]);
    await ok(admin.delete(`${services}/b`));
    expect(await addressesOf(admin)).toEqual({});
  });

  test("the published schema of an address requires the reference to its object", async () => {
    const { body } = await ok(admin.get(`/openapi/v3${group}`));
    const { schemas } = (
      body as unknown as { components: { schemas: Record<string, { required?: string[] }> } }
    ).components;
    const required = (name: string) =>
      Object.entries(schemas).find(([key]) => key.endsWith(`.${name}`))?.[1].required;
    expect(required("IPAddressSpec")).toEqual(["parentRef"]);
    expect(required("ParentReference")).toEqual(["name", "resource"]);
  });

  test("an address with an object of another program isn't allocated", async () => {
    const spec = { parentRef: { group: "example.com", resource: "gateways", name: "g" } };
    await ok(admin.post(addresses, { metadata: { name: "10.0.0.78" }, spec }));
    for (const query of ["?dryRun=All", ""]) {
      const answer = await admin.post(services + query, service("c", { clusterIP: "10.0.0.78" }));
      expect([answer.status, answer.body.message]).toEqual([
        422,
        expect.stringContaining("already allocated"),
      ]);
    }
    await ok(admin.delete(`${addresses}/10.0.0.78`));
    await ok(admin.post(services, service("c", { clusterIP: "10.0.0.78" })));
    expect(await addressesOf(admin)).toEqual({ "10.0.0.78": "c" });
    await ok(admin.delete(`${services}/c`));
  });

  test("an audit creates missing objects, replaces wrong ones and deletes leaked ones", async () => {
    for (const [name, clusterIP] of [
      ["d", "10.0.0.80"],
      ["e", "10.0.0.81"],
    ] as const)
      await ok(admin.post(services, service(name, { clusterIP })));
    const labels = { "ipaddress.platform.io/managed-by": "ipallocator.platform.io" };
    const parentRef = { resource: "services", namespace: "default", name: "gone" };
    for (const name of ["10.0.0.80", "10.0.0.81"]) await ok(admin.delete(`${addresses}/${name}`));
    for (const name of ["10.0.0.81", "10.0.0.82"])
      await ok(admin.post(addresses, { metadata: { name, labels }, spec: { parentRef } }));
    await ok(admin.post(addresses, { metadata: { name: "10.0.0.83" }, spec: { parentRef } }));
    await until(() => addressesOf(admin), { "10.0.0.80": "d", "10.0.0.81": "e", "10.0.0.83": "gone" });
    for (const name of ["d", "e"]) await ok(admin.delete(`${services}/${name}`));
    await ok(admin.delete(`${addresses}/10.0.0.83`));
  });

  test("the deletion of an object leaves one that replaced it", async () => {
    const engine = engineOf(server);
    const client = new Client(engine, { name: "server", uid: "", groups: [], extra: {} });
    const version = group.slice("/apis/".length);
    const objects = addressObjects(() => client, engine.registry.vocabulary, version, undefined);
    const address = "10.0.0.90";
    await objects.create(address, "default/h");
    const before = (await objects.find(address))!;
    await objects.remove(before);
    expect(await objects.find(address)).toBeUndefined();
    await objects.create(address, "default/h");
    await objects.remove(before);
    expect(await objects.find(address)).toMatchObject({ owner: "default/h" });
    await ok(admin.delete(`${addresses}/${address}`));
  });

  test("a further range is used when it is ready, and stays until its addresses are gone", async () => {
    const name = "further";
    const requested = service("f", { clusterIP: "10.9.0.9" });
    expect((await admin.post(services, requested)).status).toBe(422);
    await ok(admin.post(ranges, { metadata: { name }, spec: { cidrs: ["10.9.0.0/24"] } }));
    const state = async () => {
      const { status, body } = await admin.get(`${ranges}/${name}`);
      const { conditions = [] } = (body["status"] ?? {}) as {
        conditions?: { status: string; reason: string }[];
      };
      return status === 404 ? "gone" : conditions.map((one) => `${one.status} ${one.reason}`).join();
    };
    await until(state, "True ");
    expect((await admin.get(`${ranges}/${name}`)).body.metadata?.["finalizers"]).toEqual([
      "networking.platform.io/service-cidr-finalizer",
    ]);
    await ok(admin.post(services, requested));
    await ok(admin.delete(`${ranges}/${name}`));
    await until(state, "False Terminating");
    expect((await admin.post(services, service("g", { clusterIP: "10.9.0.10" }))).status).toBe(422);
    await ok(admin.delete(`${services}/f`));
    await until(state, "gone");
  });
});

test.each<[Release, boolean]>([
  ["1.32", false],
  ["1.33", true],
])("release %s: a service of an earlier release has an object: %s", async (release, expected) => {
  const storage = createMemoryStore({ clock: systemClock });
  const small = { storage, controllers: [], serviceClusterIpRanges: ["10.0.0.8/30"] };
  const earlier = await TestServer.start(small);
  await ok(earlier.admin.post(services, service("s", { clusterIP: "10.0.0.10" })));
  await earlier.close();
  const server = await TestServer.start({ release, ...small });
  try {
    const add = (name: string) => server.admin.post(services, service(name));
    expect((await add("t")).status).toBe(500);
    if (!expected) return expect((await server.admin.get(addresses)).status).toBe(404);
    await expect.poll(() => addressesOf(server.admin)).toEqual({ "10.0.0.10": "s" });
    await ok(server.admin.post(ranges, { metadata: { name: "more" }, spec: { cidrs: ["10.9.0.0/30"] } }));
    await expect.poll(async () => (await add("t")).status).toBe(201);
    expect(Object.keys(await addressesOf(server.admin))).toContainEqual(
      expect.stringMatching(/^10\.9\.0\.[12]$/),
    );
  } finally {
    await server.close();
  }
});
