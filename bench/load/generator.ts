/** A load generator: a process that needs much less processor time per request than a server. */
import { createHistogram } from "node:perf_hooks";
import { serveParent } from "../serve-parent.ts";
import { Connection, runOnNewConnections, type Conversation } from "./connection.ts";
import type { LoadPlan, LoadResult } from "./plan.ts";
import { requestSources, watchText, type RequestSource } from "./requests.ts";
import { Watcher } from "./watcher.ts";

interface Lane {
  readonly source: RequestSource;
  /** Runs until the conversation stops. */
  run(talk: Conversation): Promise<void>;
  close(): void;
}

let lanes: Lane[] = [];
/** Milliseconds between two requests of a connection; 0 if it sends as fast as possible. */
let intervalMs = 0;
let watchers: Watcher[] = [];

const handlers = { open, run, close };
/** The functions that the bench calls. */
export type GeneratorApi = typeof handlers;
serveParent(handlers);

/** Maximum number of concurrent handshakes. */
const openTogether = 16;

async function open(plan: LoadPlan): Promise<void> {
  const { address, connections, request, rate, fresh, watchers: watching } = plan;
  close();
  intervalMs = rate === undefined ? 0 : (connections / rate) * 1000;
  const sources = requestSources(request, connections);
  for (let index = 0; index < connections; index++) {
    const source = sources(index);
    if (fresh === true) {
      lanes.push({ source, run: (talk) => runOnNewConnections(address, talk), close: () => undefined });
      continue;
    }
    const connection = await Connection.open(address);
    lanes.push({ source, run: (talk) => connection.run(talk), close: () => connection.close() });
  }
  if (watching === undefined) return;
  while (watchers.length < watching.count) {
    const count = Math.min(openTogether, watching.count - watchers.length);
    const first = watchers.length;
    const opened = Array.from({ length: count }, (_, index) =>
      Watcher.open(address, watchText(watching.text, first + index), watching.mark),
    );
    watchers.push(...(await Promise.all(opened)));
  }
}

async function run({ seconds }: { readonly seconds: number }): Promise<LoadResult> {
  const histogram = createHistogram();
  let answers = 0;
  let bytes = 0;
  let failure: string | undefined;
  let last: Buffer | undefined;
  const framesBefore = sum((watcher) => watcher.frames);
  const watchedBefore = sum((watcher) => watcher.bytes);
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const deadline = start + seconds * 1000;
  const talk = async ({ source, run: converse }: Lane, index: number): Promise<void> => {
    let spent = 0;
    let sendAt = start + (intervalMs * index) / lanes.length;
    await converse({
      delayMs() {
        const delay = Math.min(sendAt, deadline) - performance.now();
        // A connection that is late doesn't catch up.
        sendAt = Math.max(sendAt, performance.now()) + intervalMs;
        return delay;
      },
      next: () => (performance.now() >= deadline || failure !== undefined ? undefined : source.next()),
      body: (part) => {
        bytes += part.length;
        last = part;
        source.body?.(part);
      },
      answered: (status, milliseconds) => {
        spent += milliseconds;
        if (status < 200 || status > 299) failure ??= `${status}: ${last?.toString("latin1", 0, 2000) ?? ""}`;
        if (!source.answered()) return;
        answers++;
        histogram.record(Math.max(1, Math.round(spent * 1000)));
        spent = 0;
      },
    });
  };
  await Promise.all(lanes.map(talk));
  const took = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    seconds: took,
    answers,
    bytes: bytes + sum((watcher) => watcher.bytes) - watchedBefore,
    frames: sum((watcher) => watcher.frames) - framesBefore,
    p50: histogram.percentile(50) / 1000,
    p99: histogram.percentile(99) / 1000,
    cpuMicros: user + system,
    failure: failure ?? watchers.find((watcher) => watcher.failure !== undefined)?.failure,
  };
}

function close(): void {
  for (const lane of lanes) lane.close();
  for (const watcher of watchers) watcher.close();
  lanes = [];
  watchers = [];
}

function sum(of: (watcher: Watcher) => number): number {
  return watchers.reduce((total, watcher) => total + of(watcher), 0);
}
