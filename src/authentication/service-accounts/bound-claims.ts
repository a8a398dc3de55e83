import { labelKey } from "../../vocabulary/names.ts";
import type { Clock } from "../../base/time/clock.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { credentialId, type TokenFacts, type TokenSubject } from "../../resources/engine/token-issuer.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { checkTimes, claim, textClaim, timesOf, type Claims } from "../jwt/claims.ts";
import type { Identity, LiveObjects, TokenResource } from "../live-objects.ts";
import { refusal } from "../refusal.ts";
import { accountInfo, accountUser } from "./names.ts";

/** First part of error messages. */
export const errorPrefix = "service account token";

/** Tokens stay valid for this time after the deletion timestamp of an object, to tolerate clock skew. */
const deletionLeewayMs = 60_000;
const leeway = { expirySeconds: 60, notBeforeSeconds: 60 };

/** The claims of a token that is bound to a service account, and optionally to a pod or a secret. */
interface BoundClaims {
  readonly namespace: string;
  readonly account: TokenSubject;
  readonly pod: TokenSubject | undefined;
  readonly secret: TokenSubject | undefined;
  /** The bound node, or that of the pod; the latter may have no uid. */
  readonly node: TokenSubject | undefined;
  /** Identifier of the token; empty if it has none. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly warnAfter: number | undefined;
}

/** An object that must exist for the token to be valid. */
interface RequiredObject extends TokenSubject {
  readonly type: TokenResource;
  readonly namespace: string;
  /** Name of the type in messages. */
  readonly typeName: string;
}

/** Called for each use of a token, for the metrics; `stale` if the requested lifetime has passed. */
export type TokenUse = (use: "valid" | "stale" | "legacy") => void;

/** Returns the claims of a new token in the format of Kubernetes: private claims are in one object with the domain as name. */
export function boundClaims(vocabulary: Vocabulary, issuer: string, facts: TokenFacts): Claims {
  const { namespace, account, boundTo, audiences, issuedAt, expiresAt, warnAfter, id } = facts;
  const node = boundTo?.kind === "Node" ? boundTo.object : facts.node;
  return {
    aud: audiences,
    exp: expiresAt,
    iat: issuedAt,
    iss: issuer,
    ...(id === undefined ? {} : { jti: id }),
    [vocabulary.domain]: {
      namespace,
      ...(node === undefined ? {} : { node: withoutEmptyUid(node) }),
      ...(boundTo?.kind === "Pod" ? { pod: boundTo.object } : {}),
      ...(boundTo?.kind === "Secret" ? { secret: boundTo.object } : {}),
      serviceaccount: account,
      ...(warnAfter === undefined ? {} : { warnafter: warnAfter }),
    },
    nbf: issuedAt,
    sub: accountUser(vocabulary, namespace, account.name),
  };
}

function withoutEmptyUid({ name, uid }: TokenSubject): object {
  return uid === "" ? { name } : { name, uid };
}

/** Which claims count; each is a feature of later releases. */
export interface BoundClaimFeatures {
  /** The identifier of a token. */
  readonly ids: boolean;
  /** The node of a pod. */
  readonly podNodes: boolean;
  /** Tokens that are bound to a node. */
  readonly nodes: boolean;
}

/** Validates tokens that are bound to objects and expire. */
export class BoundTokens {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly live: LiveObjects,
    private readonly clock: Clock,
    private readonly onUse: TokenUse,
    private readonly features: BoundClaimFeatures,
  ) {}

  /**
   * Returns a function that validates a token with verified signature. The function returns the user, synchronously if the
   * store does. It throws a StatusError (Unauthorized) if the token has expired, or if the service account, pod or secret has been
   * deleted or recreated.
   *
   * @throws {StatusError} Unauthorized if the claims are malformed or the token has no expiry.
   */
  validatorFor(claims: Claims): () => MaybePromise<UserInfo> {
    const parsed = this.parse(claims);
    const { namespace, account, pod, secret, node, warnAfter } = parsed;
    const times = timesOf(claims, errorPrefix);
    if (times.expires === undefined) throw refusal(`${errorPrefix}: the token has no expiry`);
    const user = accountInfo(this.vocabulary, namespace, account, this.extraOf(parsed));
    const requiredObjects: RequiredObject[] = [
      { type: "serviceaccounts", typeName: "service account", namespace, ...account },
    ];
    if (secret !== undefined)
      requiredObjects.push({ type: "secrets", typeName: "secret", namespace, ...secret });
    if (pod !== undefined) requiredObjects.push({ type: "pods", typeName: "pod", namespace, ...pod });
    if (node !== undefined && pod === undefined) {
      if (!this.features.nodes)
        throw refusal(`${errorPrefix}: it is bound to a node, which needs a feature gate`);
      requiredObjects.push({ type: "nodes", typeName: "node", namespace: "", ...node });
    }
    return () => {
      checkTimes(times, this.clock.now(), leeway, errorPrefix);
      return andThen(this.checkFrom(0, requiredObjects), () => {
        this.reportUse(warnAfter);
        return user;
      });
    };
  }

  private parse(claims: Claims): BoundClaims {
    const privateClaims = claim(claims, this.vocabulary.domain);
    if (!isClaims(privateClaims)) throw malformedClaims();
    const namespace = textClaim(privateClaims, "namespace") ?? "";
    const account = parseReference(privateClaims, "serviceaccount");
    if (namespace === "" || account === undefined) throw malformedClaims();
    const warnAfter = claim(privateClaims, "warnafter");
    if (warnAfter !== undefined && typeof warnAfter !== "number") throw malformedClaims();
    if (textClaim(claims, "sub") !== accountUser(this.vocabulary, namespace, account.name))
      throw malformedClaims();
    const [pod, secret] = [parseReference(privateClaims, "pod"), parseReference(privateClaims, "secret")];
    const node = parseReference(privateClaims, "node", pod === undefined);
    return { namespace, account, pod, secret, node, warnAfter, id: textClaim(claims, "jti") ?? "" };
  }

  private checkFrom(index: number, requiredObjects: readonly RequiredObject[]): MaybePromise<void> {
    const next = requiredObjects[index];
    if (next === undefined) return;
    const { type, namespace, name } = next;
    return andThen(this.live.identity(type, namespace, name), (identity) => {
      this.checkObject(next, identity);
      return this.checkFrom(index + 1, requiredObjects);
    });
  }

  private checkObject(
    { namespace, name, uid, typeName }: RequiredObject,
    identity: Identity | undefined,
  ): void {
    if (identity === undefined || this.isDeleted(identity)) {
      throw refusal(`${errorPrefix}: the ${typeName} ${namespace}/${name} has been deleted`);
    }
    if (identity.uid !== uid)
      throw refusal(
        `${errorPrefix}: the ${typeName} ${namespace}/${name} has been recreated with another uid`,
      );
  }

  private isDeleted({ deletionTimeMs: deletedMs }: Identity): boolean {
    return deletedMs !== undefined && deletedMs < this.clock.now() - deletionLeewayMs;
  }

  private reportUse(warnAfter: number | undefined): void {
    if (warnAfter === undefined || warnAfter === 0) return;
    this.onUse(this.clock.now() / 1000 > warnAfter ? "stale" : "valid");
  }

  private extraOf({ id, pod, node }: BoundClaims): UserInfo["extra"] {
    const { ids, podNodes, nodes } = this.features;
    const prefix = labelKey(this.vocabulary.domain, "", "authentication");
    const showsNode = pod === undefined ? nodes : podNodes;
    return {
      ...(ids && id !== "" ? { [`${prefix}credential-id`]: [credentialId(id)] } : {}),
      ...(showsNode && node !== undefined ? subjectExtra(`${prefix}node-`, node) : {}),
      ...(pod === undefined ? {} : subjectExtra(`${prefix}pod-`, pod)),
    };
  }
}

function subjectExtra(prefix: string, { name, uid }: TokenSubject): UserInfo["extra"] {
  return { [`${prefix}name`]: [name], ...(uid === "" ? {} : { [`${prefix}uid`]: [uid] }) };
}

function isClaims(value: unknown): value is Claims {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a reference with name and uid; undefined if absent. */
function parseReference(privateClaims: Claims, name: string, needsUid = true): TokenSubject | undefined {
  const value = claim(privateClaims, name);
  if (value === undefined) return undefined;
  if (!isClaims(value)) throw malformedClaims();
  const subject = { name: textClaim(value, "name") ?? "", uid: textClaim(value, "uid") ?? "" };
  if (subject.name === "" || (needsUid && subject.uid === "")) throw malformedClaims();
  return subject;
}

function malformedClaims() {
  return refusal(`${errorPrefix}: the claims are not those of a service account`);
}
