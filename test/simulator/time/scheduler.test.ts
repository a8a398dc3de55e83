import { expect, it } from "vitest";
import { ProcessClock } from "./process-clock.ts";
import { Scheduler } from "./scheduler.ts";

function started(seed = 1): { readonly scheduler: Scheduler; readonly log: string[] } {
  return { scheduler: new Scheduler(0, seed), log: [] };
}

it("tasks run in the order of their times; what they make ready runs before the next task", async () => {
  const { scheduler, log } = started();
  scheduler.after("a", 20, () => log.push(`second at ${scheduler.nowMs}`));
  scheduler.after("a", 10, () => {
    log.push(`first at ${scheduler.nowMs}`);
    scheduler.immediate(() => log.push("immediate"));
    void Promise.resolve()
      .then(() => undefined)
      .then(() => log.push("promise"));
  });
  scheduler.after("a", 15, () => log.push("cancelled")).cancel();
  await scheduler.runUntil(100);
  expect(log).toEqual(["first at 10", "promise", "immediate", "second at 20"]);
  expect(scheduler.nowMs).toBe(100);
});

it("tasks of one actor at one time run in the order of creation, for each seed", async () => {
  for (let seed = 1; seed < 20; seed++) {
    const { scheduler, log } = started(seed);
    for (const name of ["1", "2", "3"]) scheduler.after("a", 5, () => log.push(name));
    await scheduler.runUntil(10);
    expect(log).toEqual(["1", "2", "3"]);
  }
});

it("the order of actors at one time depends on the seed", async () => {
  const orders = new Set<string>();
  for (let seed = 1; seed < 20; seed++) {
    const { scheduler, log } = started(seed);
    for (const name of ["a", "b"]) scheduler.after(name, 5, () => log.push(name));
    await scheduler.runUntil(10);
    orders.add(log.join());
  }
  expect([...orders].toSorted()).toEqual(["a,b", "b,a"]);
});

it("a frozen process does everything when it continues, a dead one nothing; a jump changes only the wall clock", async () => {
  const { scheduler, log } = started();
  const [frozen, dead] = [new ProcessClock(scheduler, "frozen"), new ProcessClock(scheduler, "dead")];
  frozen.setTimer(() => log.push(`frozen at ${scheduler.nowMs}`), 10);
  dead.setTimer(() => log.push("dead"), 10);
  frozen.freeze();
  dead.kill();
  frozen.jump(60_000);
  await scheduler.runUntil(50);
  expect([log, frozen.now(), frozen.monotonicNow()]).toEqual([[], 60_050, 50]);
  frozen.thaw();
  await scheduler.runUntil(60);
  expect(log).toEqual(["frozen at 50"]);
});
