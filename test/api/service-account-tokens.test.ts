import { createPublicKey, createPrivateKey, createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createLocalJWKSet, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TokenRequest } from "../../src/kinds/authentication/token-request.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { openEnvelope, sealEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { claimsOf, ec, headerOf, jwt, privatePem, publicPem, rsa } from "../authentication/jwt-support.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { AUTHN, ManualClock, ok } from "./support.ts";
import { serverOptionsOf } from "../../src/server/options/library-options.ts";

const issuer = "https://issuer.example/tokens";
const signing = ec();
const older = rsa();
const folder = mkdtempSync(path.join(tmpdir(), "plinth-tokens-"));
const fileWith = (name: string, text: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
};
const clock = new ManualClock();
const accounts = "/api/v1/namespaces/default/serviceaccounts";
const podsPath = "/api/v1/namespaces/default/pods";
const secretsPath = "/api/v1/namespaces/default/secrets";
const REVIEWS = "/apis/authentication.platform.io/v1/tokenreviews";
const SELF = `${AUTHN}/selfsubjectreviews`;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({
    // It would delete Secrets whose account is gone: here the tokens in them are tested.
    enabledControllers: ["*", "-root-ca-cert-publisher", "-serviceaccount-token"],
    clock,
    runtimeConfig: "authentication.platform.io/v1alpha1",
    authentication: {
      apiAudiences: ["api", "api-2"],
      serviceAccounts: {
        issuers: [issuer, "https://old.example"],
        signingKeyFile: fileWith("signing.pem", privatePem(signing.privateKey)),
        keyFiles: [fileWith("older.pem", publicPem(older.publicKey))],
        maxExpirationMs: 24 * 3600 * 1000,
      },
    },
  });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const makeAccount = async (name: string): Promise<string> =>
  (await ok(server.admin.post(accounts, { metadata: { name } }))).body.metadata.uid as string;
const makePod = async (name: string, account: string): Promise<string> => {
  const spec = { serviceAccountName: account, containers: [{ name: "c", image: "i" }] };
  return (await ok(server.admin.post(podsPath, { metadata: { name }, spec }))).body.metadata.uid as string;
};
const request = (name: string, spec: object = {}): Promise<Answer> =>
  server.admin.post(`${accounts}/${name}/token`, { spec });
const tokenOf = async (name: string, spec: object = {}): Promise<string> =>
  (await ok(request(name, spec))).body.status.token as string;
const whoIs = (token: string): Promise<Answer> => server.as(token).post(SELF, {});
const review = async (token: string, audiences?: string[]) =>
  (await ok(server.admin.post(REVIEWS, { spec: { token, ...(audiences ? { audiences } : {}) } }))).body
    .status;
const nowSeconds = () => Math.floor(clock.now() / 1000);

describe("5.5 tokens on request", () => {
  it("C-5.5-01 C-5.5-05 C-5.5-06 C-5.5-07 a token of an account stands for the account", async () => {
    const uid = await makeAccount("robot");
    const { body, status } = await request("robot");
    expect(status).toBe(201);
    expect(body).toMatchObject({
      kind: "TokenRequest",
      apiVersion: "authentication.platform.io/v1",
      metadata: { name: "robot", namespace: "default" },
      spec: { audiences: ["api", "api-2"], expirationSeconds: 3600, boundObjectRef: null },
    });
    const { token, expirationTimestamp } = body.status;
    expect(Date.parse(expirationTimestamp)).toBe((nowSeconds() + 3600) * 1000);
    const claims = claimsOf(token);
    expect(claims).toEqual({
      iss: issuer,
      sub: "system:serviceaccount:default:robot",
      aud: ["api", "api-2"],
      iat: claims["iat"],
      nbf: claims["iat"],
      exp: Number(claims["iat"]) + 3600,
      "platform.io": { namespace: "default", serviceaccount: { name: "robot", uid } },
    });
    const der = createPublicKey(createPrivateKey(privatePem(signing.privateKey))).export({
      type: "spki",
      format: "der",
    });
    expect(headerOf(token)).toEqual({
      alg: "ES256",
      kid: createHash("sha256").update(der).digest("base64url"),
    });
    const { body: self } = await ok(whoIs(token));
    expect(self.status.userInfo).toEqual({
      username: "system:serviceaccount:default:robot",
      uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
  });

  it("C-4.7-05 a request in binary is answered in binary", async () => {
    await makeAccount("binary");
    const type = { apiVersion: "authentication.platform.io/v1", kind: "TokenRequest" };
    const message = encodeMessage(TokenRequest.type, {
      spec: { audiences: ["api"], expirationSeconds: 700 },
    });
    const media = "application/vnd.platform.protobuf";
    const { bytes, status } = await server.admin.ask("POST", `${accounts}/binary/token`, {
      raw: sealEnvelope(type, message),
      contentType: media,
      accept: media,
    });
    expect(status).toBe(201);
    const envelope = openEnvelope(bytes);
    const answer = decodeMessage(TokenRequest.type, envelope.message) as { status: { token: string } };
    const claims = claimsOf(answer.status.token);
    expect([envelope.kind, claims["aud"], Number(claims["exp"]) - Number(claims["iat"])]).toEqual([
      "TokenRequest",
      ["api"],
      700,
    ]);
  });

  it("C-5.5-07 an account that doesn't exist has no token", async () => {
    expect((await request("nobody")).status).toBe(404);
  });

  it("the time that is asked for is held to its bounds", async () => {
    await makeAccount("timed");
    const short = await request("timed", { expirationSeconds: 599 });
    expect([short.status, short.body.details.causes[0].field]).toEqual([422, "spec.expirationSeconds"]);
    const long = await ok(request("timed", { expirationSeconds: 48 * 3600 }));
    expect(long.body.spec.expirationSeconds).toBe(24 * 3600);
    expect(long.warnings).toEqual(["requested expiration of 172800 seconds shortened to 86400 seconds"]);
    const claims = claimsOf(long.body.status.token);
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(24 * 3600);
  });

  it("a token bound to a pod names it, and holds as long as the pod", async () => {
    await makeAccount("runner");
    const uid = await makePod("job", "runner");
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "job", uid };
    const token = await tokenOf("runner", { boundObjectRef });
    expect(claimsOf(token)["platform.io"]).toMatchObject({ pod: { name: "job", uid } });
    const { body } = await ok(whoIs(token));
    expect(body.status.userInfo.extra).toEqual({
      "authentication.platform.io/pod-name": ["job"],
      "authentication.platform.io/pod-uid": [uid],
    });
    await ok(server.admin.ask("DELETE", `${podsPath}/job`, { body: { gracePeriodSeconds: 0 } }));
    expect((await whoIs(token)).status).toBe(401);
    await makePod("job", "runner");
    const gone = await whoIs(token);
    expect([gone.status, gone.body.message]).toEqual([401, expect.stringContaining("pod default/job")]);
  });

  it("a token bound to a secret holds as long as the secret", async () => {
    await makeAccount("keeper");
    await ok(server.admin.post(secretsPath, { metadata: { name: "anchor" } }));
    const token = await tokenOf("keeper", { boundObjectRef: { kind: "Secret", name: "anchor" } });
    expect((await whoIs(token)).status).toBe(201);
    await ok(server.admin.delete(`${secretsPath}/anchor`));
    expect((await whoIs(token)).status).toBe(401);
  });

  it.each([
    ["a pod of another account", { kind: "Pod", name: "other" }, 400, "different serviceaccount"],
    ["a pod that isn't there", { kind: "Pod", name: "none" }, 404, "none"],
    ["another uid", { kind: "Pod", name: "own", uid: "x" }, 409, "UID"],
    ["another kind", { kind: "ConfigMap", name: "x" }, 400, "cannot bind token to object of type"],
    ["another group", { kind: "Pod", apiVersion: "x/v1", name: "own" }, 400, "cannot bind token"],
    ["no name", { kind: "Secret" }, 400, "boundObjectRef.name"],
  ])("no token is bound to %s", async (what, boundObjectRef, code, message) => {
    if (what === "a pod of another account") {
      await makeAccount("binder");
      await makeAccount("stranger");
      await makePod("own", "binder");
      await makePod("other", "stranger");
    }
    const { status, body } = await request("binder", { boundObjectRef });
    expect([status, body.message]).toEqual([code, expect.stringContaining(message)]);
  });

  it("a pod's token for the server holds longer than asked for, and its late use is counted", async () => {
    await makeAccount("agent");
    const uid = await makePod("long", "agent");
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "long", uid };
    const spec = { boundObjectRef, expirationSeconds: 3607, audiences: ["api"] };
    const claims = claimsOf(await tokenOf("agent", spec));
    const issued = Number(claims["iat"]);
    expect(claims["exp"]).toBe(issued + 365 * 24 * 3600);
    expect(claims["platform.io"]).toMatchObject({ warnafter: issued + 3607 });
    const elsewhere = claimsOf(await tokenOf("agent", { ...spec, audiences: ["vault"] }));
    expect(Number(elsewhere["exp"]) - Number(elsewhere["iat"])).toBe(3607);
  });

  it("whoever may create accounts' tokens needs the right to do so", async () => {
    await makeAccount("plain");
    const token = await tokenOf("plain");
    const { status } = await server.as(token).post(`${accounts}/robot/token`, { spec: {} });
    expect(status).toBe(403);
  });
});

describe("5.5 what a token needs to be believed", () => {
  it("C-5.5-04 the account must be there, and be the same one", async () => {
    await makeAccount("fleeting");
    const token = await tokenOf("fleeting");
    expect((await whoIs(token)).status).toBe(201);
    await ok(server.admin.delete(`${accounts}/fleeting`));
    expect((await whoIs(token)).status).toBe(401);
    await makeAccount("fleeting");
    const { status, body } = await whoIs(token);
    expect([status, body.reason, body.message]).toEqual([
      401,
      "Unauthorized",
      expect.stringContaining("has been recreated with another uid"),
    ]);
  });

  it("C-5.5-04 an account that waits for its finalizers is believed for a minute more", async () => {
    const kept = { metadata: { name: "dying", finalizers: ["example.com/wait"] } };
    await ok(server.admin.post(accounts, kept));
    const token = await tokenOf("dying", { expirationSeconds: 7200 });
    await ok(server.admin.delete(`${accounts}/dying`));
    await clock.advance(50_000);
    expect((await whoIs(token)).status).toBe(201);
    await clock.advance(15_000);
    expect((await whoIs(token)).status).toBe(401);
  });

  it("it must not have expired; clocks may differ by a minute", async () => {
    await makeAccount("late");
    const token = await tokenOf("late", { expirationSeconds: 600 });
    await clock.advance(659_000);
    expect((await whoIs(token)).status).toBe(201);
    await clock.advance(3000);
    const { status, body } = await whoIs(token);
    expect([status, body.message]).toEqual([401, expect.stringContaining("expired")]);
  });

  it("it must be meant for this server, or for whom a TokenReview asks", async () => {
    await makeAccount("voyager");
    const foreign = await tokenOf("voyager", { audiences: ["vault"] });
    expect((await whoIs(foreign)).status).toBe(401);
    expect(await review(foreign)).toMatchObject({ error: expect.stringContaining("other audiences") });
    expect(await review(foreign, ["vault", "x"])).toMatchObject({
      authenticated: true,
      audiences: ["vault"],
      user: { username: "system:serviceaccount:default:voyager" },
    });
    const own = await tokenOf("voyager");
    expect(await review(own)).toMatchObject({ authenticated: true, audiences: ["api", "api-2"] });
    expect(await review(own, ["api-2"])).toMatchObject({ authenticated: true, audiences: ["api-2"] });
    expect((await review(own, ["vault"])).authenticated).toBeUndefined();
  });

  it("C-5.5-02 keys of a file and issuers of before are believed", async () => {
    const uid = await makeAccount("ancient");
    const claims = {
      iss: "https://old.example",
      sub: "system:serviceaccount:default:ancient",
      aud: ["api"],
      exp: nowSeconds() + 100,
      "platform.io": { namespace: "default", serviceaccount: { name: "ancient", uid } },
    };
    for (const alg of ["RS256", "RS512"]) {
      expect((await whoIs(jwt({ alg }, claims, older.privateKey))).status).toBe(201);
    }
  });
});

describe("5.5 attacks", () => {
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

  it("the token itself is good", async () => {
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

  it("what is signed but no claims is refused", async () => {
    await refused(jwt({ alg: "ES256" }, "[]", signing.privateKey));
    await refused(jwt({ alg: "ES256" }, "{", signing.privateKey));
  });
});

describe("5.5 tokens that lie in Secrets", () => {
  const legacy = (uid: string, changes: object = {}) =>
    jwt(
      { alg: "RS256" },
      {
        iss: "platform/serviceaccount",
        sub: "system:serviceaccount:default:elder",
        "platform.io/serviceaccount/namespace": "default",
        "platform.io/serviceaccount/secret.name": "elder-token",
        "platform.io/serviceaccount/service-account.name": "elder",
        "platform.io/serviceaccount/service-account.uid": uid,
        ...changes,
      },
      older.privateKey,
    );
  const keep = (token: string) =>
    server.admin.post(secretsPath, {
      metadata: { name: "elder-token", annotations: { "platform.io/service-account.name": "elder" } },
      type: "platform.io/service-account-token",
      stringData: { token },
    });

  it("C-5.5-04 hold as long as the Secret holds them and the account is there", async () => {
    const uid = await makeAccount("elder");
    const token = legacy(uid);
    expect((await whoIs(token)).status).toBe(401);
    await ok(keep(token));
    const { body } = await ok(whoIs(token));
    expect(body.status.userInfo).toEqual({
      username: "system:serviceaccount:default:elder",
      uid,
      groups: ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    expect(await review(token)).toMatchObject({ authenticated: true, audiences: ["api", "api-2"] });
    expect((await review(token, ["vault"])).authenticated).toBeUndefined();
    const stringData = { token: "another" };
    await ok(server.admin.patch(`${secretsPath}/elder-token`, { stringData }));
    expect((await whoIs(token)).status).toBe(401);
    await ok(server.admin.patch(`${secretsPath}/elder-token`, { stringData: { token } }));
    expect((await whoIs(token)).status).toBe(201);
    await ok(server.admin.delete(`${accounts}/elder`));
    expect((await whoIs(token)).status).toBe(401);
    await makeAccount("elder");
    expect((await whoIs(token)).status).toBe(401);
    await ok(server.admin.delete(`${secretsPath}/elder-token`));
    expect((await whoIs(token)).status).toBe(401);
  });

  it.each([
    ["no namespace", { "platform.io/serviceaccount/namespace": undefined }],
    ["no Secret", { "platform.io/serviceaccount/secret.name": "" }],
    ["another subject", { sub: "system:serviceaccount:default:robot" }],
  ])("with %s are refused", async (_what, changes) => {
    const { body } = await server.admin.get(`${accounts}/elder`);
    expect((await whoIs(legacy(body.metadata.uid, changes))).status).toBe(401);
  });

  it("C-5.5-04 hold without their Secret where nobody looks", async () => {
    const keyFiles = [fileWith("older-2.pem", publicPem(older.publicKey))];
    const lax = await TestServer.start({
      authentication: { serviceAccounts: { lookup: false, keyFiles } },
    });
    try {
      const status = await lax.admin.post(REVIEWS, { spec: { token: legacy("any") } });
      expect(status.body.status).toMatchObject({ authenticated: true, user: { uid: "any" } });
    } finally {
      await lax.close();
    }
  });
});

describe("5.5 keys", () => {
  it("others verify tokens with the documents that are served to those who may read them", async () => {
    await makeAccount("reader");
    const token = await tokenOf("reader", { audiences: ["api"] });
    const reader = server.as(token);
    const configuration = await ok(reader.get("/.well-known/openid-configuration"));
    expect(configuration.headers["content-type"]).toBe("application/json");
    expect(configuration.headers["cache-control"]).toBe("public, max-age=3600");
    expect(configuration.body).toEqual({
      issuer,
      jwks_uri: `${issuer}/openid/v1/jwks`,
      response_types_supported: ["id_token"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256", "RS256"],
    });
    const keys = await ok(reader.get("/openid/v1/jwks"));
    expect(keys.headers["content-type"]).toBe("application/jwk-set+json");
    expect(JSON.stringify(keys.body)).not.toContain('"d":');
    const set = createLocalJWKSet(JSON.parse(keys.text));
    const currentDate = new Date(clock.now());
    const { payload } = await jwtVerify(token, set, { issuer, audience: "api", currentDate });
    expect(payload.sub).toBe("system:serviceaccount:default:reader");
    expect((await server.as(undefined).get("/openid/v1/jwks")).status).toBe(403);
  });

  it("without key files the server makes a key, keeps it to itself and uses it again", async () => {
    const dataFolder = mkdtempSync(path.join(tmpdir(), "plinth-own-key-"));
    const { serviceAccountKeys } = await import("../../src/server/authentication/service-account-tokens.ts");
    const options = { ...serverOptionsOf({}), certificateFolder: dataFolder };
    try {
      const all = await Promise.all(Array.from({ length: 5 }, () => serviceAccountKeys(options)));
      all.push(await serviceAccountKeys(options));
      const ids = new Set(all.flatMap(({ keys }) => keys.map(({ id }) => id)));
      expect(ids.size).toBe(1);
      expect(statSync(path.join(dataFolder, "service-accounts.key")).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(dataFolder, { recursive: true, force: true });
    }
  });

  it.each([
    [
      { keyFiles: ["/nowhere/x.pem"] },
      "authentication.serviceAccounts.keyFiles /nowhere/x.pem: the file doesn't exist",
    ],
    [{ signingKeyFile: "/nowhere/x.pem" }, "authentication.serviceAccounts.signingKeyFile /nowhere/x.pem"],
    [{ maxExpirationMs: 60_000 }, "authentication.serviceAccounts.maxExpirationMs"],
    [{ issuers: ["http://["] }, "authentication.serviceAccounts.issuers"],
    [{ jwksUri: "http://keys.example" }, "authentication.serviceAccounts.jwksUri"],
  ])("a start with %j is refused", async (serviceAccounts, message) => {
    await expect(TestServer.start({ authentication: { serviceAccounts } })).rejects.toThrow(message);
  });
});

describe("5.5 the issuer's documents", () => {
  it.each<[string, string[], string | undefined, string | number]>([
    [
      "below an issuer with a path",
      ["https://one.example/a/"],
      undefined,
      "https://one.example/a/openid/v1/jwks",
    ],
    ["elsewhere", ["https://one.example"], "https://keys.example/k", "https://keys.example/k"],
    ["nowhere for an issuer that is no URL", ["plain"], undefined, 404],
    ["nowhere for an issuer without TLS", ["http://one.example"], undefined, 404],
    ["nowhere for an issuer with a query", ["https://one.example?a"], undefined, 404],
  ])("say that the keys are %s", async (_what, issuers, jwksUri, expected) => {
    const one = await TestServer.start({ authentication: { serviceAccounts: { issuers, jwksUri } } });
    try {
      const { status, body } = await one.admin.get("/.well-known/openid-configuration");
      expect(status === 200 ? body.jwks_uri : status).toBe(expected);
    } finally {
      await one.close();
    }
  });

  it("without an issuer the server has a name of its own", async () => {
    const one = await TestServer.start({ vocabulary: "kubernetes" });
    try {
      const { body } = await ok(one.admin.get("/.well-known/openid-configuration"));
      expect(body.issuer).toBe("https://kubernetes.default.svc.cluster.local");
    } finally {
      await one.close();
    }
  });
});
