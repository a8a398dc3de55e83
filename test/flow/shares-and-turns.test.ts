import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Demand } from "../../src/flow/demand.ts";
import { defaultLevels } from "../../src/flow/default-objects.ts";
import { FairTurns } from "../../src/flow/fair-turns.ts";
import { PlainLimit } from "../../src/flow/plain-limits.ts";
import { giveOut, nominalSeats, seatRange } from "../../src/flow/shares.ts";
import { changeWidth, listWidth } from "../../src/flow/matching.ts";

describe("seats of levels", () => {
  test("are total × shares / sum of shares, rounded up", () => {
    expect(nominalSeats(600, 30, 245)).toBe(74);
    expect(nominalSeats(1, 5, 245)).toBe(1);
  });

  test("of 600 seats the default levels get their nominal and minimum seats", () => {
    const limited = defaultLevels("1.26").flatMap(({ object }) => (object.spec.limited ? [object] : []));
    const shares = limited.reduce((sum, { spec }) => sum + spec.limited!.nominalConcurrencyShares, 0);
    expect(shares).toBe(245);
    const ranges = limited.map(({ metadata, spec }) => {
      const { nominal, least } = seatRange(600, shares, spec.limited!);
      return [metadata.name, nominal, least];
    });
    expect(ranges).toEqual([
      ["catch-all", 13, 13],
      ["system", 74, 50],
      ["node-high", 98, 73],
      ["leader-election", 25, 25],
      ["workload-high", 98, 49],
      ["workload-low", 245, 24],
      ["global-default", 49, 24],
    ]);
  });

  test("borrowingLimitPercent limits the maximum of seats", () => {
    const level = { nominalConcurrencyShares: 10, limitResponse: { type: "Reject" } };
    expect(seatRange(100, 100, level).most).toBe(110);
    expect(seatRange(100, 100, { ...level, borrowingLimitPercent: 50 }).most).toBe(15);
  });

  test("are allocated completely, between minimum and maximum, in proportion to demand", () => {
    const claim = fc
      .record({
        least: fc.nat({ max: 20 }),
        more: fc.nat({ max: 50 }),
        desired: fc.integer({ min: 1, max: 100 }),
      })
      .map(({ least, more, desired }) => ({ least, most: least + more, desired }));
    fc.assert(
      fc.property(fc.array(claim, { minLength: 1, maxLength: 8 }), fc.nat({ max: 300 }), (claims, total) => {
        const given = giveOut(total, claims);
        const sum = given.reduce((all, one) => all + one, 0);
        const sums = (["least", "most"] as const).map((key) =>
          claims.reduce((all, one) => all + one[key], 0),
        );
        expect(sum).toBeCloseTo(Math.min(Math.max(total, sums[0]!), sums[1]!), 3);
        for (const [index, one] of given.entries()) {
          expect(one).toBeGreaterThanOrEqual(claims[index]!.least);
          expect(one).toBeLessThanOrEqual(claims[index]!.most);
        }
      }),
    );
    expect(
      giveOut(
        12,
        [1, 2, 3].map((desired) => ({ least: 0, most: 100, desired })),
      ).map(Math.round),
    ).toEqual([2, 4, 6]);
  });

  test("smoothed demand rises at once and falls gradually", () => {
    const demand = new Demand(0);
    demand.set(0, 10);
    demand.endPeriod(10_000);
    expect([demand.smooth, demand.highest]).toEqual([10, 10]);
    demand.set(10_000, 0);
    demand.endPeriod(20_000);
    expect(demand.smooth).toBeCloseTo(9.775, 6);
    expect(demand.highest).toBe(10);
    demand.endPeriod(30_000);
    expect(demand.highest).toBe(0);
  });
});

describe("seats of a list", () => {
  test.each([
    [undefined, 0, false, 1],
    [0, 0, false, 1],
    [100, 0, false, 1],
    [101, 0, false, 2],
    [100_000, 0, false, 10],
    [100_000, 150, false, 2],
    [100_000, 150, true, 10],
  ])("of %s objects, limit %s, with a selector: %s", (stored, limit, selects, seats) => {
    expect(listWidth({ stored, limit, selects })).toEqual({ seats, finalSeats: 0, finalMs: 0 });
  });
});

describe("seats of a change", () => {
  test.each([
    [0, 0, 0],
    [9, 0, 0],
    [10, 1, 0.5],
    [11, 2, 0.5],
    [100, 10, 0.5],
    [101, 10, 0.55],
    [1000, 10, 5],
  ])("that %s watchers are told of: %s for %s ms after the answer", (watchers, finalSeats, finalMs) => {
    expect(changeWidth(watchers)).toEqual({ seats: 1, finalSeats, finalMs });
  });
});

describe("plain limits", () => {
  test("reject requests above the limit, and 0 means unlimited", () => {
    const limit = new PlainLimit(1);
    const ticket = limit.enter();
    expect(() => limit.enter()).toThrow("Too many requests");
    ticket.release();
    expect(() => limit.enter()).not.toThrow();
    const none = new PlainLimit(0);
    for (let count = 0; count < 100; count++) none.enter();
    expect(() => none.enter()).not.toThrow();
  });
});

describe("turns of the event loop", () => {
  /** A loop whose time passes only by work. */
  class Loop {
    time = 0;
    private tasks: (() => void)[] = [];
    readonly order: string[] = [];
    readonly turns = new FairTurns({ nowMs: () => this.time, later: (task) => void this.tasks.push(task) });

    /** A request that takes some time. */
    ask = (flow: string, costMs = 0.2) =>
      this.turns.run(flow, () => {
        this.order.push(flow);
        this.time += costMs;
        return flow;
      });

    /** Ends a turn; false when nothing was left. */
    turn(): boolean {
      const due = this.tasks;
      this.tasks = [];
      for (const task of due) task();
      return due.length > 0;
    }
  }

  test("requests are processed in sequence after all were read, up to the time limit of a turn", async () => {
    const loop = new Loop();
    const answers = Array.from({ length: 4 }, () => loop.ask("a"));
    expect(loop.order).toHaveLength(0);
    loop.turn();
    expect(loop.order).toHaveLength(3);
    loop.turn();
    expect(await Promise.all(answers)).toEqual(["a", "a", "a", "a"]);
    expect(loop.turn()).toBe(false);
  });

  test("a request of a quiet user is processed before most of the 63 requests of a noisy one", async () => {
    const loop = new Loop();
    const answers = Array.from({ length: 63 }, () => loop.ask("noisy"));
    answers.push(loop.ask("quiet"));
    loop.turn();
    expect(loop.order).toEqual(["noisy", "quiet", "noisy"]);
    // What comes while others stand in line stands among them.
    void loop.ask("other");
    expect(loop.order).toHaveLength(3);
    loop.turn();
    expect(loop.order.slice(3)).toContain("other");
    while (loop.turn());
    expect(await Promise.all(answers)).toHaveLength(64);
    expect(loop.order).toHaveLength(65);
  });

  test("one long step is done in each turn after the short tasks, with users in rotation", async () => {
    const loop = new Loop();
    const step = (flow: string) => loop.turns.longStep(flow).then(() => loop.order.push(`long ${flow}`));
    const steps = [step("a"), step("a"), step("b")];
    void loop.ask("c");
    for (let turn = 0; turn < 3; turn++) {
      void loop.ask("d");
      loop.turn();
      await Promise.resolve();
    }
    await Promise.all(steps);
    expect(loop.order).toEqual(["c", "d", "long a", "d", "long b", "d", "long a"]);
    expect(loop.turn()).toBe(false);
  });

  test("a failure rejects only its own request", async () => {
    const loop = new Loop();
    for (let index = 0; index < 3; index++) void loop.ask("a");
    const failing = loop.turns.run("a", () => {
      throw new Error("no");
    });
    const after = loop.ask("a");
    while (loop.turn());
    await expect(failing).rejects.toThrow("no");
    expect(await after).toBe("a");
  });
});
