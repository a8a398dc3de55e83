import { parseEmbeddedJson } from "../../base/json/embedded.ts";
import { refusal } from "../refusal.ts";

/** The claims of a token (RFC 7519 section 4), as JSON has them; nothing is known of their types. */
export type Claims = Readonly<Record<string, unknown>>;

/** The most characters of a token that is read: more than a header can hold. */
const maxTokenLength = 64 * 1024;

const form = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * The claims that a token in the form of a signed JWT makes, believed by nobody yet: only good for finding out who is
 * to verify it. Undefined for a token in another form.
 */
export function unverifiedClaims(token: string): Claims | undefined {
  return unverifiedPart(token, 1);
}

/** The header of such a token, as little to be believed. */
export function unverifiedHeader(token: string): Claims | undefined {
  return unverifiedPart(token, 0);
}

function unverifiedPart(token: string, index: 0 | 1): Claims | undefined {
  if (token.length > maxTokenLength || !form.test(token)) return undefined;
  try {
    return claimsIn(Buffer.from(token.split(".", 2)[index]!, "base64url").toString("utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Reads the payload of a token.
 *
 * @throws {SyntaxError} when it isn't JSON.
 */
export function claimsIn(payload: string): Claims | undefined {
  const value: unknown = parseEmbeddedJson(payload);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : undefined;
}

/** A claim, if the token itself makes it; what every object has is none. */
export function claim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** A claim that is a text; undefined when it isn't. */
export function textClaim(claims: Claims, name: string): string | undefined {
  const value = claim(claims, name);
  return typeof value === "string" ? value : undefined;
}

/** For whom a token is meant (RFC 7519 section 4.1.3): one text or several. Undefined when the claim is neither. */
export function audienceClaim(claims: Claims): readonly string[] | undefined {
  const value = claim(claims, "aud");
  if (value === undefined) return [];
  if (typeof value === "string") return [value];
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

/** How far the clock of whoever issues tokens may be off. */
export interface Leeway {
  /** A token is taken for so many seconds after it expired. */
  readonly expirySeconds: number;
  /** A token is taken so many seconds before it begins to hold. */
  readonly startSeconds: number;
}

/** The times of a token, in seconds since 1970. */
export interface TokenTimes {
  readonly expires: number | undefined;
  readonly notBefore: number | undefined;
  readonly issued: number | undefined;
}

/**
 * The times that a token names.
 *
 * @throws {StatusError} Unauthorized when one of them isn't a number.
 */
export function timesOf(claims: Claims, what: string): TokenTimes {
  const time = (name: string): number | undefined => {
    const value = claim(claims, name);
    if (value === undefined) return undefined;
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw refusal(`${what}: the claim ${JSON.stringify(name)} is not a number`);
    }
    return value;
  };
  return { expires: time("exp"), notBefore: time("nbf"), issued: time("iat") };
}

/**
 * Holds a token's times against the clock.
 *
 * @throws {StatusError} Unauthorized.
 */
export function checkTimes(times: TokenTimes, nowMs: number, leeway: Leeway, what: string): void {
  const now = nowMs / 1000;
  const { expires, notBefore, issued } = times;
  if (expires !== undefined && now - leeway.expirySeconds > expires) {
    throw refusal(`${what}: the token has expired`);
  }
  if (notBefore !== undefined && now + leeway.startSeconds < notBefore) {
    throw refusal(`${what}: the token is not valid yet`);
  }
  if (issued !== undefined && now + leeway.startSeconds < issued) {
    throw refusal(`${what}: the token was issued in the future`);
  }
}
