import { rmSync } from "node:fs";
import type { HeapApi } from "../children/heap-meter.ts";
import { openSocket } from "../load/connection.ts";
import { getText } from "../load/http-text.ts";
import type { Address } from "../load/plan.ts";
import { ResponseReader } from "../load/response-reader.ts";
import { configMapsPath } from "../objects.ts";
import type { Options } from "../options.ts";
import { factsOf, Helper, start, stop } from "../processes.ts";
import { differenceRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { adminToken, startProduct, temporaryFolder } from "../subject.ts";
import { fillFolder } from "./start.ts";

const megabyte = 2 ** 20;
const atRestAim = 60;
const heapAim = 300;
const listingAim = 64;
/** How long a process is left alone before its memory is read. */
const restMs = 2000;
const sampleMs = 20;
const listedObjectBytes = 10 * 1024;

/** Memory at rest, for each stored object, and while everything is listed. */
export const memory: Scenario = {
  name: "memory",
  remote: false,
  async *run({ options }: Bench) {
    yield await atRest(options);
    yield* perObject();
    yield* whileListing(options);
  },
};

async function atRest(options: Options): Promise<Row> {
  const dir = temporaryFolder();
  const product = await startProduct(options, dir, undefined, { bare: true });
  const idle = start(process.execPath, ["-e", "setInterval(() => {}, 1e6)"], { stdio: "ignore" });
  await pause(restMs);
  const [own, bare] = [factsOf(product.pid).rss, factsOf(idle.pid!).rss];
  await stop(idle);
  await product.close();
  rmSync(dir, { recursive: true, force: true });
  return differenceRow("memory at rest", "MB", known(own) / megabyte, known(bare) / megabyte, atRestAim);
}

async function* perObject(): AsyncGenerator<Row> {
  const dir = temporaryFolder();
  const meter = Helper.start<HeapApi>("children/heap-meter.ts", ["--expose-gc"]);
  try {
    // Recent events are kept up to a fixed size: the first objects fill it.
    const { heap, buffers } = await meter.call("bytesPerObject", { dir, before: 30_000, objects: 50_000 });
    yield differenceRow("memory for a stored object, heap", "B", heap, 0, heapAim);
    yield differenceRow("memory for a stored object, other buffers", "B", buffers, 0);
  } finally {
    await meter.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * How much memory grows over what it is at rest. Mapped files are left out: they are pages of the data file that the
 * system keeps as long as nothing else needs the room.
 */
async function* whileListing(options: Options): AsyncGenerator<Row> {
  const megabytes = options.full ? 1024 : 200;
  const dir = temporaryFolder();
  await fillFolder(options, dir, Math.ceil((megabytes * megabyte) / listedObjectBytes), listedObjectBytes);
  const readers = [
    { name: "fast", pauseMs: 0 },
    // A megabyte, then a pause: some 40 MB a second at the most.
    { name: "slow", pauseMs: 25 },
  ];
  for (const { name, pauseMs } of readers) {
    const product = await startProduct(options, dir, `memory-${name}`);
    try {
      await pause(restMs);
      const before = known(factsOf(product.pid).anonymous);
      let most = before;
      const timer = setInterval(() => {
        most = Math.max(most, known(factsOf(product.pid).anonymous));
      }, sampleMs);
      const bytes = await readList(product.address, pauseMs);
      clearInterval(timer);
      const label = `memory while listing ${Math.round(bytes / megabyte)} MB, ${name} reader`;
      yield differenceRow(label, "MB", most / megabyte, before / megabyte, listingAim);
    } finally {
      await product.close();
    }
  }
  rmSync(dir, { recursive: true, force: true });
}

/** Reads a whole list, with a pause after each megabyte; gives its size. */
async function readList(address: Address, pauseMs: number): Promise<number> {
  const socket = await openSocket(address);
  let bytes = 0;
  let pauseAt = megabyte;
  const done = new Promise<void>((resolve, reject) => {
    const reader = new ResponseReader({
      body: (part) => {
        bytes += part.length;
      },
      done: (status) => (status === 200 ? resolve() : reject(new Error(`the list: ${status}`))),
    });
    socket.on("data", (part: Buffer) => {
      reader.take(part);
      if (pauseMs === 0 || bytes < pauseAt) return;
      pauseAt += megabyte;
      socket.pause();
      setTimeout(() => socket.resume(), pauseMs);
    });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the list was broken off")));
  });
  socket.write(getText(configMapsPath("bench"), adminToken));
  await done;
  socket.destroy();
  return bytes;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function known(bytes: number | undefined): number {
  if (bytes === undefined) throw new Error("this system doesn't tell the memory of a process (Linux does)");
  return bytes;
}
