import { describe, expect, test } from "vitest";
import { eventRateLimit } from "../../src/admission/plugins/event-rate-limit.ts";
import { WebhookCalls } from "../../src/admission/webhooks/webhook-calls.ts";
import type { WebhookServices } from "../../src/admission/webhooks/services.ts";
import { TokenCache } from "../../src/authentication/token-cache.ts";
import { refusal } from "../../src/authentication/refusal.ts";
import type { Decision } from "../../src/authorization/authorizer.ts";
import { DecisionCache } from "../../src/authorization/webhook.ts";
import { WorkQueue } from "../../src/controllers/work-queue.ts";
import { PriorityLevel } from "../../src/flow/priority-level.ts";
import { FlowUse } from "../../src/flow/flow-control.ts";
import { ordinary } from "../../src/flow/matching.ts";
import { Event } from "../../src/kinds/core/event.ts";
import { Registry } from "../../src/resources/registry/registry.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { getPods, noMeters, person, TestClient } from "../flow/support.ts";
import { ManualClock } from "../support/manual-clock.ts";

const hourMs = 60 * 60 * 1000;
const denial: Decision = { verdict: "deny", reason: "no", evaluationError: "" };

/** What reads the clock, on a clock of its own. */
const parts = {
  /** A cache of tokens: accepts for 10 s and refuses for 1 s; `lookups` counts what wasn't answered from memory. */
  tokens() {
    const clock = new ManualClock();
    const limits = { validTtlMs: 10_000, invalidTtlMs: 1000, maxEntries: 3, maxBytes: 16_000 };
    const cache = new TokenCache<string>(clock, limits, (value) => value.length);
    const lookups: string[] = [];
    const find = (token: string) => {
      lookups.push(token);
      return token === "good" ? Promise.resolve("user") : Promise.reject(refusal("bad"));
    };
    const get = async (token: string) => {
      try {
        return await cache.get(token, [], () => find(token));
      } catch {
        return "refused";
      }
    };
    return { clock, get, lookups };
  },

  /** A limit of two events at once and one a second. */
  events() {
    const clock = new ManualClock();
    const limits = [{ type: "Server", perSecond: 1, burst: 2, cacheSize: 1 }] as const;
    const plugin = eventRateLimit(limits, clock);
    const resource = new Registry([Event], platform, () => true).require(Event);
    const target = { resource, namespace: "default", name: "it", subresource: "" };
    const object = { metadata: {}, involvedObject: {}, source: {} };
    const request = {
      operation: "CREATE",
      target,
      user: { name: "a" },
      dryRun: false,
      object,
      live: undefined,
    };
    const admit = () => {
      try {
        void plugin.validate!(request as never);
        return true;
      } catch {
        return false;
      }
    };
    return { clock, admit };
  },

  /** A full priority level of one seat, at which requests wait for 15 s; `refused` lists whose wait is over. */
  queue() {
    const clock = new ManualClock();
    const level = new PriorityLevel("level", clock, 15_000);
    level.limit({ seats: 1, queuing: { queues: 64, handSize: 6, queueLengthLimit: 50 } });
    const use = new FlowUse("schema", level, noMeters);
    use.distinguisher = "ByUser";
    const refused: string[] = [];
    const enter = (user: string) => {
      const entrant = {
        use,
        width: ordinary,
        request: getPods(),
        user: person(user),
        client: new TestClient(),
      };
      const entered = level.enter(entrant);
      if (entered instanceof Promise) entered.catch(() => refused.push(user));
    };
    enter("first");
    return { clock, enter, refused };
  },

  /** The deadline of a request for its webhooks, 60 s after it came; `isOver` says whether that is over. */
  deadline() {
    const clock = new ManualClock();
    const calls = new WebhookCalls({ clock } as unknown as WebhookServices, "validating");
    const deadlineMs = calls.deadlineOf({ options: {} } as never);
    const isOver = () => {
      try {
        calls.checkDeadline(deadlineMs);
        return false;
      } catch {
        return true;
      }
    };
    return { clock, isOver };
  },

  /** Keys that are due in 10 s, and in 5 s by a later call. */
  work() {
    const clock = new ManualClock();
    const done: string[] = [];
    const queue = new WorkQueue(
      clock,
      async (key) => void done.push(key),
      () => undefined,
    );
    return { clock, queue, done };
  },
};

describe("a forward step of the wall clock by an hour", () => {
  test("leaves cached tokens in place until their time is over", async () => {
    const { clock, get, lookups } = parts.tokens();
    await get("good");
    clock.setWall(hourMs);
    expect([await get("good"), lookups]).toEqual(["user", ["good"]]);
    await clock.advance(10_000);
    expect([await get("good"), lookups]).toEqual(["user", ["good", "good"]]);
  });

  test("leaves cached decisions in place until their time is over", async () => {
    const clock = new ManualClock();
    const cache = new DecisionCache(clock);
    cache.set("question", denial, 30_000);
    clock.setWall(hourMs);
    expect(cache.get("question")).toBe(denial);
    await clock.advance(30_000);
    expect(cache.get("question")).toBeUndefined();
  });

  test("doesn't admit more events", async () => {
    const { clock, admit } = parts.events();
    expect([admit(), admit(), admit()]).toEqual([true, true, false]);
    clock.setWall(hourMs);
    expect(admit()).toBe(false);
    await clock.advance(1000);
    expect([admit(), admit()]).toEqual([true, false]);
  });

  test("doesn't shorten the wait of queued requests", async () => {
    const { clock, enter, refused } = parts.queue();
    enter("early");
    await clock.advance(10_000);
    enter("late");
    clock.setWall(hourMs);
    await clock.advance(5000);
    expect(refused).toEqual(["early"]);
    await clock.advance(10_000);
    expect(refused).toEqual(["early", "late"]);
  });

  test("doesn't end the time that a request has for its webhooks", async () => {
    const { clock, isOver } = parts.deadline();
    clock.setWall(hourMs);
    expect(isOver()).toBe(false);
    await clock.advance(60_000);
    expect(isOver()).toBe(true);
  });

  test("doesn't put off a key that is added again for an earlier time", async () => {
    const { clock, queue, done } = parts.work();
    queue.addLater("key", 10_000);
    clock.setWall(hourMs);
    queue.addLater("key", 5000);
    await clock.advance(5000);
    expect(done).toEqual(["key"]);
    await queue.close();
  });
});

describe("a backward step of the wall clock by an hour", () => {
  test("doesn't keep the refusal of a token past its time", async () => {
    const { clock, get, lookups } = parts.tokens();
    await get("bad");
    clock.setWall(-hourMs);
    await clock.advance(1000);
    expect([await get("bad"), lookups]).toEqual(["refused", ["bad", "bad"]]);
  });

  test("doesn't keep a denial past its time", async () => {
    const clock = new ManualClock();
    const cache = new DecisionCache(clock);
    cache.set("question", denial, 30_000);
    clock.setWall(-hourMs);
    await clock.advance(30_000);
    expect(cache.get("question")).toBeUndefined();
  });

  test("doesn't stop the admission of events", async () => {
    const { clock, admit } = parts.events();
    expect([admit(), admit(), admit()]).toEqual([true, true, false]);
    clock.setWall(-hourMs);
    await clock.advance(1000);
    expect(admit()).toBe(true);
  });

  test("doesn't prolong the wait of queued requests", async () => {
    const { clock, enter, refused } = parts.queue();
    enter("waiting");
    clock.setWall(-hourMs);
    await clock.advance(15_000);
    expect(refused).toEqual(["waiting"]);
  });

  test("doesn't prolong the time that a request has for its webhooks", async () => {
    const { clock, isOver } = parts.deadline();
    clock.setWall(-hourMs);
    await clock.advance(60_000);
    expect(isOver()).toBe(true);
  });
});
