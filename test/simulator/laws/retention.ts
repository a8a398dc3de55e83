import type { World } from "../world.ts";

/** Checks each compaction that a server requests: what it removes is older than the retention time, by the clock that never jumps. */
export function checkRetention(world: World): void {
  const { history, scheduler, retentionMs } = world;
  world.cluster.compactRequested = (client, revision) => {
    const committedMs = history.committedMs(revision);
    const ageMs = scheduler.nowMs - committedMs;
    if (ageMs < retentionMs)
      world.violations.add(
        "history is retained",
        `${client} compacts to ${revision}, which is ${Math.round(ageMs)} ms old, of ${retentionMs} ms`,
      );
  };
}
