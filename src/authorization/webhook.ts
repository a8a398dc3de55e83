import type { Clock } from "../base/clock.ts";
import type { MaybePromise } from "../base/maybe-promise.ts";
import { fieldsOf } from "../remote/answer-fields.ts";
import { RemoteFault } from "../remote/answer-reader.ts";
import type { Attributes, Authorizer, Decision } from "./authorizer.ts";
import { DecisionCache } from "./decision-cache.ts";

/** How decisions are asked for. */
export interface AuthorizationWebhookOptions {
  /** Asks the service, and gives the JSON of its answer; see `RemoteService`. */
  readonly ask: (review: object) => Promise<unknown>;
  /** `authorization.<suffix>/v1` or `…/v1beta1`: of the question and of the answer. */
  readonly apiVersion: string;
  /** How long it is remembered that somebody may, in milliseconds. */
  readonly authorizedMs: number;
  /** How long it is remembered that somebody may not, in milliseconds. */
  readonly unauthorizedMs: number;
  readonly clock: Clock;
  /** Told when the service can't be asked, or answers with something else than a decision. */
  readonly failed: (error: RemoteFault) => void;
}

/** Longer questions are asked each time: whoever makes them up must not fill the memory. */
const maxKeptLength = 10_000;
/** The most characters of a service's message that are handed on. */
const maxMessage = 500;

/**
 * Asks a service of others by a SubjectAccessReview (mode Webhook). It may allow, deny for good, or leave the question to the
 * next authorizer; when it can't be asked, it has no opinion.
 */
export class AuthorizationWebhook implements Authorizer {
  private readonly cache: DecisionCache;
  private readonly underWay = new Map<string, Promise<Decision>>();

  constructor(private readonly options: AuthorizationWebhookOptions) {
    this.cache = new DecisionCache(options.clock);
  }

  authorize(attributes: Attributes): MaybePromise<Decision> {
    const { apiVersion } = this.options;
    const spec = specOf(attributes, apiVersion.endsWith("/v1beta1"));
    const key = JSON.stringify(spec);
    const known = this.cache.get(key);
    if (known !== undefined) return known;
    const running = this.underWay.get(key);
    if (running !== undefined) return running;
    const asked = this.review(key, { apiVersion, kind: "SubjectAccessReview", spec });
    this.underWay.set(key, asked);
    return asked.finally(() => this.underWay.delete(key));
  }

  private async review(key: string, question: object): Promise<Decision> {
    const { ask, apiVersion, authorizedMs, unauthorizedMs, failed } = this.options;
    try {
      const decision = decisionOf(await ask(question), apiVersion);
      const keptMs = decision.verdict === "allow" ? authorizedMs : unauthorizedMs;
      if (key.length <= maxKeptLength) this.cache.set(key, decision, keptMs);
      return decision;
    } catch (error) {
      if (!(error instanceof RemoteFault)) throw error;
      failed(error);
      return {
        verdict: "noOpinion",
        reason: "",
        evaluationError: "the authorization webhook can't be asked",
      };
    }
  }
}

/** The question as the service reads it; v1beta1 has another name for groups. */
function specOf(attributes: Attributes, beta: boolean): object {
  const { name: user, uid, groups, extra } = attributes.user;
  const who = {
    user,
    ...(groups.length === 0 ? {} : { [beta ? "group" : "groups"]: groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
    ...(uid === "" ? {} : { uid }),
  };
  const { verb } = attributes;
  if (attributes.kind === "nonResource") {
    return { nonResourceAttributes: { path: attributes.path, verb }, ...who };
  }
  const { namespace, group, version, resource, subresource, name } = attributes;
  const asked = Object.entries({ namespace, verb, group, version, resource, subresource, name });
  return { resourceAttributes: Object.fromEntries(asked.filter(([, value]) => value !== "")), ...who };
}

function decisionOf(answer: unknown, apiVersion: string): Decision {
  const review = fieldsOf(answer);
  if (review?.["kind"] !== "SubjectAccessReview" || review["apiVersion"] !== apiVersion) {
    throw new RemoteFault(
      `the authorization webhook does not answer with a SubjectAccessReview of ${apiVersion}`,
      false,
    );
  }
  const status = fieldsOf(review["status"]) ?? {};
  const { allowed = false, denied = false } = status;
  if (typeof allowed !== "boolean" || typeof denied !== "boolean") {
    throw new RemoteFault("the authorization webhook answers with a malformed status", false);
  }
  if (allowed && denied) {
    throw new RemoteFault("the authorization webhook allows and denies at the same time", false);
  }
  return {
    verdict: denied ? "deny" : allowed ? "allow" : "noOpinion",
    reason: textOf(status["reason"]),
    evaluationError: textOf(status["evaluationError"]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, maxMessage) : "";
}
