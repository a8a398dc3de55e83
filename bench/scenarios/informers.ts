import { rmSync } from "node:fs";
import type { BulkApi, BulkPlan } from "../load/bulk-readers.ts";
import type { GeneratorApi } from "../load/generator.ts";
import { getText } from "../load/http-text.ts";
import { configMapsPath, objectName } from "../objects.ts";
import { collectGarbage } from "../meter.ts";
import { factsOf, Helper } from "../processes.ts";
import { differenceRow, timesRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { adminToken, startProduct, temporaryFolder, type Product } from "../subject.ts";
import { fillFolder } from "./start.ts";

const megabyte = 2 ** 20;
const objectBytes = 10 * 1024;
const namespace = "bench";
const path = configMapsPath(namespace);
const memoryAimMb = 300;
const getAim = 3;
/** Of another user than the informers'. */
const quietToken = "bench-quiet-token";
const sampleMs = 20;
const restMs = 2000;

const watchList =
  "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const forms = [
  { name: "lists", query: "", end: '],"metadata":{"resourceVersion"' },
  { name: "watch lists", query: `?${watchList}`, end: '"BOOKMARK"' },
];

/** Many informers read a large collection at once: the server's memory, and the gets of another user meanwhile. */
export const informers: Scenario = {
  name: "informers",
  remote: false,
  async *run({ options }: Bench) {
    const [clients, megabytes] = options.full ? [16, 400] : [8, 100];
    const dir = temporaryFolder();
    await fillFolder(options, dir, Math.ceil((megabytes * megabyte) / objectBytes), objectBytes);
    for (const { name, query, end } of forms) {
      const product = await startProduct(options, dir, `informers-${name}`, {
        flags: ["--feature-gates=WatchList=true"],
        tokens: [`${quietToken},quiet,9,system:masters`],
      });
      try {
        const text = getText(`${path}${query}`, adminToken);
        yield* whileReading(`${clients} ${name} of ${megabytes} MB`, product, {
          address: product.address,
          text,
          clients,
          end,
        });
      } finally {
        await product.close();
      }
    }
    rmSync(dir, { recursive: true, force: true });
  },
};

async function* whileReading(name: string, product: Product, plan: BulkPlan): AsyncGenerator<Row> {
  const { address, pid } = product;
  const readers = Helper.start<BulkApi>("load/bulk-readers.ts");
  const other = Helper.start<GeneratorApi>("load/generator.ts");
  let timer: NodeJS.Timeout | undefined;
  try {
    const request = { kind: "same", text: getText(`${path}/${objectName(0)}`, quietToken) } as const;
    await other.call("open", { address, connections: 1, request });
    await other.call("run", { seconds: 1 });
    const idle = await other.call("run", { seconds: 2 });
    await collectGarbage(pid);
    await pause(restMs);
    const before = anonymousBytes(pid);
    let most = before;
    timer = setInterval(() => (most = Math.max(most, anonymousBytes(pid))), sampleMs);
    const busyBefore = factsOf(pid).cpuMicros!;
    const reading = readers.call("read", plan);
    const during = await other.call("run", { seconds: 3 });
    const result = await reading;
    const busy = (factsOf(pid).cpuMicros! - busyBefore) / 1e6;
    for (const { failure } of [idle, during]) if (failure !== undefined) throw new Error(failure);
    console.error(
      `${name}: ${(result.bytes / megabyte).toFixed(0)} MB each in ${result.seconds.toFixed(1)} s, processor time of the server ` +
        `${busy.toFixed(1)} s, of the clients ${(result.cpuMicros / 1e6).toFixed(1)} s`,
    );
    yield differenceRow(`memory during ${name}`, "MB", most / megabyte, before / megabyte, memoryAimMb);
    yield timesRow(`another's get during ${name}, p99`, "ms", during.p99, idle.p99, getAim);
  } finally {
    clearInterval(timer);
    await Promise.all([readers.close(), other.close()]);
  }
}

function anonymousBytes(pid: number): number {
  const { anonymous } = factsOf(pid);
  if (anonymous === undefined)
    throw new Error("this system doesn't tell the memory of a process (Linux does)");
  return anonymous;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
