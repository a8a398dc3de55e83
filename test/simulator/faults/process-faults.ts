import type { FaultClass } from "./fault-class.ts";

const minute = 60_000;

/** Classes of faults of servers, clients and the network between them. */
export const processFaults: readonly FaultClass[] = [
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
    begin: ({ servers, memoryClock }, dice) => {
      const { name, clock } = dice.pick(servers);
      const byMs = dice.pick([-1, 1]) * dice.pick([1000, 20_000, 600_000, 7_200_000]);
      clock?.jump(byMs);
      memoryClock.jump(byMs);
      return clock && { text: `${name} ${byMs}`, end: () => undefined };
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
    name: "repeated requests of clients",
    meanPauseMs: 3 * minute,
    maxMs: minute,
    begin: ({ clientNetwork }, dice) => {
      clientNetwork.repeats = dice.pick([0.1, 0.5]);
      return { text: String(clientNetwork.repeats), end: () => (clientNetwork.repeats = 0) };
    },
  },
];
