import type { Attributes } from "../../authorization/authorizer.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { decodeTrusted } from "../../base/json/trusted.ts";
import { andThen, detach, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { RequestContext } from "../request/context.ts";
import type { MetricSet, Sample } from "../metrics/metric-set.ts";
import type { AnnotationKeys } from "./annotation-keys.ts";
import type { EventBackend } from "./backend.ts";
import type { AuditEvent, MicroClock } from "./event.ts";
import { withoutManagedFields, type Recorder, AuditTrail } from "./trail.ts";
import { auditLevels, type AuditLevel, type AuditRules, type AuditTerms } from "./policy.ts";

/** Dependencies of {@link Auditor}. */
export interface AuditParts {
  readonly rules: AuditRules;
  readonly keys: AnnotationKeys;
  readonly backends: readonly EventBackend[];
  readonly clock: MicroClock;
  readonly metrics: MetricSet;
}

/** The audit of a server: creates a trail for each request, and sends recorded events to the backends. */
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

  /** Starts the audit of a request; the audit id is that of its exchange. */
  accompany(request: RequestContext): void {
    const trail = new AuditTrail(this, request);
    request.audit = trail;
    request.exchange.onAnswer = (status) => trail.started(status);
  }

  /** Returns the audit level and stages that the policy gives to a request. */
  termsFor(attributes: Attributes): AuditTerms {
    const terms = this.parts.rules.termsFor(attributes);
    this.levels.get(terms.level)!.inc();
    return terms;
  }

  /**
   * Records the event of a received request, before the request is processed.
   *
   * @throws {StatusError} InternalError, also as a rejection: a strict backend could not record the event.
   */
  accept(event: AuditEvent | undefined): MaybePromise<void> {
    if (event === undefined) return;
    this.recorded.inc();
    let accepted: MaybePromise<boolean> = true;
    for (const backend of this.parts.backends) {
      const one = backend.record(event, true);
      accepted = andThen(accepted, (before) => andThen(one, (now) => before && now));
    }
    return andThen(accepted, (all) => {
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

  /** Counts an object that was left out of an event because it is too large. */
  tooLarge(): void {
    this.parts.metrics.sample("apiserver_audit_error_total", "truncate").inc();
  }

  /** Returns an object's JSON without line breaks. */
  oneLine(json: Buffer, omitManagedFields: boolean): string {
    if (omitManagedFields) return encodeJson(withoutManagedFields(decodeTrusted(json)));
    // Strings in JSON can't contain line breaks, so all of them are formatting.
    return json.toString("utf8").replaceAll(/\n */g, "");
  }

  /** Flushes pending events and closes the backends. */
  async close(): Promise<void> {
    await Promise.all(this.parts.backends.map((backend) => backend.close()));
  }
}
