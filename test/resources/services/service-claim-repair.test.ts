import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Service } from "../../../src/kinds/core/service/service.ts";
import { Client } from "../../../src/resources/clients/client.ts";
import type { Engine } from "../../../src/resources/engine/engine.ts";
import { Claims, claimPrefix } from "../../../src/resources/services/claims.ts";
import { serverEffects, type ServerEffects } from "../../../src/server/engine/effects.ts";
import type { ServerOptions } from "../../../src/server/options/server-options.ts";
import { settle } from "../../support/manual-clock.ts";
import { UnsteadyStore } from "../../support/unsteady-store.ts";
import { engineOver } from "../engine.ts";

const minuteMs = 60_000;
const prefix = "/core/services/";

describe("the claims of a service", () => {
  let unsteady: UnsteadyStore;
  let engine: Engine;
  let effects: ServerEffects;
  let client: Client;
  const warnings: unknown[] = [];

  beforeEach(async () => {
    unsteady = new UnsteadyStore();
    const { clock, shown } = unsteady;
    const plain = engineOver(shown, [Service]);
    const options = {
      serviceClusterIpRanges: ["10.0.0.0/24"],
      serviceNodePortRange: "30000-30003",
      clock,
      log: { warn: (facts: unknown) => warnings.push(facts) },
    };
    effects = serverEffects(options as unknown as ServerOptions, plain.registry, shown, {
      randomInt: () => 0,
      client: () => client,
    });
    engine = { ...plain, storageHooks: effects.byPrefix };
    client = clientOf(engine);
    effects.repair!.start();
    await settle();
  });
  afterEach(async () => {
    await effects.repair!.close();
    engine.pages.close();
    await engine.selectors.close();
    await unsteady.store.close();
    warnings.length = 0;
  });

  const clientOf = (over: Engine) => new Client(over, { name: "a", uid: "", groups: [], extra: {} });
  const reference = { apiVersion: "v1", kind: "Service", namespace: "default", name: "s" };
  const add = (name = "s") =>
    client.add({
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace: "default", name },
      spec: { type: "NodePort", clusterIP: "10.0.0.7", ports: [{ port: 80, nodePort: 30_001 }] },
    });
  const claims = async () => {
    const owners = new Map<string, string>();
    for await (const { name, owner } of new Claims(unsteady.store).all()) owners.set(name, owner);
    return Object.fromEntries(owners);
  };
  const whole = { "addresses/10.0.0.7": "default/s", "ports/30001": "default/s" };
  const failReleases = () => {
    unsteady.failsToWrite = ({ kind, key }) => kind === "delete" && key.startsWith(claimPrefix);
  };

  test("are released soon when the store failed after the service was deleted", async () => {
    await add();
    failReleases();
    await client.delete(reference);
    expect(await unsteady.store.get(`${prefix}default/s`)).toBeUndefined();
    expect([await claims(), warnings.length]).toEqual([whole, 1]);
    unsteady.failsToWrite = () => false;
    await unsteady.clock.advance(1000 + minuteMs);
    expect(await claims()).toEqual({});
    await add("other");
    expect(await claims()).toEqual({ "addresses/10.0.0.7": "default/other", "ports/30001": "default/other" });
  });

  test("are released when the store is available again after a long failure", async () => {
    await add();
    failReleases();
    await client.delete(reference);
    unsteady.away = true;
    await unsteady.clock.advance(60 * minuteMs);
    expect(unsteady.reads).toBeLessThan(40);
    unsteady.away = false;
    unsteady.failsToWrite = () => false;
    await unsteady.clock.advance(5 * minuteMs);
    expect(await claims()).toEqual({});
  });

  test("are released when a server stopped between the delete and the release", async () => {
    await add();
    await clientOf({ ...engine, storageHooks: new Map() }).delete(reference);
    expect(await claims()).toEqual(whole);
    await unsteady.clock.advance(4 * minuteMs);
    expect(await claims()).toEqual({});
  });

  test("that an update no longer needs are released when the store failed after the update", async () => {
    await add();
    failReleases();
    await client.patch(reference, { spec: { type: "ClusterIP", ports: [{ port: 80, nodePort: 0 }] } });
    expect(await claims()).toEqual(whole);
    unsteady.failsToWrite = () => false;
    await unsteady.clock.advance(1000 + minuteMs);
    expect(await claims()).toEqual({ "addresses/10.0.0.7": "default/s" });
  });

  test("stay when the service was created again between two audits", async () => {
    await add();
    failReleases();
    await client.delete(reference);
    await unsteady.clock.advance(1000);
    unsteady.failsToWrite = () => false;
    // What another server may do: it releases the claims first.
    for await (const claim of new Claims(unsteady.store).all())
      await new Claims(unsteady.store).release(claim, []);
    await add();
    await unsteady.clock.advance(10 * minuteMs);
    expect(await claims()).toEqual(whole);
  });

  test("stay when the service is stored while its claims are being released", async () => {
    const { store } = unsteady;
    await add();
    const { body } = (await store.get(`${prefix}default/s`))!;
    await clientOf({ ...engine, storageHooks: new Map() }).delete(reference);
    let restored = false;
    unsteady.failsToWrite = ({ kind, key }) => {
      if (kind !== "delete" || !key.startsWith(claimPrefix) || restored) return false;
      restored = true;
      // Between the look for the service and the release of the claim.
      const draft = { header: Buffer.from("{}"), body: Buffer.from(body), revisionAt: revisionAt(body) };
      void store.commit({ kind: "create", key: `${prefix}default/s`, draft });
      return false;
    };
    await unsteady.clock.advance(4 * minuteMs);
    expect(restored).toBe(true);
    expect(await store.get(`${prefix}default/s`)).toBeDefined();
    expect(await claims()).toEqual(whole);
  });

  test("are released at once when another request changes the service while they are being released", async () => {
    const { store } = unsteady;
    await add();
    const { body } = (await store.get(`${prefix}default/s`))!;
    let changed = false;
    unsteady.failsToWrite = ({ kind, key }) => {
      if (kind !== "delete" || !key.startsWith(claimPrefix) || changed) return false;
      changed = true;
      const object = JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>;
      const other = Buffer.from(JSON.stringify({ ...object, spec: { clusterIP: "None" } }));
      const draft = { header: Buffer.from("{}"), body: other, revisionAt: revisionAt(other) };
      void store.commit({ kind: "create", key: `${prefix}default/s`, draft });
      return false;
    };
    await client.delete(reference);
    expect(changed).toBe(true);
    expect(await claims()).toEqual({});
    expect(warnings).toEqual([]);
  });

  test("are created again when they are missing", async () => {
    await add();
    for await (const claim of new Claims(unsteady.store).all())
      await new Claims(unsteady.store).release(claim, []);
    await unsteady.clock.advance(3 * minuteMs);
    expect(await claims()).toEqual(whole);
  });
});

/** Where the revision of a stored object is. */
const revisionAt = (body: Uint8Array) => {
  const mark = '"resourceVersion":"';
  return Buffer.from(body).indexOf(mark) + mark.length;
};
