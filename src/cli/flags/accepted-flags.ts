import { parseDuration } from "../../base/time/duration.ts";
import type { Logger } from "../../base/logger.ts";
import type { FlagType } from "../../server/options/value-type.ts";
import type { Flag } from "./flag.ts";
import { deprecationOfFlag } from "./flag-life-cycles.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";

/** A flag of the reference server that has no effect here. */
export interface AcceptedFlag extends Flag {
  /** The value that matches the behaviour of this server; undefined if none does. */
  readonly here: string | undefined;
  /**
   * Whether other values are rejected, because the operator would rely on a protection or an effect on stored objects
   * that this server doesn't have. Otherwise the log says that the flag has no effect.
   */
  readonly refused: boolean;
  /** The allowed values of an enumeration. */
  readonly allowed?: readonly string[];
}

type Rest = Partial<Pick<AcceptedFlag, "here" | "short" | "allowed">>;

const ignored = (name: string, type: FlagType, doc: string, rest: Rest = {}): AcceptedFlag => {
  return { here: undefined, ...rest, name, type, default: "", doc, refused: false };
};
const refused = (name: string, type: FlagType, doc: string, rest: Rest = {}): AcceptedFlag => {
  return { here: undefined, ...rest, name, type, default: "", doc, refused: true };
};

const noCache = "The server reads lists and watches from the store; it has no watch cache.";
const noCloud = "The server has no cloud provider code.";
const ownLogs = "The server logs to standard error; see --log-level and --log-format.";

/**
 * The flags of the reference release that {@link serveFlags} lacks, accepted so that its command lines work. The text
 * says what the server does instead. `docs/flags.md` lists them.
 */
export const acceptedFlags: readonly AcceptedFlag[] = [
  ignored("allow-metric-labels", "string", "The number of label values of metrics is limited."),
  ignored("apiserver-count", "integer", "Servers that share a store find each other through it."),
  ignored("azure-container-registry-config", "file", noCloud),
  ignored("cloud-config", "file", noCloud),
  ignored("cloud-provider", "string", noCloud),
  ignored("cloud-provider-gce-l7lb-src-cidrs", "list", noCloud),
  ignored("cloud-provider-gce-lb-src-cidrs", "list", noCloud),
  ignored("contention-profiling", "boolean", "There are no profiling endpoints.", { here: "false" }),
  ignored(
    "cors-allowed-origins",
    "list",
    "The server sends no CORS headers, so browsers reject its responses on other origins.",
  ),
  ignored("default-watch-cache-size", "integer", noCache),
  ignored(
    "delete-collection-workers",
    "integer",
    "The server chooses how many objects it deletes at a time.",
  ),
  ignored("disabled-metrics", "list", "All metrics are served."),
  refused("egress-selector-config-file", "file", "The server connects to nodes, pods and webhooks directly."),
  refused("enable-garbage-collector", "boolean", "Use --controllers=*,-garbagecollector.", { here: "true" }),
  ignored("enable-logs-handler", "boolean", "The path /logs isn't served.", { here: "false" }),
  ignored(
    "endpoint-reconciler-type",
    "string",
    "The server keeps its own address in its Service's endpoints.",
    {
      here: "lease",
      allowed: ["master-count", "lease", "none"],
    },
  ),
  ignored(
    "etcd-compaction-interval",
    "duration",
    "See --history-retention for the time for which history is kept.",
  ),
  ignored("etcd-count-metric-poll-period", "duration", "Objects are counted when the metrics are read."),
  ignored(
    "etcd-db-metric-poll-interval",
    "duration",
    "The server has no metric of the size of etcd's database.",
  ),
  ignored(
    "etcd-healthcheck-timeout",
    "duration",
    "The server chooses how long a health check waits for etcd.",
  ),
  ignored(
    "etcd-readycheck-timeout",
    "duration",
    "The server chooses how long a health check waits for etcd.",
  ),
  refused("etcd-servers-overrides", "list", "All objects are kept in one store, see --etcd-servers."),
  ignored(
    "external-hostname",
    "string",
    "Set --tls-san and --service-account-jwks-uri to the name that clients use.",
  ),
  ignored("goaway-chance", "number", "The server doesn't close connections to rebalance clients.", {
    here: "0",
  }),
  ignored(
    "http2-max-streams-per-connection",
    "integer",
    "A connection carries up to 250 requests and watches.",
    {
      here: "250",
    },
  ),
  ignored("identity-lease-duration-seconds", "integer", "The server chooses how long its lease lasts."),
  ignored(
    "identity-lease-renew-interval-seconds",
    "integer",
    "The server renews its lease every 10 seconds.",
    {
      here: "10",
    },
  ),
  refused("insecure-port", "integer", "The server speaks TLS only, see --secure-port.", { here: "0" }),
  ignored("kubelet-port", "integer", "The port of a node's agent is read from the Node's status."),
  ignored("kubelet-read-only-port", "integer", "The server connects to node agents over TLS only."),
  ignored("kubernetes-service-node-port", "integer", "The server's own Service has no node port.", {
    here: "0",
  }),
  ignored("lease-reuse-duration-seconds", "integer", "Keys in etcd have no leases; see --event-ttl."),
  ignored("log-flush-frequency", "duration", ownLogs),
  ignored("log-json-info-buffer-size", "string", ownLogs),
  ignored("log-json-split-stream", "boolean", ownLogs, { here: "false" }),
  ignored("logging-format", "string", ownLogs, { here: "json", allowed: ["json", "text"] }),
  ignored("master-service-namespace", "string", "The server's own Service is in default.", {
    here: "default",
  }),
  refused(
    "max-connection-bytes-per-sec",
    "integer",
    "The server doesn't limit the bandwidth of a connection.",
    {
      here: "0",
    },
  ),
  ignored(
    "min-request-timeout",
    "integer",
    "The server chooses the duration of a watch without timeoutSeconds.",
  ),
  ignored("permit-address-sharing", "boolean", "The server doesn't share its address.", { here: "false" }),
  ignored("permit-port-sharing", "boolean", "The server doesn't share its port.", { here: "false" }),
  ignored("profiling", "boolean", "There are no profiling endpoints.", { here: "false" }),
  ignored("request-timeout", "duration", "A request must be answered within a minute.", { here: "1m" }),
  ignored("shutdown-send-retry-after", "boolean", "A server that stops takes no new connections.", {
    here: "false",
  }),
  ignored("storage-media-type", "string", "The server chooses the encoding in which it stores objects."),
  refused("strict-transport-security-directives", "list", "The server sends no such header."),
  refused("tls-sni-cert-key", "string", "The server has one certificate for all names, see --tls-cert-file."),
  ignored("v", "integer", ownLogs, { short: "v" }),
  ignored("vmodule", "string", ownLogs),
  ignored("watch-cache", "boolean", noCache, { here: "false" }),
  ignored("watch-cache-sizes", "list", noCache),
];

/** Returns the paragraph of the help text with the names of these flags. */
export function acceptedHelp(): string {
  const shown = ({ name }: AcceptedFlag): string => {
    const deprecation = deprecationOfFlag(name);
    return deprecation === undefined ? `  --${name}` : `  --${name} (${deprecation})`;
  };
  const names = (isRefused: boolean) =>
    acceptedFlags
      .filter((one) => one.refused === isRefused)
      .map(shown)
      .join("\n");
  return `\nFlags of the reference that have no effect here; the log says so:\n${names(false)}\n\nFlags of the reference that are refused, unless they ask for what the server does anyway:\n${names(true)}\n`;
}

/**
 * Checks the values of these flags, and logs which have no effect.
 *
 * @throws {UsageError} if a value has the wrong type or asks for something that the server doesn't have.
 */
export function acceptFlags(read: FlagReader, log: Logger): void {
  for (const flag of acceptedFlags) {
    const { name, here, doc } = flag;
    const value = read.optional(name);
    if (value === undefined) continue;
    checkValue(read, flag);
    if (here !== undefined && same(flag.type, value, here)) continue;
    if (flag.refused) throw new UsageError(`--${name}=${value}: this server doesn't have it. ${doc}`);
    log.warn({ flag: `--${name}`, value }, `--${name} has no effect here. ${doc}`);
  }
}

function checkValue(read: FlagReader, { name, type, allowed }: AcceptedFlag): void {
  if (allowed !== undefined) read.choice(name, allowed);
  else if (type === "integer") read.integer(name, 0, Number.MAX_SAFE_INTEGER);
  else if (type === "number") read.number(name, 0, Number.MAX_SAFE_INTEGER);
  else if (type === "duration") read.durationMs(name);
  else if (type === "boolean") read.boolean(name);
}

/** Whether two texts are the same value of the type. */
function same(type: FlagType, one: string, other: string): boolean {
  if (type === "duration") return parseDuration(one) === parseDuration(other);
  if (type === "integer" || type === "number") return Number(one) === Number(other);
  return one === other;
}
