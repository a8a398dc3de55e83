import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Api } from "../api.ts";
import type { FillerApi } from "../children/store-filler.ts";
import { median } from "../measure.ts";
import type { Options } from "../options.ts";
import { Helper, start } from "../processes.ts";
import { differenceRow, type Row } from "../rows.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { startProduct, temporaryFolder } from "../subject.ts";

const emptyAimSeconds = 0.5;
const filledAimSeconds = 1.5;
const millionAimSeconds = 0.6;

/** From the start of the process to the first good answer of /readyz; limit: `node -e 0`. */
export const startUp: Scenario = {
  name: "start",
  remote: false,
  async *run({ options }: Bench) {
    yield await startRow(options, "start to ready, empty folder", emptyAimSeconds, undefined);
    const sizes = options.full ? [10_000, 100_000, 1_080_000] : [10_000];
    for (const objects of sizes) {
      const dir = temporaryFolder();
      await fillFolder(options, dir, objects, 1024);
      const name = `start to ready, ${objects.toLocaleString("en-US")} objects`;
      yield await startRow(options, name, objects > 1e6 ? millionAimSeconds : filledAimSeconds, dir);
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** Puts config maps into a data folder. */
export async function fillFolder(
  { vocabulary }: Options,
  dataDir: string,
  objects: number,
  objectBytes: number,
): Promise<void> {
  const filler = Helper.start<FillerApi>("children/store-filler.ts");
  try {
    await filler.call("fill", {
      dir: join(dataDir, "store"),
      vocabulary,
      namespace: "bench",
      objects,
      objectBytes,
    });
  } finally {
    await filler.close();
  }
}

async function startRow(
  options: Options,
  name: string,
  aim: number,
  filled: string | undefined,
): Promise<Row> {
  const bare: number[] = [];
  const own: number[] = [];
  for (let round = -1; round < options.rounds; round++) {
    const bareSeconds = await nodeSeconds();
    const dir = filled ?? temporaryFolder();
    const ownSeconds = await readySeconds(options, dir);
    if (filled === undefined) rmSync(dir, { recursive: true, force: true });
    if (round < 0) continue;
    bare.push(bareSeconds);
    own.push(ownSeconds);
  }
  return differenceRow(name, "s", median(own), median(bare), aim);
}

async function nodeSeconds(): Promise<number> {
  const begun = performance.now();
  await once(start(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return (performance.now() - begun) / 1000;
}

async function readySeconds(options: Options, dir: string): Promise<number> {
  const begun = performance.now();
  const product = await startProduct(options, dir, "start", { bare: true });
  const api = new Api(product.address, "");
  try {
    const { status } = await api.try("GET", "/readyz");
    if (status !== 200) throw new Error(`/readyz: ${status}`);
    return (performance.now() - begun) / 1000;
  } finally {
    api.close();
    await product.close();
  }
}
