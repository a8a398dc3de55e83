/** Fills a data folder through the library, in a process of its own. */
import { createServer } from "../../src/index.ts";
import { configMap, objectName } from "../objects.ts";
import { serveParent } from "../serve-parent.ts";

export interface FillPlan {
  /** The store's own folder. */
  readonly dir: string;
  readonly vocabulary: "platform" | "kubernetes";
  readonly namespace: string;
  readonly objects: number;
  readonly objectBytes: number;
}

/** Concurrent writes. */
const together = 256;

const handlers = { fill };
export type FillerApi = typeof handlers;
serveParent(handlers);

async function fill({ dir, vocabulary, namespace, objects, objectBytes }: FillPlan): Promise<void> {
  const server = await createServer({ storage: { engine: "embedded", dir }, port: false, vocabulary });
  await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < objects) {
      await server.client.create(configMap(namespace, objectName(next++), objectBytes));
    }
  };
  await Promise.all(Array.from({ length: together }, work));
  await server.close();
}
