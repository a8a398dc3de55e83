import { getText, writeText } from "../load/http-text.ts";
import type { GeneratorApi } from "../load/generator.ts";
import { sequenceMark, type LoadPlan } from "../load/plan.ts";
import { median } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { Helper } from "../processes.ts";
import { timesRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, otherToken, otherUser, type Subject } from "../subject.ts";

const noisyConnections = 64;
/** Times the p99 with the noise at another server. */
const aim = 2;

/**
 * How long a quiet user's requests take while a noisy one sends all it can. Held against two limits: how long they take
 * without the noise, and how long with the same noise at another server. The second says what sharing the server costs;
 * the first counts besides that servers and clients share the processors.
 */
export const fairness: Scenario = {
  name: "fairness",
  remote: false,
  async *run(bench: Bench) {
    const subjects: Subject[] = [];
    const prepared = async (): Promise<Subject> => {
      const subject = await openSubject(bench.options, "fairness");
      subjects.push(subject);
      await prepare(subject);
      return subject;
    };
    try {
      const [shared, elsewhere] = [await prepared(), await prepared()];
      yield* beside(bench, shared, elsewhere, "gets", ({ namespace }) => ({
        kind: "same",
        text: getText(pathIn(namespace), otherToken),
      }));
      yield* beside(bench, shared, elsewhere, "creates", ({ namespace }) => ({
        kind: "numbered",
        text: writeText(
          "POST",
          configMapsPath(namespace),
          otherToken,
          JSON.stringify(configMap(namespace, `noise-${sequenceMark}`)),
        ),
        objects: noisyConnections,
      }));
    } finally {
      for (const subject of subjects) await subject.close();
    }
  },
};

/** An object, and a noisy user who may do what the quiet one may. */
async function prepare(subject: Subject): Promise<void> {
  const { api, namespace } = subject;
  await api.ask("POST", configMapsPath(namespace), configMap(namespace, objectName(0)));
  await grantOther(subject);
}

function pathIn(namespace: string): string {
  return `${configMapsPath(namespace)}/${objectName(0)}`;
}

/** The p99 of one connection's gets: alone, beside the noise, and with that noise at another server, in turns. */
async function* beside(
  { options: { rounds, seconds } }: Bench,
  shared: Subject,
  elsewhere: Subject,
  what: string,
  noise: (at: Subject) => LoadPlan["request"],
): AsyncGenerator<Row> {
  const [quiet, noisy, other] = [start(), start(), start()];
  try {
    const { address, token, namespace } = shared;
    await quiet.call("open", {
      address,
      connections: 1,
      request: { kind: "same", text: getText(pathIn(namespace), token) },
    });
    const connections = noisyConnections;
    await noisy.call("open", { address, connections, request: noise(shared) });
    await other.call("open", { address: elsewhere.address, connections, request: noise(elsewhere) });
    const alone: number[] = [];
    const together: number[] = [];
    const apart: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const before = await p99(quiet, seconds);
      const [during] = await Promise.all([p99(quiet, seconds), p99(noisy, seconds)]);
      const [besides] = await Promise.all([p99(quiet, seconds), p99(other, seconds)]);
      // The first round warms up.
      if (round < 0) continue;
      alone.push(before);
      together.push(during);
      apart.push(besides);
    }
    const name = `quiet p99 beside ${connections} × ${what}`;
    yield timesRow(name, "ms", median(together), median(alone));
    yield timesRow(`${name}, noise apart`, "ms", median(together), median(apart), aim);
  } finally {
    await Promise.all([quiet.close(), noisy.close(), other.close()]);
  }
}

function start(): Helper<GeneratorApi> {
  return Helper.start<GeneratorApi>("load/generator.ts");
}

async function p99(generator: Helper<GeneratorApi>, seconds: number): Promise<number> {
  const { p99: found, failure } = await generator.call("run", { seconds });
  if (failure !== undefined) throw new Error(failure);
  return found;
}

/** Lets the noisy user do what the quiet one may in the namespace. */
async function grantOther({ api, namespace, rbacGroup }: Subject): Promise<void> {
  const apiVersion = `${rbacGroup}/v1`;
  await api.ask("POST", `/apis/${apiVersion}/namespaces/${namespace}/rolebindings`, {
    apiVersion,
    kind: "RoleBinding",
    metadata: { name: "bench-other" },
    roleRef: { apiGroup: rbacGroup, kind: "Role", name: "bench" },
    subjects: [{ kind: "User", apiGroup: rbacGroup, name: otherUser }],
  });
}
