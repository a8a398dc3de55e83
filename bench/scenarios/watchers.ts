import { rmSync } from "node:fs";
import { commitsLimit } from "../limit-servers.ts";
import type { CrowdApi, CrowdPlan, Delivered } from "../load/crowd.ts";
import type { GeneratorApi } from "../load/generator.ts";
import { getText, writeText } from "../load/http-text.ts";
import { sequenceMark, type Address } from "../load/plan.ts";
import { collectGarbage, takeLongestTurn } from "../meter.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import { factsOf, Helper } from "../processes.ts";
import { differenceRow, valueRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { adminToken, namespaceObject, startProduct, temporaryFolder, type Product } from "../subject.ts";
import { Api } from "../api.ts";

const namespace = "bench";
const path = configMapsPath(namespace);
/** Groups of watchers, each of which watches one object. */
const groups = 10;
const readingOneIn = 50;
const objectBytes = 512;
/** Aims: bytes of a watcher above those at a bare server, and seconds until all watch again after a restart. */
const memoryAimKb = 8;
const returnAim = 20;
const getAimMs = 50;
/** Aim for a watcher over HTTP/2, and the number of watchers on a connection. */
const streamAimKb = 20;
const streams = 100;
/** Of another user than the watchers'. */
const quietToken = "bench-quiet-token";
const restMs = 3000;

/** Thousands of watchers at one server: their memory, the delay of events, and their return after a restart. */
export const watchers: Scenario = {
  name: "watchers",
  remote: false,
  async *run(bench: Bench) {
    const count = bench.options.full ? 10_000 : 2000;
    const dir = temporaryFolder();
    const crowd = Helper.start<CrowdApi>("load/crowd.ts");
    let product: Product | undefined;
    const start = async (): Promise<Product> => {
      await product?.close();
      const tokens = [`${quietToken},quiet,9,system:masters`];
      return (product = await startProduct(bench.options, dir, "watchers", { tokens }));
    };
    try {
      const { address } = await start();
      await prepare(address);
      const bare = await bareBytes(bench, address, count);
      yield* firstWatches(await start(), crowd, count, bare);
      yield* afterRestart(await start(), crowd, count);
      yield await http2Memory(await start(), crowd, count);
    } finally {
      await crowd.close();
      await product?.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function prepare(address: Address): Promise<void> {
  const api = new Api(address, adminToken);
  await api.createAll(1, () => namespaceObject(namespace));
  await api.createAll(groups, (index) => ({
    path,
    object: configMap(namespace, objectName(index), objectBytes),
  }));
  api.close();
}

/** All watch the collection from its present revision. */
async function allWatch(address: Address, watchers: number, streams?: number): Promise<CrowdPlan> {
  const from = await latest(address);
  const paths = [`${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=3600&resourceVersion=${from}`];
  return { address, watchers, paths, token: adminToken, streams, readingOneIn, together: 256 };
}

async function latest(address: Address): Promise<string> {
  const api = new Api(address, adminToken);
  const list = JSON.parse((await api.ask("GET", `${path}?limit=1`)).toString("utf8")) as {
    metadata: { resourceVersion: string };
  };
  api.close();
  return list.metadata.resourceVersion;
}

/** Memory of a watcher at a bare server that has sent each a frame. */
async function bareBytes(bench: Bench, address: Address, count: number): Promise<number> {
  const api = new Api(address, adminToken);
  const sample = await api.ask("GET", `${path}/${objectName(0)}`);
  api.close();
  const limit = await commitsLimit(bench, sample);
  const crowd = Helper.start<CrowdApi>("load/crowd.ts");
  try {
    const plan = { ...(await allWatch(address, count)), address: limit.address };
    return await bytesOfEach(limit.pid, count, async () => {
      await crowd.call("open", plan);
      await crowd.call("write", { ...writes(limit.address), perSecond: 1, seconds: 2 });
    });
  } finally {
    await crowd.close();
    await limit.close();
  }
}

/** The growth of a process's memory by some work, for each of a number. */
async function bytesOfEach(pid: number, count: number, work: () => Promise<void>): Promise<number> {
  const settled = async (): Promise<number> => {
    await collectGarbage(pid);
    await pause(restMs);
    const { anonymous } = factsOf(pid);
    if (anonymous === undefined)
      throw new Error("this system doesn't tell the memory of a process (Linux does)");
    return anonymous;
  };
  const before = await settled();
  await work();
  return ((await settled()) - before) / count;
}

async function* firstWatches(
  product: Product,
  crowd: Helper<CrowdApi>,
  count: number,
  bare: number,
): AsyncGenerator<Row> {
  const plan = await allWatch(product.address, count);
  const bytes = await bytesOfEach(product.pid, count, async () => {
    await crowd.call("open", plan);
    await crowd.call("write", { ...writes(product.address), perSecond: 1, seconds: 2 });
  });
  const label = labelOf(count);
  yield differenceRow(`${label}, memory of each`, "KB", bytes / 1024, bare / 1024, memoryAimKb);
  for (const perSecond of [10, 100]) {
    yield await eventsRow(`${label}, each gets ${perSecond} events/s`, product, crowd, count, perSecond);
  }
}

/** All watchers connect again at once, while another user gets an object; then each watches one of some objects. */
async function* afterRestart(product: Product, crowd: Helper<CrowdApi>, count: number): AsyncGenerator<Row> {
  const { address, pid } = product;
  const label = labelOf(count);
  const plan = await allWatch(address, count);
  const quiet = Helper.start<GeneratorApi>("load/generator.ts");
  try {
    const request = { kind: "same", text: getText(`${path}/${objectName(0)}`, quietToken) } as const;
    await quiet.call("open", { address, connections: 1, request });
    await quiet.call("run", { seconds: 1 });
    const before = factsOf(pid).cpuMicros!;
    const back = crowd.call("open", plan);
    const { p50, p99, failure } = await quiet.call("run", { seconds: 3 });
    if (failure !== undefined) throw new Error(failure);
    const { seconds, failures, cpuMicros } = await back;
    const busy = (factsOf(pid).cpuMicros! - before) / 1e6;
    console.error(
      `${label}, back after a restart: processor time of the server ${busy.toFixed(1)} s, ` +
        `of the clients ${(cpuMicros / 1e6).toFixed(1)} s, ${failures} attempts failed`,
    );
    yield valueRow(`${label}, until all are back after a restart`, "s", seconds, returnAim);
    yield {
      ...valueRow(`${label}, p99 of another's gets meanwhile`, "ms", p99, getAimMs),
      times: { p50, p99 },
    };
  } finally {
    await quiet.close();
  }
  const paths = Array.from(
    { length: groups },
    (_, index) => `${plan.paths[0]}&fieldSelector=metadata.name%3D${objectName(index)}`,
  );
  await crowd.call("open", { ...plan, paths });
  await takeLongestTurn();
  yield await eventsRow(`${label}, a tenth gets each of 100 events/s`, product, crowd, count / groups, 100);
}

async function http2Memory({ address, pid }: Product, crowd: Helper<CrowdApi>, count: number): Promise<Row> {
  const plan = await allWatch(address, count, streams);
  const bytes = await bytesOfEach(pid, count, async () => {
    await crowd.call("open", plan);
    await crowd.call("write", { ...writes(address), perSecond: 1, seconds: 2 });
  });
  return valueRow(
    `${labelOf(count)}, ${streams} a connection, memory of each`,
    "KB",
    bytes / 1024,
    streamAimKb,
  );
}

function labelOf(count: number): string {
  return `${count.toLocaleString("en-US")} watchers`;
}

function writes(address: Address): { readonly address: Address; readonly texts: readonly string[] } {
  const texts = Array.from({ length: groups }, (_, index) => {
    const body = JSON.stringify(configMap(namespace, objectName(index), objectBytes, sequenceMark));
    return writeText("PUT", `${path}/${objectName(index)}`, adminToken, body);
  });
  return { address, texts };
}

/** The delay from sending a write to the arrival of its event. */
async function eventsRow(
  name: string,
  { address, pid }: Product,
  crowd: Helper<CrowdApi>,
  watching: number,
  perSecond: number,
): Promise<Row> {
  const before = factsOf(pid).cpuMicros!;
  const result: Delivered = await crowd.call("write", { ...writes(address), perSecond, seconds: 5 });
  const busy = (factsOf(pid).cpuMicros! - before) / 1e6;
  const expected = Math.ceil(watching / readingOneIn) * result.writes;
  const lost = await crowd.call("lost");
  if (result.events < expected * 0.99 || lost > 0) {
    console.error(`${name}: ${result.events} of ${expected} events arrived, ${lost} watches were lost`);
  }
  console.error(
    `${name}: processor time of the server ${busy.toFixed(1)} s, of the clients ${(result.cpuMicros / 1e6).toFixed(1)} s, ` +
      `the ${result.writes} writes took ${result.seconds.toFixed(1)} s`,
  );
  const { p50, p99, max } = result;
  return { ...valueRow(name, "ms", max), times: { p50, p99 } };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
