import { rarely } from "../../base/clock.ts";
import { BackendSockets } from "../../http/backends/backend-sockets.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import type { ConnectionObserver } from "../../http/transport/connection-observer.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { HttpLog } from "../../http/service.ts";
import { ResponseBacklogs, type EndedConnection } from "../../http/transport/response-backlog.ts";
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
    log.error({ ...source, error: stackOf(error) }, "a defect: please report it");
  };
}

/** How often the log says that connections are refused. */
const refusedMs = 60_000;

/** Bounds what clients leave untaken; counts connections that are ended for that, and says so in the log. */
export function responseBacklogs(
  { clock, log, vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
): ResponseBacklogs {
  let count = 0;
  const say = rarely(clock, unreadMs, (last: EndedConnection) => {
    log.warn(
      { ...last, connections: count },
      "connections are ended: their clients don't take their answers",
    );
    count = 0;
  });
  return new ResponseBacklogs((ended) => {
    metrics.sample(`${name}_unread_connections_ended_total`, ended.reason).inc();
    count++;
    say(ended);
  });
}

/** How often the log says that connections of clients that don't read are ended. */
const unreadMs = 5000;

/** Counts connections to pods, services and nodes, and those that were refused. */
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

/** Counts connections, and says in the log when some are refused. */
export function clientConnections(
  { clock, log, vocabulary: { name } }: ServerOptions,
  metrics: MetricSet,
): ConnectionObserver {
  const open = metrics.sample(`${name}_client_connections`);
  const refused = metrics.sample(`${name}_client_connections_refused_total`);
  let unsaid = 0;
  const sayExhausted = rarely(clock, refusedMs, (what: string) =>
    log.error({ what, openFiles: openFileLimit() }, "no file descriptor is left; see --max-connections"),
  );
  const exhausted = (what: "accept" | "dial" | "look") => {
    metrics.sample(`${name}_descriptor_shortages_total`, what).inc();
    sayExhausted(what);
  };
  const say = rarely(clock, refusedMs, () => {
    log.warn({ refused: unsaid }, "too many connections: new ones are refused; see --max-connections");
    unsaid = 0;
  });
  return {
    opened: () => open.inc(),
    closed: () => open.dec(),
    exhausted,
    // The system sheds connections that find no descriptor without telling; so one is tried.
    look: async () => {
      if (await lacksDescriptor()) exhausted("look");
    },
    refused: () => {
      refused.inc();
      unsaid++;
      say();
    },
  };
}
