import {
  auditFormats,
  auditModes,
  type AuditLogOptions,
  type AuditOptions,
  type AuditWebhookOptions,
} from "../server/audit-options.ts";
import { flag, type Flag } from "./flag.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";

/** How events are gathered for a backend, and how large they may be, with the backend's defaults. */
function gatheringFlags(
  backend: string,
  byDefault: Record<"events" | "wait" | "throttled" | "perSecond" | "burst", string>,
): Flag[] {
  const { events, wait, throttled, perSecond, burst } = byDefault;
  return [
    flag(`${backend}-batch-buffer-size`, "integer", "10000", "Events that may wait in mode batch."),
    flag(`${backend}-batch-max-size`, "integer", events, "Events of a batch in mode batch."),
    flag(`${backend}-batch-max-wait`, "duration", wait, "Time after which a batch that isn't full goes out."),
    flag(`${backend}-batch-throttle-enable`, "boolean", throttled, "Limit the batches a second."),
    flag(`${backend}-batch-throttle-qps`, "number", perSecond, "Batches a second on average, where limited."),
    flag(`${backend}-batch-throttle-burst`, "integer", burst, "Batches at once, where they are limited."),
    flag(`${backend}-truncate-enabled`, "boolean", "false", "Limit the size of events and batches."),
    flag(
      `${backend}-truncate-max-event-size`,
      "integer",
      "102400",
      "Bytes of an event above which its objects are left out, and then the event, where sizes are limited.",
    ),
    flag(
      `${backend}-truncate-max-batch-size`,
      "integer",
      "10485760",
      "Bytes of a batch, where sizes are limited.",
    ),
  ];
}

/** The flags of the audit. */
export const auditFlags: readonly Flag[] = [
  flag("audit-policy-file", "file", "", "Policy that says what is audited (YAML); without it nothing is."),
  flag("audit-log-path", "string", "", "File of the audit log; - is standard output."),
  flag("audit-log-format", "string", "json", "Form of the audit log's lines: json or legacy."),
  flag(
    "audit-log-mode",
    "string",
    "blocking",
    "Whether requests wait for the audit log: batch, blocking or blocking-strict.",
  ),
  flag("audit-log-maxsize", "integer", "0", "Megabytes after which the audit log is begun anew; 0 is 100."),
  flag("audit-log-maxage", "integer", "0", "Days that old audit logs are kept; 0 is for ever."),
  flag("audit-log-maxbackup", "integer", "0", "Old audit logs that are kept; 0 is any number."),
  flag("audit-log-compress", "boolean", "false", "Compress old audit logs (gzip)."),
  flag("audit-log-version", "string", "", "Version of the audit log's events; there is one, the default."),
  ...gatheringFlags("audit-log", { events: "1", wait: "0s", throttled: "false", perSecond: "0", burst: "0" }),
  flag(
    "audit-webhook-config-file",
    "file",
    "",
    "Client configuration of a service to which events are sent.",
  ),
  flag(
    "audit-webhook-mode",
    "string",
    "batch",
    "Whether requests wait for that service: batch, blocking or blocking-strict.",
  ),
  flag(
    "audit-webhook-initial-backoff",
    "duration",
    "10s",
    "Time before events are sent again, the first time.",
  ),
  flag("audit-webhook-version", "string", "", "Version of the events sent; there is one, the default."),
  ...gatheringFlags("audit-webhook", {
    events: "400",
    wait: "30s",
    throttled: "true",
    perSecond: "10",
    burst: "15",
  }),
];

const most = 2 ** 31 - 1;
const dayMs = 24 * 60 * 60 * 1000;
const megabyte = 1024 * 1024;

/** The audit that the flags ask for. @param version the only version of events. @throws {UsageError} */
export function auditOptions(read: FlagReader, version: string): AuditOptions {
  const path = read.optional("audit-log-path");
  for (const name of ["audit-log-version", "audit-webhook-version"]) {
    const wanted = read.optional(name) ?? version;
    if (wanted !== version) throw new UsageError(`--${name}: "${wanted}" is not ${version}`);
  }
  const configFile = read.optional("audit-webhook-config-file");
  const webhook = webhookOptions(read);
  const log = logOptions(read);
  return {
    policyFile: read.optional("audit-policy-file"),
    log: path === undefined ? undefined : { path, ...log },
    webhook: configFile === undefined ? undefined : { configFile, ...webhook },
  };
}

function logOptions(read: FlagReader): Omit<AuditLogOptions, "path"> {
  const megabytes = read.integer("audit-log-maxsize", 0, 1_000_000);
  return {
    format: read.choice("audit-log-format", auditFormats),
    mode: read.choice("audit-log-mode", auditModes),
    maxBytes: (megabytes === 0 ? 100 : megabytes) * megabyte,
    maxAgeMs: read.integer("audit-log-maxage", 0, 1_000_000) * dayMs,
    maxBackups: read.integer("audit-log-maxbackup", 0, most),
    compress: read.boolean("audit-log-compress") ?? false,
    batch: batchOptions(read, "audit-log-batch-"),
    truncate: truncateOptions(read, "audit-log-truncate-"),
  };
}

function webhookOptions(read: FlagReader): Omit<AuditWebhookOptions, "configFile"> {
  return {
    mode: read.choice("audit-webhook-mode", auditModes),
    backoffMs: read.durationMs("audit-webhook-initial-backoff"),
    batch: batchOptions(read, "audit-webhook-batch-"),
    truncate: truncateOptions(read, "audit-webhook-truncate-"),
  };
}

function batchOptions(read: FlagReader, prefix: string): AuditLogOptions["batch"] {
  const bufferEvents = read.integer(`${prefix}buffer-size`, 1, most);
  const batchEvents = read.integer(`${prefix}max-size`, 1, most);
  if (batchEvents > bufferEvents) {
    throw new UsageError(`--${prefix}max-size: ${batchEvents} is more than --${prefix}buffer-size`);
  }
  const throttled = read.boolean(`${prefix}throttle-enable`) ?? false;
  return {
    bufferEvents,
    batchEvents,
    maxWaitMs: read.durationMs(`${prefix}max-wait`),
    throttle: throttled
      ? {
          perSecond: read.number(`${prefix}throttle-qps`, 0.001, 1_000_000),
          burst: read.integer(`${prefix}throttle-burst`, 1, most),
        }
      : undefined,
  };
}

function truncateOptions(read: FlagReader, prefix: string): AuditLogOptions["truncate"] {
  const maxEventBytes = read.integer(`${prefix}max-event-size`, 1, most);
  const maxBatchBytes = read.integer(`${prefix}max-batch-size`, 1, most);
  if (maxEventBytes > maxBatchBytes) {
    throw new UsageError(
      `--${prefix}max-event-size: ${maxEventBytes} is more than --${prefix}max-batch-size`,
    );
  }
  return read.boolean(`${prefix}enabled`) === true ? { maxEventBytes, maxBatchBytes } : undefined;
}
