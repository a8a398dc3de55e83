import { group, option, type GroupCheck, type OptionGroup } from "./option.ts";
import {
  boolean,
  file,
  integer,
  milliseconds,
  oneOf,
  rate,
  scaled,
  text,
  clientConfigurationFile,
} from "./value-type.ts";

/** Whether requests wait for the backend; `blocking-strict` also fails a request whose arrival can't be recorded. */
const modes = oneOf(["batch", "blocking", "blocking-strict"]);
const count = integer(1, 2 ** 31 - 1);
const megabyte = 1024 * 1024;
const dayMs = 24 * 60 * 60 * 1000;

interface BatchDefaults {
  readonly batchEvents: number;
  readonly maxWaitMs: number;
  /** Undefined: not throttled. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
}

const batchNotLargerThanBuffer: GroupCheck = ({ bufferEvents, batchEvents }, name) =>
  (batchEvents as number) > (bufferEvents as number)
    ? `${name("batchEvents")}: ${String(batchEvents)} is more than ${name("bufferEvents")}`
    : undefined;

const eventNotLargerThanBatch: GroupCheck = ({ maxEventBytes, maxBatchBytes }, name) =>
  (maxEventBytes as number) > (maxBatchBytes as number)
    ? `${name("maxEventBytes")}: ${String(maxEventBytes)} is more than ${name("maxBatchBytes")}`
    : undefined;

/** How a backend collects events. @param flag the beginning of the flags. */
function batch(flag: string, { batchEvents, maxWaitMs, throttle }: BatchDefaults): OptionGroup {
  return group(
    "How events are collected in mode batch.",
    {
      bufferEvents: option(
        count,
        `${flag}-batch-buffer-size`,
        "Capacity of the buffer in mode batch, in events.",
        {
          default: 10_000,
        },
      ),
      batchEvents: option(
        count,
        `${flag}-batch-max-size`,
        "Maximum size of a batch in mode batch, in events.",
        {
          default: batchEvents,
        },
      ),
      maxWaitMs: option(
        milliseconds,
        `${flag}-batch-max-wait`,
        "Time after which an incomplete batch is sent.",
        { default: maxWaitMs },
      ),
      throttle: group(
        "Limit of the rate of batches.",
        {
          perSecond: option(
            rate(1_000_000),
            `${flag}-batch-throttle-qps`,
            "Average number of batches per second, if their rate is limited.",
            { required: true, default: throttle?.perSecond },
          ),
          burst: option(
            count,
            `${flag}-batch-throttle-burst`,
            "Number of batches sent at once, if their rate is limited.",
            { required: true, default: throttle?.burst },
          ),
        },
        {
          typeName: "AuditThrottleOptions",
          toggle: {
            flag: `${flag}-batch-throttle-enable`,
            default: throttle !== undefined,
            description: "Limit the rate of batches.",
          },
        },
      ),
    },
    { typeName: "AuditBatchOptions", check: batchNotLargerThanBuffer },
  );
}

/** The limit of the size of a backend's events. @param flag the beginning of the flags. */
function truncate(flag: string): OptionGroup {
  return group(
    "Limit of the size of events and batches.",
    {
      maxEventBytes: option(
        count,
        `${flag}-truncate-max-event-size`,
        "Maximum size of an event in bytes, if sizes are limited: a larger one loses its objects, or is dropped.",
        { default: 102_400 },
      ),
      maxBatchBytes: option(
        count,
        `${flag}-truncate-max-batch-size`,
        "Maximum size of a batch in bytes, if sizes are limited.",
        { default: 10_485_760 },
      ),
    },
    {
      typeName: "AuditTruncateOptions",
      check: eventNotLargerThanBatch,
      toggle: {
        flag: `${flag}-truncate-enabled`,
        default: false,
        description: "Limit the size of events and batches.",
      },
    },
  );
}

const log = group(
  "The audit log.",
  {
    path: option(text, "audit-log-path", "File of the audit log; - is standard output.", { required: true }),
    format: option(
      oneOf(["json", "legacy"]),
      "audit-log-format",
      "Format of the audit log: json or legacy.",
      {
        default: "json",
      },
    ),
    mode: option(
      modes,
      "audit-log-mode",
      "Whether requests wait for the audit log: batch, blocking or blocking-strict.",
      { default: "blocking" },
    ),
    maxBytes: option(
      scaled(integer(1, Number.MAX_SAFE_INTEGER), megabyte, 100),
      "audit-log-maxsize",
      "Size in megabytes at which the audit log is rotated; 0 is 100.",
      { default: 100 * megabyte },
    ),
    maxAgeMs: option(
      scaled(milliseconds, dayMs),
      "audit-log-maxage",
      "Number of days after which rotated audit logs are deleted; 0 keeps them.",
      { default: 0 },
    ),
    maxBackups: option(
      integer(0, 2 ** 31 - 1),
      "audit-log-maxbackup",
      "Maximum number of rotated audit logs; 0 is unlimited.",
      { default: 0 },
    ),
    compress: option(boolean, "audit-log-compress", "Compress rotated audit logs (gzip).", {
      default: false,
    }),
    version: option(
      text,
      "audit-log-version",
      "Version of the events in the audit log; only the default is supported.",
    ),
    batch: batch("audit-log", { batchEvents: 1, maxWaitMs: 0, throttle: undefined }),
    truncate: truncate("audit-log"),
  },
  { typeName: "AuditLogOptions", ignoredAlone: true },
);

const webhook = group(
  "A service that receives audit events.",
  {
    configFile: option(
      clientConfigurationFile,
      "audit-webhook-config-file",
      "Client configuration of a service that receives audit events.",
      { required: true },
    ),
    mode: option(
      modes,
      "audit-webhook-mode",
      "Whether requests wait for that service: batch, blocking or blocking-strict.",
      { default: "batch" },
    ),
    backoffMs: option(
      milliseconds,
      "audit-webhook-initial-backoff",
      "Delay before a failed delivery is retried for the first time.",
      { default: 10_000 },
    ),
    version: option(
      text,
      "audit-webhook-version",
      "Version of the events sent to that service; only the default is supported.",
    ),
    batch: batch("audit-webhook", {
      batchEvents: 400,
      maxWaitMs: 30_000,
      throttle: { perSecond: 10, burst: 15 },
    }),
    truncate: truncate("audit-webhook"),
  },
  { typeName: "AuditWebhookOptions", ignoredAlone: true },
);

/** The audit trail of requests. */
export const audit = group(
  "Which requests are recorded, and where.",
  {
    policyFile: option(file, "audit-policy-file", "Audit policy (YAML). Default: no request is recorded."),
    log,
    webhook,
  },
  { typeName: "AuditOptions" },
);
