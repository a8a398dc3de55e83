import { rmSync } from "node:fs";
import { Api } from "../api.ts";
import { besideLimit } from "../beside-limit.ts";
import { answersLimit } from "../limit-servers.ts";
import { getText } from "../load/http-text.ts";
import { configMapsPath, objectName } from "../objects.ts";
import { timesOfRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { adminToken, openSubject, startProduct, temporaryFolder } from "../subject.ts";
import { fillFolder } from "./start.ts";

const objects = 20_000;
const eachSelected = 100;
const manyObjects = 1_080_000;
const manyAimMs = 50;
const asked = 50;
/** What is asked before anything is measured: an index is made while lists still scan. */
const warmUps = 20;

/** Lists of few among many; limit: the bare server sending the same bytes. */
export const selectors: Scenario = {
  name: "selectors",
  remote: true,
  async *run(bench: Bench) {
    yield await fewOfMany(bench);
    if (bench.options.full && bench.options.target === undefined) yield await noneOfAMillion(bench);
  },
};

async function fewOfMany(bench: Bench): Promise<Row> {
  const subject = await openSubject(bench.options, "selectors");
  try {
    const { api, namespace, token } = subject;
    const path = configMapsPath(namespace);
    await api.createAll(objects, (index) => ({ path, object: labelled(namespace, index) }));
    const query = `${path}?labelSelector=tier%3Drare`;
    for (let ask = 0; ask < warmUps; ask++) await api.ask("GET", query);
    const answer = await api.ask("GET", query);
    const size = objects.toLocaleString("en-US");
    return await besideLimit(bench, subject, () => answersLimit(bench, [answer]), {
      name: `label selector, ${objects / eachSelected} of ${size}`,
      unit: "lists/s",
      plan: (address) => ({
        address,
        connections: 1,
        request: { kind: "same", text: getText(query, token) },
      }),
    });
  } finally {
    await subject.close();
  }
}

function labelled(namespace: string, index: number): object {
  const tier = index % eachSelected === 0 ? "rare" : "back";
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: objectName(index), namespace, labels: { app: "bench", tier } },
    data: { text: "x".repeat(700) },
  };
}

/** The first list, which looks at all objects, isn't measured. */
async function noneOfAMillion({ options }: Bench): Promise<Row> {
  const dir = temporaryFolder();
  await fillFolder(options, dir, manyObjects, 1024);
  const product = await startProduct(options, dir, "selectors-many");
  const api = new Api(product.address, adminToken);
  try {
    const query = `${configMapsPath("bench")}?labelSelector=app%3Dnone`;
    for (let ask = 0; ask < warmUps; ask++) await api.ask("GET", query);
    const times: number[] = [];
    for (let ask = 0; ask < asked; ask++) {
      const begun = performance.now();
      await api.ask("GET", query);
      times.push(performance.now() - begun);
    }
    return timesOfRow(
      `label selector, none of ${manyObjects.toLocaleString("en-US")}, longest`,
      times,
      manyAimMs,
    );
  } finally {
    api.close();
    await product.close();
    rmSync(dir, { recursive: true, force: true });
  }
}
