import { describe, expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { manualClock } from "../../src/base/time/manual-clock.ts";
import { SeededRandom } from "../../src/base/seeded-random.ts";
import { DeferredDeliveries, DeferredGroup, type Receiver } from "../../src/storage/deferred-deliveries.ts";
import type { Revision, StoreEvent } from "../../src/storage/store.ts";

const everything = { key: "", selects: () => true };

function eventAt(revision: number, bytes: number): StoreEvent {
  const parts = { header: Buffer.alloc(0), body: Buffer.alloc(bytes) };
  const entry = { key: "/core/configmaps/a/b", revision: revision as Revision, ...parts };
  return { key: entry.key, revision: entry.revision, entry, previous: undefined } as unknown as StoreEvent;
}

/** A subscription, as the feed's: it ignores what it has received. */
class Member implements Receiver {
  readonly received: number[] = [];

  constructor(public deliveredUpTo: Revision) {}

  deliver(batch: readonly StoreEvent[], upTo: Revision): void {
    if (upTo <= this.deliveredUpTo) return;
    this.received.push(...batch.map(({ revision }) => revision).filter((one) => one > this.deliveredUpTo));
    this.deliveredUpTo = upTo;
  }
}

/** One group with the events that were added to it and the members that joined it. */
class World {
  readonly group = new DeferredGroup(everything);
  readonly revisions: number[] = [];
  readonly members = new Map<Member, Revision>();

  join(at: Revision): void {
    const member = new Member(at);
    this.members.set(member, at);
    this.group.members.add(member);
  }

  /** Members that lack an event, have one twice, or whose position includes an event that they have not received. */
  violations(): string[] {
    return [...this.members].flatMap(([{ received, deliveredUpTo }, joined]) => {
      const isBehind = this.group.hasAfter(deliveredUpTo);
      const due = this.revisions.filter((one) => one > joined && (!isBehind || one <= deliveredUpTo));
      return received.join() === due.join() ? [] : [`received ${received.join()} of ${due.join()}`];
    });
  }
}

/** Runs random writes, synchronizations, joins and closes between the slices of the deliveries. */
async function run(seed: number): Promise<{ readonly violations: string[]; readonly events: number }> {
  const random = new SeededRandom(seed);
  const clock = manualClock(0);
  const deliveries = new DeferredDeliveries((task) => void clock.setTimer(task, 1));
  const worlds = Array.from({ length: 2 + random.below(5) }, () => new World());
  let revision = 0 as Revision;
  for (const world of worlds) for (let count = random.below(80); count >= 0; count--) world.join(revision);
  const violations: string[] = [];
  for (let step = 0; step < 40; step++) {
    const world = random.pick(worlds);
    const members = [...world.members.keys()];
    const action = random.below(8);
    const sync = () => {
      // If the first members of a group have synchronized, their visits are cheap, so that a slice often ends after them.
      const last = random.below(members.length + 1);
      for (const member of members.slice(random.chance(0.7) ? 0 : last - 1, last))
        world.group.catchUp(member);
    };
    if (action < 4) {
      revision++;
      for (const one of random.chance(0.7) ? worlds : [world]) {
        one.revisions.push(revision);
        deliveries.add(one.group, [eventAt(revision, random.below(6000))], revision);
      }
      // A listener of the same commit may synchronize a member before the first slice.
      if (random.chance(0.5)) sync();
      deliveries.begin();
    } else if (action < 6) sync();
    else if (action === 6) world.join(revision);
    else if (members.length > 1) {
      const closed = random.pick(members);
      world.members.delete(closed);
      world.group.members.delete(closed);
    }
    if (random.chance(0.4)) await clock.advance(1);
    violations.push(...worlds.flatMap((one) => one.violations()));
  }
  await clock.advance(1000);
  for (const one of worlds) {
    violations.push(...one.violations());
    for (const member of one.members.keys())
      if (one.group.hasAfter(member.deliveredUpTo)) violations.push("a member is still behind");
  }
  return { violations, events: worlds.reduce((sum, { revisions }) => sum + revisions.length, 0) };
}

describe("deferred deliveries", () => {
  test("give every member every event once and in order, whatever happens between two slices", async () => {
    let events = 0;
    for (let seed = 1; seed <= effort(80, 250); seed++) {
      const result = await run(seed);
      expect(result.violations, `seed ${seed}`).toEqual([]);
      events += result.events;
    }
    expect(events).toBeGreaterThan(1000);
  });
});
