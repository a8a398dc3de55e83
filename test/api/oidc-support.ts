import type { KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { OidcOptions } from "../../src/server/options/option-types.ts";
import { ec, jwt, rsa } from "../authentication/jwt-support.ts";
import { TestServer } from "../support/api.ts";
import { HttpsService, type Received, type Reply } from "../support/https-service.ts";
import { AUTHN, ManualClock, ok, rejectionOf } from "./support.ts";

const SELF = `${AUTHN}/selfsubjectreviews`;
const runtimeConfig = "authentication.platform.io/v1alpha1";
export const [first, second] = [rsa(), rsa()];
export const curve = ec();
export const shared = (key: KeyObject, more: object) => ({ ...key.export({ format: "jwk" }), ...more });

/** The keys that the provider publishes; tests change them. */

const standard = () => [
  shared(first.publicKey, { kid: "1", use: "sig", alg: "RS256" }),
  shared(curve.publicKey, { kid: "c", use: "sig" }),
];

/** Starts a server that trusts an OIDC provider, and the provider. */
export function useOidcServer() {
  const commonClock = new ManualClock();
  /** The clock of the test's server. */
  const oidc = {
    ...({} as {
      provider: HttpsService;
      issuer: string;
      choice: OidcOptions;
      server: TestServer;
      published: object[];
      extraReply: (request: Received) => Reply | undefined;
    }),
    clock: commonClock,
  };
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-oidc-"));
  const respond = (request: Received): Reply => {
    const special = oidc.extraReply(request);
    if (special !== undefined) return special;
    switch (request.path) {
      case "/realm/.well-known/openid-configuration":
        return { body: { issuer: oidc.issuer, jwks_uri: `${oidc.provider.url}/keys` } };
      case "/keys":
        return { body: { keys: oidc.published } };
      default:
        return { status: 404, body: "" };
    }
  };
  beforeAll(async () => {
    oidc.provider = await HttpsService.start(respond);
    oidc.issuer = `${oidc.provider.url}/realm`;
    writeFileSync(path.join(folder, "ca.pem"), oidc.provider.ca);
    oidc.choice = { issuerUrl: oidc.issuer, clientId: "plinth", caFile: path.join(folder, "ca.pem") };
    reset();
    oidc.server = await start();
  });
  afterAll(async () => {
    await oidc.server.close();
    await oidc.provider.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(reset);

  function reset(): void {
    oidc.provider.received.length = 0;
    oidc.published = standard();
    oidc.extraReply = () => undefined;
    oidc.clock = commonClock;
  }

  const further: TestServer[] = [];
  afterEach(async () => {
    for (const one of further.splice(0)) await one.close();
  });
  const start = (changes: Partial<OidcOptions> = {}) =>
    TestServer.start({
      clock: oidc.clock,
      runtimeConfig,
      authentication: { oidc: { ...oidc.choice, ...changes } },
    });
  const another = async (changes: Partial<OidcOptions>) => {
    oidc.clock = new ManualClock();
    const made = await start(changes);
    further.push(made);
    return made;
  };
  const seconds = () => Math.floor(oidc.clock.now() / 1000);
  const claims = (more: object = {}) => ({
    iss: oidc.issuer,
    sub: "ann",
    aud: "plinth",
    iat: seconds(),
    exp: seconds() + 600,
    ...more,
  });
  const token = (more: object = {}, header: object = {}, key: KeyObject = first.privateKey) =>
    jwt({ alg: "RS256", kid: "1", ...header }, claims(more), key);
  const whoIs = (text: string, on = oidc.server) => on.as(text).post(SELF, {});
  const nameOf = async (text: string, on = oidc.server) =>
    (await ok(whoIs(text, on))).body.status.userInfo.username as string;
  const refused = async (text: string, message: string, on = oidc.server) => {
    expect(await rejectionOf(on, text)).toContain(message);
  };
  return { oidc, folder, respond, start, another, seconds, claims, token, whoIs, nameOf, refused };
}
