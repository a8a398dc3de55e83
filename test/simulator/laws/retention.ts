import { firstRevision } from "../../../src/storage/entry.ts";
import type { World } from "../world.ts";

/** Interval in which the floor of a store in memory is read, in milliseconds. */
const lookMs = 1000;

/** Checks each compaction by a server or its store: what it removes is older than the retention time, by the clock that never jumps. */
export function checkRetention(world: World): void {
  const { history, scheduler, retentionMs, memory } = world;
  const check = (actor: string, revision: number): void => {
    const ageMs = scheduler.nowMs - history.committedMs(revision);
    if (ageMs < retentionMs)
      world.violations.add(
        "history is retained",
        `${actor} compacts to ${revision}, which is ${Math.round(ageMs)} ms old, of ${retentionMs} ms`,
      );
  };
  world.cluster.compactRequested = check;
  if (memory === undefined) return;
  let floor: number = firstRevision;
  const look = (): void => {
    const present = memory.floor();
    if (present > floor) check("the store", present);
    floor = present;
    scheduler.after("memory", lookMs, look);
  };
  look();
}
