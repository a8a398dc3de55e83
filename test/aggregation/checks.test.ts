import { expect, test } from "vitest";
import { Checks } from "../../src/aggregation/supervision.ts";
import { inDiscoveryOrder } from "../../src/aggregation/priorities.ts";
import { Slots } from "../../src/aggregation/slots.ts";
import { ManualClock, settle } from "../support/manual-clock.ts";

test("a key in order is looked at every 30 seconds; one that isn't after 1, 2, 4, 8, 16 and 30 seconds", async () => {
  const clock = new ManualClock();
  const looked: number[] = [];
  const begun = clock.now();
  let good = true;
  const checks = new Checks(clock, () => {
    looked.push((clock.now() - begun) / 1000);
    return Promise.resolve(good);
  });
  checks.request("a");
  const pass = async (seconds: number) => {
    for (let at = 0; at < seconds; at++) {
      await settle();
      await clock.advance(1000);
    }
    await settle();
  };
  await pass(60);
  expect(looked).toEqual([0, 30, 60]);
  good = false;
  await pass(121);
  expect(looked.slice(3)).toEqual([90, 91, 93, 97, 105, 121, 151, 181]);
  checks.forget("a");
  await pass(40);
  expect(looked).toHaveLength(11);
  checks.close();
});

test("a key that changes while it is looked at is looked at again, and never twice at a time", async () => {
  let running = 0;
  let most = 0;
  let count = 0;
  const ends: (() => void)[] = [];
  const checks = new Checks(new ManualClock(), async () => {
    most = Math.max(most, ++running);
    count++;
    await new Promise<void>((resolve) => ends.push(resolve));
    running--;
    return true;
  });
  checks.request("a");
  await settle();
  checks.request("a");
  checks.request("a");
  ends.shift()!();
  await settle();
  ends.shift()!();
  await settle();
  expect([count, most]).toEqual([2, 1]);
  checks.close();
});

test("so much work is under way at a time, and the rest in its turn, also after failures", async () => {
  const slots = new Slots(2);
  let running = 0;
  let most = 0;
  const work = async (fails: boolean) => {
    most = Math.max(most, ++running);
    await settle();
    running--;
    if (fails) throw new Error("it fails");
  };
  const all = [true, false, true, false, false].map((fails) => slots.run(() => work(fails)));
  const ended = await Promise.allSettled(all);
  expect(ended.map(({ status }) => status)).toEqual([
    "rejected",
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
  ]);
  expect([most, running]).toEqual([2, 0]);
});

test("groups come by the highest priority among their versions, versions by theirs, then as versions compare", () => {
  const one = (group: string, version: string, ...[a, b]: readonly [number, number]) => {
    return { group, version, priority: { group: a, version: b } };
  };
  const order = inDiscoveryOrder([
    one("b", "v1", 10, 5),
    one("a", "v1beta1", 10, 1),
    one("c", "v1", 20, 1),
    one("a", "v1", 1, 1),
    one("b", "v2", 30, 1),
  ]);
  expect(order.map(({ group, version }) => `${group}/${version}`)).toEqual([
    "b/v1",
    "b/v2",
    "c/v1",
    "a/v1",
    "a/v1beta1",
  ]);
});
