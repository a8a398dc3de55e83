import { clientNetwork } from "../base/network/ip-address.ts";
import type { Clock } from "../base/time/clock.ts";
import { andThen, type MaybePromise } from "../base/turns/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import { fieldsOf } from "../remote/answer-fields.ts";
import { CallQueue, CallRefusedError, type CallQueueLimits } from "../remote/call-queue.ts";
import { RemoteFault } from "../remote/answer-reader.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { refusal } from "./refusal.ts";
import { TokenCache, type TokenCacheWatcher } from "./token-cache.ts";

export interface TokenWebhookOptions {
  /** Posts a TokenReview and returns the parsed JSON of the response; see `RemoteService`. */
  readonly ask: (review: object) => Promise<unknown>;
  /** API version of request and response: `authentication.<suffix>/v1` or `…/v1beta1`. */
  readonly apiVersion: string;
  /** Audiences of this server. */
  readonly ownAudiences: readonly string[];
  /** How long results are cached for valid and invalid tokens, in milliseconds. */
  readonly cacheMs: number;
  readonly clock: Clock;
  /** Called when a request to the service fails. */
  readonly failed: (error: RemoteFault) => void;
  /** Called when a request was rejected because the queue is full, with the address of the client. */
  readonly refused: (error: CallRefusedError, remoteAddress: string) => void;
  readonly cacheWatcher: TokenCacheWatcher | undefined;
}

const errorPrefix = "token webhook";
const maxEntries = 10_000;
const maxBytes = 32 * 1024 * 1024;
/** Error messages of the service are truncated to this number of characters. */
const maxMessageLength = 500;

/**
 * Limits of concurrent and queued requests to the service. A service that takes 100 ms per request handles 1,000 requests per
 * second.
 */
export const requestLimits: CallQueueLimits = {
  running: 100,
  runningPerSource: 75,
  waiting: 1000,
  waitingPerSource: 400,
  waitMs: 10_000,
};

/** The cached response of the service; `bytes` is its estimated size. */
interface ReviewedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
  readonly bytes: number;
}

/** Authenticates bearer tokens with an external service (spec: conventions 5.7). */
export class TokenWebhook implements Authenticator {
  private readonly cache: TokenCache<ReviewedToken>;
  private readonly queue: CallQueue;

  constructor(private readonly options: TokenWebhookOptions) {
    const { cacheMs, clock, cacheWatcher } = options;
    const limits = { validTtlMs: cacheMs, invalidTtlMs: cacheMs, maxEntries, maxBytes };
    this.cache = new TokenCache(clock, limits, ({ bytes }) => bytes, cacheWatcher);
    this.queue = new CallQueue(clock, requestLimits);
  }

  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const { audiences: requested = this.options.ownAudiences, remoteAddress, connection } = credentials;
    const token = bearerToken(credentials.authorization);
    if (token === undefined) return undefined;
    const cached = this.cache.get(token, requested, (wasValid) => {
      const origin = { source: clientNetwork(remoteAddress), connection, precedence: wasValid };
      return this.queue.run(origin, () => this.review(token, requested));
    });
    const result =
      cached instanceof Promise
        ? cached.catch((error: unknown) => this.rejectUnreviewed(error, remoteAddress))
        : cached;
    return andThen(result, (reviewed) =>
      reviewed === undefined
        ? undefined
        : { user: reviewed.user, method: "token-webhook", cacheable: false, audiences: reviewed.audiences },
    );
  }

  /** Converts errors of the service. They are not cached. */
  private rejectUnreviewed(error: unknown, remoteAddress: string): never {
    if (error instanceof CallRefusedError) {
      this.options.refused(error, remoteAddress);
      const message = "too many requests to the token webhook; please try again";
      throw new StatusError("TooManyRequests", message, { retryAfterSeconds: 1 });
    }
    if (!(error instanceof RemoteFault)) throw error;
    this.options.failed(error);
    throw refusal(`${errorPrefix}: the request to the webhook failed`);
  }

  private async review(token: string, audiences: readonly string[]): Promise<ReviewedToken | undefined> {
    const { ask, apiVersion, ownAudiences } = this.options;
    const review = { apiVersion, kind: "TokenReview", spec: { token, audiences } };
    const response = fieldsOf(await ask(review));
    if (
      response === undefined ||
      response["kind"] !== "TokenReview" ||
      response["apiVersion"] !== apiVersion
    ) {
      throw new RemoteFault(
        `the response of the ${errorPrefix} is not a TokenReview of ${apiVersion}`,
        false,
      );
    }
    const status = fieldsOf(response["status"]) ?? {};
    if (status["authenticated"] !== true) {
      const error = status["error"];
      if (typeof error === "string" && error !== "") throw refusal(error.slice(0, maxMessageLength));
      return undefined;
    }
    const tokenAudiences = parseStrings(status["audiences"] ?? []);
    const user = parseUser(status["user"]);
    if (tokenAudiences === undefined || user === undefined) {
      throw new RemoteFault(`the response of the ${errorPrefix} has a malformed user or audiences`, false);
    }
    // A response without audiences is valid for those of this server.
    const validAudiences = audiences.filter((one) =>
      (tokenAudiences.length > 0 ? tokenAudiences : ownAudiences).includes(one),
    );
    if (validAudiences.length === 0) return undefined;
    return { user, audiences: validAudiences, bytes: JSON.stringify(user).length * 2 };
  }
}

/** Parses the user of a response; undefined if the name is missing or a field has the wrong type. */
function parseUser(value: unknown): UserInfo | undefined {
  const user = fieldsOf(value);
  if (user === undefined) return undefined;
  const { username, uid = "", groups = [], extra = {} } = user;
  const groupNames = parseStrings(groups);
  const parsedExtra = parseExtra(extra);
  if (typeof username !== "string" || username === "" || typeof uid !== "string") return undefined;
  return groupNames === undefined || parsedExtra === undefined
    ? undefined
    : { name: username, uid, groups: groupNames, extra: parsedExtra };
}

function parseExtra(value: unknown): UserInfo["extra"] | undefined {
  const entries = Object.entries(fieldsOf(value ?? {}) ?? { wrong: undefined });
  const parsed = entries.map(([key, values]) => [key, parseStrings(values)] as const);
  if (parsed.some(([, values]) => values === undefined)) return undefined;
  return Object.fromEntries(parsed as [string, readonly string[]][]);
}

function parseStrings(value: unknown): readonly string[] | undefined {
  if (value === null) return [];
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}
