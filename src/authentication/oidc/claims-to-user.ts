import type { UserInfo } from "../../base/user-info.ts";
import { claim, textClaim, type Claims } from "../jwt/claims.ts";
import { refusal } from "../refusal.ts";

/** Begins the messages of refusals. */
export const what = "oidc";

/** Which claims say who somebody is (spec: conventions 5.6). */
export interface OidcMapping {
  /** `--oidc-username-claim` */
  readonly usernameClaim: string;
  /** Put before each user name. */
  readonly usernamePrefix: string;
  /** `--oidc-groups-claim`; empty: no groups. */
  readonly groupsClaim: string;
  /** Put before each group. */
  readonly groupsPrefix: string;
  /** Whether the groups claim may be a string, which is one group, or null, which is none; else it must be an array. */
  readonly singleGroupClaim: boolean;
  /** Claims that must have these values. */
  readonly requiredClaims: ReadonlyMap<string, string>;
}

/**
 * What is put before user names: what the flag says, where `-` stands for nothing; else the issuer, so that nobody of
 * the provider can be taken for somebody else. Names that are mail addresses need none.
 *
 * @param flag value of `--oidc-username-prefix`; empty when it isn't given.
 */
export function usernamePrefix(flag: string, usernameClaim: string, issuer: string): string {
  if (flag === "-") return "";
  if (flag !== "") return flag;
  return usernameClaim === "email" ? "" : `${issuer}#`;
}

/**
 * The user that verified claims identify.
 *
 * @throws {StatusError} Unauthorized when they name none, or lack what is required.
 */
export function userOf(claims: Claims, mapping: OidcMapping): UserInfo {
  const { usernameClaim, usernamePrefix: prefix } = mapping;
  const name = textClaim(claims, usernameClaim) ?? "";
  if (name === "") throw refusal(`${what}: the claim ${JSON.stringify(usernameClaim)} is missing or empty`);
  if (usernameClaim === "email") checkVerified(claims);
  for (const [required, value] of mapping.requiredClaims) {
    if (textClaim(claims, required) !== value) {
      throw refusal(`${what}: the claim ${JSON.stringify(required)} has not the required value`);
    }
  }
  return { name: `${prefix}${name}`, uid: "", groups: groupsOf(claims, mapping), extra: {} };
}

/** An address that the provider says isn't verified may be anybody's. Many providers say nothing. */
function checkVerified(claims: Claims): void {
  const verified = claim(claims, "email_verified");
  if (verified !== undefined && verified !== true) throw refusal(`${what}: the email is not verified`);
}

function groupsOf(claims: Claims, { groupsClaim, groupsPrefix, singleGroupClaim }: OidcMapping): string[] {
  const value = groupsClaim === "" ? undefined : claim(claims, groupsClaim);
  if (value === undefined || (singleGroupClaim && value === null)) return [];
  const groups: unknown = singleGroupClaim && typeof value === "string" ? [value] : value;
  if (!Array.isArray(groups) || !groups.every((one) => typeof one === "string")) {
    throw refusal(`${what}: the claim ${JSON.stringify(groupsClaim)} is not an array of strings`);
  }
  return groups.map((group) => `${groupsPrefix}${group}`);
}
