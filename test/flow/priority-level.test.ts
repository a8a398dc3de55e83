import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PriorityLevel } from "../../src/flow/priority-level.ts";
import { dealHand } from "../../src/flow/schema-flows.ts";
import type { Ticket } from "../../src/flow/request.ts";
import { FlowUse } from "../../src/flow/flow-control.ts";
import { changeWidth, ordinary, type Width } from "../../src/flow/matching.ts";
import { getPods, noMeters, person, TestClient } from "./support.ts";
import { ManualClock } from "../support/manual-clock.ts";

const queuing = { queues: 64, handSize: 6, queueLengthLimit: 50 };
const waitMs = 15_000;

function levelWith(seats: number, queues = queuing) {
  const clock = new ManualClock(0);
  const level = new PriorityLevel("level", clock, waitMs);
  level.limit({ seats, queuing: queues });
  const use = new FlowUse("schema", level, noMeters);
  use.distinguisher = "ByUser";
  const enter = (user: string, width: number | Width = 1, client = new TestClient()) =>
    level.enter({
      use,
      width: typeof width === "number" ? { ...ordinary, seats: width } : width,
      request: getPods(),
      user: person(user),
      client,
    });
  return { clock, level, use, enter };
}

/** What comes of a request: its ticket or the refusal's message. */
const outcome = (entered: Promise<Ticket> | Ticket) =>
  Promise.resolve(entered).then(
    (ticket) => ticket,
    (error: Error) => error.message,
  );
const refusal = "Too many requests, please try again later.";
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a level with the limit response Reject", () => {
  test("admits requests up to its seats, rejects others at once, and admits again when a seat is free", () => {
    const { level, enter, use } = levelWith(2);
    level.limit({ seats: 2, queuing: undefined });
    const first = enter("a") as Ticket;
    void enter("b");
    expect(() => enter("c")).toThrow(refusal);
    expect([...use.refused]).toEqual([["concurrency-limit", 1]]);
    first.release();
    expect(enter("c")).not.toBeInstanceOf(Promise);
  });
});

describe("an exempt level", () => {
  test("admits and counts all requests", () => {
    const { level, enter, use } = levelWith(1);
    level.exempt = true;
    const tickets = Array.from({ length: 20 }, () => enter("a") as Ticket);
    expect([use.executing, level.seatsInUse]).toEqual([20, 0]);
    for (const ticket of tickets) ticket.release();
    expect([use.executing, level.executing]).toEqual([0, 0]);
  });
});

describe("a level with the limit response Queue", () => {
  test("a request waits until a seat is free, and no timer remains", async () => {
    const { enter, level, clock } = levelWith(1);
    const first = enter("a") as Ticket;
    const second = enter("a");
    expect(level.waiting).toBe(1);
    first.release();
    (await second).release();
    expect([level.waiting, level.seatsInUse, level.queues.size, clock.pending]).toEqual([0, 0, 0, 0]);
  });

  test("a request is rejected when the queues of its flow are full", () => {
    const { enter, use, level } = levelWith(1);
    level.limit({ seats: 1, queuing: { queues: 8, handSize: 2, queueLengthLimit: 3 } });
    void enter("a");
    for (let index = 0; index < 6; index++) void outcome(enter("a"));
    expect(() => enter("a")).toThrow(refusal);
    expect([...use.refused]).toEqual([["queue-full", 1]]);
  });

  test("a request is rejected when it has waited for the time limit", async () => {
    const { enter, use, clock, level } = levelWith(1);
    void enter("a");
    const waiting = outcome(enter("b"));
    clock.advanceAtOnce(waitMs - 1);
    expect(level.waiting).toBe(1);
    clock.advanceAtOnce(1);
    expect(await waiting).toBe(refusal);
    expect([level.waiting, [...use.refused]]).toEqual([0, [["time-out", 1]]]);
  });

  test("each request is rejected after its own full waiting time", async () => {
    const { enter, use, clock, level } = levelWith(1);
    void enter("a");
    const refused: string[] = [];
    for (const user of ["b", "c", "b"]) {
      void outcome(enter(user)).then(() => refused.push(user));
      clock.advanceAtOnce(1000);
    }
    clock.advanceAtOnce(waitMs - 3000);
    await settle();
    expect([refused, level.waiting]).toEqual([["b"], 2]);
    clock.advanceAtOnce(1000);
    await settle();
    expect([refused, level.waiting]).toEqual([["b", "c"], 1]);
    clock.advanceAtOnce(1000);
    await settle();
    expect([refused, level.waiting, clock.pending]).toEqual([["b", "c", "b"], 0, 0]);
    expect([...use.refused]).toEqual([["time-out", 3]]);
  });

  test("a waiting request is removed when its client disconnects", async () => {
    const { enter, level, use } = levelWith(1);
    const held = enter("a") as Ticket;
    const client = new TestClient();
    const gone = outcome(enter("b", 1, client));
    const stays = enter("c");
    client.leave();
    expect(await gone).toBe(refusal);
    held.release();
    await stays;
    expect([level.executing, [...use.refused]]).toEqual([1, [["cancelled", 1]]]);
    client.leave();
    expect(use.refused.get("cancelled")).toBe(1);
  });

  test("waiting requests use additional seats at once", async () => {
    const { enter, level } = levelWith(1);
    void enter("a");
    const waiting = [enter("b"), enter("c")];
    level.limit({ seats: 3, queuing });
    await Promise.all(waiting);
    expect(level.executing).toBe(3);
  });

  test("a request with a width above the limit takes all seats", async () => {
    const { enter, level } = levelWith(3);
    (enter("a", 10) as Ticket).release();
    const held = enter("a") as Ticket;
    const wide = enter("b", 10);
    expect(level.waiting).toBe(1);
    held.release();
    await wide;
    expect(level.seatsInUse).toBe(3);
  });

  test("a request of a quiet flow is served before most waiting requests of a noisy flow", async () => {
    const { enter, clock } = levelWith(1);
    const order: string[] = [];
    const held = enter("noisy") as Ticket;
    const serve = async (name: string) => {
      const ticket = await enter(name);
      order.push(name);
      clock.advanceAtOnce(5);
      ticket.release();
    };
    const all = Array.from({ length: 40 }, () => serve("noisy"));
    all.push(serve("quiet"));
    held.release();
    await Promise.all(all);
    expect(order.indexOf("quiet")).toBeLessThan(8);
  });
});

describe("final seats after the response", () => {
  test("are taken even when the level is full, and others wait until they are released", async () => {
    const { enter, level, use, clock } = levelWith(10);
    const telling = enter("a", { seats: 1, finalSeats: 4, finalMs: 5 }) as Ticket;
    const wide = enter("b", 9) as Ticket;
    expect(level.seatsInUse).toBe(10);
    telling.release();
    expect([level.executing, use.executing, level.seatsInUse, use.seats]).toEqual([1, 1, 13, 13]);
    const waits = enter("c", 7);
    wide.release();
    expect([level.executing, level.seatsInUse, level.waiting]).toEqual([0, 4, 1]);
    clock.advanceAtOnce(4);
    expect(level.waiting).toBe(1);
    clock.advanceAtOnce(1);
    (await waits).release();
    expect([level.seatsInUse, use.seats, level.queues.size, clock.pending]).toEqual([0, 0, 0, 0]);
  });

  test("are held longer when the level has fewer seats", () => {
    const { enter, level, clock } = levelWith(2);
    (enter("a", { seats: 1, finalSeats: 8, finalMs: 5 }) as Ticket).release();
    expect(level.seatsInUse).toBe(2);
    clock.advanceAtOnce(19);
    expect(level.seatsInUse).toBe(2);
    clock.advanceAtOnce(1);
    expect(level.seatsInUse).toBe(0);
  });

  test("are not taken at an exempt level", () => {
    const { enter, level, clock } = levelWith(2);
    level.exempt = true;
    (enter("a", changeWidth(1000)) as Ticket).release();
    expect([level.seatsInUse, clock.pending]).toEqual([0, 0]);
  });

  test("count for the fair share of their flow", async () => {
    const { enter, level, clock } = levelWith(1, { queues: 1024, handSize: 1, queueLengthLimit: 50 });
    const held = enter("first") as Ticket;
    const order: string[] = [];
    const serve = async (flow: string, width: Width) => {
      const ticket = await enter(flow, width);
      order.push(flow);
      clock.advanceAtOnce(3);
      ticket.release();
      clock.advanceAtOnce(width.finalMs);
    };
    const telling = { seats: 1, finalSeats: 1, finalMs: 27 };
    const all = Array.from({ length: 10 }, () => [serve("telling", telling), serve("plain", ordinary)]);
    held.release();
    await Promise.all(all.flat());
    // One request of the first costs as much as ten of the other.
    expect(order.slice(0, 11).filter((flow) => flow === "telling")).toHaveLength(1);
    expect(level.seatsInUse).toBe(0);
  });
});

describe("laws", () => {
  const mostWatchers = 100;
  /** After that much time nothing is left of so many watchers, whatever the seats. */
  const longestMs = changeWidth(mostWatchers).finalSeats * changeWidth(mostWatchers).finalMs;
  /** Flows are equal by queue: here no two have the same one. */
  const oneQueueEach = { queues: 1024, handSize: 1, queueLengthLimit: 50 };

  /** Flows that each keep a number of requests waiting, served one by one; gives how often each was served. */
  async function serve(
    flows: readonly string[],
    backlog: number,
    rounds: number,
    costMs: (flow: string) => number,
  ) {
    const { enter, clock, level } = levelWith(1, oneQueueEach);
    const served = new Map(flows.map((flow) => [flow, 0]));
    const under: { flow: string; ticket: Ticket }[] = [];
    const ask = (flow: string) => {
      const entered = enter(flow);
      if (entered instanceof Promise) void entered.then((ticket) => under.push({ flow, ticket }));
      else under.push({ flow, ticket: entered });
    };
    for (let index = 0; index < backlog; index++) for (const flow of flows) ask(flow);
    for (let round = 0; round < rounds; round++) {
      const { flow, ticket } = under.shift()!;
      served.set(flow, served.get(flow)! + 1);
      clock.advanceAtOnce(costMs(flow));
      ask(flow);
      ticket.release();
      await settle();
    }
    return { served, level };
  }

  test("flows with equal requests get equal shares", async () => {
    const { served } = await serve(["a", "b", "c", "d"], 5, 400, () => 5);
    for (const count of served.values()) expect(Math.abs(count - 100)).toBeLessThanOrEqual(4);
  });

  test("a flow with slower requests gets the same time and fewer requests", async () => {
    const { served } = await serve(["slow", "fast"], 5, 400, (flow) => (flow === "slow" ? 30 : 10));
    expect(served.get("fast")! / served.get("slow")!).toBeGreaterThan(2.4);
  });

  test("seats never exceed the limit, and every waiting request is served in the end", async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant("enter" as const),
        user: fc.nat({ max: 9 }),
        width: fc.record({
          seats: fc.integer({ min: 1, max: 12 }),
          finalSeats: fc.constant(0),
          finalMs: fc.constant(0),
        }),
      }),
      fc.record({
        do: fc.constant("enter" as const),
        user: fc.nat({ max: 9 }),
        width: fc.nat({ max: mostWatchers }).map(changeWidth),
      }),
      fc.record({ do: fc.constant("release" as const), at: fc.nat() }),
      fc.record({ do: fc.constant("advance" as const), ms: fc.nat({ max: 2000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(step, { maxLength: 120 }),
        async (seats, steps) => {
          const { enter, clock, level, use } = levelWith(seats);
          const held: { readonly ticket: Ticket; readonly seats: number }[] = [];
          let asked = 0;
          let refused = 0;
          const take = (width: Width) => (ticket: Ticket) =>
            void held.push({ ticket, seats: Math.min(width.seats, seats) });
          const lose = () => void refused++;
          for (const one of steps) {
            if (one.do === "enter") {
              asked++;
              try {
                const entered = enter(`user-${one.user}`, one.width);
                if (entered instanceof Promise) entered.then(take(one.width), lose);
                else take(one.width)(entered);
              } catch {
                lose();
              }
            } else if (one.do === "advance") clock.advanceAtOnce(one.ms);
            else if (held.length > 0) held.splice(one.at % held.length, 1)[0]!.ticket.release();
            await settle();
            const executing = held.reduce((sum, { seats: its }) => sum + its, 0);
            expect(executing).toBeLessThanOrEqual(seats);
            expect(level.seatsInUse).toBeGreaterThanOrEqual(executing);
            // Room is never left while somebody who fits is next.
            if (level.waiting > 0) expect(level.seatsInUse).toBeGreaterThan(0);
          }
          for (let left = asked; left > 0; left--) {
            held.shift()?.ticket.release();
            clock.advanceAtOnce(longestMs);
            await settle();
          }
          expect(use.dispatched + refused).toBe(asked);
          expect([level.waiting, level.seatsInUse, level.executing, use.seats, clock.pending]).toEqual([
            0, 0, 0, 0, 0,
          ]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("shuffle sharding", () => {
  test("a hand has distinct queues, is deterministic, and all queues are used", () => {
    const seen = new Set<number>();
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 128 }), fc.nat({ max: 7 }), (flow, deck, more) => {
        const size = Math.min(deck, 1 + more);
        const hand = dealHand(flow, deck, size);
        expect(new Set(hand).size).toBe(size);
        expect(hand.every((card) => card >= 0 && card < deck)).toBe(true);
        expect(dealHand(flow, deck, size)).toEqual(hand);
      }),
    );
    for (let flow = 0; flow < 500; flow++) for (const card of dealHand(`f${flow}`, 16, 4)) seen.add(card);
    expect(seen.size).toBe(16);
  });
});
