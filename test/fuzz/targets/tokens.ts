import { parseBootstrapToken } from "../../../src/authentication/bootstrap-token-secret.ts";
import {
  audienceClaim,
  checkTimes,
  parseClaims,
  timesOf,
  unverifiedClaims,
  unverifiedHeader,
} from "../../../src/authentication/jwt/claims.ts";
import { userOf } from "../../../src/authentication/oidc/claims-to-user.ts";
import { StatusError } from "../../../src/base/status-error.ts";
import { decodeContinueToken, encodeContinueToken } from "../../../src/kinds/insight/continue-token.ts";
import { decodeContinue, encodeContinue } from "../../../src/resources/reads/continue-token.ts";
import { parseResourceVersion } from "../../../src/resources/engine/resource-version.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { attempt, expectSame, textOf, type Target } from "../target.ts";

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const mapping = {
  usernameClaim: "email",
  usernamePrefix: "p",
  groupsClaim: "groups",
  groupsPrefix: "g",
  singleGroupClaim: true,
  requiredClaims: new Map([["hd", "x"]]),
};

/** Bearer tokens (JWT) and their claims. The payload is a JSON text, and the token is built from it, so that mutations reach it. */
export const tokenTarget: Target = {
  name: "token",
  files: ["src/authentication/jwt/claims.ts", "src/authentication/oidc/claims-to-user.ts"],
  seeds: [
    '{"iss":"https://a","sub":"b","aud":["c"],"exp":2000000000,"nbf":1,"iat":2,"email":"a@b","email_verified":true,"groups":["g"],"hd":"x"}',
    `${encoded({ alg: "RS256" })}.${encoded({ aud: "x", groups: "g" })}.c2ln`,
    '{"aud":"a","exp":1.5,"email":"a","groups":null,"hd":"x"}',
  ],
  dictionary: ['"aud":', '"exp":', '"groups":', "[", "]", "{", "}", ".", '"', "1e400", "null", "true"],
  run(bytes) {
    const text = textOf(bytes);
    unverifiedHeader(text);
    unverifiedClaims(text);
    const claims = attempt(() => parseClaims(text), SyntaxError);
    const token = `${encoded({})}.${Buffer.from(text).toString("base64url")}.c2ln`;
    expectSame(unverifiedClaims(token), claims, "the claims of a payload and of its token");
    if (claims === undefined) return;
    audienceClaim(claims);
    attempt(() => userOf(claims, mapping), StatusError);
    const times = attempt(() => timesOf(claims, "t"), StatusError);
    if (times === undefined) return;
    attempt(() => checkTimes(times, 1e12, { expirySeconds: 0, notBeforeSeconds: 0 }, "t"), StatusError);
  },
};

/** Bootstrap tokens in Secrets. */
export const bootstrapTokenTarget: Target = {
  name: "bootstrap-token",
  files: ["src/authentication/bootstrap-token-secret.ts"],
  seeds: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00", "true", ""],
  dictionary: ["T", "Z", "+00:00", "-", ":", "true"],
  maxBytes: 256,
  run(bytes) {
    const value = Buffer.from(bytes).toString("base64");
    const keys = ["token-id", "expiration", "usage-bootstrap-signing", "auth-extra-groups"];
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      type: `bootstrap.${platform.domain}/token`,
      data: Object.fromEntries(keys.map((key) => [key, value])),
    };
    const token = parseBootstrapToken(secret, platform);
    if (token === undefined) throw new Error("the Secret has no token");
    if (Number.isNaN(token.expiresAtMs)) throw new Error("the expiration is not a number");
  },
};

/** Tokens that continue lists, and resource versions: a decoded token, encoded again, is the same position. */
export const continueTokenTarget: Target = {
  name: "continue-token",
  files: [
    "src/kinds/insight/continue-token.ts",
    "src/resources/engine/resource-version.ts",
    "src/resources/reads/continue-token.ts",
  ],
  seeds: [
    '{"v":1,"rv":7,"after":"default/a","remaining":3}',
    '["User",null,"a"]',
    '["ServiceAccount","default","a"]',
    "123",
    "0",
  ],
  dictionary: ['"v":1', '"rv":', '"after":', "null", "[", "]", "9007199254740993", "-1"],
  maxBytes: 1024,
  run(bytes) {
    const text = textOf(bytes);
    attempt(() => parseResourceVersion(text), StatusError);
    for (const token of [text, Buffer.from(bytes).toString("base64url")]) {
      const point = attempt(() => decodeContinue(token), StatusError);
      if (point !== undefined)
        expectSame(decodeContinue(encodeContinue(point)), point, "positions in a list");
      const subject = decodeContinueToken(token);
      if (subject !== undefined)
        expectSame(decodeContinueToken(encodeContinueToken(subject)), subject, "subjects");
    }
  },
};
