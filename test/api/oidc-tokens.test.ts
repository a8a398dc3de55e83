import { describe, expect, it } from "vitest";
import { jwt, publicPem } from "../authentication/jwt-support.ts";
import { ok } from "./support.ts";
import { first, second, curve, shared, useOidcServer } from "./oidc-support.ts";

const { oidc, another, seconds, claims, token, whoIs, refused } = useOidcServer();

describe("5.6 ID tokens", () => {
  it("C-5.6-01 C-5.6-07 C-5.6-09 C-5.6-10 an ID token authenticates as its subject, prefixed with the issuer", async () => {
    const { body } = await ok(whoIs(token(), await another({})));
    expect(body.status.userInfo).toEqual({
      username: `${oidc.issuer}#ann`,
      groups: ["system:authenticated"],
    });
    expect(new Set(oidc.provider.received.map(({ path: at }) => at))).toEqual(
      new Set(["/realm/.well-known/openid-configuration", "/keys"]),
    );
  });

  it("C-5.6-08 a token with several audiences is accepted when the client ID is one of them", async () => {
    expect((await whoIs(token({ aud: ["other", "plinth"] }))).status).toBe(201);
  });

  it.each<[string, () => string, string]>([
    ["C-5.6-01 that is an access token by its type", () => token({}, { typ: "at+jwt" }), "access token"],
    [
      "C-5.6-01 that is an access token for others",
      () => token({ aud: "https://api.example" }),
      "another client",
    ],
    ["C-5.6-02 of another key", () => token({}, {}, second.privateKey), "signature"],
    [
      "C-5.6-02 of a key that the token brings",
      () => token({}, { kid: "x", jwk: shared(second.publicKey, {}) }, second.privateKey),
      "signature",
    ],
    ["C-5.6-02 without a signature", () => jwt({ alg: "none" }, claims(), undefined), ""],
    [
      "C-5.6-02 with the public key as a shared secret",
      () => jwt({ alg: "HS256", kid: "1" }, claims(), Buffer.from(publicPem(first.publicKey))),
      "signature",
    ],
    [
      "C-5.6-02 that was changed",
      () =>
        token().replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify(claims({ sub: "root" }))).toString("base64url")}.`,
        ),
      "signature",
    ],
    ["C-5.6-03 that has expired", () => token({ exp: seconds() - 1 }), "expired"],
    ["C-5.6-03 that never expires", () => token({ exp: undefined }), "has no expiry"],
    ["C-5.6-03 that expires at a text", () => token({ exp: "9999999999" }), "not a number"],
    ["that begins later than clocks can differ", () => token({ nbf: seconds() + 301 }), "not valid yet"],
    ["C-5.6-04 of another issuer", () => token({ iss: "https://other.example" }), "invalid bearer token"],
    ["C-5.6-04 of almost this issuer", () => token({ iss: `${oidc.issuer}/` }), "invalid bearer token"],
    ["C-5.6-08 for another client", () => token({ aud: "plinth2" }), "another client"],
    ["C-5.6-08 for no client", () => token({ aud: undefined }), "another client"],
    ["C-5.6-08 for clients that are no texts", () => token({ aud: [["plinth"]] }), "another client"],
    ["C-5.6-09 that names nobody", () => token({ sub: undefined }), "is missing or empty"],
    ["C-5.6-09 that names somebody empty", () => token({ sub: "" }), "is missing or empty"],
    ["C-5.6-09 whose name is no text", () => token({ sub: ["ann"] }), "is missing or empty"],
    ["C-5.6-17 signed with another algorithm than RS256", () => token({}, { alg: "RS512" }), "signature"],
    [
      "C-5.6-17 signed with another sort of key",
      () => token({}, { alg: "ES256", kid: "c" }, curve.privateKey),
      "signature",
    ],
  ])("a token %s is refused", async (_what, text, message) => {
    await refused(text(), message);
  });

  it("C-5.6-03 a cached token is rejected after its expiration; nbf may be up to five minutes ahead", async () => {
    const short = token({ exp: seconds() + 10, nbf: seconds() + 299, iat: seconds() + 1000 });
    expect((await whoIs(short)).status).toBe(201);
    await oidc.clock.advance(9000);
    expect((await whoIs(short)).status).toBe(201);
    await oidc.clock.advance(2000);
    await refused(short, "expired");
  });

  it("C-5.2-01 C-5.6-04 tokens of other issuers are left to the other authentication methods", async () => {
    expect((await oidc.server.admin.get("/api/v1/namespaces")).status).toBe(200);
  });
});

describe("5.6 distributed group claims", () => {
  const elsewhere = (endpoint: unknown, more: object = {}) => ({
    _claim_names: { roles: "src" },
    _claim_sources: { src: { endpoint, ...more } },
  });
  const answering = (body: () => string) => {
    oidc.extraReply = ({ path: at }) => (at === "/groups" ? { body: body() } : undefined);
  };
  const mapped = () => another({ groupsClaim: "roles", groupsPrefix: "g:" });

  it("are fetched with the access token of the claim source, and must be signed", async () => {
    const on = await mapped();
    answering(() => token({ roles: ["far", "away"] }));
    oidc.provider.received.length = 0;
    const text = token(elsewhere(`${oidc.provider.url}/groups`, { access_token: "let-me" }));
    const { body } = await ok(whoIs(text, on));
    expect(body.status.userInfo.groups).toEqual(["g:far", "g:away", "system:authenticated"]);
    const asked = oidc.provider.received.find(({ path: at }) => at === "/groups")!;
    expect(asked.headers["authorization"]).toBe("Bearer let-me");
    answering(() => token({ roles: ["system:masters"] }, {}, second.privateKey));
    await refused(token({ ...elsewhere(`${oidc.provider.url}/groups`), jti: "2" }), "signature", on);
    answering(() => token({ roles: ["x"], exp: seconds() - 1 }));
    await refused(token({ ...elsewhere(`${oidc.provider.url}/groups`), jti: "3" }), "expired", on);
    answering(() => token({ roles: ["x"], aud: "other" }));
    await refused(
      token({ ...elsewhere(`${oidc.provider.url}/groups`), jti: "4" }),
      "has no expiry or another audience",
      on,
    );
    answering(() => token({}));
    await refused(token({ ...elsewhere(`${oidc.provider.url}/groups`), jti: "5" }), 'no claim "roles"', on);
    answering(() => "no token");
    await refused(token({ ...elsewhere(`${oidc.provider.url}/groups`), jti: "6" }), "no https issuer", on);
  });

  it("are fetched only when needed, and only over TLS", async () => {
    const on = await mapped();
    const here = await ok(whoIs(token({ ...elsewhere("http://127.0.0.1:1/"), roles: ["here"] }), on));
    expect(here.body.status.userInfo.groups).toEqual(["g:here", "system:authenticated"]);
    await refused(token(elsewhere("http://127.0.0.1:1/")), "not an https URL", on);
    await refused(token(elsewhere(7)), "is missing", on);
    const packed = await ok(whoIs(token(elsewhere(undefined, { JWT: "x.y.z" })), on));
    expect(packed.body.status.userInfo.groups).toEqual(["system:authenticated"]);
    await refused(
      token(elsewhere(`${oidc.provider.url}/nothing`)),
      "keys of the provider are not available",
      on,
    );
  });
});
