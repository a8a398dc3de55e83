/** Clients that read a whole collection at once. Only one of them decrypts what it reads; of the others the bytes are counted. */
import { serveParent } from "../serve-parent.ts";
import type { Address } from "./plan.ts";
import { SparseConnection } from "./sparse-connection.ts";

export interface BulkPlan {
  readonly address: Address;
  /** A whole GET request. */
  readonly text: string;
  readonly clients: number;
  /** Text that is in the last bytes of a response. */
  readonly end: string;
}

export interface BulkResult {
  readonly seconds: number;
  /** Bytes of one response, decrypted, and of all, as on the wire. */
  readonly bytes: number;
  readonly wireBytes: number;
  readonly cpuMicros: number;
}

const handlers = { read };
/** The functions that the bench calls. */
export type BulkApi = typeof handlers;
serveParent(handlers);

/** Share of the decrypting client's wire bytes at which another client has everything: records may be cut differently. */
const enough = 0.999;

/** Resolves when every client has read the whole response. */
async function read({ address, text, clients, end }: BulkPlan): Promise<BulkResult> {
  const begun = performance.now();
  const cpuBefore = process.cpuUsage();
  const counts = Array.from({ length: clients }, () => 0);
  let bytes = 0;
  let total: number | undefined;
  let finished: () => void = () => undefined;
  let failed: (error: Error) => void = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    finished = resolve;
    failed = reject;
  });
  const check = (): void => {
    if (total !== undefined && counts.every((count) => count >= total! * enough)) finished();
  };
  let tail = "";
  const decrypt = (part: Buffer): void => {
    bytes += part.length;
    tail = (tail + part.toString("latin1")).slice(-4096);
    if (total !== undefined || !tail.includes(end)) return;
    total = counts[0];
    check();
  };
  const connections = await Promise.all(
    counts.map((_, index) => {
      const arrived = (part: Buffer): void => {
        counts[index]! += part.length;
        if (total !== undefined) check();
      };
      return SparseConnection.open(address, text, arrived, index === 0 ? decrypt : undefined);
    }),
  );
  const guard = setInterval(() => {
    const lost = connections.findIndex(
      (one, index) => one.lost && counts[index]! < (total ?? Infinity) * enough,
    );
    if (lost !== -1) failed(new Error(`the server ended a response after ${counts[lost]} bytes`));
  }, lookMs);
  try {
    await done;
  } finally {
    clearInterval(guard);
    for (const connection of connections) connection.close();
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    seconds: (performance.now() - begun) / 1000,
    bytes,
    wireBytes: counts.reduce((sum, count) => sum + count, 0),
    cpuMicros: user + system,
  };
}

const lookMs = 200;
