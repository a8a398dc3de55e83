import { createPublicKey, createPrivateKey, createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { TokenRequest } from "../../src/kinds/authentication/token-request.ts";
import { decodeMessage } from "../../src/schema/protobuf/decode-message.ts";
import { encodeMessage } from "../../src/schema/protobuf/encode-message.ts";
import { openEnvelope, sealEnvelope } from "../../src/schema/protobuf/envelope.ts";
import { claimsOf, headerOf, jwt, privatePem } from "../authentication/jwt-support.ts";
import { ok, rejectionOf } from "./support.ts";
import {
  issuer,
  signing,
  older,
  accounts,
  secretsPath,
  podsPath,
  useTokenServer,
} from "./service-account-support.ts";

const { clock, server, makeAccount, makePod, request, tokenOf, whoIs, review, nowSeconds } = useTokenServer();

describe("5.5 requested tokens", () => {
  it("C-5.5-01 C-5.5-05 C-5.5-06 C-5.5-07 a token authenticates as its service account", async () => {
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

  it("C-4.7-05 a binary token request gets a binary response", async () => {
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

  it("C-5.5-07 a token request for a missing account is 404", async () => {
    expect((await request("nobody")).status).toBe(404);
  });

  it("expirationSeconds below the minimum is 422, above the maximum is reduced", async () => {
    await makeAccount("timed");
    const short = await request("timed", { expirationSeconds: 599 });
    expect([short.status, short.body.details.causes[0].field]).toEqual([422, "spec.expirationSeconds"]);
    const long = await ok(request("timed", { expirationSeconds: 48 * 3600 }));
    expect(long.body.spec.expirationSeconds).toBe(24 * 3600);
    expect(long.warnings).toEqual(["requested expiration of 172800 seconds shortened to 86400 seconds"]);
    const claims = claimsOf(long.body.status.token);
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(24 * 3600);
  });

  it("a token bound to a pod has the pod's claims, and is valid as long as the pod exists", async () => {
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
    expect(await rejectionOf(server, token)).toContain("pod default/job");
  });

  it("a token bound to a secret is valid as long as the secret exists", async () => {
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
  ])("a token can't be bound to %s", async (what, boundObjectRef, code, message) => {
    if (what === "a pod of another account") {
      await makeAccount("binder");
      await makeAccount("stranger");
      await makePod("own", "binder");
      await makePod("other", "stranger");
    }
    const { status, body } = await request("binder", { boundObjectRef });
    expect([status, body.message]).toEqual([code, expect.stringContaining(message)]);
  });

  it("a pod's token for the server has an extended lifetime, and use after the requested time is counted", async () => {
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

  it("creating a token needs the permission to create serviceaccounts/token", async () => {
    await makeAccount("plain");
    const token = await tokenOf("plain");
    const { status } = await server.as(token).post(`${accounts}/robot/token`, { spec: {} });
    expect(status).toBe(403);
  });
});

describe("5.5 validation of a token", () => {
  it("C-5.5-04 the account must exist and have the uid of the token", async () => {
    await makeAccount("fleeting");
    const token = await tokenOf("fleeting");
    expect((await whoIs(token)).status).toBe(201);
    await ok(server.admin.delete(`${accounts}/fleeting`));
    expect((await whoIs(token)).status).toBe(401);
    await makeAccount("fleeting");
    expect(await rejectionOf(server, token)).toContain("has been recreated with another uid");
  });

  it("C-5.5-04 the token of a terminating account is accepted for one more minute", async () => {
    const kept = { metadata: { name: "dying", finalizers: ["example.com/wait"] } };
    await ok(server.admin.post(accounts, kept));
    const token = await tokenOf("dying", { expirationSeconds: 7200 });
    await ok(server.admin.delete(`${accounts}/dying`));
    await clock.advance(50_000);
    expect((await whoIs(token)).status).toBe(201);
    await clock.advance(15_000);
    expect((await whoIs(token)).status).toBe(401);
  });

  it("the token must not be expired, with a tolerance of one minute", async () => {
    await makeAccount("late");
    const token = await tokenOf("late", { expirationSeconds: 600 });
    await clock.advance(659_000);
    expect((await whoIs(token)).status).toBe(201);
    await clock.advance(3000);
    expect(await rejectionOf(server, token)).toContain("expired");
  });

  it("the token must have an audience of this server or of the TokenReview", async () => {
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

  it("C-5.5-02 keys of a file and former issuers are accepted", async () => {
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
