import { clientNetwork } from "../base/client-network.ts";
import type { Clock } from "../base/clock.ts";
import { andThen, type MaybePromise } from "../base/maybe-promise.ts";
import { StatusError } from "../base/status-error.ts";
import type { UserInfo } from "../base/user-info.ts";
import { fieldsOf } from "../remote/answer-fields.ts";
import { CallQueue, CallRefusedError, type CallQueueLimits } from "../remote/call-queue.ts";
import { RemoteFault } from "../remote/answer-reader.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "./authenticator.ts";
import { bearerToken } from "./bearer-token.ts";
import { refusal } from "./refusal.ts";
import { TokenCache, type TokenCacheWatcher } from "./token-cache.ts";

/** How tokens are asked about. */
export interface TokenWebhookOptions {
  /** Asks the service, and gives the JSON of its answer; see `RemoteService`. */
  readonly ask: (review: object) => Promise<unknown>;
  /** `authentication.<suffix>/v1` or `…/v1beta1`: of the question and of the answer. */
  readonly apiVersion: string;
  /** Who this server is to tokens. */
  readonly ownAudiences: readonly string[];
  /** How long answers are remembered, good and bad, in milliseconds. */
  readonly cacheMs: number;
  readonly clock: Clock;
  /** Told when the service can't be asked. */
  readonly failed: (error: RemoteFault) => void;
  /** Told when a question was refused because too many wait; with the client's address. */
  readonly refused: (error: CallRefusedError, remoteAddress: string) => void;
  readonly cacheWatcher: TokenCacheWatcher | undefined;
}

const what = "token webhook";
const maxEntries = 10_000;
const maxBytes = 32 * 1024 * 1024;
/** The most characters of a service's message that are handed on. */
const maxMessage = 500;

/**
 * How many questions are under way and wait. A service that needs 100 ms answers 1,000 of them a second, and what waits
 * behind the longest line is answered after half a second.
 */
export const questionLimits: CallQueueLimits = {
  running: 100,
  runningPerSource: 75,
  waiting: 1000,
  waitingPerSource: 400,
  waitMs: 10_000,
};

/** A user as the service knows them, and what that takes in memory. */
interface Reviewed {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
  readonly bytes: number;
}

/** Recognizes bearer tokens by asking a service of others about them (spec: conventions 5.7). */
export class TokenWebhook implements Authenticator {
  private readonly cache: TokenCache<Reviewed>;
  private readonly questions: CallQueue;

  constructor(private readonly options: TokenWebhookOptions) {
    const { cacheMs, clock, cacheWatcher } = options;
    const limits = { foundMs: cacheMs, missedMs: cacheMs, maxEntries, maxBytes };
    this.cache = new TokenCache(clock, limits, ({ bytes }) => bytes, cacheWatcher);
    this.questions = new CallQueue(clock, questionLimits);
  }

  authenticate(credentials: Credentials): MaybePromise<AuthenticationResult | undefined> {
    const { audiences: wanted = this.options.ownAudiences, remoteAddress, connection } = credentials;
    const token = bearerToken(credentials.authorization);
    if (token === undefined) return undefined;
    const known = this.cache.get(token, wanted, (wasGood) => {
      const origin = { source: clientNetwork(remoteAddress), connection, precedence: wasGood };
      return this.questions.run(origin, () => this.review(token, wanted));
    });
    const answer =
      known instanceof Promise ? known.catch((error: unknown) => this.unasked(error, remoteAddress)) : known;
    return andThen(answer, (reviewed) =>
      reviewed === undefined
        ? undefined
        : { user: reviewed.user, method: "token-webhook", cacheable: false, audiences: reviewed.audiences },
    );
  }

  /** Without the service the token can't be authenticated; that is not cached. */
  private unasked(error: unknown, remoteAddress: string): never {
    if (error instanceof CallRefusedError) {
      this.options.refused(error, remoteAddress);
      const message = "too many unknown tokens are being looked into; please try again";
      throw new StatusError("TooManyRequests", message, { retryAfterSeconds: 1 });
    }
    if (!(error instanceof RemoteFault)) throw error;
    this.options.failed(error);
    throw refusal(`${what}: the service that knows the token can't be asked`);
  }

  private async review(token: string, audiences: readonly string[]): Promise<Reviewed | undefined> {
    const { ask, apiVersion, ownAudiences } = this.options;
    const review = { apiVersion, kind: "TokenReview", spec: { token, audiences } };
    const answer = fieldsOf(await ask(review));
    if (answer === undefined || answer["kind"] !== "TokenReview" || answer["apiVersion"] !== apiVersion) {
      throw new RemoteFault(`the ${what} does not answer with a TokenReview of ${apiVersion}`, false);
    }
    const status = fieldsOf(answer["status"]) ?? {};
    if (status["authenticated"] !== true) {
      const error = status["error"];
      if (typeof error === "string" && error !== "") throw refusal(error.slice(0, maxMessage));
      return undefined;
    }
    const meant = textsOf(status["audiences"] ?? []);
    const user = userOf(status["user"]);
    if (meant === undefined || user === undefined) {
      throw new RemoteFault(`the ${what} answers with a malformed user or audiences`, false);
    }
    // Who says nothing of audiences vouches for this server's.
    const shared = audiences.filter((one) => (meant.length > 0 ? meant : ownAudiences).includes(one));
    if (shared.length === 0) return undefined;
    return { user, audiences: shared, bytes: JSON.stringify(user).length * 2 };
  }
}

/** The user of an answer; undefined when it has no name, or something isn't of its type. */
function userOf(value: unknown): UserInfo | undefined {
  const user = fieldsOf(value);
  if (user === undefined) return undefined;
  const { username, uid = "", groups = [], extra = {} } = user;
  const groupNames = textsOf(groups);
  const further = extraOf(extra);
  if (typeof username !== "string" || username === "" || typeof uid !== "string") return undefined;
  return groupNames === undefined || further === undefined
    ? undefined
    : { name: username, uid, groups: groupNames, extra: further };
}

function extraOf(value: unknown): UserInfo["extra"] | undefined {
  const entries = Object.entries(fieldsOf(value ?? {}) ?? { wrong: undefined });
  const read = entries.map(([key, values]) => [key, textsOf(values)] as const);
  if (read.some(([, values]) => values === undefined)) return undefined;
  return Object.fromEntries(read as [string, readonly string[]][]);
}

function textsOf(value: unknown): readonly string[] | undefined {
  if (value === null) return [];
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}
