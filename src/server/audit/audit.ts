import { annotationKeys, type AnnotationKeys } from "../../http/audit/annotation-keys.ts";
import { Auditor } from "../../http/audit/auditor.ts";
import { AuditBackend, type EventOutput } from "../../http/audit/backend.ts";
import { BatchOutput } from "../../http/audit/batch-output.ts";
import { BlockingOutput, type ByteTarget } from "../../http/audit/blocking-output.ts";
import { encodeMembers, type AuditEvent, MicroClock } from "../../http/audit/event.ts";
import { legacyLine } from "../../http/audit/legacy-line.ts";
import { AuditRules } from "../../http/audit/policy.ts";
import { auditVersion, readPolicy } from "../../http/audit/policy-file.ts";
import { RecentEvents } from "../../http/audit/recent-events.ts";
import { RotatingFile } from "../../http/audit/rotating-file.ts";
import { StandardOutput } from "../../http/audit/standard-output.ts";
import { addAuditPage } from "../../http/documents/audit-page.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { AddedPaths } from "../../http/request/path-table.ts";
import { ConfigurationError } from "../../schema/configuration.ts";
import type { AuditLogSettings, AuditSettings, AuditWebhookSettings } from "../options/settings-types.ts";
import { readOptionBytes } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { rarely } from "../../base/time/clock.ts";
import { SingleOutput } from "../../http/audit/single-output.ts";
import { serviceLimits } from "../../remote/remote-service.ts";
import { remoteService } from "../webhooks/remote-services.ts";

/** Minimum interval of log lines about lost events. */
const lostLogIntervalMs = 5000;

/** The audit trail of a server. */
export interface AuditTrail {
  readonly auditor: Auditor;
  /** Adds the path of the recent events. */
  addPage(paths: AddedPaths): void;
  close(): Promise<void>;
}

/**
 * Opens the audit trail of the options. Returns undefined if there is no policy.
 *
 * @throws {OptionsError} if the policy or the log file can't be used.
 */
export async function openAuditTrail(
  options: ServerOptions,
  metrics: MetricSet,
): Promise<AuditTrail | undefined> {
  const { audit, vocabulary, clock, log } = options;
  if (audit.policyFile === undefined) {
    if (audit.log !== undefined || audit.webhook !== undefined)
      log.warn({}, "nothing is audited: set --audit-policy-file");
    return undefined;
  }
  const rules = await rulesOf(options, audit.policyFile);
  const keys = annotationKeys(vocabulary);
  const backends = await backendsOf(options, audit, keys, metrics);
  const version = auditVersion(vocabulary);
  const recent = new RecentEvents(version);
  const auditor = new Auditor({
    rules,
    keys,
    backends: [...backends, recent],
    clock: new MicroClock(clock, () => performance.now()),
    metrics,
  });
  return {
    auditor,
    addPage: (paths) => addAuditPage(paths, version, recent, options.otherProcesses),
    close: () => auditor.close(),
  };
}

async function backendsOf(
  options: ServerOptions,
  audit: AuditSettings,
  keys: AnnotationKeys,
  metrics: MetricSet,
): Promise<AuditBackend[]> {
  const backends: AuditBackend[] = [];
  try {
    if (audit.webhook !== undefined) {
      const lost = (plugin: string) => lostEvents(options, metrics, plugin);
      backends.push(await webhookBackend(options, audit.webhook, { keys, lost }));
    }
    if (audit.log !== undefined) backends.push(logBackend(options, audit.log, keys, metrics));
    return backends;
  } catch (error) {
    await Promise.all(backends.map((one) => one.close()));
    throw error;
  }
}

async function rulesOf({ vocabulary, log }: ServerOptions, file: string): Promise<AuditRules> {
  const flag = "--audit-policy-file";
  const bytes = await readOptionBytes(flag, file);
  try {
    const { policy, warnings } = await readPolicy(bytes, vocabulary);
    for (const warning of warnings) log.warn({ file }, `${flag}: ${warning}`);
    return new AuditRules(policy);
  } catch (error) {
    if (error instanceof ConfigurationError) throw new OptionsError(`${flag} ${file}: ${error.message}`);
    throw error;
  }
}

function logBackend(
  options: ServerOptions,
  settings: AuditLogSettings,
  keys: AnnotationKeys,
  metrics: MetricSet,
): AuditBackend {
  const lost = lostEvents(options, metrics, "log");
  const lines = new BlockingOutput(targetOf(options, settings, lost), lost);
  const tooLarge = lostEvents(options, metrics, "truncate");
  return new AuditBackend({
    format: settings.format === "json" ? jsonLine(auditVersion(options.vocabulary)) : legacyLine,
    output: settings.mode === "batch" ? batched(options, settings, lines, lost) : lines,
    maxEventBytes: settings.truncate?.maxEventBytes,
    truncatedKey: keys.truncated,
    strict: settings.mode === "blocking-strict",
    tooLarge: () => tooLarge(1, new Error("an event is too large even without its objects")),
  });
}

function jsonLine(version: string): (event: AuditEvent) => string {
  const head = `{"kind":"Event","apiVersion":"${version}",`;
  return (event) => `${head}${encodeMembers(event)}}`;
}

function targetOf(options: ServerOptions, settings: AuditLogSettings, lost: Lost): ByteTarget {
  if (settings.path === "-") return new StandardOutput(process.stdout, (error) => lost(1, error));
  const { clock, log } = options;
  const { path: file, maxBytes, maxBackups, maxAgeMs, compress } = settings;
  const failed = (error: unknown) =>
    log.warn({ file, error: stackOf(error) }, "old files of the audit log can't be deleted or compressed");
  try {
    return new RotatingFile({ file, maxBytes, maxBackups, maxAgeMs, compress, clock, failed });
  } catch (error) {
    throw new OptionsError(`--audit-log-path ${file}: ${(error as Error).message}`);
  }
}

function batched(
  { clock }: ServerOptions,
  { batch, truncate }: AuditLogSettings,
  lines: BlockingOutput,
  lost: Lost,
): EventOutput {
  const send = (texts: readonly string[]) => {
    for (const text of texts) lines.write(text, false);
    return Promise.resolve();
  };
  const batchSettings = { ...batch, batchBytes: truncate?.maxBatchBytes, parallel: 1 };
  return new BatchOutput(batchSettings, clock, send, lost, () => lines.close());
}

/** Returns a function that counts lost events of an audit plugin and logs them at a limited rate. */
function lostEvents({ clock, log }: ServerOptions, metrics: MetricSet, plugin: string): Lost {
  const counted = metrics.sample("apiserver_audit_error_total", plugin);
  let unreported = 0;
  const logLost = rarely(clock, lostLogIntervalMs, (error: unknown) => {
    log.error({ events: unreported, plugin, error: stackOf(error) }, "audit events were lost");
    unreported = 0;
  });
  return (events, error) => {
    counted.inc(events);
    unreported += events;
    logLost(error);
  };
}

/** Called with the number of lost events and the reason. */
type Lost = (events: number, error: unknown) => void;

/** Maximum number of batches sent in parallel, so that a retried batch doesn't block the others. */
const parallelBatches = 10;

/**
 * Creates the audit backend that posts events as an EventList to the webhook.
 *
 * @throws {OptionsError} if the client configuration can't be used.
 */
async function webhookBackend(
  options: ServerOptions,
  settings: AuditWebhookSettings,
  { keys, lost }: { readonly keys: AnnotationKeys; readonly lost: (plugin: string) => Lost },
): Promise<AuditBackend> {
  const { vocabulary, clock } = options;
  const limits = { ...serviceLimits, backoffMs: settings.backoffMs };
  const service = await remoteService(options, "--audit-webhook-config-file", settings.configFile, limits);
  const head = `{"kind":"EventList","apiVersion":"${auditVersion(vocabulary)}","metadata":{},"items":[`;
  const send = (texts: readonly string[]) => service.deliver(`${head}${texts.join(",")}]}`);
  const end = () => service.close();
  const onLost = lost("webhook");
  const tooLarge = lost("truncate");
  const batch = {
    ...settings.batch,
    batchBytes: settings.truncate?.maxBatchBytes,
    parallel: parallelBatches,
  };
  return new AuditBackend({
    format: (event) => `{${encodeMembers(event)}}`,
    output:
      settings.mode === "batch"
        ? new BatchOutput(batch, clock, send, onLost, end)
        : new SingleOutput(send, onLost, end),
    maxEventBytes: settings.truncate?.maxEventBytes,
    truncatedKey: keys.truncated,
    strict: settings.mode === "blocking-strict",
    tooLarge: () => tooLarge(1, new Error("an event is too large even without its objects")),
  });
}
