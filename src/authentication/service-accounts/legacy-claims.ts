import { labelKey } from "../../vocabulary/names.ts";
import { timingSafeEqual } from "node:crypto";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { textClaim, type Claims } from "../jwt/claims.ts";
import { identityOf, type LiveObjects } from "../live-objects.ts";
import { refusal } from "../refusal.ts";
import { errorPrefix } from "./bound-claims.ts";
import { accountInfo, accountUser } from "./names.ts";

/** Key in the data of a Secret with the token. */
const tokenKey = "token";

/** The claims of a token in a Secret. */
export interface LegacyTokenClaims {
  readonly namespace: string;
  readonly secret: string;
  readonly account: { readonly name: string; readonly uid: string };
}

/** Returns the claims of a token in a Secret, in the format of Kubernetes. It never expires. */
export function legacyClaims(
  vocabulary: Vocabulary,
  issuer: string,
  { namespace, secret, account }: LegacyTokenClaims,
): Claims {
  const prefix = prefixOf(vocabulary);
  return {
    iss: issuer,
    [`${prefix}namespace`]: namespace,
    [`${prefix}secret.name`]: secret,
    [`${prefix}service-account.name`]: account.name,
    [`${prefix}service-account.uid`]: account.uid,
    sub: accountUser(vocabulary, namespace, account.name),
  };
}

/** Validates tokens in Secrets (spec: conventions 5.5). */
export class LegacyTokens {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly live: LiveObjects,
    /** Whether the Secret and the service account must still exist (`--service-account-lookup`). */
    private readonly lookup: boolean,
  ) {}

  /**
   * Returns a function that validates a token with verified signature. The function returns the user. It throws a StatusError
   * (Unauthorized) if the Secret no longer contains the token, or if the service account has been deleted or recreated.
   *
   * @throws {StatusError} Unauthorized if claims are missing.
   */
  validatorFor(claims: Claims): (token: string) => MaybePromise<UserInfo> {
    const parsed = this.parse(claims);
    const user = accountInfo(this.vocabulary, parsed.namespace, parsed.account, {});
    return (token) => (this.lookup ? this.check(parsed, token).then(() => user) : user);
  }

  private parse(claims: Claims): LegacyTokenClaims {
    const prefix = prefixOf(this.vocabulary);
    const requireClaim = (name: string): string => {
      const value = textClaim(claims, name) ?? "";
      if (value === "") throw refusal(`${errorPrefix}: the claim ${JSON.stringify(name)} is missing`);
      return value;
    };
    const namespace = requireClaim(`${prefix}namespace`);
    const secret = requireClaim(`${prefix}secret.name`);
    const account = {
      name: requireClaim(`${prefix}service-account.name`),
      uid: requireClaim(`${prefix}service-account.uid`),
    };
    if (requireClaim("sub") !== accountUser(this.vocabulary, namespace, account.name)) {
      throw refusal(`${errorPrefix}: the claim "sub" is another service account`);
    }
    return { namespace, secret, account };
  }

  private async check({ namespace, secret, account }: LegacyTokenClaims, token: string): Promise<void> {
    const secretObject = await this.live.object("secrets", namespace, secret);
    if (secretObject === undefined || identityOf(secretObject).deletionTimeMs !== undefined) {
      throw refusal(`${errorPrefix}: the token has been invalidated`);
    }
    const { data = {} } = secretObject as { data?: Record<string, string> };
    const stored = Buffer.from(Object.hasOwn(data, tokenKey) ? data[tokenKey]! : "", "base64");
    const presented = Buffer.from(token, "utf8");
    if (stored.length !== presented.length || !timingSafeEqual(stored, presented)) {
      throw refusal(`${errorPrefix}: the token is not the one in the secret`);
    }
    const identity = await this.live.identity("serviceaccounts", namespace, account.name);
    if (identity === undefined || identity.deletionTimeMs !== undefined) {
      throw refusal(`${errorPrefix}: the service account ${namespace}/${account.name} has been deleted`);
    }
    if (identity.uid !== account.uid) {
      throw refusal(
        `${errorPrefix}: the service account ${namespace}/${account.name} has been recreated with another uid`,
      );
    }
  }
}

function prefixOf({ domain }: Vocabulary): string {
  return labelKey(domain, "serviceaccount/");
}
