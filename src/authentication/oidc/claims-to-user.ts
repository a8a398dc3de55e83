import type { UserInfo } from "../../base/user-info.ts";
import { claim, textClaim, type Claims } from "../jwt/claims.ts";
import { refusal } from "../refusal.ts";

/** First part of error messages. */
export const errorPrefix = "oidc";

/** Mapping of claims to a user (spec: conventions 5.6). */
export interface OidcMapping {
  /** `--oidc-username-claim` */
  readonly usernameClaim: string;
  /** Prefix of user names; see {@link usernamePrefix}. */
  readonly usernamePrefix: string;
  /** `--oidc-groups-claim`; empty: no groups. */
  readonly groupsClaim: string;
  /** `--oidc-groups-prefix` */
  readonly groupsPrefix: string;
  /** Whether the groups claim may also be a string (one group) or null (no groups). */
  readonly singleGroupClaim: boolean;
  /** `--oidc-required-claim`: claims with their required values. */
  readonly requiredClaims: ReadonlyMap<string, string>;
}

/**
 * Returns the prefix of user names: the value of the flag, or none for `-`. The default is `<issuer>#`, so that names of the
 * provider don't collide with other users; it is empty for the claim `email`.
 *
 * @param flag value of `--oidc-username-prefix`; empty if it isn't set.
 */
export function usernamePrefix(flag: string, usernameClaim: string, issuer: string): string {
  if (flag === "-") return "";
  if (flag !== "") return flag;
  return usernameClaim === "email" ? "" : `${issuer}#`;
}

/**
 * Returns the user of verified claims.
 *
 * @throws {StatusError} Unauthorized if the user name or a required claim is missing, or the groups are malformed.
 */
export function userOf(claims: Claims, mapping: OidcMapping): UserInfo {
  const { usernameClaim, usernamePrefix: prefix } = mapping;
  const name = textClaim(claims, usernameClaim) ?? "";
  if (name === "")
    throw refusal(`${errorPrefix}: the claim ${JSON.stringify(usernameClaim)} is missing or empty`);
  if (usernameClaim === "email") checkEmailVerified(claims);
  for (const [required, value] of mapping.requiredClaims) {
    if (textClaim(claims, required) !== value) {
      throw refusal(`${errorPrefix}: the claim ${JSON.stringify(required)} doesn't have the required value`);
    }
  }
  return { name: `${prefix}${name}`, uid: "", groups: groupsOf(claims, mapping), extra: {} };
}

/** Rejects an email address that the provider hasn't verified. Many providers omit the claim, which is accepted. */
export function checkEmailVerified(claims: Claims): void {
  const verified = claim(claims, "email_verified");
  if (verified !== undefined && verified !== true) throw refusal(`${errorPrefix}: the email is not verified`);
}

/** Returns the groups in a claim, none if it is absent. */
export function groupsOf(
  claims: Claims,
  {
    groupsClaim,
    groupsPrefix,
    singleGroupClaim,
  }: Pick<OidcMapping, "groupsClaim" | "groupsPrefix" | "singleGroupClaim">,
): string[] {
  const value = groupsClaim === "" ? undefined : claim(claims, groupsClaim);
  if (value === undefined || (singleGroupClaim && value === null)) return [];
  const groups: unknown = singleGroupClaim && typeof value === "string" ? [value] : value;
  if (!Array.isArray(groups) || !groups.every((one) => typeof one === "string")) {
    throw refusal(`${errorPrefix}: the claim ${JSON.stringify(groupsClaim)} is not an array of strings`);
  }
  return groups.map((group) => `${groupsPrefix}${group}`);
}
