import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { optionsOfFlags } from "../support/serve-options.ts";
import type { OidcOptions } from "../../src/server/options/option-types.ts";
import { rsa } from "../authentication/jwt-support.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { ok, until } from "./support.ts";
import { first, second, curve, shared, useOidcServer } from "./oidc-support.ts";

const { oidc, folder, respond, start, another, token, whoIs, nameOf, refused } = useOidcServer();

describe("5.6 flags", () => {
  it("C-5.6-09 C-5.6-10 usernameClaim selects the claim with the user name", async () => {
    const on = await another({ usernameClaim: "login" });
    expect(await nameOf(token({ login: "ann-1" }), on)).toBe(`${oidc.issuer}#ann-1`);
  });

  it("C-5.6-11 an email has no prefix, and must not be unverified", async () => {
    const on = await another({ usernameClaim: "email" });
    const email = "ann@example.com";
    expect(await nameOf(token({ email }), on)).toBe(email);
    expect(await nameOf(token({ email, email_verified: true }), on)).toBe(email);
    for (const email_verified of [false, "true", null, 1]) {
      await refused(token({ email, email_verified }), "not verified", on);
    }
  });

  it("C-5.6-10 C-5.6-12 usernamePrefix replaces or removes the prefix", async () => {
    expect(await nameOf(token(), await another({ usernamePrefix: "oidc:" }))).toBe("oidc:ann");
    expect(await nameOf(token(), await another({ usernamePrefix: "-" }))).toBe("ann");
    const email = { email: "ann@example.com" };
    const on = await another({ usernameClaim: "email", usernamePrefix: "p:" });
    expect(await nameOf(token(email), on)).toBe("p:ann@example.com");
  });

  it("C-5.6-13 C-5.6-14 groupsClaim selects the groups and groupsPrefix their prefix", async () => {
    const on = await another({ groupsClaim: "roles", groupsPrefix: "oidc:" });
    const groupsOf = async (roles: unknown) =>
      (await ok(whoIs(token({ roles }), on))).body.status.userInfo.groups as string[];
    const own = "system:authenticated";
    expect(await groupsOf(["dev", "ops"])).toEqual(["oidc:dev", "oidc:ops", own]);
    expect(await groupsOf([])).toEqual([own]);
    expect(await groupsOf(undefined)).toEqual([own]);
    const many = Array.from({ length: 1000 }, (_, n) => `g${n}`);
    expect(await groupsOf(many)).toHaveLength(1001);
    for (const roles of [{ a: "b" }, [["x"]], 7, null, "dev"]) {
      await refused(token({ roles }), "is not an array of strings", on);
    }
    expect((await ok(whoIs(token({ groups: ["x"] })))).body.status.userInfo.groups).toEqual([own]);
  });

  it("C-5.6-15 a token must have all required claims", async () => {
    const on = await another({ requiredClaims: ["hd=example.com", "level=a=b"] });
    expect((await whoIs(token({ hd: "example.com", level: "a=b" }), on)).status).toBe(201);
    await refused(token({ hd: "example.com" }), '"level"', on);
    await refused(token({ hd: "evil.com", level: "a=b" }), '"hd"', on);
    await refused(token({ hd: ["example.com"], level: "a=b" }), '"hd"', on);
  });

  it("C-5.6-17 signingAlgorithms selects other algorithms", async () => {
    const on = await another({ signingAlgorithms: ["ES256"] });
    expect((await whoIs(token({}, { alg: "ES256", kid: "c" }, curve.privateKey), on)).status).toBe(201);
    await refused(token(), "signature", on);
  });

  it.each<[string, Partial<OidcOptions>, string]>([
    ["C-5.6-06 a URL that isn't https", { issuerUrl: "http://127.0.0.1" }, "authentication.oidc.issuerUrl"],
    ["C-5.6-06 what is no URL", { issuerUrl: "issuer" }, "authentication.oidc.issuerUrl"],
    ["C-5.6-06 a URL with a query", { issuerUrl: "https://x?y" }, "authentication.oidc.issuerUrl"],
    ["C-5.6-08 no client", { clientId: "" }, "authentication.oidc.clientId"],
    ["C-5.6-15 a claim without a value", { requiredClaims: ["hd"] }, "authentication.oidc.requiredClaims"],
    ["a file that isn't there", { caFile: "/nowhere/ca.pem" }, "authentication.oidc.caFile"],
    [
      "C-5.6-17 an algorithm with a shared secret",
      { signingAlgorithms: ["HS256"] },
      "authentication.oidc.signingAlgorithms",
    ],
    ["C-5.6-17 no algorithm", { signingAlgorithms: [] }, "authentication.oidc.signingAlgorithms"],
  ])("a start with %s is refused", async (_what, changes, message) => {
    await expect(start(changes)).rejects.toThrow(message);
  });

  it("C-5.6-05 the start fails when the CA file has a certificate that isn't of a CA", async () => {
    const file = path.join(folder, "leaf.pem");
    writeFileSync(file, oidc.provider.clientCertificate("leaf").certificate);
    await expect(start({ caFile: file })).rejects.toThrow("is not that of an authority");
  });

  const flags = async (...words: string[]) => (await optionsOfFlags(...words)).authentication;
  it.each([
    ["--oidc-issuer-url=https://x", "--oidc-issuer-url needs --oidc-client-id"],
    ["--oidc-client-id=x", "--oidc-client-id needs --oidc-issuer-url"],
    ["--oidc-groups-claim=x", "--oidc-groups-claim needs --oidc-issuer-url"],
  ])("C-5.6-06 C-5.6-08 the start fails with %s alone", async (flag, message) => {
    await expect(flags(flag)).rejects.toThrow(message);
  });

  it("C-5.6-06 C-5.6-08 there is no provider without the flags", async () => {
    expect((await flags()).oidc).toBeUndefined();
  });

  it("C-5.6-09 C-5.6-10 C-5.6-15 C-5.6-17 the flags have defaults, and list flags can be repeated", async () => {
    const words = ["--oidc-issuer-url=https://x", "--oidc-client-id=c"];
    expect((await flags(...words)).oidc).toMatchObject({
      usernameClaim: "sub",
      usernamePrefix: undefined,
      groupsClaim: undefined,
      groupsPrefix: "",
      requiredClaims: [],
      signingAlgorithms: ["RS256"],
    });
    const { oidc: claimed } = await flags(
      ...words,
      "--oidc-required-claim=a=b",
      "--oidc-required-claim",
      "c=d",
    );
    expect(claimed!.requiredClaims).toEqual(["a=b", "c=d"]);
  });
});

describe("5.6 the provider", () => {
  it("C-5.6-07 rotates its keys: new keys are accepted, old ones expire", async () => {
    const on = await another({});
    expect((await whoIs(token(), on)).status).toBe(201);
    await oidc.clock.advance(5000);
    oidc.published = [shared(second.publicKey, { kid: "2" })];
    expect((await whoIs(token({}, { kid: "2" }, second.privateKey), on)).status).toBe(201);
    await refused(token({ jti: "new" }), "signature", on);
    await oidc.clock.advance(5000);
    oidc.published = [shared(first.publicKey, { kid: "2" })];
    expect((await whoIs(token({ jti: "same name" }, { kid: "2" }), on)).status).toBe(201);
  });

  it("is asked for keys at a limited rate, whatever tokens arrive", async () => {
    const on = await another({});
    await whoIs(token(), on);
    await oidc.clock.advance(5000);
    oidc.provider.received.length = 0;
    for (let n = 0; n < 10; n++) await whoIs(token({}, { kid: `made-up-${n}` }, second.privateKey), on);
    expect(oidc.provider.received.filter(({ path: at }) => at === "/keys")).toHaveLength(1);
  });

  it("a revoked key is rejected within minutes, and keys remain valid while the provider is unreachable", async () => {
    const on = await another({});
    expect((await whoIs(token(), on)).status).toBe(201);
    oidc.extraReply = () => ({ status: 503, body: "" });
    await oidc.clock.advance(11 * 60_000);
    expect((await whoIs(token(), on)).status).toBe(201);
    oidc.extraReply = () => undefined;
    oidc.published = [shared(second.publicKey, { kid: "2" })];
    await oidc.clock.advance(11 * 60_000);
    await refused(token(), "signature", on);
  });

  it("may be unreachable when the server starts", async () => {
    oidc.extraReply = () => ({ status: 503, body: "" });
    const on = await another({});
    await until(
      () => oidc.provider.received.length,
      (count) => count > 0,
    );
    await refused(token(), "keys of the provider are not available", on);
    expect((await on.admin.get("/api")).status).toBe(200);
    oidc.extraReply = () => undefined;
    await oidc.clock.advance(1500);
    expect((await whoIs(token(), on)).status).toBe(201);
  });

  it.each<[string, Reply]>([
    [
      "is for another issuer",
      { body: { issuer: "https://other.example", jwks_uri: "https://127.0.0.1/keys" } },
    ],
    ["names keys without TLS", { body: { issuer: "", jwks_uri: "http://127.0.0.1/keys" } }],
    ["is no JSON", { body: "<html>" }],
    ["is a list", { body: "[]" }],
    ["is too long", { body: JSON.stringify("x".repeat(1024 * 1024)) }],
    ["is elsewhere", { status: 302, headers: { location: "/keys" }, body: "" }],
  ])("is not trusted when its configuration %s", async (_what, reply) => {
    oidc.extraReply = ({ path: at }) => {
      if (!at.includes("well-known")) return undefined;
      const body = reply.body as { issuer?: string };
      return body.issuer === "" ? { body: { ...body, issuer: oidc.issuer } } : reply;
    };
    await refused(token(), "keys of the provider are not available", await another({}));
  });

  it.each<[string, () => object[]]>([
    ["for encryption", () => [shared(first.publicKey, { kid: "1", use: "enc" })]],
    ["for another algorithm", () => [shared(first.publicKey, { kid: "1", alg: "RS512" })]],
    ["that are shared secrets", () => [{ kty: "oct", k: "eA", kid: "1" }]],
    ["that can't be read", () => [{ kty: "RSA", n: "!", e: "AQAB", kid: "1" }]],
    ["that are too short", () => [shared(rsa1024().publicKey, { kid: "1" })]],
  ])("keys %s verify no token", async (_what, keys) => {
    oidc.published = keys();
    await refused(token(), "signature", await another({}));
  });

  it("C-5.6-05 must have a certificate of the configured CA", async () => {
    const stranger = await HttpsService.start(respond);
    try {
      const on = await another({ issuerUrl: `${stranger.url}/realm` });
      await refused(token({ iss: `${stranger.url}/realm` }), "keys of the provider are not available", on);
      expect(stranger.received).toEqual([]);
    } finally {
      await stranger.close();
    }
  });
});

/** Created on demand: a key that must not be trusted. */
function rsa1024() {
  return rsa(1024);
}
