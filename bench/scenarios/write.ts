import { besideLimit } from "../beside-limit.ts";
import { commitsLimit } from "../limit-servers.ts";
import { writeText } from "../load/http-text.ts";
import { sequenceMark } from "../load/plan.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { openSubject, type Subject } from "../subject.ts";

/** Objects that updates and patches go round; a multiple of every number of connections. */
const objects = 1024;
const manyConnections = [16, 64];

interface Write {
  readonly name: string;
  readonly aim?: number;
  /** The request's text, with marks for its numbers. */
  text(subject: Subject, connections: number): string;
}

const create: Write = {
  name: "create",
  aim: 0.5,
  text({ namespace, token }, connections) {
    const body = JSON.stringify(configMap(namespace, `new-${connections}-${sequenceMark}`));
    return writeText("POST", configMapsPath(namespace), token, body);
  },
};

const update: Write = {
  name: "update",
  text({ namespace, token }) {
    const body = JSON.stringify(configMap(namespace, objectName("next"), 1024, sequenceMark));
    return writeText("PUT", `${configMapsPath(namespace)}/${objectName("next")}`, token, body);
  },
};

const patch: Write = {
  name: "merge patch",
  aim: 0.4,
  text({ namespace, token }) {
    const body = JSON.stringify({ data: { mark: sequenceMark } });
    return writeText("PATCH", `${configMapsPath(namespace)}/${objectName("next")}`, token, body);
  },
};

/** Durable writes of 1 KB objects; limit: parsing the body and committing as many bytes to the same engine. */
export const createObjects: Scenario = scenarioOf(create);
export const updateObjects: Scenario = scenarioOf(update);
export const patchObjects: Scenario = scenarioOf(patch);

function scenarioOf(write: Write): Scenario {
  const name = write.name.split(" ").at(-1)!;
  return { name, remote: true, run: (bench) => runWrite(bench, name, write) };
}

async function* runWrite(bench: Bench, name: string, write: Write): AsyncGenerator<Row> {
  const subject = await openSubject(bench.options, name);
  try {
    const { api, namespace } = subject;
    const path = configMapsPath(namespace);
    await api.createAll(objects, (index) => ({ path, object: configMap(namespace, objectName(index)) }));
    const sample = await api.ask("GET", `${path}/${objectName(0)}`);
    for (const connections of manyConnections) {
      yield await besideLimit(bench, subject, () => commitsLimit(bench, sample), {
        name: `${write.name}, 1 KB, ${connections} connections`,
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
