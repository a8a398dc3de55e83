import { rmSync } from "node:fs";
import { commitsLimit } from "../limit-servers.ts";
import type { CrowdApi, CrowdPlan, Delivered } from "../load/crowd.ts";
import type { GeneratorApi } from "../load/generator.ts";
import { getText, writeText } from "../load/http-text.ts";
import { sequenceMark, type Address } from "../load/plan.ts";
import { collectGarbage } from "../meter.ts";
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
const perSecond = 100;
const readingOneIn = 50;
const objectBytes = 512;
/** Aims: bytes of a watcher above those at a bare server, and seconds until all watch again after a restart. */
const memoryAimKb = 8;
const returnAim = 20;
const getAimMs = 50;
const restMs = 3000;

/** Thousands of watchers at one server: their memory, the delay of events, and their return after a restart. */
export const watchers: Scenario = {
  name: "watchers",
  remote: false,
  async *run(bench: Bench) {
    const count = bench.options.full ? 10_000 : 2000;
    const dir = temporaryFolder();
    const crowd = Helper.start<CrowdApi>("load/crowd.ts");
    let product = await startProduct(bench.options, dir, "watchers");
    try {
      await prepare(product.address);
      const bare = await bareBytes(bench, product.address, count);
      yield* over1(product, crowd, count, bare);
      await product.close();
      const restarted = await restart(bench, dir, crowd, count);
      product = restarted.product;
      yield* restarted.rows;
      yield await someWatch(product, crowd, count);
      yield* over2(product, crowd, count);
    } finally {
      await crowd.close();
      await product.close();
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

async function* over1(
  product: Product,
  crowd: Helper<CrowdApi>,
  count: number,
  bare: number,
): AsyncGenerator<Row> {
  const plan = await allWatch(product.address, count);
  let seconds = 0;
  const bytes = await bytesOfEach(product.pid, count, async () => {
    ({ seconds } = await crowd.call("open", plan));
    await crowd.call("write", { ...writes(product.address), perSecond: 1, seconds: 2 });
  });
  const label = `${count.toLocaleString("en-US")} watchers`;
  yield differenceRow(`${label}, memory of each`, "KB", bytes / 1024, bare / 1024, memoryAimKb);
  yield valueRow(`${label}, until all watch`, "s", seconds);
  yield await eventsRow(`${label}, all get ${perSecond} events/s`, product, crowd, count);
}

async function someWatch(product: Product, crowd: Helper<CrowdApi>, count: number): Promise<Row> {
  const plan = await allWatch(product.address, count);
  const paths = Array.from(
    { length: groups },
    (_, index) => `${plan.paths[0]}&fieldSelector=metadata.name%3D${objectName(index)}`,
  );
  await crowd.call("open", { ...plan, paths });
  const label = `${count.toLocaleString("en-US")} watchers`;
  return await eventsRow(
    `${label}, a tenth gets each of ${perSecond} events/s`,
    product,
    crowd,
    count / groups,
  );
}

async function* over2(product: Product, crowd: Helper<CrowdApi>, count: number): AsyncGenerator<Row> {
  const plan = await allWatch(product.address, count, 100);
  await crowd.call("close");
  const label = `${count.toLocaleString("en-US")} watchers over HTTP/2`;
  const bytes = await bytesOfEach(product.pid, count, async () => {
    await crowd.call("open", plan);
    await crowd.call("write", { ...writes(product.address), perSecond: 1, seconds: 2 });
  });
  yield valueRow(`${label}, memory of each`, "KB", bytes / 1024);
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
    `${name}: server ${busy.toFixed(1)} s, clients ${(result.cpuMicros / 1e6).toFixed(1)} s of processor time, writes took ${result.seconds.toFixed(1)} s`,
  );
  const { p50, p99, max } = result;
  return { ...valueRow(name, "ms", max), times: { p50, p99 } };
}

interface Restarted {
  readonly product: Product;
  readonly rows: readonly Row[];
}

/** Starts the server again while all watchers try to connect, and another user gets an object. */
async function restart(
  bench: Bench,
  dir: string,
  crowd: Helper<CrowdApi>,
  count: number,
): Promise<Restarted> {
  const product = await startProduct(bench.options, dir, "watchers-restarted");
  const quiet = Helper.start<GeneratorApi>("load/generator.ts");
  try {
    const { address, pid } = product;
    const plan = await allWatch(address, count);
    await quiet.call("open", {
      address,
      connections: 1,
      request: { kind: "same", text: getText(`${path}/${objectName(0)}`, adminToken) },
    });
    const before = factsOf(pid).cpuMicros!;
    const back = crowd.call("open", plan);
    const { p50, p99, answers, failure } = await quiet.call("run", { seconds: 3 });
    if (failure !== undefined) throw new Error(failure);
    const { seconds, failures } = await back;
    const busy = (factsOf(pid).cpuMicros! - before) / 1e6;
    const label = `${count.toLocaleString("en-US")} watchers`;
    console.error(
      `${label}: ${busy.toFixed(1)} s of the server's processor time, ${failures} failures, ${answers} gets`,
    );
    const rows = [
      valueRow(`${label}, until all are back after a restart`, "s", seconds, returnAim),
      { ...valueRow(`${label}, another's gets meanwhile, p99`, "ms", p99, getAimMs), times: { p50, p99 } },
    ];
    return { product, rows };
  } finally {
    await quiet.close();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
