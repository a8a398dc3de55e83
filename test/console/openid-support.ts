import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { jwt, rsa } from "../authentication/jwt-support.ts";
import { TestServer } from "../support/api.ts";
import { HttpsService, type Received, type Reply } from "../support/https-service.ts";

/** What a test changes in the behavior of the provider. */
export interface ProviderBehavior {
  /** Whether its discovery document can be read. */
  isReachable: boolean;
  /** Parameters of the redirect back to the console that replace those of the provider. */
  redirect: Readonly<Record<string, string>>;
  /** Claims of the ID token that replace those of the provider. */
  claims: object;
  /** Response of the token endpoint instead of a token. */
  tokenError: Reply | undefined;
}

export const normal = (): ProviderBehavior => ({
  isReachable: true,
  redirect: {},
  claims: {},
  tokenError: undefined,
});

const { publicKey, privateKey } = rsa();
const clientId = "plinth-console";

/** Starts an OpenID provider, and a server with the console that trusts it. The token endpoint has another origin than the issuer. */
export function useProvider() {
  const behavior = normal();
  const folder = mkdtempSync(path.join(tmpdir(), "plinth-console-oidc-"));
  const lines: string[] = [];
  const note = (fields: object, message: string) => void lines.push(JSON.stringify(fields) + message);
  const pages = { ...({} as { provider: HttpsService; server: TestServer }), behavior, lines };
  const tokenOrigin = () => pages.provider.url.replace("127.0.0.1", "localhost");
  /** The parameters of the last authorization request. */
  let authorization = new URLSearchParams();

  const discovery = () => ({
    issuer: pages.provider.url,
    jwks_uri: `${pages.provider.url}/keys`,
    authorization_endpoint: `${pages.provider.url}/authorize`,
    token_endpoint: `${tokenOrigin()}/token`,
    scopes_supported: ["openid", "groups", "email"],
  });
  const authorize = (): Reply => {
    const query = new URLSearchParams({
      code: "the-code-of-this-sign-in",
      state: authorization.get("state") ?? "",
      ...behavior.redirect,
    });
    if (query.has("error")) query.delete("code");
    return {
      status: 302,
      headers: { location: `${authorization.get("redirect_uri") ?? ""}?${query.toString()}` },
      body: "",
    };
  };
  const exchange = ({ text }: Received): Reply => {
    const headers = { "access-control-allow-origin": new URL(authorization.get("redirect_uri")!).origin };
    if (behavior.tokenError !== undefined) return { headers, ...behavior.tokenError };
    const form = new URLSearchParams(text);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isValid =
      form.get("code") === "the-code-of-this-sign-in" &&
      form.get("client_id") === clientId &&
      form.get("redirect_uri") === authorization.get("redirect_uri") &&
      authorization.get("code_challenge_method") === "S256" &&
      challenge === authorization.get("code_challenge");
    if (!isValid) return { status: 400, headers, body: { error: "invalid_grant" } };
    const seconds = Math.floor(Date.now() / 1000);
    const times = { iat: seconds, exp: seconds + 600 };
    const claims = { iss: pages.provider.url, sub: "ann", aud: clientId, nonce: authorization.get("nonce") };
    const token = jwt({ alg: "RS256", kid: "1" }, { ...claims, ...times, ...behavior.claims }, privateKey);
    return { headers, body: { id_token: token, access_token: "unused", token_type: "Bearer" } };
  };
  const respond = (request: Received): Reply => {
    const { pathname, searchParams } = new URL(request.path, pages.provider.url);
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return behavior.isReachable ? { body: discovery() } : { status: 503, body: "" };
      case "/keys":
        return { body: { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", use: "sig" }] } };
      case "/authorize":
        authorization = searchParams;
        return authorize();
      case "/token":
        return exchange(request);
      default:
        return { status: 404, body: "" };
    }
  };
  const startServer = () =>
    TestServer.start({
      console: true,
      accessLog: true,
      log: { info: note, warn: note, error: note },
      users: [{ name: "root", groups: ["system:masters"] }],
      authentication: {
        oidc: {
          issuerUrl: pages.provider.url,
          clientId,
          caFile: path.join(folder, "ca.pem"),
          usernamePrefix: "-",
          groupsClaim: "groups",
        },
      },
    });
  beforeAll(async () => {
    pages.provider = await HttpsService.start(respond);
    writeFileSync(path.join(folder, "ca.pem"), pages.provider.ca);
    pages.server = await startServer();
  });
  afterAll(async () => {
    await pages.server.close();
    await pages.provider.close();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    Object.assign(behavior, normal());
    pages.provider.received.length = 0;
    lines.length = 0;
  });
  return { pages, startServer, tokenOrigin, authorization: () => authorization };
}
