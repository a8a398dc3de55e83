import { timingSafeEqual } from "node:crypto";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { textClaim, type Claims } from "../jwt/claims.ts";
import { identityOf, type LiveObjects } from "../live-objects.ts";
import { refusal } from "../refusal.ts";
import { what } from "./bound-claims.ts";
import { accountInfo, accountUser } from "./names.ts";

/** Key of a Secret's data that holds its token. */
const tokenKey = "token";

/** What a token of a Secret says. */
export interface LegacyFacts {
  readonly namespace: string;
  readonly secret: string;
  readonly account: { readonly name: string; readonly uid: string };
}

/** The claims of a token that lies in a Secret, as the reference writes them. It never expires. */
export function legacyClaims(vocabulary: Vocabulary, { namespace, secret, account }: LegacyFacts): Claims {
  const prefix = prefixOf(vocabulary);
  return {
    iss: vocabulary.legacyTokenIssuer,
    [`${prefix}namespace`]: namespace,
    [`${prefix}secret.name`]: secret,
    [`${prefix}service-account.name`]: account.name,
    [`${prefix}service-account.uid`]: account.uid,
    sub: accountUser(vocabulary, namespace, account.name),
  };
}

/** Judges tokens that lie in Secrets (spec: conventions 5.5). */
export class LegacyTokens {
  constructor(
    private readonly vocabulary: Vocabulary,
    private readonly live: LiveObjects,
    /** Whether the Secret and the account must still be there (`--service-account-lookup`). */
    private readonly lookup: boolean,
  ) {}

  /**
   * What tells whether a token holds, by claims whose signature was verified. It answers with the account, and throws a
   * StatusError (Unauthorized) when the Secret no longer holds the token, or the account is gone or another one of that
   * name.
   *
   * @throws {StatusError} Unauthorized when claims are missing.
   */
  judgeOf(claims: Claims): (token: string) => MaybePromise<UserInfo> {
    const facts = this.read(claims);
    const user = accountInfo(this.vocabulary, facts.namespace, facts.account, {});
    return (token) => (this.lookup ? this.check(facts, token).then(() => user) : user);
  }

  private read(claims: Claims): LegacyFacts {
    const prefix = prefixOf(this.vocabulary);
    const needed = (name: string): string => {
      const value = textClaim(claims, name) ?? "";
      if (value === "") throw refusal(`${what}: the claim ${JSON.stringify(name)} is missing`);
      return value;
    };
    const namespace = needed(`${prefix}namespace`);
    const secret = needed(`${prefix}secret.name`);
    const account = {
      name: needed(`${prefix}service-account.name`),
      uid: needed(`${prefix}service-account.uid`),
    };
    if (needed("sub") !== accountUser(this.vocabulary, namespace, account.name)) {
      throw refusal(`${what}: the claim "sub" names another account`);
    }
    return { namespace, secret, account };
  }

  private async check({ namespace, secret, account }: LegacyFacts, token: string): Promise<void> {
    const holder = await this.live.object("secrets", namespace, secret);
    if (holder === undefined || identityOf(holder).deletedMs !== undefined) {
      throw refusal(`${what}: it has been invalidated`);
    }
    const { data = {} } = holder as { data?: Record<string, string> };
    const stored = Buffer.from(Object.hasOwn(data, tokenKey) ? data[tokenKey]! : "", "base64");
    const shown = Buffer.from(token, "utf8");
    if (stored.length !== shown.length || !timingSafeEqual(stored, shown)) {
      throw refusal(`${what}: it is not the one that the secret holds`);
    }
    const found = await this.live.identity("serviceaccounts", namespace, account.name);
    if (found === undefined || found.deletedMs !== undefined) {
      throw refusal(`${what}: the service account ${namespace}/${account.name} has been deleted`);
    }
    if (found.uid !== account.uid) {
      throw refusal(`${what}: the service account ${namespace}/${account.name} is another one now`);
    }
  }
}

function prefixOf({ domain }: Vocabulary): string {
  return `${domain}/serviceaccount/`;
}
