import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import { refusal } from "../refusal.ts";

/** The claims of a token (RFC 7519 section 4) as parsed JSON; their types are not validated. */
export type Claims = Readonly<Record<string, unknown>>;

/** Maximum length of a token; larger than the limit of request headers. */
const maxTokenLength = 64 * 1024;

const jwtPattern = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Returns the claims of a signed JWT without verifying the signature. Use them only to select the method that verifies the token.
 * Undefined if the token isn't a JWT.
 */
export function unverifiedClaims(token: string): Claims | undefined {
  return unverifiedPart(token, 1);
}

/** Returns the header of a signed JWT without verifying the signature. */
export function unverifiedHeader(token: string): Claims | undefined {
  return unverifiedPart(token, 0);
}

function unverifiedPart(token: string, index: 0 | 1): Claims | undefined {
  if (token.length > maxTokenLength || !jwtPattern.test(token)) return undefined;
  try {
    return parseClaims(Buffer.from(token.split(".", 2)[index]!, "base64url").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Parses the payload of a token; undefined if it isn't an object.
 *
 * @throws {SyntaxError} if it isn't JSON.
 */
export function parseClaims(payload: string): Claims | undefined {
  const value: unknown = parseEmbeddedJson(payload);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
}

/** Returns an own property of the claims, so that names such as `constructor` are absent. */
export function claim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** Returns a claim; undefined if it isn't a string. */
export function textClaim(claims: Claims, name: string): string | undefined {
  const value = claim(claims, name);
  return typeof value === "string" ? value : undefined;
}

/** Returns the audiences (RFC 7519 section 4.1.3), empty without the claim; undefined if it is neither a string nor an array of strings. */
export function audienceClaim(claims: Claims): readonly string[] | undefined {
  const value = claim(claims, "aud");
  if (value === undefined) return [];
  if (typeof value === "string") return [value];
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

/** Tolerated clock skew between the server and the issuer. */
export interface Leeway {
  /** Tolerance for `exp`, in seconds. */
  readonly expirySeconds: number;
  /** Tolerance for `nbf` and `iat`, in seconds. */
  readonly notBeforeSeconds: number;
}

/** The claims `exp`, `nbf` and `iat` of a token, in seconds since 1970. */
export interface TokenTimes {
  readonly expires: number | undefined;
  readonly notBefore: number | undefined;
  readonly issued: number | undefined;
}

/**
 * Returns the times of a token.
 *
 * @param errorPrefix first part of the error message.
 * @throws {StatusError} Unauthorized if one of the claims isn't a number.
 */
export function timesOf(claims: Claims, errorPrefix: string): TokenTimes {
  const time = (name: string): number | undefined => {
    const value = claim(claims, name);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw refusal(`${errorPrefix}: the claim ${JSON.stringify(name)} is not a number`);
    }
    return value;
  };
  return { expires: time("exp"), notBefore: time("nbf"), issued: time("iat") };
}

/**
 * Checks the times of a token against the clock.
 *
 * @throws {StatusError} Unauthorized if the token has expired, is not valid yet, or was issued in the future.
 */
export function checkTimes(times: TokenTimes, nowMs: number, leeway: Leeway, errorPrefix: string): void {
  const now = nowMs / 1000;
  const { expires, notBefore, issued } = times;
  if (expires !== undefined && now - leeway.expirySeconds > expires) {
    throw refusal(`${errorPrefix}: the token has expired`);
  }
  if (notBefore !== undefined && now + leeway.notBeforeSeconds < notBefore) {
    throw refusal(`${errorPrefix}: the token is not valid yet`);
  }
  if (issued !== undefined && now + leeway.notBeforeSeconds < issued) {
    throw refusal(`${errorPrefix}: the token was issued in the future`);
  }
}
