import { afterEach, describe, expect, test } from "vitest";
import { createServer, manualClock, type Server } from "../../src/index.ts";
import { Api } from "../support/api.ts";

describe("manualClock", () => {
  test("runs due timers in the order of their times, with the time that they were due", async () => {
    const clock = manualClock(1000);
    const runs: string[] = [];
    const run = (name: string) => () => void runs.push(`${name} at ${clock.now()}`);
    clock.setTimer(run("third"), 300);
    clock.setTimer(run("first"), 100);
    clock.setTimer(run("second"), 100);
    clock.setTimer(run("never"), 100).cancel();
    clock.setTimer(run("later"), 301);
    await clock.advance(300);
    expect(runs).toEqual(["first at 1100", "second at 1100", "third at 1300"]);
    expect([clock.now(), clock.monotonicNow()]).toEqual([1300, 1300]);
    await clock.advance(1);
    expect(runs.at(-1)).toBe("later at 1301");
  });

  test("runs the work that a timer starts before later timers, and the timers that it sets", async () => {
    const clock = manualClock(0);
    const runs: string[] = [];
    clock.setTimer(() => {
      void Promise.resolve()
        .then(() => new Promise((resolve) => void setImmediate(resolve)))
        .then(() => {
          runs.push("work");
          clock.setTimer(() => runs.push("its timer"), 50);
        });
    }, 100);
    clock.setTimer(() => runs.push("later"), 200);
    await clock.advance(200);
    expect(runs).toEqual(["work", "its timer", "later"]);
  });

  test("runs concurrent calls of advance one after the other, also after an error", async () => {
    const clock = manualClock(0);
    const at: number[] = [];
    clock.setTimer(() => {
      throw new Error("broken");
    }, 5);
    clock.setTimer(() => at.push(clock.now()), 15);
    const [first, second] = await Promise.allSettled([clock.advance(10), clock.advance(10)]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "broken" } });
    expect(second.status).toBe("fulfilled");
    expect([at, clock.now()]).toEqual([[15], 15]);
  });

  test("rejects times that aren't durations", async () => {
    const clock = manualClock();
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(10_000);
    for (const ms of [-1, Number.NaN, "1" as never]) {
      await expect(clock.advance(ms)).rejects.toThrow(/^advance: the time must be at least 0 milliseconds/);
    }
    expect(() => manualClock(Number.NaN)).toThrow("the start of a manual clock");
  });
});

describe("a server with a manual clock", () => {
  let server: Server;
  let api: Api | undefined;
  afterEach(async () => {
    api?.close();
    api = undefined;
    await server.close();
  });
  const start = async (options: object = {}) => {
    server = await createServer({ clock: manualClock(), ...options });
    api = new Api(server.url!, server.caCertificate, `Bearer ${server.adminToken}`);
    return api;
  };

  test("writes its time into objects, which stands still", async () => {
    server = await createServer({ port: false, clock: manualClock(Date.parse("2030-01-01T00:00:00Z")) });
    const space = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }) as const;
    expect((await server.client.create(space("a"))).metadata.creationTimestamp).toBe("2030-01-01T00:00:00Z");
    await server.clock.advance(86_400_000);
    expect((await server.client.create(space("b"))).metadata.creationTimestamp).toBe("2030-01-02T00:00:00Z");
  });

  test("deletes events after their time", async () => {
    server = await createServer({ port: false, clock: manualClock(), eventLifeMs: 60_000 });
    const reference = { apiVersion: "v1", kind: "Event", name: "one", namespace: "default" } as const;
    await server.client.create({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "one", namespace: "default" },
      involvedObject: { kind: "Pod", namespace: "default", name: "web" },
    });
    await server.clock.advance(30_000);
    expect(await server.client.find(reference)).toBeDefined();
    await server.clock.advance(120_000);
    expect(await server.client.find(reference)).toBeUndefined();
  });

  test("rejects a token after its expiry", async () => {
    const admin = await start();
    await server.client.create({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { name: "robot", namespace: "default" },
    });
    const path = "/api/v1/namespaces/default/serviceaccounts/robot/token";
    const { body } = await admin.post(path, { spec: { expirationSeconds: 600 } });
    const review = async () => {
      const { status } = await server.client.create({
        apiVersion: "authentication.platform.io/v1",
        kind: "TokenReview",
        metadata: {},
        spec: { token: body.status.token as string },
      });
      return status?.authenticated ?? false;
    };
    expect(await review()).toBe(true);
    await server.clock.advance(590_000);
    expect(await review()).toBe(true);
    // Expiry is checked with a tolerance of a minute.
    await server.clock.advance(80_000);
    expect(await review()).toBe(false);
  });

  test("renews its lease", async () => {
    await start({ identityLease: true });
    const leases = { apiVersion: "coordination.platform.io/v1", kind: "Lease" } as const;
    const times = async () =>
      (await server.client.list(leases)).items.map(({ spec }) => Date.parse(spec?.renewTime ?? ""));
    await expect.poll(async () => (await times()).length).toBeGreaterThan(0);
    const before = Math.max(...(await times()));
    await server.clock.advance(60_000);
    expect(Math.max(...(await times())) - before).toBeGreaterThanOrEqual(50_000);
  });

  test("ends a watch after its time", async () => {
    const admin = await start();
    let ended = false;
    const watch = admin.get("/api/v1/namespaces?watch=1&timeoutSeconds=300").then(() => (ended = true));
    await expect
      .poll(async () => (await admin.get("/metrics")).text)
      .toMatch(/longrunning_requests\{[^}]*verb="WATCH"[^}]*\} 1/);
    await server.clock.advance(299_000);
    expect(ended).toBe(false);
    await server.clock.advance(2000);
    await watch;
    expect(ended).toBe(true);
  });

  test("has no property clock without one", async () => {
    server = await createServer({ port: false });
    expect(() => server.clock).toThrow("create it with createServer({ clock: manualClock() })");
  });
});
