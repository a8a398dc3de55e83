import { labelKey } from "../../vocabulary/names.ts";
import { createHash, createHmac, hkdfSync, timingSafeEqual, type KeyObject } from "node:crypto";
import type { Clock } from "../../base/time/clock.ts";
import type { UserInfo } from "../../base/user-info.ts";
import type { AuthenticationResult, Authenticator, Credentials } from "../authenticator.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { bearerToken } from "../bearer-token.ts";
import { refusal } from "../refusal.ts";

/** First characters of a token, which no other kind of token has. */
const prefix = "console.";
/** How long a token is valid. */
const lifeMs = 60 * 60 * 1000;
/** Tokens of this server are shorter, because names and groups of administrators are. */
const maxTokenLength = 8192;

/** First characters of the credential id of a session; those of certificates and of service account tokens have others. */
const idPrefix = "CONSOLE=";

/** A new session. */
export interface IssuedSession {
  readonly token: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** The user as the token authenticates them. */
  readonly user: UserInfo;
}

/** What a token says. */
interface SessionClaims {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/**
 * Tokens of sessions of the console that began with a one-time code. A token is the user and the time of expiry, with a message
 * authentication code. Its key is derived from the signing key of service accounts, so that every process of the server accepts it.
 */
export class SessionTokens implements Authenticator {
  private readonly key: Buffer;

  private readonly credentialIdKey: string;

  /** @param signingKey the private key of service account tokens. */
  constructor(
    signingKey: KeyObject,
    private readonly clock: Clock,
    { domain }: Vocabulary,
  ) {
    this.credentialIdKey = labelKey(domain, "credential-id", "authentication");
    const secret = signingKey.export({ type: "pkcs8", format: "der" });
    this.key = Buffer.from(hkdfSync("sha256", secret, "", "sessions of the console", 32));
  }

  /** Begins a session of a user. */
  issue({ name, uid, groups }: UserInfo): IssuedSession {
    const expires = this.clock.now() + lifeMs;
    const claims: SessionClaims = { name, uid, groups, expires };
    const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
    const token = `${prefix}${text}.${this.codeOf(text).toString("base64url")}`;
    return { token, expires, user: this.userOf(claims, text) };
  }

  /** Whether a user was authenticated by the token of a session, however the request sent it. */
  isSession({ extra }: UserInfo): boolean {
    return extra[this.credentialIdKey]?.some((id) => id.startsWith(idPrefix)) === true;
  }

  /** The user of a session; the credential id distinguishes its requests from those with the user's own credentials. */
  private userOf({ name, uid, groups }: SessionClaims, text: string): UserInfo {
    const id = createHash("sha256").update(text).digest("base64url").slice(0, 16);
    return { name, uid, groups, extra: { [this.credentialIdKey]: [`${idPrefix}${id}`] } };
  }

  authenticate({ authorization, audiences }: Credentials): AuthenticationResult | undefined {
    const token = bearerToken(authorization);
    if (token === undefined || !token.startsWith(prefix) || audiences !== undefined) return undefined;
    const parts = token.length > maxTokenLength ? [] : token.slice(prefix.length).split(".");
    const [text = "", code = ""] = parts;
    const actual = Buffer.from(code, "base64url");
    const expected = this.codeOf(text);
    if (parts.length !== 2 || actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
      throw refusal("the token of the console is invalid");
    }
    const claims = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as SessionClaims;
    if (this.clock.now() >= claims.expires) throw refusal("the session of the console has expired");
    return { user: this.userOf(claims, text), method: "console", cacheable: false };
  }

  private codeOf(text: string): Buffer {
    return createHmac("sha256", this.key).update(text).digest();
  }
}
