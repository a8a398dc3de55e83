/** Measures the heap that stored objects take in a server: run with `--expose-gc`. */
import { createServer } from "../../src/index.ts";
import { configMap, objectName } from "../objects.ts";
import { serveParent } from "../serve-parent.ts";

export interface HeapPlan {
  readonly dir: string;
  /** Number of objects stored before the measurement, so that fixed costs are excluded. */
  readonly before: number;
  readonly objects: number;
}

const together = 256;

const handlers = { bytesPerObject };
export type HeapApi = typeof handlers;
serveParent(handlers);

/** Returns the bytes per object, of the heap and of external buffers. */
async function bytesPerObject({
  dir,
  before,
  objects,
}: HeapPlan): Promise<{ heap: number; buffers: number }> {
  const server = await createServer({ storage: { engine: "embedded", dir }, port: false });
  const namespace = "bench";
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  let next = 0;
  const store = async (upTo: number): Promise<void> => {
    const work = async (): Promise<void> => {
      while (next < upTo) await server.client.create(configMap(namespace, objectName(next++)));
    };
    await Promise.all(Array.from({ length: together }, work));
  };
  await store(before);
  const start = await settledMemory();
  await store(before + objects);
  const end = await settledMemory();
  await server.close();
  return {
    heap: (end.heapUsed - start.heapUsed) / objects,
    buffers: (end.external - start.external) / objects,
  };
}

async function settledMemory(): Promise<NodeJS.MemoryUsage> {
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    (globalThis as { gc?: () => void }).gc?.();
  }
  return process.memoryUsage();
}
