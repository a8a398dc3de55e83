import { coordination } from "../../src/kinds/groups.ts";
import { groupName } from "../../src/schema/kind.ts";
import { getText, writeText } from "../load/http-text.ts";
import type { GeneratorApi } from "../load/generator.ts";
import { objectMark, sequenceMark } from "../load/plan.ts";
import { measure, median, type Sample } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { Helper } from "../processes.ts";
import { ratioRow, timesRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject, vocabularyOf } from "../subject.ts";

/** Clients with a Lease, a connection and a user each, as the agents of nodes are. */
const clients = 1000;
/** Updates per second of all clients together: at most those of a very large cluster, and those of an ordinary one. */
const rates = [13_000, 1000];

/** Gets per second of the other user; as many as possible would leave no processor to the updates. */
const getRate = 500;

const settings = [
  { name: "synced first", flags: [] },
  { name: "synced within 1 s", flags: ["--durability=leases=interval:1s"] },
];

const tokenOf = (mark: string) => `bench-node-${mark}`;
const numbers = Array.from({ length: clients }, (_, index) => String(index).padStart(objectMark.length, "0"));

/**
 * Updates of Leases by 1,000 users, with and without deferred syncs, and the p99 of another user's gets beside them. The limit of the
 * gets is their p99 while nothing else happens.
 */
export const leases: Scenario = {
  name: "leases",
  remote: false,
  async *run(bench: Bench) {
    const { systemPrefix } = vocabularyOf(bench.options);
    const tokens = numbers.map((number, uid) =>
      [tokenOf(number), `${systemPrefix}node:${number}`, 1000 + uid, `${systemPrefix}nodes`].join(","),
    );
    for (const { name, flags } of settings) {
      const subject = await openSubject(bench.options, "leases", { tokens, flags });
      try {
        await prepare(bench, subject);
        for (const rate of rates) yield* measured(bench, subject, name, rate);
      } finally {
        await subject.close();
      }
    }
  },
};

function leasesPath({ options }: Bench, namespace: string): string {
  return `/apis/${groupName(coordination, vocabularyOf(options))}/v1/namespaces/${namespace}/leases`;
}

async function prepare(bench: Bench, { api, namespace, rbacGroup }: Subject): Promise<void> {
  const path = leasesPath(bench, namespace);
  const own = `/apis/${rbacGroup}/v1/namespaces/${namespace}`;
  await api.ask("POST", `${own}/roles`, {
    metadata: { name: "leases" },
    rules: [
      {
        apiGroups: [groupName(coordination, vocabularyOf(bench.options))],
        resources: ["leases"],
        verbs: ["patch"],
      },
    ],
  });
  await api.ask("POST", `${own}/rolebindings`, {
    metadata: { name: "leases" },
    roleRef: { apiGroup: rbacGroup, kind: "Role", name: "leases" },
    subjects: [
      { kind: "Group", apiGroup: rbacGroup, name: `${vocabularyOf(bench.options).systemPrefix}nodes` },
    ],
  });
  await api.createAll(clients, (index) => ({
    path,
    object: {
      metadata: { name: objectName(index) },
      spec: { holderIdentity: "nobody", leaseDurationSeconds: 40, renewTime: "2030-01-31T12:00:00.000000Z" },
    },
  }));
  await api.ask("POST", configMapsPath(namespace), configMap(namespace, objectName(0)));
}

/** The rate of the updates, and the p99 of the gets of one connection: alone, and beside the updates, in turns. */
async function* measured(bench: Bench, subject: Subject, setting: string, rate: number): AsyncGenerator<Row> {
  const { rounds, seconds } = bench.options;
  const { address, token, namespace, pid } = subject;
  const [quiet, busy] = [0, 1].map(() => Helper.start<GeneratorApi>("load/generator.ts")) as [
    Helper<GeneratorApi>,
    Helper<GeneratorApi>,
  ];
  try {
    const text = getText(`${configMapsPath(namespace)}/${objectName(0)}`, token);
    await quiet.call("open", { address, connections: 1, request: { kind: "same", text }, rate: getRate });
    const body = JSON.stringify({ spec: { holderIdentity: sequenceMark } });
    const update = writeText(
      "PATCH",
      `${leasesPath(bench, namespace)}/${objectName("next")}`,
      tokenOf(objectMark),
      body,
    );
    await busy.call("open", {
      address,
      connections: clients,
      request: { kind: "numbered", text: update, objects: clients },
      rate,
    });
    const load = `${clients} leases at ${rate}/s, ${setting}`;
    const server = { name: load, pid };
    const idle: number[] = [];
    const beside: number[] = [];
    const updates: Sample[] = [];
    for (let round = -1; round < rounds; round++) {
      const alone = await measure(server, quiet, "answers", seconds);
      const [written, together] = await Promise.all([
        measure(server, busy, "answers", seconds),
        measure({ name: load, pid: undefined }, quiet, "answers", seconds),
      ]);
      // The first round warms up.
      if (round < 0) continue;
      idle.push(alone.p99);
      beside.push(together.p99);
      updates.push(written);
    }
    yield ratioRow(`updates of ${load}`, "/s", updates, undefined);
    yield timesRow(`get p99 beside ${load}`, "ms", median(beside), median(idle));
  } finally {
    await Promise.all([quiet.close(), busy.close()]);
  }
}
