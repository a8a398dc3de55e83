import { X509Certificate } from "node:crypto";
import type { AuthenticationCounters } from "../../authentication/counters.ts";
import { userOf, usernamePrefix } from "../../authentication/oidc/claims-to-user.ts";
import { ProviderSignIn } from "../../authentication/oidc/provider-sign-in.ts";
import { OidcTokens } from "../../authentication/oidc/oidc-tokens.ts";
import { rarely } from "../../base/time/clock.ts";
import type { RemoteFault } from "../../remote/answer-reader.ts";
import { RemoteClient } from "../../remote/remote-client.ts";
import type { OidcSettings } from "../options/settings-types.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { outageLogIntervalMs } from "../webhooks/remote-services.ts";
import { readAuthorities } from "../certificates/serving.ts";

/** Limits of a request to a provider. */
export const providerLimits = { timeoutMs: 10_000, maxAnswerBytes: 1024 * 1024 };
/** Algorithms by which tokens may be signed. */
export const supportedAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
];

/** The authenticator of ID tokens, the endpoints for the sign-in of browsers, and the client of both. */
export interface Oidc {
  readonly method: OidcTokens;
  readonly signIn: ProviderSignIn;
  readonly client: RemoteClient;
}

/**
 * Creates the authenticator of ID tokens (spec: conventions 5.6). The provider needn't be reachable yet.
 *
 * @throws {OptionsError} if an option of OpenID Connect can't be used.
 */
export async function oidcTokens(
  { clock, log, vocabulary }: ServerOptions,
  choice: OidcSettings,
  counters: AuthenticationCounters,
): Promise<Oidc> {
  const { issuerUrl: issuer, clientId, usernameClaim = "sub", groupsClaim = "" } = choice;
  checkIssuer(issuer);
  if (clientId === "") throw new OptionsError("--oidc-client-id: is needed with --oidc-issuer-url");
  if (usernameClaim === "") throw new OptionsError("--oidc-username-claim: must not be empty");
  const client = new RemoteClient({ ca: await authorities(choice.caFile) }, providerLimits, clock);
  const failed = rarely(clock, outageLogIntervalMs, (error: RemoteFault) =>
    log.warn({ error: error.message }, "the OpenID provider can't be reached"),
  );
  const mapping = {
    usernameClaim,
    usernamePrefix: usernamePrefix(choice.usernamePrefix ?? "", usernameClaim, issuer),
    groupsClaim,
    groupsPrefix: choice.groupsPrefix ?? "",
    singleGroupClaim: vocabulary.behavior.singleGroupClaim,
    requiredClaims: requiredClaims(choice.requiredClaims ?? []),
  };
  const method = new OidcTokens({
    issuer,
    audiences: [clientId],
    mapping: { groupsClaim, userOf: (claims) => userOf(claims, mapping) },
    algorithms: algorithms(choice.signingAlgorithms ?? ["RS256"]),
    client,
    clock,
    failed,
    cacheWatcher: counters,
  });
  const signIn = new ProviderSignIn({ issuer, clientId, usernameClaim, groupsClaim, client, clock, failed });
  return { method, signIn, client };
}

function checkIssuer(issuer: string): void {
  const flag = `--oidc-issuer-url: ${JSON.stringify(issuer)}`;
  if (!URL.canParse(issuer)) throw new OptionsError(`${flag} is not a URL`);
  const { protocol, search, hash, username, password } = new URL(issuer);
  if (protocol !== "https:") throw new OptionsError(`${flag} is not an https URL`);
  if (`${search}${hash}${username}${password}` !== "") {
    throw new OptionsError(`${flag} must have neither a query, a fragment nor a user`);
  }
}

function algorithms(names: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !supportedAlgorithms.includes(name));
  if (unknown !== undefined || names.length === 0) {
    const value = JSON.stringify(unknown ?? "");
    throw new OptionsError(`--oidc-signing-algs: ${value} is not one of ${supportedAlgorithms.join(", ")}`);
  }
  return names;
}

function requiredClaims(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const equals = pair.indexOf("=");
      if (equals > 0) return [pair.slice(0, equals), pair.slice(equals + 1)] as const;
      throw new OptionsError(`--oidc-required-claim: ${JSON.stringify(pair)} is not KEY=VALUE`);
    }),
  );
}

/** Returns the CA certificates of the file; undefined if no file is named, then the client trusts the system's. */
async function authorities(file: string | undefined): Promise<readonly string[] | undefined> {
  if (file === undefined) return undefined;
  const flag = "--oidc-ca-file";
  const certificates = await readAuthorities(flag, file);
  for (const pem of certificates) {
    const { ca, subject } = new X509Certificate(pem);
    if (!ca) {
      const name = subject.replaceAll("\n", ", ");
      throw new OptionsError(`${flag} ${file}: the certificate of ${name} is not that of an authority`);
    }
  }
  return certificates;
}
