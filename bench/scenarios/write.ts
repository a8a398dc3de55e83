import { besideLimit } from "../beside-limit.ts";
import { commitsLimit, leastLimit, type LimitServer } from "../limit-servers.ts";
import { writeText } from "../load/http-text.ts";
import { sequenceMark } from "../load/plan.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject } from "../subject.ts";
import { deployment, deploymentsPath } from "../workloads.ts";

/** Objects that updates and patches go round; a multiple of every number of connections. */
const objects = 1024;
const manyConnections = [16, 64];

interface Write {
  /** What `--only` knows it by. */
  readonly scenario: string;
  readonly name: string;
  readonly size: string;
  readonly aim?: number;
  /** The collection, and what is in it beforehand. */
  readonly collection: (namespace: string) => string;
  readonly object: (namespace: string, name: string) => object;
  /** The request's text, with marks for its numbers. */
  text(subject: Subject, connections: number): string;
}

const ofConfigMaps = { size: "1 KB", collection: configMapsPath, object: configMap };
const ofDeployments = { size: "3 KB deployment", collection: deploymentsPath, object: deployment };

const create: Write = {
  ...ofConfigMaps,
  scenario: "create",
  name: "create",
  aim: 0.4,
  text({ namespace, token }, connections) {
    const body = JSON.stringify(configMap(namespace, `new-${connections}-${sequenceMark}`));
    return writeText("POST", configMapsPath(namespace), token, body);
  },
};

const update: Write = {
  ...ofConfigMaps,
  scenario: "update",
  name: "update",
  aim: 0.3,
  text({ namespace, token }) {
    const body = JSON.stringify(configMap(namespace, objectName("next"), 1024, sequenceMark));
    return writeText("PUT", `${configMapsPath(namespace)}/${objectName("next")}`, token, body);
  },
};

const patch: Write = {
  ...ofConfigMaps,
  scenario: "patch",
  name: "merge patch",
  aim: 0.3,
  text({ namespace, token }) {
    const body = JSON.stringify({ data: { mark: sequenceMark } });
    return writeText("PATCH", `${configMapsPath(namespace)}/${objectName("next")}`, token, body);
  },
};

const createLarge: Write = {
  ...ofDeployments,
  scenario: "create-deployment",
  name: "create",
  text({ namespace, token }, connections) {
    const body = JSON.stringify(deployment(namespace, `new-${connections}-${sequenceMark}`));
    return writeText("POST", deploymentsPath(namespace), token, body);
  },
};

const strategicPatch: Write = {
  ...ofDeployments,
  scenario: "strategic-patch",
  name: "strategic merge patch",
  text({ namespace, token }) {
    const containers = [{ name: "app", image: `registry.example.com/shop/front:${sequenceMark}` }];
    const body = JSON.stringify({ spec: { template: { spec: { containers } } } });
    const path = `${deploymentsPath(namespace)}/${objectName("next")}`;
    return writeText("PATCH", path, token, body, "strategic-merge-patch");
  },
};

/** Durable writes of 1 KB objects; limit: parsing the body and committing as many bytes to the same engine. */
export const createObjects: Scenario = scenarioOf(create);
export const updateObjects: Scenario = scenarioOf(update);
export const patchObjects: Scenario = scenarioOf(patch);
/** The same of deployments of 3 KB, which have many fields. */
export const createDeployments: Scenario = scenarioOf(createLarge);
export const patchDeployments: Scenario = scenarioOf(strategicPatch);

/** The first three beside a server that does the least that such a write is; says how much of a limit's share is out of reach. */
export const leastWrites: Scenario = {
  name: "least-write",
  remote: false,
  async *run(bench) {
    for (const { aim: _, ...write } of [create, update, patch]) {
      const name = `${write.name} beside the least`;
      yield* runWrite(bench, { ...write, name }, leastLimit);
    }
  },
};

function scenarioOf(write: Write): Scenario {
  return { name: write.scenario, remote: true, run: (bench) => runWrite(bench, write, commitsLimit) };
}

async function* runWrite(
  bench: Bench,
  write: Write,
  openLimit: (bench: Bench, sample: Buffer) => Promise<LimitServer>,
): AsyncGenerator<Row> {
  const subject = await openSubject(bench.options, write.scenario);
  try {
    const { api, namespace } = subject;
    const path = write.collection(namespace);
    await api.createAll(objects, (index) => ({ path, object: write.object(namespace, objectName(index)) }));
    const sample = await api.ask("GET", `${path}/${objectName(0)}`);
    for (const connections of manyConnections) {
      yield await besideLimit(bench, subject, () => openLimit(bench, sample), {
        name: `${write.name}, ${write.size}, ${connections} connections`,
        unit: "/s",
        aim: write.aim,
        plan: (address) => ({
          address,
          connections,
          request: { kind: "numbered", text: write.text(subject, connections), objects },
        }),
      });
    }
  } finally {
    await subject.close();
  }
}
