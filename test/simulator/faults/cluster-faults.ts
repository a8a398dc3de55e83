import { Keyspace } from "../../../src/storage/etcd/keyspace.ts";
import { storePrefix } from "../history/history.ts";
import type { World } from "../world.ts";
import type { FaultClass } from "./fault-class.ts";
import { toFormerFormat } from "./former-format.ts";

const minute = 60_000;
const keyspace = new Keyspace(storePrefix);

/** Classes of faults of an etcd cluster and the network to it. */
export const clusterFaults: readonly FaultClass[] = [
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
    begin: (world, dice) => {
      const { clusterNetwork } = world;
      clusterNetwork.loss = dice.pick([0.02, 0.2, 0.6]);
      world.isBusy = dice.chance(0.5);
      return {
        text: String(clusterNetwork.loss),
        end: () => {
          clusterNetwork.loss = 0;
          world.isBusy = false;
        },
      };
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
      cluster.setStates(state);
      return { text: state, end: () => cluster.setStates("up") };
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
        cluster.setStates(state);
      }
      return {
        text: `${server.name} ${state}`,
        end: () => {
          timer.cancel();
          world.isBusy = false;
          cluster.setStates("up");
        },
      };
    },
  },
  {
    name: "short freezes of a member of etcd",
    meanPauseMs: 5 * minute,
    maxMs: 20_000,
    begin: (world, dice) => {
      const { cluster, scheduler } = world;
      const member = dice.below(cluster.states.length);
      world.isBusy = true;
      let timer = scheduler.after("etcd", 0, freeze);
      function freeze(): void {
        cluster.setState(member, "frozen");
        timer = scheduler.after("etcd", dice.next() * maxFreezeMs, thaw);
      }
      function thaw(): void {
        cluster.setState(member, "up");
        timer = scheduler.after("etcd", dice.next() * maxFreezeMs, freeze);
      }
      return {
        text: String(member),
        end: () => {
          timer.cancel();
          world.isBusy = false;
          cluster.setState(member, "up");
        },
      };
    },
  },
  {
    name: "repeated messages to etcd",
    meanPauseMs: 4 * minute,
    maxMs: minute,
    begin: ({ clusterNetwork }, dice) => {
      clusterNetwork.repeats = dice.pick([0.1, 0.5]);
      return { text: String(clusterNetwork.repeats), end: () => (clusterNetwork.repeats = 0) };
    },
  },
  {
    name: "start without a default object while etcd is full",
    meanPauseMs: 10 * minute,
    maxMs: minute,
    begin: (world, dice) => {
      const { cluster, servers, scheduler } = world;
      const server = dice.pick(servers);
      remove(world, defaultObject);
      cluster.full = true;
      cluster.executesWhenFull = false;
      server.crash();
      server.start();
      return {
        text: server.name,
        end: () => {
          cluster.full = false;
          world.isBusy = true;
          scheduler.after("etcd", busyMs, () => (world.isBusy = false));
        },
      };
    },
  },
  {
    name: "restart with the store of a former release",
    meanPauseMs: 15 * minute,
    maxMs: 5000,
    begin: ({ cluster, servers }) => {
      for (const server of servers) server.crash();
      toFormerFormat(cluster, keyspace);
      return {
        text: "",
        end: () => {
          for (const server of servers) server.start();
        },
      };
    },
  },
];

/** A default object that no client of the simulation needs. */
const defaultObject = "/scheduling.k8s.io/priorityclasses//system-node-critical";
/** Longest freeze of a member that servers don't notice, in milliseconds: they try another member after 800 ms. */
const maxFreezeMs = 600;
/** Time in which clients are busy after a fault, in milliseconds: longer than the longest pause between attempts to write default objects. */
const busyMs = 20_000;

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

/** Compacts the cluster. Returns false if it is compacted already. */
function compact({ cluster }: World, revision: number): boolean {
  if (revision <= cluster.data.compactRevision) return false;
  cluster.compact(revision);
  return true;
}

/** Removes an object as another server would. */
function remove({ cluster }: World, key: string): void {
  const value = Buffer.from("simulation");
  const success = [{ remove: { key: keyspace.outer(key) } }, { put: { key: keyspace.marker, value } }];
  cluster.execute((data) => data.txn({ success }));
}
