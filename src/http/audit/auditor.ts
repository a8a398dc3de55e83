import type { Attributes } from "../../authorization/authorizer.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { andThen, detach, type MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { RequestContext } from "../request/context.ts";
import type { MetricSet, Sample } from "../metrics/metric-set.ts";
import type { AnnotationKeys } from "./annotation-keys.ts";
import type { AuditBackend } from "./backend.ts";
import type { AuditEvent } from "./event.ts";
import { withoutManagedFields } from "./managed-fields.ts";
import type { MicroClock } from "./micro-clock.ts";
import { auditLevels, type AuditLevel, type AuditRules, type AuditTerms } from "./policy.ts";
import type { Recorder } from "./recorder.ts";
import { AuditTrail } from "./trail.ts";

/** What the audit of a server is made of. */
export interface AuditParts {
  readonly rules: AuditRules;
  readonly keys: AnnotationKeys;
  readonly backends: readonly AuditBackend[];
  readonly clock: MicroClock;
  readonly metrics: MetricSet;
}

/** The audit of a server: gives each request a trail, and what trails record to the backends. */
export class Auditor implements Recorder {
  private readonly recorded: Sample;
  private readonly levels: ReadonlyMap<AuditLevel, Sample>;

  constructor(private readonly parts: AuditParts) {
    const { metrics } = parts;
    this.recorded = metrics.sample("apiserver_audit_event_total");
    this.levels = new Map(
      auditLevels.map((level) => [level, metrics.sample("apiserver_audit_level_total", level)]),
    );
  }

  get keys(): AnnotationKeys {
    return this.parts.keys;
  }

  /** Microseconds since 1970-01-01T00:00:00Z. */
  now(): number {
    return this.parts.clock.now();
  }

  /** Audits a request, under the id of its exchange. */
  accompany(request: RequestContext): void {
    const trail = new AuditTrail(this, request);
    request.audit = trail;
    request.exchange.onAnswer = (status) => trail.started(status);
  }

  /** What the policy says of a request. */
  termsFor(attributes: Attributes): AuditTerms {
    const terms = this.parts.rules.termsFor(attributes);
    this.levels.get(terms.level)!.inc();
    return terms;
  }

  /**
   * Records the event of a request that has come, before anything else is done for it.
   *
   * @throws {StatusError} InternalError, also by the promise: a backend that must not miss it couldn't take it.
   */
  accept(event: AuditEvent | undefined): MaybePromise<void> {
    if (event === undefined) return;
    this.recorded.inc();
    let taken: MaybePromise<boolean> = true;
    for (const backend of this.parts.backends) {
      const one = backend.record(event, true);
      taken = andThen(taken, (before) => andThen(one, (now) => before && now));
    }
    return andThen(taken, (all) => {
      if (all) return;
      this.parts.metrics.sample("apiserver_audit_requests_rejected_total").inc();
      throw new StatusError("InternalError", "failed to store audit event");
    });
  }

  /** Records an event. */
  record(event: AuditEvent | undefined): void {
    if (event === undefined) return;
    this.recorded.inc();
    for (const backend of this.parts.backends) {
      detach(backend.record(event, false), () =>
        this.parts.metrics.sample("apiserver_audit_error_total", "record").inc(),
      );
    }
  }

  /** An object was left out of an event, because it is too large. */
  tooLarge(): void {
    this.parts.metrics.sample("apiserver_audit_error_total", "truncate").inc();
  }

  /** An object's JSON as it may stand in a line. */
  oneLine(json: Buffer, omitManagedFields: boolean): string {
    if (omitManagedFields) return encodeJson(withoutManagedFields(decodeTrusted(json)));
    // Strings can't hold line breaks as such: those that are there only lay the text out.
    return json.toString("utf8").replaceAll(/\n */g, "");
  }

  /** Hands over what is under way, and closes the backends. */
  async close(): Promise<void> {
    await Promise.all(this.parts.backends.map((backend) => backend.close()));
  }
}
