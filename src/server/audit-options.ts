/** How events are gathered before they go to a backend. */
export interface AuditBatchOptions {
  /** Events that may wait; one more is lost. */
  readonly bufferEvents: number;
  readonly batchEvents: number;
  /** A batch that isn't full is sent after this time. */
  readonly maxWaitMs: number;
  /** Batches a second and at once; undefined: as many as come. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined;
}

/** How large events may be. */
export interface AuditTruncateOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
}

/** Whether requests wait for their events: `blocking-strict` also fails those whose coming can't be recorded. */
export const auditModes = ["batch", "blocking", "blocking-strict"] as const;
export type AuditMode = (typeof auditModes)[number];

/** The forms of a log. */
export const auditFormats = ["json", "legacy"] as const;
export type AuditFormat = (typeof auditFormats)[number];

/** The log of a server's audit. */
export interface AuditLogOptions {
  /** `-` is standard output. */
  readonly path: string;
  readonly format: AuditFormat;
  readonly mode: AuditMode;
  readonly batch: AuditBatchOptions;
  /** Undefined: events may be as large as they are. */
  readonly truncate: AuditTruncateOptions | undefined;
  /** Bytes after which the file is begun anew. */
  readonly maxBytes: number;
  /** Files that were set aside are kept for so long, in milliseconds; 0: for ever. */
  readonly maxAgeMs: number;
  /** So many of them are kept; 0: any number. */
  readonly maxBackups: number;
  readonly compress: boolean;
}

/** A service of others to which the events of a server's audit are sent. */
export interface AuditWebhookOptions {
  /** Client configuration that names the service. */
  readonly configFile: string;
  readonly mode: AuditMode;
  readonly batch: AuditBatchOptions;
  readonly truncate: AuditTruncateOptions | undefined;
  /** The time before what wasn't taken is sent again; each further one is half as long again. */
  readonly backoffMs: number;
}

/** What of the requests is recorded, and where. */
export interface AuditOptions {
  readonly policyFile: string | undefined;
  readonly log: AuditLogOptions | undefined;
  readonly webhook?: AuditWebhookOptions | undefined;
}

/** A log as the flags make it unless they say otherwise. */
export const defaultAuditLog: Omit<AuditLogOptions, "path"> = {
  format: "json",
  mode: "blocking",
  batch: { bufferEvents: 10_000, batchEvents: 1, maxWaitMs: 0, throttle: undefined },
  truncate: undefined,
  maxBytes: 100 * 1024 * 1024,
  maxAgeMs: 0,
  maxBackups: 0,
  compress: false,
};

/** A service as the flags have it unless they say otherwise. */
export const defaultAuditWebhook: Omit<AuditWebhookOptions, "configFile"> = {
  mode: "batch",
  batch: {
    bufferEvents: 10_000,
    batchEvents: 400,
    maxWaitMs: 30_000,
    throttle: { perSecond: 10, burst: 15 },
  },
  truncate: undefined,
  backoffMs: 10_000,
};
