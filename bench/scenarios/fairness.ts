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
/** Times the p99 alone. */
const aim = 2;

/** How long a quiet user's requests take while a noisy one sends all it can; limit: how long they take otherwise. */
export const fairness: Scenario = {
  name: "fairness",
  remote: false,
  async *run(bench: Bench) {
    const subject = await openSubject(bench.options, "fairness");
    try {
      const { api, namespace } = subject;
      const collection = configMapsPath(namespace);
      const path = `${collection}/${objectName(0)}`;
      await api.ask("POST", collection, configMap(namespace, objectName(0)));
      await grantOther(subject);
      const created = JSON.stringify(configMap(namespace, `noise-${sequenceMark}`));
      yield await beside(bench, subject, path, "gets", {
        kind: "same",
        text: getText(path, otherToken),
      });
      yield await beside(bench, subject, path, "creates", {
        kind: "numbered",
        text: writeText("POST", collection, otherToken, created),
        objects: noisyConnections,
      });
    } finally {
      await subject.close();
    }
  },
};

/** The p99 of one connection's gets, alone and beside the noise, in turns. */
async function beside(
  { options: { rounds, seconds } }: Bench,
  { address, token }: Subject,
  path: string,
  what: string,
  noise: LoadPlan["request"],
): Promise<Row> {
  const [quiet, noisy] = [start(), start()];
  try {
    await quiet.call("open", {
      address,
      connections: 1,
      request: { kind: "same", text: getText(path, token) },
    });
    await noisy.call("open", { address, connections: noisyConnections, request: noise });
    const alone: number[] = [];
    const together: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const before = await p99(quiet, seconds);
      const [during] = await Promise.all([p99(quiet, seconds), p99(noisy, seconds)]);
      // The first round warms up.
      if (round < 0) continue;
      alone.push(before);
      together.push(during);
    }
    const name = `quiet get's p99 beside ${noisyConnections} × ${what}`;
    return timesRow(name, "ms", median(together), median(alone), aim);
  } finally {
    await Promise.all([quiet.close(), noisy.close()]);
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
