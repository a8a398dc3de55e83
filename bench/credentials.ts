/** Credentials for each authentication method, and the flags with which a server accepts them. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { copyKeyPair } from "../src/base/certificates/key-pair.ts";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueClientCertificate } from "../src/base/certificates/serving-certificates.ts";
import type { Vocabulary } from "../src/vocabulary/vocabulary.ts";
import type { IdentityApi } from "./children/identity-service.ts";
import type { Address } from "./load/plan.ts";
import { Helper } from "./processes.ts";
import type { Bench } from "./scenario.ts";
import { claimsOf, signTokens, type TokenKey } from "./signed-tokens.ts";
import { temporaryFolder, vocabularyOf, type ProductExtras, type Subject } from "./subject.ts";

/** More tokens than a server caches: using them in turn never hits the cache. */
const signedTokens = 12_000;
const staticTokens = 10_000;
const bootstrapTokens = 1000;

const oidcClient = "bench";
const userHeader = "X-Remote-User";
const proxyName = "front";

/** A certificate with its key, in PEM. */
type ClientPair = NonNullable<Address["client"]>;

/** The keys, files and services of the credentials. */
export interface Credentials {
  readonly extras: ProductExtras;
  /** PEM of the CAs of users and proxies. */
  readonly clientCa: string;
  readonly user: ClientPair;
  readonly proxy: ClientPair;
  readonly userHeader: string;
  readonly staticTokens: readonly string[];
  /** Service account tokens of the subject, signed by a key of each type. */
  accountTokens(subject: Subject): Promise<{ rsa: string[]; ecdsa: string[] }>;
  oidcTokens(): Promise<string[]>;
  /** Creates bootstrap tokens and returns them. */
  bootstrapTokens(subject: Subject): Promise<string[]>;
  close(): Promise<void>;
}

/** Creates keys and files, and starts the services for tokens. */
export async function openCredentials({ options, tls }: Bench): Promise<Credentials> {
  const folder = temporaryFolder();
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const [users, proxies] = [createAuthority(), createAuthority()];
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const curve = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const provider = copyKeyPair(generateKeyPairSync("rsa", { modulusLength: 2048 }));
  const services = Helper.start<IdentityApi>("children/identity-service.ts");
  const shared = { ...provider.publicKey.export({ format: "jwk" }), use: "sig", alg: "RS256" };
  const issuer = `https://127.0.0.1:${await services.call("open", { tls, key: shared })}`;
  const serviceCa = file("services.pem", tls.ca);
  const statics = Array.from({ length: staticTokens }, (_, index) => `static-token-${index}`);
  const flags = [
    `--client-ca-file=${file("users.pem", users.certificate)}`,
    `--requestheader-client-ca-file=${file("proxies.pem", proxies.certificate)}`,
    `--requestheader-username-headers=${userHeader}`,
    `--requestheader-allowed-names=${proxyName}`,
    "--enable-bootstrap-token-auth",
    `--service-account-signing-key-file=${file("rsa.pem", privatePem(rsa.privateKey))}`,
    `--service-account-key-file=${file("ecdsa.pem", publicPem(curve.publicKey))}`,
    `--oidc-issuer-url=${issuer}`,
    `--oidc-client-id=${oidcClient}`,
    `--oidc-ca-file=${serviceCa}`,
    `--authentication-token-webhook-config-file=${file("webhook.yaml", webhookConfiguration(issuer, serviceCa))}`,
    "--authentication-token-webhook-version=v1",
  ];
  const certificate = (authority: typeof users, commonName: string): ClientPair =>
    issueClientCertificate(authority, { commonName, organizations: ["team"], days: 1 });
  return {
    extras: { flags, tokens: statics.map((token, index) => `${token},static-user-${index},${index + 10}`) },
    clientCa: users.certificate + proxies.certificate,
    user: certificate(users, "certified"),
    proxy: certificate(proxies, proxyName),
    userHeader,
    staticTokens: statics,
    accountTokens: (subject) =>
      accountTokens(subject, { key: rsa.privateKey, alg: "RS256" }, { key: curve.privateKey, alg: "ES256" }),
    oidcTokens: () => oidcTokens(issuer, { key: provider.privateKey, alg: "RS256" }),
    bootstrapTokens: (subject) => storeBootstrapTokens(subject, vocabularyOf(options)),
    async close() {
      await services.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function privatePem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function publicPem(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}

/** Returns a kubeconfig in JSON, which is also YAML. */
function webhookConfiguration(server: string, caFile: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "service", cluster: { server, "certificate-authority": caFile } }],
    users: [{ name: "server", user: {} }],
    contexts: [{ name: "here", context: { cluster: "service", user: "server" } }],
    "current-context": "here",
  });
}

/** Signs many tokens with the claims that the server gives to an account. */
async function accountTokens(
  { api, namespace }: Subject,
  rsa: TokenKey,
  ecdsa: TokenKey,
): Promise<{ rsa: string[]; ecdsa: string[] }> {
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await api.ask("POST", accounts, { metadata: { name: "bench" } });
  const answer = await api.ask("POST", `${accounts}/bench/token`, { spec: { expirationSeconds: 86_400 } });
  const { status } = JSON.parse(answer.toString()) as { status: { token: string } };
  const claims = claimsOf(status.token);
  return {
    rsa: await signTokens(claims, rsa, signedTokens),
    ecdsa: await signTokens(claims, ecdsa, signedTokens),
  };
}

function oidcTokens(issuer: string, key: TokenKey): Promise<string[]> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: oidcClient, sub: "somebody", iat: now, exp: now + 86_400 };
  return signTokens(claims, key, signedTokens);
}

async function storeBootstrapTokens(
  { api }: Subject,
  { systemNamespace, domain }: Vocabulary,
): Promise<string[]> {
  const secret = "0123456789abcdef";
  const ids = Array.from({ length: bootstrapTokens }, (_, index) => String(index).padStart(6, "0"));
  await api.createAll(ids.length, (index) => ({
    path: `/api/v1/namespaces/${systemNamespace}/secrets`,
    object: {
      metadata: { name: `bootstrap-token-${ids[index]}` },
      type: `bootstrap.${domain}/token`,
      stringData: {
        "token-id": ids[index],
        "token-secret": secret,
        "usage-bootstrap-authentication": "true",
      },
    },
  }));
  return ids.map((id) => `${id}.${secret}`);
}
