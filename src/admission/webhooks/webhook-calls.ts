import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { Match } from "../matching/match-index.ts";
import { bind } from "../../cel/compile.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { forbidden } from "../forbidden.ts";
import { selects } from "../matching/selectors.ts";
import { authorizerVariables } from "../policies/authorizer-variables.ts";
import { requestVariable, objectEnvironment } from "../policies/environment.ts";
import { checkConditions } from "../policies/match-conditions.ts";
import type { ReviewObjects } from "./review-objects.ts";
import {
  dryRunUnsupported,
  invalidResponseCode,
  noResponseCode,
  requestTimedOut,
  WebhookFailure,
  webhookRejection,
} from "./failures.ts";
import type { WebhookType } from "./observer.ts";
import { reviewApiVersion, type ReviewRequests } from "./review-request.ts";
import { readReview, ReviewFault, type ExpectedReview, type ReviewResponse } from "./review-response.ts";
import type { WebhookServices } from "./services.ts";
import type { CallSettings, Webhook } from "./webhook.ts";

/** The time for all webhooks of a request; a shorter `timeout` of the client applies. */
const requestTimeoutMs = 60_000;
/** Timers may fire a little early. */
const timerToleranceMs = 5;

/**
 * Calls the mutating or the validating webhooks of requests. A webhook whose rules match passes these steps: {@link isSelected}, then
 * {@link attempt} around {@link call}, which builds the review, posts it, reads the response and applies what it reports.
 */
export class WebhookCalls {
  constructor(
    private readonly services: WebhookServices,
    private readonly type: WebhookType,
  ) {}

  /** The time at which the webhooks of a request time out, in milliseconds of the monotonic clock. */
  deadlineOf({ options }: AdmissionRequest): number {
    const latest = this.services.clock.monotonicNow() + requestTimeoutMs;
    return Math.min(latest, options.report?.expiresAt ?? latest);
  }

  /** @throws {StatusError} Timeout, after the deadline. */
  checkDeadline(deadlineMs: number): void {
    if (this.services.clock.monotonicNow() >= deadlineMs - timerToleranceMs) throw requestTimedOut();
  }

  /**
   * Whether the selectors and match conditions of a webhook select the request. A webhook that can't be called is selected, so that its
   * call fails.
   *
   * @throws {StatusError} Forbidden: a condition fails, and the failure policy is `Fail`.
   */
  isSelected(
    match: Match<Webhook>,
    request: AdmissionRequest,
    objects: ReviewObjects,
  ): MaybePromise<boolean> {
    const { callSettings, matchConditions, allowsDryRun } = match.matched;
    if (this.services.isIsolated && !allowsDryRun) return this.leaveOut(match, request);
    if (typeof callSettings === "string") return true;
    const isSelected = selects(callSettings.selectors, request, this.services.facts.namespaces);
    if (matchConditions.length === 0) return isSelected;
    return andThen(isSelected, (selected) => selected && this.meetsConditions(match, request, objects));
  }

  private leaveOut({ matched: { name } }: Match<Webhook>, { effects }: AdmissionRequest): false {
    effects.warn(
      `the webhook ${JSON.stringify(name)} was not called: it has side effects, and the workspace is isolated`,
    );
    return false;
  }

  private meetsConditions(
    { matched, resource }: Match<Webhook>,
    request: AdmissionRequest,
    objects: ReviewObjects,
  ): MaybePromise<boolean> {
    return andThen(objects.read(resource), async ({ object, oldObject }) => {
      const { authorizer, vocabulary } = this.services;
      const values = bind(objectEnvironment, {
        object: (object ?? null) as JsonValue,
        oldObject: (oldObject ?? null) as JsonValue,
        request: requestVariable(request, resource, objects, vocabulary),
      });
      const variables = { ...values, ...authorizerVariables(request, authorizer, vocabulary) };
      const outcome = await checkConditions(matched.matchConditions, variables);
      if (outcome.error === undefined) return outcome.matches;
      if (matched.failOpen) return false;
      throw forbidden(request.target, outcome.error);
    });
  }

  /**
   * Runs the call of one webhook, counts it and applies the failure policy.
   *
   * @param auditKey the audit annotation `failed-open.<auditKey>` names the webhook if it fails and the request continues.
   * @returns the result of `run`; undefined if the webhook failed and its failure policy is `Ignore`.
   * @throws {StatusError} the webhook rejects the request, or fails and its failure policy is `Fail`.
   */
  async attempt<T>(
    { matched }: Match<Webhook>,
    request: AdmissionRequest,
    auditKey: string,
    run: () => Promise<T>,
  ): Promise<T | undefined> {
    const startMs = performance.now();
    try {
      const result = await run();
      this.observe(matched, request, startMs, undefined);
      return result;
    } catch (error) {
      this.observe(matched, request, startMs, error);
      if (!(error instanceof WebhookFailure)) throw error;
      if (!matched.failOpen) throw error.toStatusError();
      request.effects.annotate(`failed-open.${auditKey}`, matched.name);
      return undefined;
    }
  }

  /**
   * Calls one webhook; adds its warnings and audit annotations to the request.
   *
   * @throws {WebhookFailure} no response or an invalid one.
   * @throws {StatusError} the webhook rejects the request, or has side effects and the request is a dry run.
   */
  async call(
    { matched, resource }: Match<Webhook>,
    request: AdmissionRequest,
    reviews: ReviewRequests,
    deadlineMs: number,
  ): Promise<ReviewResponse> {
    const { name, callSettings, allowsDryRun } = matched;
    if (request.dryRun && !allowsDryRun) throw dryRunUnsupported(name);
    if (typeof callSettings === "string") throw new WebhookFailure(name, callSettings, noResponseCode);
    const { version } = callSettings;
    const uid = this.services.newUid();
    const review = await reviews.build(version, uid, resource);
    const bytes = await this.post(name, callSettings, review, request, deadlineMs);
    const apiVersion = reviewApiVersion(version, this.services.vocabulary);
    const response = this.read(name, bytes, { version, uid, apiVersion, mutating: this.type === "admit" });
    for (const [key, value] of response.auditAnnotations) request.effects.annotate(`${name}/${key}`, value);
    for (const warning of response.warnings) request.effects.warn(warning);
    if (!response.allowed) throw webhookRejection(name, response.status);
    return response;
  }

  private async post(
    webhook: string,
    { target, timeoutMs }: CallSettings,
    json: string,
    { user }: AdmissionRequest,
    deadlineMs: number,
  ): Promise<Buffer> {
    const leftMs = Math.ceil(deadlineMs - this.services.clock.monotonicNow());
    if (leftMs <= 0) throw requestTimedOut();
    const limits = { timeoutMs: Math.min(timeoutMs, leftMs), timeoutSeconds: timeoutMs / 1000 };
    try {
      return await this.services.caller.call(target, { json, ...limits, source: user.name });
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      throw new WebhookFailure(webhook, `failed to call webhook: ${error.message}`, noResponseCode);
    }
  }

  private read(webhook: string, bytes: Buffer, expected: ExpectedReview): ReviewResponse {
    try {
      return readReview(bytes, expected);
    } catch (error) {
      if (!(error instanceof ReviewFault)) throw error;
      const why = `received invalid webhook response: ${error.message}`;
      throw new WebhookFailure(webhook, why, invalidResponseCode);
    }
  }

  /** Counts a completed call; `error` is undefined if it succeeded. Logs failures of the webhook. */
  private observe(
    webhook: Webhook,
    { operation, effects }: AdmissionRequest,
    startMs: number,
    error: unknown,
  ): void {
    const { log, observer } = this.services;
    const { name, failOpen } = webhook;
    const durationMs = performance.now() - startMs;
    effects.took?.(`webhook ${name}`, durationMs);
    const failed = error instanceof WebhookFailure;
    const failedOpen = failed && failOpen;
    const rejected = error instanceof StatusError;
    observer.called({
      webhook: name,
      type: this.type,
      operation,
      seconds: durationMs / 1000,
      rejected: error !== undefined && !failedOpen,
      code: error === undefined ? 200 : failed || rejected ? error.code : 0,
      errorType: failed ? "calling_webhook_error" : rejected ? "no_error" : "apiserver_internal_error",
    });
    if (!failed) return;
    const outcome = failedOpen ? "failing open" : "failing closed";
    log.warn({ webhook: name, error: error.message }, `webhook call failed, ${outcome}`);
    if (failedOpen) observer.failedOpen(name, this.type);
  }
}
