import { effect, signal } from "@preact/signals";
import { messageOf, send } from "../api/client.ts";
import { pause } from "../api/streams.ts";
import {
  bucketsOf,
  parseMetrics,
  quantileBetween,
  sumOf,
  sumsBy,
  type Buckets,
  type Metrics,
} from "../model/metrics.ts";
import { session, signedInUser } from "./session.ts";

/** Values at one time. Rates are per second, times are in milliseconds. */
export interface Point {
  readonly atMs: number;
  readonly values: Readonly<Record<string, number>>;
}

const intervalMs = 5000;
const firstIntervalMs = 1000;
/** One hour. */
const maxPoints = 3_600_000 / intervalMs;

/** The points of the last hour; they are kept while the user is signed in. */
export const points = signal<readonly Point[]>([]);
/** The newest page. */
export const newest = signal<Metrics>(new Map());
export const metricsFailure = signal("");

/** Counters of a page, from which rates are computed. */
interface Counters {
  readonly atMs: number;
  readonly totals: Readonly<Record<string, number>>;
  readonly latencies: Buckets;
}

let recording: AbortController | undefined;
let last: Counters | undefined;

/** Reads the metrics every few seconds, from the first call until the user signs out or views as another one. */
export function recordMetrics(): void {
  if (recording !== undefined) return;
  const controller = new AbortController();
  recording = controller;
  const user = signedInUser.peek().name;
  follow(controller.signal).catch((error: unknown) => (metricsFailure.value = messageOf(error)));
  const stop = effect(() => {
    if (session.value.kind === "signed-in" && signedInUser.value.name === user) return;
    controller.abort();
    recording = undefined;
    last = undefined;
    points.value = [];
    newest.value = new Map();
    metricsFailure.value = "";
    queueMicrotask(() => stop());
  });
}

async function follow(aborted: AbortSignal): Promise<void> {
  // Soon after the first page there is a first point.
  for (let waitMs = firstIntervalMs; !aborted.aborted; waitMs = intervalMs) {
    if (!document.hidden) await read(aborted);
    await pause(waitMs, aborted);
  }
}

async function read(aborted: AbortSignal): Promise<void> {
  try {
    const text = await (await send("/metrics", { accept: "text/plain", signal: aborted })).text();
    if (!aborted.aborted) record(parseMetrics(text));
  } catch (error) {
    if (!aborted.aborted) metricsFailure.value = messageOf(error);
  }
}

function record(metrics: Metrics): void {
  const atMs = Date.now();
  const requests = sumsBy(metrics, "apiserver_request_total", "verb");
  const reads = ["GET", "LIST"].reduce((sum, verb) => sum + (requests.get(verb) ?? 0), 0);
  const total = [...requests.values()].reduce((sum, one) => sum + one, 0);
  const counters: Counters = {
    atMs,
    totals: {
      reads,
      writes: ["POST", "PUT", "PATCH", "DELETE"].reduce((sum, verb) => sum + (requests.get(verb) ?? 0), 0),
      errors: sumOf(metrics, "apiserver_request_total", ({ code = "" }) => code >= "500"),
      rejected: sumOf(metrics, "apiserver_flowcontrol_rejected_requests_total"),
      events: sumOf(metrics, "apiserver_watch_events_total"),
      revisions: sumOf(metrics, "apiserver_storage_revision"),
      processor: sumOf(metrics, "process_cpu_seconds_total") * 100,
      requests: total,
    },
    latencies: bucketsOf(metrics, "apiserver_request_duration_seconds"),
  };
  newest.value = metrics;
  metricsFailure.value = "";
  if (last !== undefined)
    points.value = [...points.value, pointOf(metrics, last, counters)].slice(-maxPoints);
  last = counters;
}

function pointOf(metrics: Metrics, before: Counters, after: Counters): Point {
  const seconds = Math.max(0.001, (after.atMs - before.atMs) / 1000);
  const rates = Object.entries(after.totals).map(([name, value]) => [
    name,
    // A restarted server begins at 0.
    Math.max(0, value - (before.totals[name] ?? 0)) / seconds,
  ]);
  const quantile = (part: number) => quantileBetween(before.latencies, after.latencies, part) * 1000;
  return {
    atMs: after.atMs,
    values: {
      ...(Object.fromEntries(rates) as Record<string, number>),
      p50: quantile(0.5),
      p95: quantile(0.95),
      p99: quantile(0.99),
      executing: sumOf(metrics, "apiserver_flowcontrol_current_executing_requests"),
      queued: sumOf(metrics, "apiserver_flowcontrol_current_inqueue_requests"),
      watchers: sumOf(metrics, "apiserver_longrunning_requests", ({ verb }) => verb === "WATCH"),
      connections: sumOf(metrics, `${prefixOf(metrics)}client_connections`),
      memory: sumOf(metrics, "process_resident_memory_bytes") / 2 ** 20,
      storage: sumOf(metrics, "apiserver_storage_db_total_size_in_bytes") / 2 ** 20,
    },
  };
}

/** The prefix of the server's own metrics, which depends on its vocabulary. */
function prefixOf(metrics: Metrics): string {
  const name = [...metrics.keys()].find((one) => one.endsWith("_client_connections")) ?? "";
  return name.slice(0, -"client_connections".length);
}
