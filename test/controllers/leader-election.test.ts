import { describe, expect, it, test } from "vitest";
import type { Clock } from "../../src/base/time/clock.ts";
import { fencedStore } from "../../src/controllers/fenced-store.ts";
import { defaultLeaderTimes, LeaderElection, type Candidate } from "../../src/controllers/leader-election.ts";
import { Lease } from "../../src/kinds/coordination/lease.ts";
import { Client } from "../../src/resources/clients/client.ts";
import { createMemoryStore } from "../../src/storage/memory/memory-store.ts";
import { StoreUnavailableError, type Revision, type Store } from "../../src/storage/store.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { engineOver } from "../resources/engine.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";
import { randomFrom } from "../support/random.ts";

const user = { name: "server", uid: "", groups: [], extra: {} };
const { leaseMs, deadlineMs, renewMs, retryMs } = defaultLeaderTimes;

/** A server that stands for leadership; it can be cut off from the store, stopped for a while, and crash. */
class Server {
  readonly election: LeaderElection;
  cutOff = false;
  /** By how much its wall clock was set forward, in milliseconds. */
  wallOffset = 0;
  /** Its timers don't fire while it is stopped. */
  stopped = false;
  crashed = false;
  /** What its reads wait for. */
  held: Promise<void> | undefined;
  /** Whether its controllers run. */
  working = false;
  begun = 0;
  private readonly late: (() => void)[] = [];
  readonly store: Store;

  constructor(
    clock: ManualClock,
    store: Store,
    readonly identity: string,
    changes: Partial<Candidate> = {},
  ) {
    const reach = <T>(call: () => T): T => {
      if (this.cutOff || this.crashed) throw new StoreUnavailableError("cut off");
      return call();
    };
    this.store = fencedStore(store, () => true);
    const reached: Store = {
      ...this.store,
      get: (key: string, at?: Revision) =>
        this.held === undefined
          ? reach(() => store.get(key, at))
          : this.held.then(() => reach(() => store.get(key, at))),
      commit: async (write) => reach(() => store.commit(write)),
    };
    const own: Clock = {
      now: () => clock.now() + this.wallOffset,
      monotonicNow: () => clock.monotonicNow(),
      setTimer: (task, delayMs) => {
        let off = false;
        const fire = () => {
          if (off || this.crashed) return;
          if (this.stopped) this.late.push(fire);
          else task();
        };
        const timer = clock.setTimer(fire, delayMs);
        return {
          cancel() {
            off = true;
            timer.cancel();
          },
        };
      },
    };
    const client = new Client(engineOver(reached, [Lease]), user);
    this.election = new LeaderElection(client, platform, own, {
      identity,
      hasEnded: () => false,
      lead: async () => {
        this.working = true;
        this.begun++;
        return {
          close: async () => {
            this.working = false;
          },
        };
      },
      failed: () => undefined,
      changed: () => undefined,
      ...changes,
    });
  }

  /** It goes on after a stop; what fell due meanwhile happens now. */
  wake(): void {
    this.stopped = false;
    for (const fire of this.late.splice(0)) fire();
  }

  /** Whether what its controllers write would be written now. */
  get writes(): boolean {
    return this.working && !this.crashed && this.election.holds();
  }
}

/** A started server over a store in memory. */
async function oneServer() {
  const clock = new ManualClock();
  const store = createMemoryStore({ clock });
  const one = new Server(clock, store, "one");
  await one.election.start();
  return { clock, store, one };
}

/** Two started servers over one store, of which the first leads. */
async function twoServers() {
  const { clock, store, one } = await oneServer();
  const two = new Server(clock, store, "two");
  await two.election.start();
  return { clock, one, two };
}

describe("leadership by a Lease", () => {
  it("is acquired at once by a single server and kept by periodic renewals", async () => {
    const clock = new ManualClock();
    const store = createMemoryStore({ clock });
    const one = new Server(clock, store, "one");
    const before = Number(await store.latestRevision());
    await one.election.start();
    expect(one.writes).toBe(true);
    await clock.advance(60_000);
    expect(one.writes).toBe(true);
    expect(one.begun).toBe(1);
    expect(Number(await store.latestRevision()) - before).toBe(1 + 60_000 / renewMs);
    await one.election.close();
  });

  it("passes to another server within one retry interval when the leader stops gracefully", async () => {
    const { clock, one, two } = await twoServers();
    await clock.advance(60_000);
    expect([one.writes, two.writes]).toEqual([true, false]);
    await one.election.close();
    expect(one.working).toBe(false);
    await clock.advance(retryMs);
    expect(two.writes).toBe(true);
    await two.election.close();
  });

  it("passes to another server when the lease of a crashed leader expires, and not before", async () => {
    const { clock, one, two } = await twoServers();
    await clock.advance(60_000);
    one.crashed = true;
    await clock.advance(leaseMs - renewMs - retryMs);
    expect(two.working).toBe(false);
    await clock.advance(renewMs + 2 * retryMs);
    expect(two.writes).toBe(true);
    await two.election.close();
  });

  it("stays with the leader when the wall clock of another server is set forward", async () => {
    const { clock, one, two } = await twoServers();
    two.wallOffset = 10 * leaseMs;
    await clock.advance(retryMs);
    expect([one.writes, two.writes]).toEqual([true, false]);
    await two.election.close();
    await one.election.close();
  });

  it("ends at the renew deadline when the leader can't reach the store and its wall clock is set back", async () => {
    const { clock, one } = await oneServer();
    one.cutOff = true;
    one.wallOffset = -10 * leaseMs;
    await clock.advance(deadlineMs);
    expect(one.writes).toBe(false);
    await clock.advance(renewMs);
    expect(one.working).toBe(false);
    await one.election.close();
  });

  it("starts new work only after the previous work has ended when a renewal succeeds late", async () => {
    const clock = new ManualClock();
    const store = createMemoryStore({ clock });
    let running = 0;
    let most = 0;
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let renew!: () => void;
    const renewed = new Promise<void>((resolve) => (renew = resolve));
    const one = new Server(clock, store, "one", {
      lead: async () => {
        most = Math.max(most, ++running);
        return {
          close: async () => {
            await ended;
            running--;
          },
        };
      },
    });
    await one.election.start();
    one.held = renewed;
    // The watchdog ends the work at the deadline; the renewal that began before it succeeds while the work is still ending.
    await clock.advance(deadlineMs);
    one.held = undefined;
    renew();
    await settle();
    await settle();
    expect([running, most]).toEqual([1, 1]);
    end();
    await settle();
    await settle();
    expect([running, most]).toEqual([1, 1]);
    await one.election.close();
  });

  it("is acquired at once when the holder is known to have ended", async () => {
    const { clock, store, one } = await oneServer();
    one.crashed = true;
    const two = new Server(clock, store, "two", { hasEnded: (identity) => identity === "one" });
    await two.election.start();
    expect(two.writes).toBe(true);
    await two.election.close();
  });

  it("ends before the lease expires when the leader can't renew it, and later writes fail", async () => {
    const { clock, store, one } = await oneServer();
    const fenced = fencedStore(store, () => one.election.holds());
    one.cutOff = true;
    await clock.advance(deadlineMs - 1);
    expect(one.writes).toBe(true);
    await clock.advance(1);
    expect(one.election.holds()).toBe(false);
    await expect(
      fenced.commit({ kind: "delete", key: "/a", expected: 1 as Revision }),
    ).rejects.toBeInstanceOf(StoreUnavailableError);
    await clock.advance(renewMs);
    expect(one.working).toBe(false);
    one.cutOff = false;
    await clock.advance(retryMs);
    expect([one.writes, one.begun]).toEqual([true, 2]);
    await one.election.close();
  });

  it("is released when the work fails to start", async () => {
    const clock = new ManualClock();
    const store = createMemoryStore({ clock });
    const lead = () => Promise.reject(new Error("no"));
    const one = new Server(clock, store, "one", { lead });
    await expect(one.election.start()).rejects.toThrow("no");
    await one.election.close();
    const two = new Server(clock, store, "two");
    await two.election.start();
    expect(two.writes).toBe(true);
    await two.election.close();
  });
});

/** Runs servers through random stops, cuts and crashes; a failure names the seed, which does the same again. */
async function simulate(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const clock = new ManualClock(1e12);
  const store = createMemoryStore({ clock });
  const servers: Server[] = [];
  const join = async () => {
    const server = new Server(clock, store, `server-${servers.length}`);
    servers.push(server);
    await server.election.start();
  };
  const alive = () => servers.filter(({ crashed }) => !crashed);
  const pick = () => alive()[Math.floor(random() * alive().length)]!;
  const check = (when: string) => {
    const writing = servers.filter(({ writes }) => writes).map(({ identity }) => identity);
    expect(writing.length, `seed ${seed}: ${when}: ${writing.join(" and ")} lead`).toBeLessThanOrEqual(1);
  };
  for (let count = 0; count < 3; count++) await join();
  for (let step = 0; step < 120; step++) {
    const fault = random();
    if (fault < 0.1) pick().cutOff = true;
    else if (fault < 0.3) pick().cutOff = false;
    else if (fault < 0.4) pick().stopped = true;
    else if (fault < 0.6) pick().wake();
    else if (fault < 0.65 && alive().length > 1) pick().crashed = true;
    else if (fault < 0.7 && alive().length < 4) await join();
    for (let tick = 0; tick < 4; tick++) {
      await clock.advance(Math.floor(random() * 2500));
      check(`step ${step}`);
    }
  }
  for (const server of alive()) {
    server.cutOff = false;
    server.wake();
  }
  await settle();
  await clock.advance(2 * leaseMs);
  check("at the end");
  expect(
    servers.filter(({ writes }) => writes),
    `seed ${seed}: nobody leads when all is well`,
  ).toHaveLength(1);
  for (const server of alive()) await server.election.close();
}

const seeds =
  process.env["PLINTH_SEED"]?.split(",").map(Number) ?? Array.from({ length: 40 }, (_, index) => index);
test.each(seeds)(
  "at most one server leads at any time, and one leads after the faults end (seed %i)",
  (seed) => simulate(seed),
);
