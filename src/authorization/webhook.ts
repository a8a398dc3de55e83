import type { Clock } from "../base/time/clock.ts";
import type { MaybePromise } from "../base/turns/maybe-promise.ts";
import { fieldsOf } from "../remote/answer-fields.ts";
import { RemoteFault } from "../remote/answer-reader.ts";
import type { Attributes, Authorizer, Decision } from "./authorizer.ts";
import type { RequestMatcher } from "./configuration/match-conditions.ts";
import type { RequestSelectors, SelectorRequirement } from "./request-selectors.ts";
import { RecentMap } from "../base/collections/recent-map.ts";

export interface AuthorizationWebhookOptions {
  /** Posts a SubjectAccessReview and returns the parsed JSON of the response; see `RemoteService`. */
  readonly ask: (review: object) => Promise<unknown>;
  /** API version of request and response: `authorization.<suffix>/v1` or `…/v1beta1`. */
  readonly apiVersion: string;
  /** How long an allowed request is cached, in milliseconds (`--authorization-webhook-cache-authorized-ttl`). */
  readonly authorizedMs: number;
  /** How long a request that isn't allowed is cached, in milliseconds (`--authorization-webhook-cache-unauthorized-ttl`). */
  readonly unauthorizedMs: number;
  /** The verdict if the request fails; `noOpinion` by default. */
  readonly failureVerdict?: "noOpinion" | "deny" | undefined;
  /** Decides whether the service is asked; undefined: for each request. */
  readonly matcher?: RequestMatcher | undefined;
  /** Called when a condition of the matcher is false or can't be evaluated. */
  readonly onUnmatched?: ((outcome: "exclusions" | "errors") => void) | undefined;
  readonly clock: Clock;
  /** Called when the service can't be reached or its response is invalid. */
  readonly failed: (error: RemoteFault) => void;
}

/** Requests with longer keys aren't cached, so that a client can't fill the memory. */
const maxCachedKeyLength = 10_000;
/** Messages of the service are truncated to this number of characters. */
const maxMessageLength = 500;

const notAsked: Decision = { verdict: "noOpinion", reason: "", evaluationError: "" };

/**
 * Sends a SubjectAccessReview to an external service (mode Webhook). The service may allow, deny, or have no opinion. If the
 * request fails, the verdict is that of the options.
 */
export class AuthorizationWebhook implements Authorizer {
  private readonly cache: DecisionCache;
  private readonly pending = new Map<string, Promise<Decision>>();

  constructor(private readonly options: AuthorizationWebhookOptions) {
    this.cache = new DecisionCache(options.clock);
  }

  authorize(attributes: Attributes): MaybePromise<Decision> {
    const unmatched = this.unmatched(attributes);
    if (unmatched !== undefined) return unmatched;
    const { apiVersion } = this.options;
    const spec = reviewSpec(attributes, apiVersion.endsWith("/v1beta1"));
    const key = JSON.stringify(spec);
    const cached = this.cache.get(key);
    if (cached !== undefined) return cached;
    const existing = this.pending.get(key);
    if (existing !== undefined) return existing;
    const decision = this.review(key, { apiVersion, kind: "SubjectAccessReview", spec });
    this.pending.set(key, decision);
    return decision.finally(() => this.pending.delete(key));
  }

  /** Returns the decision about a request for which the service isn't asked; undefined if it is. */
  private unmatched(attributes: Attributes): Decision | undefined {
    const { matcher, onUnmatched, failureVerdict = "noOpinion" } = this.options;
    const match = matcher?.match(attributes);
    if (match === undefined || match.matches) return undefined;
    const { error } = match;
    onUnmatched?.(error === undefined ? "exclusions" : "errors");
    return error === undefined ? notAsked : { verdict: failureVerdict, reason: "", evaluationError: error };
  }

  private async review(key: string, body: object): Promise<Decision> {
    const { ask, apiVersion, authorizedMs, unauthorizedMs, failed, failureVerdict } = this.options;
    try {
      const decision = parseDecision(await ask(body), apiVersion);
      const ttlMs = decision.verdict === "allow" ? authorizedMs : unauthorizedMs;
      if (key.length <= maxCachedKeyLength) this.cache.set(key, decision, ttlMs);
      return decision;
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      failed(error);
      return {
        verdict: failureVerdict ?? "noOpinion",
        reason: "",
        evaluationError: "the authorization webhook failed",
      };
    }
  }
}

/** Returns the spec of the SubjectAccessReview. In v1beta1 the field of the groups is `group`. */
function reviewSpec(attributes: Attributes, beta: boolean): object {
  const { name: user, uid, groups, extra } = attributes.user;
  const subject = {
    user,
    ...(groups.length === 0 ? {} : { [beta ? "group" : "groups"]: groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(uid === "" ? {} : { uid }),
  };
  const { verb } = attributes;
  if (attributes.kind === "nonResource") {
    return { nonResourceAttributes: { path: attributes.path, verb }, ...subject };
  }
  const { namespace, group, version, resource, subresource, name } = attributes;
  const entries = Object.entries({ namespace, verb, group, version, resource, subresource, name });
  const texts = Object.fromEntries(entries.filter(([, value]) => value !== ""));
  return { resourceAttributes: { ...texts, ...selectorFields(attributes.selectors) }, ...subject };
}

/** Returns the fields of the selectors that have requirements. */
function selectorFields(selectors: RequestSelectors | undefined): object {
  if (selectors === undefined) return {};
  const { fieldSelector, labelSelector } = selectors;
  return {
    ...(fieldSelector.length === 0 ? {} : { fieldSelector: { requirements: fieldSelector } }),
    ...(labelSelector.length === 0
      ? {}
      : { labelSelector: { requirements: labelSelector.map(withoutEmptyValues) } }),
  };
}

function withoutEmptyValues({ values, ...requirement }: SelectorRequirement): object {
  return values.length === 0 ? requirement : { ...requirement, values };
}

function parseDecision(answer: unknown, apiVersion: string): Decision {
  const review = fieldsOf(answer);
  if (review?.["kind"] !== "SubjectAccessReview" || review["apiVersion"] !== apiVersion) {
    throw new RemoteFault(
      `the response of the authorization webhook is not a SubjectAccessReview of ${apiVersion}`,
      false,
    );
  }
  const status = fieldsOf(review["status"]) ?? {};
  const { allowed = false, denied = false } = status;
  if (typeof allowed !== "boolean" || typeof denied !== "boolean") {
    throw new RemoteFault(
      "the response of the authorization webhook has an invalid status: allowed and denied must be booleans",
      false,
    );
  }
  if (allowed && denied) {
    throw new RemoteFault("the response of the authorization webhook is both allowed and denied", false);
  }
  return {
    verdict: denied ? "deny" : allowed ? "allow" : "noOpinion",
    reason: truncatedString(status["reason"]),
    evaluationError: truncatedString(status["evaluationError"]),
  };
}

function truncatedString(value: unknown): string {
  return typeof value === "string" ? value.slice(0, maxMessageLength) : "";
}

/** The cost is the number of characters of keys and decisions. */
const limits = { entries: 8192, cost: 16 * 1024 * 1024 };

interface CachedDecision {
  readonly decision: Decision;
  readonly expiresAtMs: number;
}

/** A size-limited cache of decisions with expiry; evicts the least recently used. */
export class DecisionCache {
  private readonly decisions = new RecentMap<CachedDecision>(limits);

  constructor(private readonly clock: Clock) {}

  get(key: string): Decision | undefined {
    const cached = this.decisions.get(key);
    if (cached === undefined) return undefined;
    if (this.clock.monotonicNow() < cached.expiresAtMs) return cached.decision;
    this.decisions.delete(key);
    return undefined;
  }

  /** @param ttlMs 0 removes the entry. */
  set(key: string, decision: Decision, ttlMs: number): void {
    if (ttlMs <= 0) return this.decisions.delete(key);
    const characters = key.length + decision.reason.length + decision.evaluationError.length;
    this.decisions.set(key, { decision, expiresAtMs: this.clock.monotonicNow() + ttlMs }, characters);
  }
}
