import type { Dice } from "../../support/dice.ts";
import type { SimulatedServer } from "../servers/simulated-server.ts";
import type { World } from "../world.ts";

/** A class of faults. */
export interface FaultClass {
  readonly name: string;
  /** Mean time between the end of a fault and the next one, in milliseconds, if the class is frequent. */
  readonly meanPauseMs: number;
  /** Longest duration in milliseconds. */
  readonly maxMs: number;
  /**
   * Begins a fault.
   *
   * @returns a text about it, and the function that ends it; undefined if the fault isn't possible at present.
   */
  begin(world: World, dice: Dice): { readonly text: string; readonly end: () => void } | undefined;
}

const minute = 60_000;

/** All classes of faults. A seed chooses some of them. */
export const faultClasses: readonly FaultClass[] = [
  {
    name: "slow network to etcd",
    meanPauseMs: 3 * minute,
    maxMs: minute,
    begin: ({ clusterNetwork }, dice) => {
      clusterNetwork.meanMs = dice.pick([20, 200, 1000]);
      return { text: `${clusterNetwork.meanMs} ms`, end: () => (clusterNetwork.meanMs = 1) };
    },
  },
  {
    name: "late watch events of etcd",
    meanPauseMs: 3 * minute,
    maxMs: minute,
    begin: ({ clusterNetwork }, dice) => {
      clusterNetwork.eventMeanMs = dice.pick([100, 1000, 5000]);
      return {
        text: `${clusterNetwork.eventMeanMs} ms`,
        end: () => (clusterNetwork.eventMeanMs = undefined),
      };
    },
  },
  {
    name: "lost messages to etcd",
    meanPauseMs: 3 * minute,
    maxMs: minute / 2,
    begin: ({ clusterNetwork }, dice) => {
      clusterNetwork.loss = dice.pick([0.02, 0.2, 0.6]);
      return { text: String(clusterNetwork.loss), end: () => (clusterNetwork.loss = 0) };
    },
  },
  {
    name: "lost messages of clients",
    meanPauseMs: 3 * minute,
    maxMs: minute / 2,
    begin: ({ clientNetwork }, dice) => {
      clientNetwork.loss = dice.pick([0.02, 0.2, 0.6]);
      return { text: String(clientNetwork.loss), end: () => (clientNetwork.loss = 0) };
    },
  },
  {
    name: "crash of a server",
    meanPauseMs: 10 * minute,
    maxMs: minute / 2,
    begin: ({ servers }, dice) => {
      const server = dice.pick(servers);
      server.crash();
      return { text: server.name, end: () => server.start() };
    },
  },
  {
    name: "frozen server",
    meanPauseMs: 5 * minute,
    maxMs: minute,
    begin: ({ servers }, dice) => {
      const { name, clock } = dice.pick(servers);
      clock?.freeze();
      return clock && { text: name, end: () => clock.thaw() };
    },
  },
  {
    name: "jump of a wall clock",
    meanPauseMs: 5 * minute,
    maxMs: 1,
    begin: ({ servers }, dice) => {
      const { name, clock } = dice.pick(servers);
      const byMs = dice.pick([-1, 1]) * dice.pick([1000, 20_000, 600_000, 7_200_000]);
      clock?.jump(byMs);
      return clock && { text: `${name} ${byMs}`, end: () => undefined };
    },
  },
  memberFault("member of etcd down", "down"),
  memberFault("frozen member of etcd", "frozen"),
  {
    name: "outage of etcd",
    meanPauseMs: 8 * minute,
    maxMs: minute,
    begin: ({ cluster }, dice) => {
      const state = dice.pick(["down", "frozen"] as const);
      for (const member of cluster.states.keys()) cluster.setState(member, state);
      return { text: state, end: () => allUp(cluster.states.length, (at) => cluster.setState(at, "up")) };
    },
  },
  {
    name: "etcd full",
    meanPauseMs: 5 * minute,
    maxMs: minute,
    begin: ({ cluster }, dice) => {
      cluster.full = true;
      cluster.executesWhenFull = dice.chance(0.3);
      return {
        text: cluster.executesWhenFull ? "executes what it rejects" : "rejects",
        end: () => (cluster.full = false),
      };
    },
  },
  {
    name: "compaction",
    meanPauseMs: 3 * minute,
    maxMs: 1,
    begin: (world) => {
      const { revision } = world.history;
      return compact(world, revision) ? { text: String(revision), end: () => undefined } : undefined;
    },
  },
  {
    name: "compaction while watches are behind",
    meanPauseMs: 3 * minute,
    maxMs: 15_000,
    begin: (world) => {
      const { clusterNetwork, history, scheduler } = world;
      clusterNetwork.eventMeanMs = 3000;
      world.isBusy = true;
      let timer = scheduler.after("etcd", 2000, compactAgain);
      function compactAgain(): void {
        compact(world, history.revision);
        timer = scheduler.after("etcd", 2000, compactAgain);
      }
      return {
        text: "",
        end: () => {
          timer.cancel();
          world.isBusy = false;
          clusterNetwork.eventMeanMs = undefined;
        },
      };
    },
  },
  {
    name: "busy clients",
    meanPauseMs: 4 * minute,
    maxMs: 20_000,
    begin: (world) => {
      world.isBusy = true;
      return { text: "", end: () => (world.isBusy = false) };
    },
  },
  {
    name: "outage of etcd after the start of a server",
    meanPauseMs: 8 * minute,
    maxMs: 40_000,
    begin: (world, dice) => {
      const { cluster, servers, scheduler } = world;
      const server = dice.pick(servers);
      const state = dice.pick(["down", "frozen"] as const);
      server.crash();
      server.start();
      let timer = scheduler.after("etcd", startLookMs, stopMembers);
      function stopMembers(): void {
        if (!server.hasStarted) return void (timer = scheduler.after("etcd", startLookMs, stopMembers));
        world.isBusy = true;
        for (const member of cluster.states.keys()) cluster.setState(member, state);
      }
      return {
        text: `${server.name} ${state}`,
        end: () => {
          timer.cancel();
          world.isBusy = false;
          allUp(cluster.states.length, (at) => cluster.setState(at, "up"));
        },
      };
    },
  },
];

/** Interval in which a fault looks whether a server has started, in milliseconds. */
const startLookMs = 5;

function memberFault(name: string, state: "down" | "frozen"): FaultClass {
  return {
    name,
    meanPauseMs: 4 * minute,
    maxMs: minute,
    begin: ({ cluster }, dice) => {
      const member = dice.below(cluster.states.length);
      cluster.setState(member, state);
      return { text: String(member), end: () => cluster.setState(member, "up") };
    },
  };
}

function allUp(count: number, set: (index: number) => void): void {
  for (let index = 0; index < count; index++) set(index);
}

/** Compacts the cluster. Returns false if it is compacted already. */
function compact({ cluster }: World, revision: number): boolean {
  if (revision <= cluster.data.compactRevision) return false;
  cluster.compact(revision);
  return true;
}

/** Ends all faults: afterwards everything runs, and messages arrive soon. */
export function heal(world: World): void {
  const { cluster, clusterNetwork, clientNetwork, servers } = world;
  world.isBusy = false;
  for (const network of [clusterNetwork, clientNetwork]) {
    network.meanMs = 1;
    network.eventMeanMs = undefined;
    network.loss = 0;
  }
  cluster.full = false;
  allUp(cluster.states.length, (at) => cluster.setState(at, "up"));
  for (const server of servers) restore(server);
}

function restore(server: SimulatedServer): void {
  server.clock?.thaw();
  server.start();
}
