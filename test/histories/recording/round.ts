import { setTimeout } from "node:timers/promises";
import { Dice } from "../../support/dice.ts";
import type { History, ObservedObject } from "../history.ts";
import { Elector } from "./elector.ts";
import type { Fleet } from "./fleet.ts";
import { Watcher } from "./watcher.ts";
import { prefixes, WorkloadClient, type Focus } from "./workload.ts";

/** Options of {@link recordRound}. */
export interface RoundOptions {
  readonly fleet: Fleet;
  /** Number of clients that send requests. */
  readonly clients: number;
  readonly seed: number;
  /** Objects on which the clients concentrate; all alike by default. */
  readonly focus?: Focus | undefined;
  /** Lease time of the clients that elect a leader, in milliseconds. */
  readonly leaseMs: number;
  /** Longest time in which the watches must receive every event after the workload, in milliseconds. */
  readonly settleMs: number;
  /** Whether the clients continue. */
  readonly goesOn: () => boolean;
  /** Runs beside the workload, for example faults; it must leave all servers running. */
  readonly beside?: (watchers: readonly Watcher[]) => Promise<void>;
}

/** Time between attempts of a request that must succeed, in milliseconds. */
const retryMs = 50;

/**
 * Records one history: reads the state, starts watches and clients, and ends when every watch has received every event. Nothing
 * is active when it returns.
 */
export async function recordRound(options: RoundOptions): Promise<History> {
  const { fleet, clients, seed, goesOn, leaseMs, settleMs, focus, beside } = options;
  const dice = new Dice(seed);
  const { recorder } = fleet;
  fleet.isSettling = false;
  const initial = await readState(fleet, dice);
  recorder.begin(initial.revision, initial.objects);
  const watchers = startWatchers(fleet, initial.revision, dice);
  const workload = Array.from({ length: clients }, (_, index) =>
    new WorkloadClient(`client-${index}-${seed}`, fleet, new Dice(dice.below(2 ** 31)), focus).run(goesOn),
  );
  const electors = Array.from({ length: 3 }, (_, index) =>
    new Elector(`elector-${index}-${seed}`, fleet, new Dice(dice.below(2 ** 31)), leaseMs).run(goesOn),
  );
  await Promise.all([...workload, ...electors, beside?.(watchers)]);
  fleet.isSettling = true;
  for (const watcher of watchers) if (watcher.options.isRoaming) watcher.interrupt();
  const markers = await writeMarkers(fleet, dice, seed);
  const deadline = performance.now() + settleMs;
  const isBehind = (watcher: Watcher) => !watcher.hasReached(markers.get(watcher.options.prefix)!);
  while (watchers.some(isBehind) && performance.now() < deadline) await setTimeout(retryMs);
  await Promise.all(watchers.map((watcher) => watcher.stop(markers.get(watcher.options.prefix)!)));
  return recorder.end();
}

/** A watcher of each prefix that keeps its watch, and several that don't. */
function startWatchers(fleet: Fleet, after: number, dice: Dice): Watcher[] {
  const watcher = (prefix: string, isRoaming: boolean, index: number) =>
    new Watcher(fleet, { name: `watcher-${index}`, prefix, after, isRoaming }, new Dice(dice.below(2 ** 31)));
  return [
    ...prefixes.map((prefix, index) => watcher(prefix, false, index)),
    ...[...prefixes, "/configmaps/"].map((prefix, index) => watcher(prefix, true, prefixes.length + index)),
  ];
}

/** Reads every object under the prefixes at one revision. */
async function readState(fleet: Fleet, dice: Dice): Promise<{ revision: number; objects: ObservedObject[] }> {
  for (;;) {
    const client = fleet.client("reader", "admin", dice);
    const objects: ObservedObject[] = [];
    let revision: number | undefined;
    for (const prefix of prefixes) {
      const state =
        revision === undefined ? ({ kind: "latest" } as const) : ({ kind: "exact", revision } as const);
      const answer = (await client?.list(prefix, state))?.answer;
      if (answer?.outcome !== "page") break;
      revision = answer.revision;
      objects.push(...answer.objects);
      if (prefix === prefixes.at(-1)) return { revision, objects };
    }
    await setTimeout(retryMs);
  }
}

/** Writes an object under each prefix, after every other write; returns the revisions. */
async function writeMarkers(fleet: Fleet, dice: Dice, seed: number): Promise<Map<string, number>> {
  const revisions = new Map<string, number>();
  for (const prefix of prefixes) {
    const key =
      prefix === "/configmaps/" || prefix === "/rolebindings/" ? `${prefix}a/marker` : `${prefix}marker`;
    for (let attempt = 0; !revisions.has(prefix); attempt++) {
      const token = `marker-${seed}-${prefix}-${attempt}`;
      const client = fleet.client("marker", "admin", dice);
      const patched = await client?.write({ verb: "patch", key, token });
      const isMissing = patched?.answer?.outcome === "refused" && patched.answer.refusal === "missing";
      const written = isMissing
        ? await client?.write({ verb: "create", key, token: `${token}-new` })
        : patched;
      if (written?.answer?.outcome === "object") revisions.set(prefix, written.answer.object.revision);
      else await setTimeout(retryMs);
    }
  }
  return revisions;
}
