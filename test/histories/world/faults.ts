import { setTimeout } from "node:timers/promises";
import type { Dice } from "../../support/dice.ts";
import type { Watcher } from "../recording/watcher.ts";
import type { EtcdServer } from "../../storage/etcd-server.ts";
import type { World } from "./world.ts";

/** A fault: it disturbs the world for a while, and ends with every process running. */
interface Fault {
  readonly name: string;
  /** Whether the world has what the fault disturbs. */
  readonly applies: (world: World) => boolean;
  readonly inject: (world: World, dice: Dice, watchers: ReadonlySet<Watcher>) => Promise<void>;
}

/** Longest time for which a fault lasts by default, in milliseconds. */
const defaultMaxFaultMs = 3000;
/** Shortest time between two faults, and the longest one by default, in milliseconds. */
const minPauseMs = 500;
const defaultMaxPauseMs = 4000;
/** Number of attempts to start a killed etcd member. */
const maxStarts = 20;

const hasEtcd = ({ members }: World) => members.length > 0;
const hasQuorum = ({ members }: World) => members.length > 1;
const duration = ({ options: { maxFaultMs = defaultMaxFaultMs } }: World, dice: Dice) =>
  setTimeout(100 + dice.below(maxFaultMs));

const faults: readonly Fault[] = [
  {
    name: "kill of a server",
    applies: () => true,
    inject: (world, dice) => world.restart(dice.pick(world.servers), dice.below(500)),
  },
  {
    name: "freeze of a server",
    applies: () => true,
    async inject(world, dice) {
      const { servers } = world;
      const server = dice.pick(servers);
      server.freeze();
      await duration(world, dice);
      server.thaw();
    },
  },
  {
    name: "freeze of a server past the deadlines of its clients and of its lease",
    applies: ({ servers, options }) => servers.length > 1 && options.maxFaultMs === undefined,
    async inject({ servers }, dice) {
      const server = dice.pick(servers);
      server.freeze();
      await setTimeout(4000 + dice.below(14_000));
      server.thaw();
    },
  },
  ...(["worker", "committer"] as const).map((role) => ({
    name: `kill of a ${role}`,
    applies: ({ options }: World) => (options.workers ?? 1) > 1,
    inject: async (world: World, dice: Dice) => world.killChild(role, dice),
  })),
  {
    name: "full disk",
    applies: ({ disk }) => disk !== undefined,
    async inject(world, dice) {
      const { disk } = world;
      const empty = disk!.fill();
      try {
        await duration(world, dice);
      } finally {
        empty();
      }
    },
  },
  {
    name: "kill of the database",
    applies: ({ database }) => database !== undefined,
    async inject(world, dice) {
      await world.database!.kill();
      await duration(world, dice);
      await world.database!.run();
    },
  },
  {
    name: "end of the connections to the database",
    applies: ({ database }) => database !== undefined,
    async inject({ database }) {
      database!.sql(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'plinth'",
      );
    },
  },
  {
    name: "kill of an etcd member",
    applies: hasEtcd,
    async inject(world, dice) {
      const { members } = world;
      const member = dice.pick(members);
      await member.kill();
      await duration(world, dice);
      await runAgain(member);
    },
  },
  {
    name: "freeze of an etcd member",
    applies: hasEtcd,
    async inject(world, dice) {
      const { members } = world;
      const member = dice.pick(members);
      member.freeze();
      await duration(world, dice);
      member.thaw();
    },
  },
  {
    name: "loss of the quorum of etcd",
    applies: hasQuorum,
    async inject(world, dice) {
      const { members } = world;
      const remaining = dice.pick(members);
      const lost = members.filter((member) => member !== remaining);
      await Promise.all(lost.map((member) => member.kill()));
      await duration(world, dice);
      await Promise.all(lost.map((member) => runAgain(member)));
    },
  },
  {
    name: "move of the leadership of etcd",
    applies: hasQuorum,
    async inject({ members }, dice) {
      const states = await Promise.all(
        members.map(async (member) => ({ member, status: await call(member, "maintenance/status", {}) })),
      );
      const leaderId = states.find(({ status }) => status?.leader !== undefined)?.status?.leader;
      const leader = states.find(({ status }) => status?.header?.member_id === leaderId);
      const others = states.flatMap(({ status }) => status?.header?.member_id ?? []);
      const target = dice.pick(others.filter((id) => id !== leaderId));
      if (leader !== undefined && target !== undefined)
        await call(leader.member, "maintenance/transfer-leadership", { targetID: target });
    },
  },
  {
    name: "compaction of etcd",
    applies: hasEtcd,
    async inject({ fleet, members }, dice, watchers) {
      // Watchers that never pause must not lose events; the others may get 410.
      const positions = [...watchers]
        .filter(({ options }) => !options.isRoaming)
        .map(({ position }) => position);
      const revision = Math.min(...positions);
      await fleet.recorder.record(
        { client: "compactor", server: "etcd" },
        { verb: "compact", revision },
        async () => {
          await call(dice.pick(members), "kv/compaction", { revision: String(revision) });
          return { outcome: "compacted" };
        },
      );
    },
  },
];

/**
 * Injects random faults, one after the other, until a time.
 *
 * @param onFault is called with the name of each fault.
 */
export async function injectFaults(
  world: World,
  watchers: ReadonlySet<Watcher>,
  dice: Dice,
  goesOn: () => boolean,
  onFault: (name: string) => void,
): Promise<void> {
  const { maxPauseMs = defaultMaxPauseMs } = world.options;
  const applicable = faults.filter(({ applies }) => applies(world));
  while (goesOn()) {
    await setTimeout(minPauseMs + dice.below(maxPauseMs - minPauseMs));
    const fault = dice.pick(applicable);
    onFault(fault.name);
    await fault.inject(world, dice, watchers);
  }
}

/** Starts a killed member. Its port may be in use for a moment by a connection that another process opened meanwhile. */
async function runAgain(member: EtcdServer): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await member.run();
    } catch (error) {
      if (attempt === maxStarts) throw error;
      await setTimeout(minPauseMs);
    }
  }
}

/** Fields of an answer of etcd's JSON gateway. */
interface EtcdAnswer {
  readonly header?: { readonly member_id?: string };
  readonly leader?: string;
}

/** Calls the JSON gateway of an etcd member; undefined if it doesn't answer with success, as without a quorum. */
async function call(member: EtcdServer, method: string, body: object): Promise<EtcdAnswer | undefined> {
  const options = { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(2000) };
  return fetch(`${member.endpoint}/v3/${method}`, options).then(
    async (answer) => (answer.ok ? ((await answer.json()) as EtcdAnswer) : undefined),
    () => undefined,
  );
}
