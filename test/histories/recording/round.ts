import { setTimeout } from "node:timers/promises";
import { Dice } from "../../support/dice.ts";
import type { History, ObservedObject, State } from "../history.ts";
import { Branches } from "./branches.ts";
import { Elector } from "./elector.ts";
import type { Fleet } from "./fleet.ts";
import { Merger, mergerPrefix } from "./merger.ts";
import { Scope } from "./scope.ts";
import type { Watcher } from "./watcher.ts";
import { prefixes, workspacePrefixes, type Focus } from "./workload.ts";

/** Options of {@link recordRound}. */
export interface RoundOptions {
  readonly fleet: Fleet;
  /** Number of clients that send requests outside of workspaces, and in each of the workspaces. */
  readonly clients: number;
  readonly clientsPerWorkspace?: number;
  /** Names of the workspaces in which clients work. If there are some, branches of them and of the objects outside are made too. */
  readonly workspaces?: readonly string[];
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
  readonly beside?: (watchers: ReadonlySet<Watcher>) => Promise<void>;
}

/** Time between attempts of a request that must succeed, in milliseconds. */
const retryMs = 50;

/**
 * Records one history: reads the state, starts watches and clients, and ends when every watch has received every event. Nothing
 * is active when it returns.
 */
export async function recordRound(options: RoundOptions): Promise<History> {
  const { fleet, clients, clientsPerWorkspace = 2, workspaces = [], seed, goesOn, leaseMs, beside } = options;
  const dice = new Dice(seed);
  const { recorder } = fleet;
  const initial = await readState(fleet, dice, undefined);
  const states: Record<string, State> = {};
  for (const name of workspaces) states[name] = await readState(fleet, dice, name);
  recorder.begin(initial, states);
  const watchers = new Set<Watcher>();
  const { settleMs, focus } = options;
  const begin = (workspace: string | undefined, after: number) => {
    const name = workspace === undefined ? String(seed) : `${workspace}-${seed}`;
    return new Scope({ fleet, workspace, after, name, dice: dice.split(), focus, settleMs, watchers });
  };
  const scopes = [undefined, ...workspaces].map((name) =>
    begin(name, (name === undefined ? initial : states[name]!).revision),
  );
  const workload = scopes.map((scope) =>
    scope.work(scope.workspace === undefined ? clients : clientsPerWorkspace, goesOn),
  );
  const electors = Array.from({ length: 3 }, (_, index) =>
    new Elector(`elector-${index}-${seed}`, fleet, dice.split(), leaseMs).run(goesOn),
  );
  const branches =
    workspaces.length === 0
      ? undefined
      : new Branches({ fleet, seed, dice: dice.split(), bases: scopes, begin });
  const mergers =
    workspaces.length === 0
      ? []
      : scopes.map(({ workspace }, index) => {
          const name = `${mergerPrefix}${index}-${seed}`;
          return new Merger({ fleet, workspace, name, dice: dice.split() }).run(goesOn);
        });
  await Promise.all([...workload, ...electors, ...mergers, branches?.run(goesOn), beside?.(watchers)]);
  await Promise.all(scopes.map((scope) => scope.settle()));
  await branches?.end();
  await Promise.all(scopes.map((scope) => scope.stop()));
  return recorder.end();
}

/** Reads every object under the prefixes at one revision. */
async function readState(fleet: Fleet, dice: Dice, workspace: string | undefined): Promise<State> {
  const all = workspace === undefined ? prefixes : workspacePrefixes;
  for (;;) {
    const client = fleet.client("reader", "admin", dice, workspace);
    const objects: ObservedObject[] = [];
    let revision: number | undefined;
    for (const prefix of all) {
      const state =
        revision === undefined ? ({ kind: "latest" } as const) : ({ kind: "exact", revision } as const);
      const answer = (await client?.list(prefix, state))?.answer;
      if (answer?.outcome !== "page") break;
      revision = answer.revision;
      objects.push(...answer.objects);
      if (prefix === all.at(-1)) return { revision, objects };
    }
    await setTimeout(retryMs);
  }
}
