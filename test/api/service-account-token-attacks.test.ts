import { beforeAll, describe, expect, it } from "vitest";
import { claimsOf, ec, headerOf, jwt, publicPem } from "../authentication/jwt-support.ts";
import { issuer, signing, older, useTokenServer } from "./service-account-support.ts";

const { makeAccount, tokenOf, whoIs, review, nowSeconds } = useTokenServer();

describe("5.5 attacks on service account tokens", () => {
  let good: string;
  let claims: Record<string, unknown>;
  beforeAll(async () => {
    await makeAccount("victim");
    good = await tokenOf("victim", { expirationSeconds: 24 * 3600 });
    claims = claimsOf(good);
  });
  const refused = async (token: string) => {
    const { status, body } = await whoIs(token);
    expect([status, body?.reason]).toEqual([401, "Unauthorized"]);
    expect((await review(token)).authenticated).toBeUndefined();
  };
  const spki = () => publicPem(older.publicKey);

  it("the unmodified token is accepted", async () => {
    expect((await whoIs(good)).status).toBe(201);
  });

  it.each<[string, () => string]>([
    ["no signature", () => jwt({ alg: "none" }, claims, undefined)],
    ["no signature, other case", () => jwt({ alg: "nOnE" }, claims, undefined)],
    ["no signature, but a part for it", () => `${jwt({ alg: "none" }, claims, undefined)}AA`],
    ["another key", () => jwt({ alg: "ES256" }, claims, ec().privateKey)],
    [
      "another key under the known name",
      () => jwt({ ...headerOf(good), alg: "ES256" }, claims, ec().privateKey),
    ],
    [
      "a key that the token brings",
      () => {
        const own = ec();
        return jwt({ alg: "ES256", jwk: own.publicKey.export({ format: "jwk" }) }, claims, own.privateKey);
      },
    ],
    ["the RSA public key as a shared secret", () => jwt({ alg: "HS256" }, claims, Buffer.from(spki()))],
    [
      "the public key's DER as a shared secret",
      () => jwt({ alg: "HS512" }, claims, older.publicKey.export({ type: "spki", format: "der" })),
    ],
    ["an empty shared secret", () => jwt({ alg: "HS256" }, claims, Buffer.alloc(0))],
    [
      "an algorithm of another sort of key",
      () => jwt({ alg: "RS256", kid: headerOf(good)["kid"] }, claims, ec().privateKey),
    ],
    [
      "a critical extension that nobody knows",
      () => jwt({ alg: "ES256", crit: ["x"], x: 1 }, claims, signing.privateKey),
    ],
    [
      "a payload that isn't encoded",
      () => jwt({ alg: "ES256", crit: ["b64"], b64: false }, claims, signing.privateKey),
    ],
    [
      "an algorithm that is no text",
      () =>
        jwt({ alg: "ES256" }, claims, signing.privateKey).replace(
          /^[^.]+/,
          Buffer.from('{"alg":["ES256"]}').toString("base64url"),
        ),
    ],
    [
      "a changed claim",
      () => {
        const [header, , signature] = good.split(".");
        const changed = { ...claims, sub: "system:serviceaccount:default:robot" };
        return `${header}.${Buffer.from(JSON.stringify(changed)).toString("base64url")}.${signature}`;
      },
    ],
    ["the end cut off", () => good.slice(0, -4)],
    ["the signature cut off", () => good.slice(0, good.lastIndexOf("."))],
    ["an empty signature", () => good.slice(0, good.lastIndexOf(".") + 1)],
    [
      "a signature of zeros",
      () => `${good.slice(0, good.lastIndexOf("."))}.${Buffer.alloc(64).toString("base64url")}`,
    ],
    ["a part too many", () => `${good}.x`],
    ["a header that is huge", () => jwt({ alg: "ES256", kid: "k".repeat(12_000) }, claims, ec().privateKey)],
    [
      "an issuer that isn't known",
      () => jwt({ alg: "ES256" }, { ...claims, iss: "https://evil.example" }, signing.privateKey),
    ],
    ["no issuer", () => jwt({ alg: "ES256" }, { ...claims, iss: undefined }, signing.privateKey)],
    ["another issuer's form", () => jwt({ alg: "ES256" }, { ...claims, iss: [issuer] }, signing.privateKey)],
  ])("a token with %s is refused", async (_what, token) => {
    await refused(token());
  });

  it.each<[string, (good: Record<string, unknown>) => object]>([
    ["has expired", (good) => ({ ...good, exp: nowSeconds() - 61 })],
    ["has no expiry", (good) => ({ ...good, exp: undefined })],
    ["expires at a text", (good) => ({ ...good, exp: "9999999999" })],
    ["begins later", (good) => ({ ...good, nbf: nowSeconds() + 120 })],
    ["was issued in the future", (good) => ({ ...good, iat: nowSeconds() + 120 })],
    ["is meant for a number", (good) => ({ ...good, aud: 7 })],
    ["is meant for others", (good) => ({ ...good, aud: ["x"] })],
    [
      "is for thousands of others",
      (good) => ({ ...good, aud: Array.from({ length: 1000 }, (_, n) => `a${n}`) }),
    ],
    ["names no account", (good) => ({ ...good, "platform.io": {} })],
    ["has no claims of its own", (good) => ({ ...good, "platform.io": undefined })],
    ["has a list of claims", (good) => ({ ...good, "platform.io": [] })],
    [
      "has a subject that is another account",
      (good) => ({ ...good, sub: "system:serviceaccount:default:robot" }),
    ],
    [
      "names an account that is a path",
      (good) => ({
        ...good,
        sub: "system:serviceaccount:default:../x",
        "platform.io": { namespace: "default", serviceaccount: { name: "../x", uid: "u" } },
      }),
    ],
    [
      "has no uid",
      (good) => ({
        ...good,
        "platform.io": { namespace: "default", serviceaccount: { name: "victim" } },
      }),
    ],
    [
      "has a pod without a uid",
      (good) => ({
        ...good,
        "platform.io": { ...(good["platform.io"] as object), pod: { name: "x" } },
      }),
    ],
  ])("a signed token that %s is refused", async (_what, change) => {
    await refused(jwt({ alg: "ES256" }, change(claims), signing.privateKey));
  });

  it("a signed payload that isn't a JSON object is refused", async () => {
    await refused(jwt({ alg: "ES256" }, "[]", signing.privateKey));
    await refused(jwt({ alg: "ES256" }, "{", signing.privateKey));
  });
});
