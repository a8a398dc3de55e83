import type { KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { optionsOfFlags } from "../support/serve-options.ts";
import type { OidcOptions } from "../../src/server/options/types.ts";
import { ec, jwt, publicPem, rsa } from "../authentication/jwt-support.ts";
import { TestServer } from "../support/api.ts";
import { HttpsService, type Received, type Reply } from "../support/https-service.ts";
import { AUTHN, ManualClock, ok, until } from "./support.ts";

const SELF = `${AUTHN}/selfsubjectreviews`;
const runtimeConfig = "authentication.platform.io/v1alpha1";
const [first, second] = [rsa(), rsa()];
const curve = ec();
const commonClock = new ManualClock();
/** The clock of the server that a test talks to. */
let clock = commonClock;
const folder = mkdtempSync(path.join(tmpdir(), "plinth-oidc-"));
const shared = (key: KeyObject, more: object) => ({ ...key.export({ format: "jwk" }), ...more });

let provider: HttpsService;
let issuer: string;
let choice: OidcOptions;
let server: TestServer;
/** What the provider publishes; tests change it. */
let published: object[];
let extraReply: (request: Received) => Reply | undefined;
const standard = () => [
  shared(first.publicKey, { kid: "1", use: "sig", alg: "RS256" }),
  shared(curve.publicKey, { kid: "c", use: "sig" }),
];
const respond = (request: Received): Reply => {
  const special = extraReply(request);
  if (special !== undefined) return special;
  switch (request.path) {
    case "/realm/.well-known/openid-configuration":
      return { body: { issuer, jwks_uri: `${provider.url}/keys` } };
    case "/keys":
      return { body: { keys: published } };
    default:
      return { status: 404, body: "" };
  }
};

beforeAll(async () => {
  provider = await HttpsService.start(respond);
  issuer = `${provider.url}/realm`;
  writeFileSync(path.join(folder, "ca.pem"), provider.ca);
  choice = { issuerUrl: issuer, clientId: "plinth", caFile: path.join(folder, "ca.pem") };
  reset();
  server = await start();
});
afterAll(async () => {
  await server.close();
  await provider.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(reset);
function reset(): void {
  provider.received.length = 0;
  published = standard();
  extraReply = () => undefined;
  clock = commonClock;
}
const further: TestServer[] = [];
afterEach(async () => {
  for (const one of further.splice(0)) await one.close();
});

const start = (changes: Partial<OidcOptions> = {}) =>
  TestServer.start({ clock, runtimeConfig, authentication: { oidc: { ...choice, ...changes } } });
const another = async (changes: Partial<OidcOptions>) => {
  clock = new ManualClock();
  const made = await start(changes);
  further.push(made);
  return made;
};
const seconds = () => Math.floor(clock.now() / 1000);
const claims = (more: object = {}) => ({
  iss: issuer,
  sub: "ann",
  aud: "plinth",
  iat: seconds(),
  exp: seconds() + 600,
  ...more,
});
const token = (more: object = {}, header: object = {}, key: KeyObject = first.privateKey) =>
  jwt({ alg: "RS256", kid: "1", ...header }, claims(more), key);
const whoIs = (text: string, on = server) => on.as(text).post(SELF, {});
const nameOf = async (text: string, on = server) =>
  (await ok(whoIs(text, on))).body.status.userInfo.username as string;
const refused = async (text: string, message: string, on = server) => {
  const { status, body } = await whoIs(text, on);
  expect([status, body.message]).toEqual([401, expect.stringContaining(message)]);
};

describe("5.6 ID tokens", () => {
  it("C-5.6-01 C-5.6-07 C-5.6-09 C-5.6-10 an ID token is its subject, with the issuer before it", async () => {
    const { body } = await ok(whoIs(token(), await another({})));
    expect(body.status.userInfo).toEqual({ username: `${issuer}#ann`, groups: ["system:authenticated"] });
    expect(new Set(provider.received.map(({ path: at }) => at))).toEqual(
      new Set(["/realm/.well-known/openid-configuration", "/keys"]),
    );
  });

  it("C-5.6-08 several audiences are fine, if the client is one of them", async () => {
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
    ["C-5.6-04 of another issuer", () => token({ iss: "https://other.example" }), "Unauthorized"],
    ["C-5.6-04 of almost this issuer", () => token({ iss: `${issuer}/` }), "Unauthorized"],
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

  it("C-5.6-03 holds until it expires, though it is remembered; its beginning may be five minutes off", async () => {
    const short = token({ exp: seconds() + 10, nbf: seconds() + 299, iat: seconds() + 1000 });
    expect((await whoIs(short)).status).toBe(201);
    await clock.advance(9000);
    expect((await whoIs(short)).status).toBe(201);
    await clock.advance(2000);
    await refused(short, "expired");
  });

  it("C-5.2-01 C-5.6-04 tokens that aren't of the provider are for other methods", async () => {
    expect((await server.admin.get("/api/v1/namespaces")).status).toBe(200);
  });
});

describe("5.6 flags", () => {
  it("C-5.6-09 C-5.6-10 another claim has the name", async () => {
    const on = await another({ usernameClaim: "login" });
    expect(await nameOf(token({ login: "ann-1" }), on)).toBe(`${issuer}#ann-1`);
  });

  it("C-5.6-11 an email has nothing before it, and must not be unverified", async () => {
    const on = await another({ usernameClaim: "email" });
    const email = "ann@example.com";
    expect(await nameOf(token({ email }), on)).toBe(email);
    expect(await nameOf(token({ email, email_verified: true }), on)).toBe(email);
    for (const email_verified of [false, "true", null, 1]) {
      await refused(token({ email, email_verified }), "not verified", on);
    }
  });

  it("C-5.6-10 C-5.6-12 something else before the name, or nothing", async () => {
    expect(await nameOf(token(), await another({ usernamePrefix: "oidc:" }))).toBe("oidc:ann");
    expect(await nameOf(token(), await another({ usernamePrefix: "-" }))).toBe("ann");
    const email = { email: "ann@example.com" };
    const on = await another({ usernameClaim: "email", usernamePrefix: "p:" });
    expect(await nameOf(token(email), on)).toBe("p:ann@example.com");
  });

  it("C-5.6-13 C-5.6-14 groups, and what is before them", async () => {
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

  it("C-5.6-15 required claims, several of them", async () => {
    const on = await another({ requiredClaims: ["hd=example.com", "level=a=b"] });
    expect((await whoIs(token({ hd: "example.com", level: "a=b" }), on)).status).toBe(201);
    await refused(token({ hd: "example.com" }), '"level"', on);
    await refused(token({ hd: "evil.com", level: "a=b" }), '"hd"', on);
    await refused(token({ hd: ["example.com"], level: "a=b" }), '"hd"', on);
  });

  it("C-5.6-17 other algorithms", async () => {
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

  it("C-5.6-05 a certificate that isn't an authority's is no authority", async () => {
    const file = path.join(folder, "leaf.pem");
    writeFileSync(file, provider.clientCertificate("leaf").certificate);
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

  it("C-5.6-06 C-5.6-08 there is no provider without flags", async () => {
    expect((await flags()).oidc).toBeUndefined();
  });

  it("C-5.6-09 C-5.6-10 C-5.6-15 C-5.6-17 the defaults, and flags that are repeated", async () => {
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
  it("C-5.6-07 rotates its keys: new ones are found, old ones end", async () => {
    const on = await another({});
    expect((await whoIs(token(), on)).status).toBe(201);
    await clock.advance(5000);
    published = [shared(second.publicKey, { kid: "2" })];
    expect((await whoIs(token({}, { kid: "2" }, second.privateKey), on)).status).toBe(201);
    await refused(token({ jti: "new" }), "signature", on);
    await clock.advance(5000);
    published = [shared(first.publicKey, { kid: "2" })];
    expect((await whoIs(token({ jti: "same name" }, { kid: "2" }), on)).status).toBe(201);
  });

  it("is not asked for keys more often than it should be, whatever tokens come", async () => {
    const on = await another({});
    await whoIs(token(), on);
    await clock.advance(5000);
    provider.received.length = 0;
    for (let n = 0; n < 10; n++) await whoIs(token({}, { kid: `made-up-${n}` }, second.privateKey), on);
    expect(provider.received.filter(({ path: at }) => at === "/keys")).toHaveLength(1);
  });

  it("a key that was taken back ends within minutes, and keys stay while the provider is down", async () => {
    const on = await another({});
    expect((await whoIs(token(), on)).status).toBe(201);
    extraReply = () => ({ status: 503, body: "" });
    await clock.advance(11 * 60_000);
    expect((await whoIs(token(), on)).status).toBe(201);
    extraReply = () => undefined;
    published = [shared(second.publicKey, { kid: "2" })];
    await clock.advance(11 * 60_000);
    await refused(token(), "signature", on);
  });

  it("needn't be there when the server starts", async () => {
    extraReply = () => ({ status: 503, body: "" });
    const on = await another({});
    await until(
      () => provider.received.length,
      (count) => count > 0,
    );
    await refused(token(), "keys of the provider are not available", on);
    expect((await on.admin.get("/api")).status).toBe(200);
    extraReply = () => undefined;
    await clock.advance(1500);
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
  ])("whose configuration %s is not believed", async (_what, reply) => {
    extraReply = ({ path: at }) => {
      if (!at.includes("well-known")) return undefined;
      const body = reply.body as { issuer?: string };
      return body.issuer === "" ? { body: { ...body, issuer } } : reply;
    };
    await refused(token(), "keys of the provider are not available", await another({}));
  });

  it.each<[string, () => object[]]>([
    ["for encryption", () => [shared(first.publicKey, { kid: "1", use: "enc" })]],
    ["for another algorithm", () => [shared(first.publicKey, { kid: "1", alg: "RS512" })]],
    ["that are shared secrets", () => [{ kty: "oct", k: "eA", kid: "1" }]],
    ["that can't be read", () => [{ kty: "RSA", n: "!", e: "AQAB", kid: "1" }]],
    ["that are too short", () => [shared(rsa1024().publicKey, { kid: "1" })]],
  ])("keys %s verify nothing", async (_what, keys) => {
    published = keys();
    await refused(token(), "signature", await another({}));
  });

  it("C-5.6-05 must have a certificate of the authority", async () => {
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

describe("5.6 groups that the token leaves to others", () => {
  const elsewhere = (endpoint: unknown, more: object = {}) => ({
    _claim_names: { roles: "src" },
    _claim_sources: { src: { endpoint, ...more } },
  });
  const answering = (body: () => string) => {
    extraReply = ({ path: at }) => (at === "/groups" ? { body: body() } : undefined);
  };
  const mapped = () => another({ groupsClaim: "roles", groupsPrefix: "g:" });

  it("are fetched with the token that goes with them, and must be signed", async () => {
    const on = await mapped();
    answering(() => token({ roles: ["far", "away"] }));
    provider.received.length = 0;
    const text = token(elsewhere(`${provider.url}/groups`, { access_token: "let-me" }));
    const { body } = await ok(whoIs(text, on));
    expect(body.status.userInfo.groups).toEqual(["g:far", "g:away", "system:authenticated"]);
    const asked = provider.received.find(({ path: at }) => at === "/groups")!;
    expect(asked.headers["authorization"]).toBe("Bearer let-me");
    answering(() => token({ roles: ["system:masters"] }, {}, second.privateKey));
    await refused(token({ ...elsewhere(`${provider.url}/groups`), jti: "2" }), "signature", on);
    answering(() => token({ roles: ["x"], exp: seconds() - 1 }));
    await refused(token({ ...elsewhere(`${provider.url}/groups`), jti: "3" }), "expired", on);
    answering(() => token({ roles: ["x"], aud: "other" }));
    await refused(
      token({ ...elsewhere(`${provider.url}/groups`), jti: "4" }),
      "has no expiry or another audience",
      on,
    );
    answering(() => token({}));
    await refused(token({ ...elsewhere(`${provider.url}/groups`), jti: "5" }), 'no claim "roles"', on);
    answering(() => "no token");
    await refused(token({ ...elsewhere(`${provider.url}/groups`), jti: "6" }), "no https issuer", on);
  });

  it("are not looked for without need, and nowhere without TLS", async () => {
    const on = await mapped();
    const here = await ok(whoIs(token({ ...elsewhere("http://127.0.0.1:1/"), roles: ["here"] }), on));
    expect(here.body.status.userInfo.groups).toEqual(["g:here", "system:authenticated"]);
    await refused(token(elsewhere("http://127.0.0.1:1/")), "not an https URL", on);
    await refused(token(elsewhere(7)), "is missing", on);
    const packed = await ok(whoIs(token(elsewhere(undefined, { JWT: "x.y.z" })), on));
    expect(packed.body.status.userInfo.groups).toEqual(["system:authenticated"]);
    await refused(token(elsewhere(`${provider.url}/nothing`)), "keys of the provider are not available", on);
  });
});

/** Made when it is needed: a key that nobody should believe. */
function rsa1024() {
  return rsa(1024);
}
