import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { getText, writeText } from "../load/http-text.ts";
import { sequenceMark, type RequestPlan } from "../load/plan.ts";
import { measureInTurns } from "../measure.ts";
import { configMap, configMapsPath, objectName } from "../objects.ts";
import type { Options } from "../options.ts";
import { factsOf } from "../processes.ts";
import { ratioRow, valueRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { namespaceObject, openSubject, startProduct, temporaryFolder, type Subject } from "../subject.ts";
import { bind } from "./review.ts";
import { fillFolder } from "./start.ts";

const megabyte = 2 ** 20;
const connections = 16;
const pageSize = 500;

/** What a server can have many of. */
interface Dimension {
  /** Its plural. */
  readonly name: string;
  readonly sizes: readonly number[];
  /** With `--full`. */
  readonly largeSizes: readonly number[];
  /** Puts them into the data folder before the server starts. */
  fill?(options: Options, dir: string, count: number): Promise<void>;
  /** Creates them. */
  create?(subject: Subject, count: number): Promise<void>;
  /** Path of a list of them. */
  list(subject: Subject): string;
}

const dimensions: readonly Dimension[] = [
  {
    name: "config maps of 1 KB",
    sizes: [0, 100_000],
    largeSizes: [1_000_000],
    fill: (options, dir, count) => fillFolder(options, dir, count, 1024),
    list: () => configMapsPath("bench"),
  },
  {
    name: "namespaces",
    sizes: [1000],
    largeSizes: [10_000, 50_000],
    async create({ api }, count) {
      await api.createAll(count, (index) => namespaceObject(`space-${index}`));
    },
    list: () => "/api/v1/namespaces",
  },
  {
    name: "bindings of 100 roles",
    sizes: [10_000],
    largeSizes: [100_000],
    create: (subject, bindings) => bind(subject, 0, { bindings, roles: 100 }),
    list: ({ rbacGroup }) => `/apis/${rbacGroup}/v1/rolebindings`,
  },
];

/** Start, memory, files and requests of a server that has many objects, namespaces or bindings (docs/limits.md). */
export const capacity: Scenario = {
  name: "capacity",
  remote: false,
  async *run({ options }: Bench) {
    for (const dimension of dimensions) {
      const sizes = options.full ? [...dimension.sizes, ...dimension.largeSizes] : dimension.sizes;
      for (const count of sizes) yield* runSize(options, dimension, count);
    }
    yield* objectSizes(options);
  },
};

async function* runSize(options: Options, dimension: Dimension, count: number): AsyncGenerator<Row> {
  const label = `${count.toLocaleString("en-US")} ${dimension.name}`;
  const dir = temporaryFolder();
  try {
    await dimension.fill?.(options, dir, count);
    const subject = await openSubject(options, `capacity-${count}`, { dir });
    try {
      const begun = performance.now();
      await dimension.create?.(subject, count);
      await untilIdle(subject.pid!);
      if (dimension.create !== undefined)
        yield valueRow(
          `${label}: until created and handled by controllers`,
          "s",
          (performance.now() - begun - restMs) / 1000,
        );
      yield* requests(options, subject, label, dimension.list(subject));
    } finally {
      await subject.close();
    }
    yield* atRest(options, dir, label);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Rates and times of requests to a server with many of something. */
async function* requests(
  options: Options,
  { address, api, namespace, pid, token }: Subject,
  label: string,
  listPath: string,
): AsyncGenerator<Row> {
  const collection = configMapsPath(namespace);
  await api.ask("POST", collection, configMap(namespace, objectName(0)));
  const created = JSON.stringify(configMap(namespace, `new-${sequenceMark}`));
  const plans: Readonly<Record<string, RequestPlan>> = {
    get: { kind: "same", text: getText(`${collection}/${objectName(0)}`, token) },
    create: { kind: "numbered", text: writeText("POST", collection, token, created), objects: 1024 },
  };
  for (const [name, request] of Object.entries(plans)) {
    const side = { name, plan: { address, connections, request }, pid };
    const [samples] = await measureInTurns([side], "answers", options.rounds, options.seconds);
    yield ratioRow(`${label}: ${name}`, "/s", samples!, undefined);
  }
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const begun = performance.now();
    await api.ask("GET", `${listPath}?limit=${pageSize}`);
    times.push(performance.now() - begun);
  }
  yield valueRow(`${label}: page of ${pageSize}, median of 5`, "ms", times.toSorted((a, b) => a - b)[2]!);
}

/** Start and memory of a server on the data folder. */
async function* atRest(options: Options, dir: string, label: string): AsyncGenerator<Row> {
  yield valueRow(`${label}: data folder`, "MB", folderBytes(dir) / megabyte);
  const product = await startProduct(options, dir, undefined, { bare: true });
  try {
    await untilIdle(product.pid);
    const { anonymous, cpuMicros } = factsOf(product.pid);
    if (anonymous === undefined || cpuMicros === undefined)
      throw new Error("this system doesn't report the memory of a process");
    yield valueRow(`${label}: start to ready`, "s", product.readyMs / 1000);
    yield valueRow(`${label}: processor time of the start`, "s", cpuMicros / 1e6);
    yield valueRow(`${label}: memory at rest`, "MB", anonymous / megabyte);
  } finally {
    await product.close();
  }
}

const sampleMs = 500;
/** Processor time in one sample, in microseconds, below which a process is idle. */
const idleMicros = 50_000;
/** How many samples in a row must be idle. */
const idleSamples = 4;
const restMs = sampleMs * idleSamples;
const maxWorkMs = 600_000;

/** @throws {Error} if the process still works after ten minutes. */
async function untilIdle(pid: number): Promise<void> {
  const deadline = performance.now() + maxWorkMs;
  let last = factsOf(pid).cpuMicros ?? 0;
  for (let idle = 0; idle < idleSamples;) {
    await pause(sampleMs);
    const now = factsOf(pid).cpuMicros ?? 0;
    idle = now - last < idleMicros ? idle + 1 : 0;
    last = now;
    if (performance.now() > deadline) throw new Error("the server doesn't become idle");
  }
}

function folderBytes(dir: string): number {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => statSync(join(entry.parentPath, entry.name)).blocks * 512)
    .reduce((sum, bytes) => sum + bytes, 0);
}

const kilobyte = 1024;
/** Sizes of single objects, in bytes; the last is just below the limit of a ConfigMap's data. */
const objectBytes = [10 * kilobyte, 100 * kilobyte, 1000 * kilobyte];

/** Requests with large objects, one after the other. */
async function* objectSizes(options: Options): AsyncGenerator<Row> {
  const subject = await openSubject(options, "capacity-object-sizes");
  try {
    const { address, api, namespace, pid, token } = subject;
    const collection = configMapsPath(namespace);
    for (const bytes of objectBytes) {
      const name = `large-${bytes}`;
      const path = `${collection}/${name}`;
      await api.ask("POST", collection, configMap(namespace, name, bytes));
      const changed = JSON.stringify(configMap(namespace, name, bytes, sequenceMark));
      const plans: Readonly<Record<string, RequestPlan>> = {
        get: { kind: "same", text: getText(path, token) },
        update: { kind: "numbered", text: writeText("PUT", path, token, changed), objects: 1024 },
      };
      for (const [verb, request] of Object.entries(plans)) {
        const side = { name: verb, plan: { address, connections: 1, request }, pid };
        const [samples] = await measureInTurns([side], "answers", options.rounds, options.seconds);
        yield ratioRow(`${verb}, object of ${bytes / kilobyte} KiB`, "/s", samples!, undefined);
      }
    }
  } finally {
    await subject.close();
  }
}
