import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AddressObject, AddressObjects } from "../../../src/resources/services/address-objects.ts";
import { AddressRange } from "../../../src/resources/services/address-range.ts";
import { Claims, claimPrefix } from "../../../src/resources/services/claims.ts";
import {
  ServiceAllocation,
  type AllocationSetup,
} from "../../../src/resources/services/service-allocation.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import type { Store } from "../../../src/storage/store.ts";
import { ManualClock } from "../../api/support.ts";

const ports = { first: 30_000, last: 32_767 };
const range = AddressRange.parse("10.0.0.0/20")!;

describe("addresses and node ports of a range", () => {
  let store: Store;
  const asked = { get: 0, range: 0, commit: 0 };
  let allocation: ServiceAllocation;
  let setup: AllocationSetup;
  let seed = 7;

  beforeEach(() => {
    store = createMemoryStore({ clock: new ManualClock() });
    const counted = new Proxy(store, {
      get(target, name) {
        if (name === "get" || name === "range" || name === "commit") asked[name]++;
        return Reflect.get(target, name) as unknown;
      },
    });
    const randomInt = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const leftBehind = () => undefined;
    const prefix = "/core/services/";
    setup = { store: counted, prefix, ranges: [range], ports, reservedPorts: 86, randomInt, leftBehind };
    allocation = new ServiceAllocation(setup);
    Object.assign(asked, { get: 0, range: 0, commit: 0 });
  });
  afterEach(() => store.close());

  /** Claims all but some of the node ports and addresses. */
  const fill = async (but: readonly string[] = []) => {
    const claims = new Claims(store);
    for (let port = ports.first; port <= ports.last; port++) {
      if (!but.includes(`ports/${port}`)) await claims.acquire(`ports/${port}`, "default/other");
    }
    for (let i = 0; i < range.size; i++) {
      const address = range.at(i);
      if (!but.includes(`addresses/${address}`))
        await claims.acquire(`addresses/${address}`, "default/other");
    }
  };
  const service = (spec: object): ApiObject =>
    ({ kind: "Service", apiVersion: "v1", metadata: { namespace: "default", name: "s" }, spec }) as ApiObject;
  const nodePort = (clusterIP = "None") => service({ type: "NodePort", clusterIP, ports: [{ port: 80 }] });

  test("a full range of node ports returns 500 after fewer than 20 reads and no commit", async () => {
    await fill();
    await expect(allocation.beforeWrite(nodePort(), undefined, false)).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining("failed to allocate a nodePort: the range 30000-32767 is full"),
    });
    expect(asked.commit).toBe(0);
    expect(asked.get + asked.range).toBeLessThan(20);
  });

  test("a full range of addresses returns 500 after fewer than 20 reads and no commit", async () => {
    await fill();
    await expect(allocation.beforeWrite(service({ ports: [] }), undefined, false)).rejects.toMatchObject({
      code: 500,
      message: expect.stringContaining("failed to allocate a service IP: the range 10.0.0.0/20 is full"),
    });
    expect(asked.commit).toBe(0);
    expect(asked.get + asked.range).toBeLessThan(20);
  });

  test.each([false, true])("the only free port and address are allocated (dry run: %j)", async (dryRun) => {
    await fill(["ports/31234", "addresses/10.0.0.3"]);
    const made = nodePort("");
    await allocation.beforeWrite(made, undefined, dryRun);
    expect(made["spec"]).toMatchObject({ clusterIP: "10.0.0.3", ports: [{ nodePort: 31_234 }] });
    expect(asked.commit).toBe(dryRun ? 0 : 2);
    expect(asked.get + asked.range).toBeLessThan(35);
  });

  test("the only address without an object of something else is allocated after few attempts", async () => {
    const blocked = Array.from({ length: range.size }, (_, index) => range.at(index));
    const [free] = blocked.splice(1000, 1);
    const objects = blockedAddresses(blocked);
    const few = new ServiceAllocation({ ...setup, objects });
    const made = service({ ports: [] });
    await few.beforeWrite(made, undefined, false);
    expect(made["spec"]).toMatchObject({ clusterIP: free });
    expect(asked.commit).toBeLessThan(30);
  });

  test("addresses in the reserved beginning of the range are allocated last", async () => {
    const before = range.at(range.reserved - 1);
    const after = range.at(range.reserved + 1);
    await fill([`addresses/${before}`, `addresses/${after}`]);
    for (const expected of [after, before]) {
      const made = service({ ports: [] });
      await allocation.beforeWrite(made, undefined, false);
      expect(made["spec"]).toMatchObject({ clusterIP: expected });
    }
  });

  test("concurrent services get different last free ports, and the others get an error", async () => {
    await fill(["ports/30001", "ports/30002", "ports/30003"]);
    const specs = Array.from({ length: 8 }, () => nodePort());
    const outcomes = await Promise.allSettled(
      specs.map((one, i) => {
        one.metadata.name = `s${i}`;
        return allocation.beforeWrite(one, undefined, false);
      }),
    );
    const given = specs
      .filter((_, i) => outcomes[i]!.status === "fulfilled")
      .map((one) => (one["spec"] as { ports: { nodePort: number }[] }).ports[0]!.nodePort);
    expect(given.toSorted()).toEqual([30_001, 30_002, 30_003]);
    expect((await store.range({ prefix: `${claimPrefix}ports/` })).entries).toHaveLength(2768);
  });
});

/** The objects of addresses that something else than a service uses. */
function blockedAddresses(addresses: readonly string[]): AddressObjects {
  const objects = new Map(
    addresses.map((address): [string, AddressObject] => [
      address,
      { address, uid: address, owner: undefined, isManaged: false, createdMs: 0 },
    ]),
  );
  return {
    create: (address) => Promise.resolve(!objects.has(address)),
    find: (address) => Promise.resolve(objects.get(address)),
    remove: () => Promise.resolve(),
    all: () => Promise.resolve([...objects.values()]),
    isOwnRangeDeleted: () => Promise.resolve(false),
    furtherRanges: () => Promise.resolve([]),
  };
}
