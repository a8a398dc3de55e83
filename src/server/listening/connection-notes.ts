import { rarely } from "../../base/time/clock.ts";
import { BackendSockets } from "../../http/backends/backend-sockets.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import type { ConnectionObserver } from "../../http/transport/connection.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { HttpLog } from "../../http/service.ts";
import { BodyBudget, bodyBytesOfProcess } from "../../http/transport/body-budget.ts";
import {
  type EndedConnection,
  ResponseBacklogs,
  unreadBytesOfProcess,
} from "../../http/transport/response-backlog.ts";
import { lacksDescriptor, openFileLimit } from "../start/open-files.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Logs a bug with its stack, and counts it by where it was caught. */
export function defectLog(
  { log, vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
): HttpLog["defect"] {
  return (error, source) => {
    const kind = "event" in source ? "event" : "process" in source ? "process" : "request";
    metrics.sample(`${name}_defects_total`, kind).inc();
    log.error({ ...source, error: stackOf(error) }, "bug in the server, please report it");
  };
}

/** Minimum interval of log lines about refused connections. */
const refusedLogIntervalMs = 60_000;

/** Limits the bytes of request bodies that are being received; counts rejected ones. */
export function requestBodies(
  { processes = 1, vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
): BodyBudget {
  return new BodyBudget(
    (reason) => metrics.sample(`${name}_request_bodies_refused_total`, reason).inc(),
    bodyBytesOfProcess(processes),
  );
}

/** Limits the response bytes that clients haven't read; counts and logs connections closed for that. */
export function responseBacklogs(
  { clock, log, processes = 1, vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
): ResponseBacklogs {
  let count = 0;
  const report = rarely(clock, unreadLogIntervalMs, (last: EndedConnection) => {
    log.warn({ ...last, connections: count }, "connections closed: their clients don't read the responses");
    count = 0;
  });
  return new ResponseBacklogs((ended) => {
    metrics.sample(`${name}_unread_connections_ended_total`, ended.reason).inc();
    count++;
    report(ended);
  }, unreadBytesOfProcess(processes));
}

/** Minimum interval of log lines about clients that don't read. */
const unreadLogIntervalMs = 5000;

/** Creates the pool limit for connections to pods, services and nodes; counts open and refused ones. */
export function backendSockets(
  { vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
  { maxSockets }: ConnectionRules,
): BackendSockets {
  const open = metrics.sample(`${name}_backend_connections`);
  return new BackendSockets(maxSockets, {
    open: (count) => open.set(count),
    refused: (reason) => metrics.sample(`${name}_backend_connections_refused_total`, reason).inc(),
  });
}

/** Counts client connections, and logs refused ones at a limited rate. */
export function clientConnections(
  { clock, log, vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
): ConnectionObserver {
  const open = metrics.sample(`${name}_client_connections`);
  const refused = metrics.sample(`${name}_client_connections_refused_total`);
  let unreported = 0;
  const logExhausted = rarely(clock, refusedLogIntervalMs, (what: string) =>
    log.error({ what, openFiles: openFileLimit() }, "no file descriptor is left; see --max-connections"),
  );
  const exhausted = (what: "accept" | "dial" | "look") => {
    metrics.sample(`${name}_descriptor_shortages_total`, what).inc();
    logExhausted(what);
  };
  const report = rarely(clock, refusedLogIntervalMs, () => {
    log.warn({ refused: unreported }, "too many connections: new ones are refused; see --max-connections");
    unreported = 0;
  });
  return {
    opened: () => open.inc(),
    closed: () => open.dec(),
    exhausted,
    // The system drops connections silently if no descriptor is free, so the server tries to open one.
    look: async () => {
      if (await lacksDescriptor()) exhausted("look");
    },
    refused: () => {
      refused.inc();
      unreported++;
      report();
    },
  };
}
