import { createServer, type CreateServerOptions, type Server } from "../../src/index.ts";
import { apiextensions } from "../../src/kinds/groups.ts";
import { groupName } from "../../src/schema/kind.ts";
import { customKindSchema } from "../custom-kind-schema.ts";
import { median } from "../measure.ts";
import type { Options } from "../options.ts";
import { valueRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { vocabularyOf } from "../subject.ts";
import { deployment } from "../workloads.ts";

const starts = 30;
const repetitions = 20;
const objects = 1000;
const definitionCount = 20;
/** Maximum times in milliseconds. */
const aims = { startMs: 25, stateMs: 5 };
const namespace = "bench";

/** Servers within the process, as in tests: start, and snapshot, restore, reset and fork of 1,000 objects and 20 definitions. */
export const library: Scenario = {
  name: "library",
  remote: false,
  async *run({ options }: Bench) {
    yield await startRow("createServer()", { vocabulary: options.vocabulary });
    yield await startRow("createServer({ port: false })", serverOptions(options));
    const server = await createServer(serverOptions(options));
    try {
      const { client } = server;
      await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
      const maps = Array.from({ length: objects }, (_, index) => configMap(`map-${index}`));
      for (const one of maps) await client.create(one);
      yield* stateRows(server, `${objects.toLocaleString("en-US")} objects`);
      yield* definitionRows(server, options);
    } finally {
      await server.close();
    }
  },
};

function serverOptions({ vocabulary }: Options): CreateServerOptions {
  return { port: false, vocabulary };
}

async function startRow(name: string, options: CreateServerOptions): Promise<Row> {
  const times: number[] = [];
  for (let index = 0; index < starts; index++) {
    let server: Server | undefined;
    times.push(await timeOf(async () => (server = await createServer(options))));
    await server!.close();
  }
  return valueRow(`${name}, median of ${starts} starts`, "ms", median(times), aims.startMs);
}

/** Measures what a test does between two cases. */
async function* stateRows(server: Server, state: string): AsyncGenerator<Row> {
  const { client } = server;
  const [snapshots, restores, forks]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < repetitions; round++) {
    let before = server.snapshot();
    snapshots.push(await timeOf(() => void (before = server.snapshot())));
    for (let index = 0; index < 10; index++) await client.create(configMap(`added-${index}`));
    restores.push(await timeOf(() => server.restore(before)));
    let fork: Server | undefined;
    forks.push(await timeOf(async () => (fork = await server.fork())));
    await fork!.close();
  }
  const full = server.snapshot();
  const resets: number[] = [];
  for (let round = 0; round < repetitions; round++) {
    resets.push(await timeOf(() => server.reset()));
    await server.restore(full);
  }
  const row = (name: string, times: readonly number[]) =>
    valueRow(`${name}, ${state}`, "ms", median(times), aims.stateMs);
  yield row("snapshot", snapshots);
  yield row("restore after 10 writes", restores);
  yield row("fork", forks);
  yield row("reset", resets);
}

async function* definitionRows(server: Server, options: Options): AsyncGenerator<Row> {
  const all = Array.from({ length: definitionCount }, (_, index) => definition(options, index));
  const kilobytes = Math.round(JSON.stringify(all[0]).length / 1024);
  const name = `${definitionCount} definitions of ${kilobytes} KB`;
  const establish = () => establishAll(server, all);
  yield valueRow(`${name} established, first server`, "ms", await timeOf(establish));
  yield* stateRows(server, name);
  const other = await createServer(serverOptions(options));
  try {
    const time = await timeOf(() => establishAll(other, all));
    yield valueRow(`${name} established, another server`, "ms", time);
  } finally {
    await other.close();
  }
}

async function establishAll(
  { client }: Server,
  definitions: readonly ReturnType<typeof definition>[],
): Promise<void> {
  await Promise.all(definitions.map((one) => client.create(one)));
  for (const { spec } of definitions) {
    const reference = { apiVersion: `${spec.group}/v1`, kind: spec.names.kind };
    while (!(await isServed(client, reference))) await new Promise((resolve) => setImmediate(resolve));
  }
}

async function isServed(
  client: Server["client"],
  reference: { readonly apiVersion: string; readonly kind: string },
): Promise<boolean> {
  try {
    await client.list(reference);
    return true;
  } catch {
    return false;
  }
}

async function timeOf(act: () => unknown): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}

function configMap(name: string) {
  const data = { text: "x".repeat(500) };
  return { apiVersion: "v1" as const, kind: "ConfigMap" as const, metadata: { name, namespace }, data };
}

/** A definition of about 110 KB, as those of large operators are. */
function definition(options: Options, index: number) {
  const vocabulary = vocabularyOf(options);
  const shape = customKindSchema(deployment("", "")["spec"], vocabulary.schemaExtensionPrefix);
  const parts = Array.from({ length: 24 }, (_, part) => [
    `part${part}`,
    {
      ...shape,
      description: `Part ${part} of thing ${index}. ${"A sentence of the documentation. ".repeat(60)}`,
    },
  ]);
  const spec = { type: "object", properties: Object.fromEntries(parts) as object };
  const openAPIV3Schema = { type: "object", properties: { spec } };
  const [kind, plural, group] = [`Thing${index}`, `things${index}`, "bench.example.com"];
  return {
    apiVersion: `${groupName(apiextensions, vocabulary)}/v1`,
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}
