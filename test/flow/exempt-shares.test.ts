import { describe, expect, test } from "vitest";
import { FlowControl } from "../../src/flow/flow-control.ts";
import type { ExemptLevel, PriorityLevelObject } from "../../src/flow/objects.ts";
import { giveOutBeside } from "../../src/flow/shares.ts";
import type { Ticket } from "../../src/flow/request.ts";
import { ordinary } from "../../src/flow/matching.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { getPods, noMeters, person, TestClient } from "./support.ts";

const limited = (name: string, shares: number, lendablePercent = 0): PriorityLevelObject => ({
  metadata: { name },
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent,
      limitResponse: { type: "Queue", queuing: { queues: 1, handSize: 1, queueLengthLimit: 1000 } },
    },
  },
});

const schema = (name: string, group: string) => ({
  metadata: { name },
  spec: {
    priorityLevelConfiguration: { name },
    matchingPrecedence: 1,
    rules: [
      {
        subjects: [{ kind: "Group", group: { name: group } }],
        resourceRules: [
          { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] },
        ],
      },
    ],
  },
});

/** Flow control of 100 seats with the level `work` of 50 shares, and an exempt level. */
function controlWith(exempt: ExemptLevel | undefined) {
  const clock = new ManualClock(0);
  const control = new FlowControl({
    seats: 100,
    waitMs: 60_000,
    systemPrefix: "system:",
    headerPrefix: "",
    clock,
    meters: () => noMeters,
  });
  control.configure({
    schemas: [schema("exempt", "administrators"), schema("work", "workers")],
    levels: [{ metadata: { name: "exempt" }, spec: { type: "Exempt", exempt } }, limited("work", 50, 20)],
  });
  const enter = (group: string, count: number, seats = 1) =>
    Array.from({ length: count }, () => {
      const user = person("someone", group);
      const use = control.classify(getPods(), user);
      return control.enter(use, { ...ordinary, seats }, getPods(), user, new TestClient());
    });
  const work = control.levels.get("work")!;
  const adjust = () => {
    clock.advanceAtOnce(10_000);
    control.adjust();
    return work.seats;
  };
  return { control, clock, enter, work, adjust };
}

describe("the shares of the exempt level", () => {
  test("count in the sum of shares", () => {
    expect(controlWith({ nominalConcurrencyShares: 50, lendablePercent: 0 }).work.seats).toBe(50);
    expect(controlWith({ nominalConcurrencyShares: 0, lendablePercent: 0 }).work.seats).toBe(100);
    expect(controlWith(undefined).work.seats).toBe(100);
  });

  test("can be borrowed as far as they are lendable and unused", () => {
    const { enter, adjust } = controlWith({ nominalConcurrencyShares: 50, lendablePercent: 60 });
    void enter("workers", 200);
    expect(adjust()).toBe(80);
    const tickets = enter("administrators", 4, 10) as Ticket[];
    expect(adjust()).toBe(60);
    for (const ticket of tickets) ticket.release();
    adjust();
    expect(adjust()).toBe(80);
  });

  test("aren't lent with the percentage 0", () => {
    const { enter, adjust } = controlWith({ nominalConcurrencyShares: 50 });
    void enter("workers", 200);
    expect(adjust()).toBe(50);
  });

  test("don't limit its requests, which never wait and aren't contended", () => {
    const { control, enter } = controlWith({ nominalConcurrencyShares: 50, lendablePercent: 100 });
    const tickets = enter("administrators", 300) as Ticket[];
    expect(tickets.some((ticket) => ticket instanceof Promise)).toBe(false);
    const exempt = control.levels.get("exempt")!;
    expect([exempt.executing, exempt.seatsInUse, tickets[0]!.contended]).toEqual([300, 300, false]);
    for (const ticket of tickets) ticket.release();
    expect([exempt.executing, exempt.seatsInUse]).toEqual([0, 0]);
  });

  test("above them, its requests leave the limited levels less, down to what these don't lend", () => {
    const { enter, adjust } = controlWith({ nominalConcurrencyShares: 50, lendablePercent: 100 });
    void enter("workers", 200);
    void enter("administrators", 55);
    expect(adjust()).toBe(45);
    void enter("administrators", 100);
    expect(adjust()).toBe(40);
  });

  test("without shares its requests aren't measured, and all seats are the others'", () => {
    const { control, enter, adjust } = controlWith({ nominalConcurrencyShares: 0, lendablePercent: 100 });
    void enter("workers", 200);
    void enter("administrators", 300);
    expect(control.levels.get("exempt")!.seatsInUse).toBe(0);
    expect(adjust()).toBe(100);
  });
});

describe("seats beside exempt levels", () => {
  const claim = (minimum: number, least: number, desired: number) => ({ minimum, least, desired, most: 100 });

  test.each([
    ["nothing used: the lendable seats are given out", 10, 0, [60, 30]],
    ["used within the nominal seats", 10, 40, [40, 20]],
    [
      "the rest is less than the needs, and is divided in proportion to what may be lent",
      10,
      75,
      [16.7, 8.3],
    ],
    ["less than the minimums remains", 10, 95, [10, 5]],
  ])("%s", (_name, least, highest, expected) => {
    const claims = [claim(10, 20, 60), claim(5, 10, 30)];
    const seats = giveOutBeside(100, [{ range: { nominal: 50, least }, highest }], claims);
    expect(seats.map((one) => Math.round(one * 10) / 10)).toEqual(expected);
  });
});
