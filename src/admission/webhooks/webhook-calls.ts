import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { Match } from "../matching/match-index.ts";
import { selects } from "../matching/selectors.ts";
import { dryRunUnsupported, requestTimedOut, webhookRefusal, WebhookFailure } from "./failures.ts";
import type { WebhookType } from "./observer.ts";
import { reviewApiVersion, type ReviewRequests } from "./review-request.ts";
import { readReview, ReviewFault, type ReviewAnswer } from "./review-response.ts";
import type { WebhookServices } from "./services.ts";
import type { Webhook } from "./webhook.ts";

/** A request has so much time for all its webhooks, unless its client gave it less. */
const requestTimeoutMs = 60_000;
/** Timers may end a little before their time. */
const timerToleranceMs = 5;
/** The code by which answers that can't be used are counted. */
const unusableCode = 503;
const noAnswerCode = 500;

/** The calls of one sort of webhooks on behalf of requests. */
export class WebhookCalls {
  constructor(
    private readonly services: WebhookServices,
    private readonly type: WebhookType,
  ) {}

  /** Whether a webhook whose rules match is to be asked, by its selectors; one that can't be asked is. */
  selected({ matched: { calling } }: Match<Webhook>, request: AdmissionRequest): MaybePromise<boolean> {
    return typeof calling === "string" || selects(calling.selectors, request, this.services.facts.namespaces);
  }

  /** When the time for all webhooks of a request is over. */
  deadlineOf({ report }: AdmissionRequest): number {
    const latest = this.services.clock.monotonicNow() + requestTimeoutMs;
    return report.expiresAt === undefined ? latest : Math.min(latest, report.expiresAt);
  }

  /** @throws {StatusError} Timeout */
  checkTime(deadlineMs: number): void {
    if (this.services.clock.monotonicNow() >= deadlineMs - timerToleranceMs) throw requestTimedOut();
  }

  /**
   * Asks one webhook, and gives what it answers to the client and the audit.
   *
   * @param object the text of the object in the version that it wants.
   * @throws {WebhookFailure} its failure policy decides.
   * @throws {StatusError} it refuses the request, or can't be asked about dry runs.
   */
  async ask(
    { matched, resource }: Match<Webhook>,
    request: AdmissionRequest,
    reviews: ReviewRequests,
    object: string,
    deadlineMs: number,
  ): Promise<ReviewAnswer> {
    const { name, calling, allowsDryRun } = matched;
    if (request.dryRun && !allowsDryRun) throw dryRunUnsupported(name);
    if (typeof calling === "string") throw new WebhookFailure(name, calling, noAnswerCode);
    const { newUid, vocabulary } = this.services;
    const { version } = calling;
    const uid = newUid();
    const json = reviews.review(version, uid, resource, object);
    const bytes = await this.post(matched, json, request, deadlineMs);
    const expected = {
      version,
      uid,
      apiVersion: reviewApiVersion(version, vocabulary),
      mutating: this.type === "admit",
    };
    const answer = this.read(name, bytes, expected);
    for (const [key, value] of answer.auditAnnotations) request.report.annotate(`${name}/${key}`, value);
    for (const warning of answer.warnings) request.report.warn(warning);
    if (!answer.allowed) throw webhookRefusal(name, answer.status);
    return answer;
  }

  /** Counts a call that is over, with the error with which it ended. */
  observe({ matched }: Match<Webhook>, request: AdmissionRequest, startMs: number, error: unknown): void {
    const failed = error instanceof WebhookFailure;
    const open = failed && matched.failOpen;
    const refused = error instanceof StatusError;
    this.services.observer.called({
      webhook: matched.name,
      type: this.type,
      operation: request.operation,
      seconds: (performance.now() - startMs) / 1000,
      rejected: error !== undefined && !open,
      code: error === undefined ? 200 : failed || refused ? error.code : 0,
      errorType: failed ? "calling_webhook_error" : refused ? "no_error" : "apiserver_internal_error",
    });
    if (!failed) return;
    const outcome = open ? "failing open" : "failing closed";
    this.services.log.warn({ webhook: matched.name, error: error.message }, `a webhook failed, ${outcome}`);
    if (open) this.services.observer.failedOpen(matched.name, this.type);
  }

  private async post(
    { name, calling }: Webhook,
    json: string,
    request: AdmissionRequest,
    deadlineMs: number,
  ): Promise<Buffer> {
    if (typeof calling === "string") throw new WebhookFailure(name, calling, noAnswerCode);
    const leftMs = Math.ceil(deadlineMs - this.services.clock.monotonicNow());
    if (leftMs <= 0) throw requestTimedOut();
    const timeoutMs = Math.min(calling.timeoutMs, leftMs);
    try {
      return await this.services.caller.call(calling.target, { json, timeoutMs, source: request.user.name });
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      throw new WebhookFailure(name, `failed to call webhook: ${error.message}`, noAnswerCode);
    }
  }

  private read(webhook: string, bytes: Buffer, expected: Parameters<typeof readReview>[1]): ReviewAnswer {
    try {
      return readReview(bytes, expected);
    } catch (error) {
      if (!(error instanceof ReviewFault)) throw error;
      throw new WebhookFailure(webhook, `received invalid webhook response: ${error.message}`, unusableCode);
    }
  }
}

/** The matches that selectors select too, in their order; at once where nothing must be waited for. */
export function selectedOf(
  calls: WebhookCalls,
  matches: readonly Match<Webhook>[],
  request: AdmissionRequest,
): MaybePromise<readonly Match<Webhook>[]> {
  let found: MaybePromise<Match<Webhook>[]> = [];
  for (const match of matches) {
    found = andThen(found, (before) =>
      andThen(calls.selected(match, request), (selected) => {
        if (selected) before.push(match);
        return before;
      }),
    );
  }
  return found;
}
