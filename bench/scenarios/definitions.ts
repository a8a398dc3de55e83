import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { apiextensions } from "../../src/kinds/groups.ts";
import { groupName } from "../../src/schema/kind.ts";
import { Api } from "../api.ts";
import { customKindSchema } from "../custom-kind-schema.ts";
import { median } from "../measure.ts";
import type { Options } from "../options.ts";
import { factsOf } from "../processes.ts";
import { differenceRow, valueRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { adminToken, startProduct, temporaryFolder, vocabularyOf, type Product } from "../subject.ts";
import { deployment } from "../workloads.ts";

const groups = 100;
/** How many are added, one after the other, while it is measured what one costs. */
const added = 20;
/** How long a server is left alone before its memory and processor time are read. */
const restMs = 3000;
/** How long what follows a new definition may go on behind the answer. */
const afterwardsMs = 300;
const megabyte = 2 ** 20;

/** What 2,000 definitions may cost at most (`--full`). */
const aims = { memoryMegabytes: 100, startSeconds: 1, addMs: 20, servedMs: 100, openApiMs: 1500 };

const noAims = { memoryMegabytes: undefined, startSeconds: undefined };

/** Many definitions of custom kinds: what they cost at the start, at rest, when one more comes, and when clients ask what there is. */
export const definitions: Scenario = {
  name: "definitions",
  remote: false,
  async *run({ options }: Bench) {
    const count = options.full ? 2000 : 500;
    const many = `${count.toLocaleString("en-US")} definitions`;
    const dir = temporaryFolder();
    try {
      const empty = await atRest(options, dir);
      await define(options, dir, count);
      const full = await atRest(options, dir);
      const { memoryMegabytes, startSeconds } = options.full ? aims : noAims;
      yield differenceRow(
        `memory at rest, ${many} / none`,
        "MB",
        full.megabytes,
        empty.megabytes,
        memoryMegabytes,
      );
      yield differenceRow(
        `processor time of a start, ${many} / none`,
        "s",
        full.cpuSeconds,
        empty.cpuSeconds,
        startSeconds,
      );
      yield* whileServing(options, dir, count, many);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

interface AtRest {
  readonly megabytes: number;
  /** From the beginning of the process to a while after it was ready. */
  readonly cpuSeconds: number;
}

async function atRest(options: Options, dir: string): Promise<AtRest> {
  const all: AtRest[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const product = await startProduct(options, dir);
    await pause(restMs);
    const { anonymous, cpuMicros } = factsOf(product.pid);
    await product.close();
    if (anonymous === undefined || cpuMicros === undefined)
      throw new Error("the system doesn't tell what a process takes");
    all.push({ megabytes: anonymous / megabyte, cpuSeconds: cpuMicros / 1e6 });
  }
  return {
    megabytes: median(all.map((one) => one.megabytes)),
    cpuSeconds: median(all.map((one) => one.cpuSeconds)),
  };
}

async function define(options: Options, dir: string, count: number): Promise<void> {
  await withServer(options, dir, async (api) => {
    await api.createAll(count, (index) => ({
      path: definitionsPath(options),
      object: definition(options, index),
    }));
    await untilServed(api, count - 1);
    await pause(restMs);
  });
}

async function* whileServing(
  options: Options,
  dir: string,
  count: number,
  many: string,
): AsyncGenerator<Row> {
  const rows = await withServer(options, dir, async (api, { pid }) => {
    await pause(restMs);
    const waited = await longestWait(api, () => api.ask("GET", "/apis"));
    const openApi = await timesOf(2, () => api.ask("GET", "/openapi/v2"));
    const besideOpenApi = await longestWait(api, () => api.ask("GET", "/openapi/v2"));
    const cpuMs = () => (factsOf(pid).cpuMicros ?? Number.NaN) / 1000;
    const [cost, served]: [number[], number[]] = [[], []];
    for (let index = count; index < count + added; index++) {
      const before = cpuMs();
      const begun = performance.now();
      await api.ask("POST", definitionsPath(options), definition(options, index));
      await untilServed(api, index);
      served.push(performance.now() - begun);
      await pause(afterwardsMs);
      cost.push(cpuMs() - before);
    }
    return [
      valueRow(`longest wait of others, first /apis of ${many}`, "ms", waited),
      valueRow(`/openapi/v2 of ${many}, first`, "ms", openApi[0]!, aims.openApiMs),
      valueRow(`/openapi/v2 of ${many}, again`, "ms", openApi[1]!, aims.openApiMs),
      valueRow(`longest wait of others, /openapi/v2 of ${many}`, "ms", besideOpenApi),
      valueRow(`processor time to add one to ${many}`, "ms", median(cost), aims.addMs),
      valueRow(`until one more is served, ${many}, longest`, "ms", Math.max(...served), aims.servedMs),
    ];
  });
  yield* rows;
}

/** How long a small request on another connection waited at most while something was done. */
async function longestWait(api: Api, act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let done = false;
  const probe = async (): Promise<void> => {
    while (!done) {
      const begun = performance.now();
      await api.ask("GET", "/livez");
      longest = Math.max(longest, performance.now() - begun);
    }
  };
  const probing = probe();
  await act();
  done = true;
  await probing;
  return longest;
}

/** How long something takes, each time it is done. */
async function timesOf(count: number, act: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const begun = performance.now();
    await act();
    times.push(performance.now() - begun);
  }
  return times;
}

async function withServer<T>(
  options: Options,
  dir: string,
  use: (api: Api, product: Product) => Promise<T>,
): Promise<T> {
  const product = await startProduct(options, dir);
  const api = new Api(product.address, adminToken);
  try {
    return await use(api, product);
  } finally {
    api.close();
    await product.close();
  }
}

async function untilServed(api: Api, index: number): Promise<void> {
  const path = `/apis/${groupOf(index)}/v1/namespaces/default/things${index}`;
  while ((await api.try("GET", path)).status !== 200) await pause(2);
}

function definitionsPath(options: Options): string {
  return `/apis/${groupName(apiextensions, vocabularyOf(options))}/v1/customresourcedefinitions`;
}

function groupOf(index: number): string {
  return `g${index % groups}.example.com`;
}

/** A definition of about 20 KB, as those of operators are. */
function definition(options: Options, index: number): object {
  const vocabulary = vocabularyOf(options);
  const group = groupOf(index);
  const plural = `things${index}`;
  const kind = `Thing${index}`;
  const like = deployment("", "");
  const shape = customKindSchema(like["spec"], vocabulary.schemaExtensionPrefix);
  const described = Object.fromEntries(
    ["first", "second", "third"].map((name) => [name, { ...shape, description: text.repeat(20) }]),
  );
  const openAPIV3Schema = { type: "object", properties: { spec: { type: "object", properties: described } } };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema } };
  return {
    apiVersion: `${groupName(apiextensions, vocabulary)}/v1`,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [version],
    },
  };
}

const text = "What this part of the thing says, in so many words as operators use. ";
