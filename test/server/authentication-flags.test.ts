import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { signCertificate } from "../../src/base/certificates/x509.ts";
import { createAuthority } from "../../src/base/certificates/serving-certificates.ts";
import { ec, jwt, privatePem, publicPem, rsa } from "../authentication/jwt-support.ts";
import { Api } from "../support/api.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService } from "../support/https-service.ts";
import { ServerProcess } from "../support/process.ts";
import { plinthHere } from "../support/program-here.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { optionsOfFlags } from "../support/serve-options.ts";
import { ServerHere } from "../support/server-here.ts";

const running: { stop(): Promise<unknown> }[] = [];
const folder = useTemporaryFolders();
const apis: Api[] = [];
afterEach(async () => {
  for (const api of apis.splice(0)) api.close();
  for (const one of running.splice(0)) await one.stop();
});
async function serve(dataDir: string, ...flags: readonly string[]): Promise<ServerHere> {
  const server = await ServerHere.start(dataDir, ...flags);
  running.push(server);
  return server;
}
/** Serves in a process of its own. */
async function serveApart(dataDir: string, ...flags: readonly string[]): Promise<ServerProcess> {
  const server = await ServerProcess.start(dataDir, ...flags);
  running.push(server);
  return server;
}
function write(dataDir: string, name: string, text: string): string {
  const file = path.join(dataDir, name);
  writeFileSync(file, text);
  return file;
}

/** A token file, and the user of it who may do everything. */
const masters = "root-token,root,,system:masters\n";

describe("5 flags of authentication", () => {
  it("C-5.6-16 --oidc-ca-file names the provider's authority; without it those count that the machine trusts", async () => {
    const { publicKey, privateKey } = rsa();
    const key = { ...publicKey.export({ format: "jwk" }), kid: "1", use: "sig", alg: "RS256" };
    const provider = await HttpsService.start(({ path: at }) => ({
      body: at.endsWith("configuration")
        ? { issuer: provider.url, jwks_uri: `${provider.url}/keys` }
        : { keys: [key] },
    }));
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: provider.url, sub: "ann", aud: "plinth", iat: now, exp: now + 600 };
    const token = jwt({ alg: "RS256", kid: "1" }, claims, privateKey);
    const caFile = write(folder(), "ca.pem", provider.ca);
    const statusWith = async (trusted: string, ...flags: readonly string[]) => {
      const { SSL_CERT_FILE: before } = process.env;
      process.env["SSL_CERT_FILE"] = trusted;
      const wanted = [`--oidc-issuer-url=${provider.url}`, "--oidc-client-id=plinth", ...flags];
      // A process reads the authorities that the machine trusts once.
      const server = await serveApart(folder(), ...wanted).finally(() => {
        if (before === undefined) delete process.env["SSL_CERT_FILE"];
        else process.env["SSL_CERT_FILE"] = before;
      });
      const review = { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } };
      const api = server.as(token);
      return (await api.post("/apis/authorization.platform.io/v1/selfsubjectaccessreviews", review)).status;
    };
    const other = write(folder(), "other.pem", createAuthority().certificate);
    expect(await statusWith(caFile)).toBe(201);
    expect(await statusWith(other)).toBe(401);
    expect(await statusWith(other, `--oidc-ca-file=${caFile}`)).toBe(201);
    expect(await statusWith(caFile, `--oidc-ca-file=${other}`)).toBe(401);
    await provider.close();
  });

  it("C-5.7-05 --authentication-token-webhook-version is v1 or v1beta1, by default v1beta1", async () => {
    const service = await HttpsService.start(({ text }) => {
      const { apiVersion, kind } = JSON.parse(text) as Record<string, string>;
      return { body: { apiVersion, kind, status: { authenticated: true, user: { username: "ann" } } } };
    });
    for (const [flags, version] of [
      [[], "v1beta1"],
      [["--authentication-token-webhook-version=v1beta1"], "v1beta1"],
      [["--authentication-token-webhook-version=v1"], "v1"],
    ] as const) {
      const dataDir = folder();
      const configuration = `--authentication-token-webhook-config-file=${clientConfiguration(dataDir, service)}`;
      const server = await serve(dataDir, configuration, ...flags);
      service.received.length = 0;
      const review = { spec: { nonResourceAttributes: { path: "/x", verb: "get" } } };
      const path = "/apis/authorization.platform.io/v1/selfsubjectaccessreviews";
      expect((await server.as("opaque").post(path, review)).status).toBe(201);
      const versions = service.received.map(
        ({ text }) => (JSON.parse(text) as Record<string, string>)["apiVersion"],
      );
      expect(versions).toEqual([`authentication.platform.io/${version}`]);
    }
    await service.close();
  });

  it("C-5.7-04 --authentication-token-webhook-cache-ttl is two minutes by default", async () => {
    const cacheMs = async (...flags: readonly string[]) => {
      const file = "--authentication-token-webhook-config-file=/w";
      return (await optionsOfFlags(file, ...flags)).authentication.tokenWebhook!.cacheMs;
    };
    expect(await cacheMs()).toBe(120_000);
    expect(await cacheMs("--authentication-token-webhook-cache-ttl=30s")).toBe(30_000);
  });

  it("C-5.5-03 without key files the TLS key verifies service accounts' tokens", async () => {
    const dataDir = folder();
    const ca = createAuthority();
    const { publicKey, privateKey } = rsa();
    const now = Date.now();
    const facts = {
      commonName: "plinth",
      hosts: ["127.0.0.1"],
      use: "server" as const,
      notBefore: now - 60_000,
      notAfter: now + 3_600_000,
    };
    const certificate = signCertificate(
      facts,
      publicKey,
      createPrivateKey(ca.key),
      new X509Certificate(ca.certificate),
    );
    const flags = [
      `--tls-cert-file=${write(dataDir, "tls.crt", certificate)}`,
      `--tls-private-key-file=${write(dataDir, "tls.key", privatePem(privateKey))}`,
      `--token-auth-file=${write(dataDir, "tokens.csv", masters)}`,
      "--service-account-issuer=https://one.example",
      "--service-account-issuer=https://two.example",
    ];
    const server = await serve(dataDir, ...flags);
    const as = (token: string) => {
      const api = new Api(server.url, ca.certificate, `Bearer ${token}`);
      apis.push(api);
      return api;
    };
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    const { body } = await as("root-token").post(accounts, { metadata: { name: "robot" } });
    const claims = (iss: string) => ({
      iss,
      sub: "system:serviceaccount:default:robot",
      aud: [iss],
      exp: Math.floor(now / 1000) + 600,
      "platform.io": { namespace: "default", serviceaccount: { name: "robot", uid: body.metadata.uid } },
    });
    for (const issuer of ["https://one.example", "https://two.example"]) {
      expect((await as(jwt({ alg: "RS256" }, claims(issuer), privateKey)).get("/version")).status).toBe(200);
    }
    const forged = jwt({ alg: "RS256" }, claims("https://one.example"), rsa().privateKey);
    expect((await as(forged).get("/version")).status).toBe(401);
  });

  it("tokens that were issued before a restart hold after it, by a key that only its owner can read", async () => {
    const dataDir = folder();
    const tokens = `--token-auth-file=${write(dataDir, "tokens.csv", masters)}`;
    const ask = async (server: ServerHere, token: string, at: string, post?: object) => {
      const api = new Api(server.url, readFileSync(server.caFile, "utf8"), `Bearer ${token}`);
      apis.push(api);
      return post === undefined ? api.get(at) : api.post(at, post);
    };
    const first = await serve(dataDir, tokens);
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await ask(first, "root-token", accounts, { metadata: { name: "robot" } });
    const { body } = await ask(first, "root-token", `${accounts}/robot/token`, { spec: {} });
    const { token } = body.status;
    expect((await ask(first, token, "/version")).status).toBe(200);
    expect(statSync(path.join(dataDir, "pki/service-accounts.key")).mode & 0o777).toBe(0o600);
    await running.pop()!.stop();
    const second = await serve(dataDir, tokens);
    expect((await ask(second, token, "/version")).status).toBe(200);
  });

  it.each<[string, (at: (name: string, text: string) => string) => string[], RegExp]>([
    [
      "a key file that isn't there",
      () => ["--service-account-key-file=/nowhere/k"],
      /--service-account-key-file \/nowhere\/k: the file doesn't exist/,
    ],
    [
      "a key file without a key",
      (at) => [`--service-account-key-file=${at("k", "x")}`],
      /contains no RSA or ECDSA key in PEM/,
    ],
    [
      "a public key to sign with",
      (at) => [`--service-account-signing-key-file=${at("k", publicPem(ec().publicKey))}`],
      /private key in PEM/,
    ],
    [
      "tokens that are too short-lived",
      () => ["--service-account-max-token-expiration=10m"],
      /--service-account-max-token-expiration: must be 0, or from 1h/,
    ],
    [
      "a switch that is neither on nor off",
      () => ["--enable-bootstrap-token-auth=maybe"],
      /--enable-bootstrap-token-auth: "maybe" is not true or false/,
    ],
    [
      "C-5.7-05 an unknown version of the webhook",
      () => ["--authentication-token-webhook-version=v2"],
      /"v2" is not one of v1, v1beta1/,
    ],
    [
      "C-5.7-01 a webhook's configuration that isn't there",
      () => ["--authentication-token-webhook-config-file=/nowhere/w"],
      /--authentication-token-webhook-config-file \/nowhere\/w: the file doesn't exist/,
    ],
    [
      "C-5.7-01 a webhook's configuration without a context",
      (at) => [`--authentication-token-webhook-config-file=${at("w", "clusters: []\n")}`],
      /current-context: is missing/,
    ],
    [
      "C-5.7-01 a webhook's configuration that isn't YAML",
      (at) => [`--authentication-token-webhook-config-file=${at("w", "a: [")}`],
      /neither YAML nor JSON/,
    ],
    [
      "C-5.6-06 an issuer without TLS",
      () => ["--oidc-issuer-url=http://x", "--oidc-client-id=y"],
      /is not an https URL/,
    ],
    [
      "C-5.6-08 an issuer without a client",
      () => ["--oidc-issuer-url=https://x"],
      /--oidc-issuer-url needs --oidc-client-id/,
    ],
    [
      "C-5.8-01 proxies without a header",
      (at) => [`--requestheader-client-ca-file=${at("p", "x")}`],
      /--requestheader-client-ca-file needs --requestheader-username-headers/,
    ],
    [
      "C-5.8-05 a header without proxies",
      () => ["--requestheader-username-headers=X-User"],
      /--requestheader-username-headers needs --requestheader-client-ca-file/,
    ],
  ])("serve with %s: a clear message, and nothing is served", async (_what, flags, message) => {
    const dataDir = folder();
    const words = flags((name, text) => write(dataDir, name, text));
    const { code, stderr } = await plinthHere("serve", `--data-dir=${dataDir}`, "--secure-port=0", ...words);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
    expect(code).toBeGreaterThan(0);
  });
});
