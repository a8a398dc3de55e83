import type { Clock } from "../../base/clock.ts";
import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { TokenFacts, TokenSubject } from "../../resources/engine/token-issuer.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { checkTimes, claim, textClaim, timesOf, type Claims } from "../jwt/claims.ts";
import type { Identity, LiveObjects, TokenObject } from "../live-objects.ts";
import { refusal } from "../refusal.ts";
import { accountInfo, accountUser } from "./names.ts";

/** Begins the messages of refusals. */
export const what = "service account token";

/** So long after something was deleted, tokens that it vouched for still hold: clocks differ. */
const leewayMs = 60_000;
const leeway = { expirySeconds: 60, startSeconds: 60 };

/** What a token says of itself that is bound to an account, and perhaps to a pod or a secret. */
interface BoundFacts {
  readonly namespace: string;
  readonly account: TokenSubject;
  readonly pod: TokenSubject | undefined;
  readonly secret: TokenSubject | undefined;
  /** Seconds since 1970. */
  readonly warnAfter: number | undefined;
}

/** An object that must be there for a token to hold. */
interface Needed extends TokenSubject {
  readonly type: TokenObject;
  readonly namespace: string;
  /** What it is called in messages. */
  readonly called: string;
}

/** Told when a token is used, for the metrics; `stale` beyond the time for which it was asked. */
export type TokenUse = (use: "valid" | "stale" | "legacy") => void;

/** The claims of a token as the reference writes them: those of its own in one object named after the domain. */
export function boundClaims(vocabulary: Vocabulary, issuer: string, facts: TokenFacts): Claims {
  const { namespace, account, boundTo, audiences, issuedAt, expiresAt, warnAfter } = facts;
  return {
    aud: audiences,
    exp: expiresAt,
    iat: issuedAt,
    iss: issuer,
    [vocabulary.domain]: {
      namespace,
      ...(boundTo?.kind === "Pod" ? { pod: boundTo.object } : {}),
      ...(boundTo?.kind === "Secret" ? { secret: boundTo.object } : {}),
      serviceaccount: account,
      ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
    },
    nbf: issuedAt,
    sub: accountUser(vocabulary, namespace, account.name),
  };
}

/** Judges tokens that hold as long as the objects to which they are bound, and no longer than they say. */
export class BoundTokens {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly live: LiveObjects,
    private readonly clock: Clock,
    private readonly used: TokenUse,
  ) {}

  /**
   * What tells whether a token holds, by claims whose signature was verified. It answers with the account, at once where
   * the store does, and throws a StatusError (Unauthorized) when the token has expired, or the account, pod or secret is
   * gone, on its way out or another one of that name.
   *
   * @throws {StatusError} Unauthorized for claims that aren't those of an account, and for a token that never expires.
   */
  judgeOf(claims: Claims): () => MaybePromise<UserInfo> {
    const { namespace, account, pod, secret, warnAfter } = this.read(claims);
    const times = timesOf(claims, what);
    if (times.expires === undefined) throw refusal(`${what}: it never expires`);
    const user = accountInfo(this.vocabulary, namespace, account, this.extraOf(pod));
    const needed: Needed[] = [{ type: "serviceaccounts", called: "service account", namespace, ...account }];
    if (secret !== undefined) needed.push({ type: "secrets", called: "secret", namespace, ...secret });
    if (pod !== undefined) needed.push({ type: "pods", called: "pod", namespace, ...pod });
    return () => {
      checkTimes(times, this.clock.now(), leeway, what);
      return andThen(this.checkFrom(0, needed), () => {
        this.note(warnAfter);
        return user;
      });
    };
  }

  private read(claims: Claims): BoundFacts {
    const own = claim(claims, this.vocabulary.domain);
    if (!isClaims(own)) throw malformed();
    const namespace = textClaim(own, "namespace") ?? "";
    const account = subjectIn(own, "serviceaccount");
    if (namespace === "" || account === undefined) throw malformed();
    const warnAfter = claim(own, "warnafter");
    if (warnAfter !== undefined && typeof warnAfter !== "number") throw malformed();
    if (textClaim(claims, "sub") !== accountUser(this.vocabulary, namespace, account.name)) throw malformed();
    const [pod, secret] = [subjectIn(own, "pod"), subjectIn(own, "secret")];
    return { namespace, account, pod, secret, warnAfter };
  }

  private checkFrom(index: number, needed: readonly Needed[]): MaybePromise<void> {
    const next = needed[index];
    if (next === undefined) return;
    const { type, namespace, name } = next;
    return andThen(this.live.identity(type, namespace, name), (found) => {
      this.check(next, found);
      return this.checkFrom(index + 1, needed);
    });
  }

  private check({ namespace, name, uid, called }: Needed, found: Identity | undefined): void {
    if (found === undefined || this.isDeleted(found)) {
      throw refusal(`${what}: the ${called} ${namespace}/${name} has been deleted`);
    }
    if (found.uid !== uid) throw refusal(`${what}: the ${called} ${namespace}/${name} is another one now`);
  }

  private isDeleted({ deletedMs }: Identity): boolean {
    return deletedMs !== undefined && deletedMs < this.clock.now() - leewayMs;
  }

  private note(warnAfter: number | undefined): void {
    if (warnAfter === undefined || warnAfter === 0) return;
    this.used(this.clock.now() / 1000 > warnAfter ? "stale" : "valid");
  }

  private extraOf(pod: TokenSubject | undefined): UserInfo["extra"] {
    if (pod === undefined) return {};
    const prefix = `authentication.${this.vocabulary.domain}/pod-`;
    return { [`${prefix}name`]: [pod.name], [`${prefix}uid`]: [pod.uid] };
  }
}

function isClaims(value: unknown): value is Claims {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A reference by name and uid; what is there must have both. */
function subjectIn(own: Claims, name: string): TokenSubject | undefined {
  const value = claim(own, name);
  if (value === undefined) return undefined;
  if (!isClaims(value)) throw malformed();
  const subject = { name: textClaim(value, "name") ?? "", uid: textClaim(value, "uid") ?? "" };
  if (subject.name === "" || subject.uid === "") throw malformed();
  return subject;
}

function malformed() {
  return refusal(`${what}: its claims are not those of a service account`);
}
