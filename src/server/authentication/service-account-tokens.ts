import type { KeyObject } from "node:crypto";
import type { IssueLegacyToken } from "../../controllers/service-account-tokens.ts";
import { legacyClaims } from "../../authentication/service-accounts/legacy-claims.ts";
import { signClaims, type VerificationKey } from "../../authentication/jwt/signature.ts";
import { boundClaims } from "../../authentication/service-accounts/bound-claims.ts";
import {
  distinctKeys,
  KeyFault,
  toVerificationKey,
  readPublicKeys,
  readSigningKey,
} from "../../authentication/service-accounts/keys.ts";
import { ownSigningKeys, type SigningKeys } from "../../authentication/service-accounts/own-signing-keys.ts";
import type { TokenIssuer } from "../../resources/engine/token-issuer.ts";
import type { SharedValues } from "../../storage/shared-values.ts";
import { readOptionFile } from "../options/option-files.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The keys and functions for issuing and verifying service account tokens. */
export interface ServiceAccountKeys {
  /** Signs a token without expiration, which is stored in a Secret. */
  readonly issueLegacy: IssueLegacyToken;
  readonly issuers: readonly string[];
  readonly ownAudiences: readonly string[];
  readonly keys: readonly VerificationKey[];
  readonly issuer: TokenIssuer;
  /** The private key that signs tokens. */
  readonly signingKey: KeyObject;
  /** The generated signing keys; undefined if the options name the key. */
  readonly signingKeys: SigningKeys | undefined;
}

const hourMs = 60 * 60 * 1000;
/** The reference keeps the number of seconds in 32 bits. */
const maxMs = 2 ** 32 * 1000;

/**
 * Reads the keys of the options (spec: conventions 5.5); creates a signing key if none is named.
 *
 * @param shared holds the signing key that the servers of one store share; undefined if they share none.
 * @param inherited keys to use instead of a generated one.
 * @throws {OptionsError} if a key can't be used; the message names the flag.
 */
export async function serviceAccountKeys(
  options: ServerOptions,
  shared?: SharedValues,
  inherited?: SigningKeys,
): Promise<ServiceAccountKeys> {
  const { authentication, vocabulary } = options;
  const { serviceAccounts, apiAudiences } = authentication;
  const { maxExpirationMs, extendExpiration } = serviceAccounts;
  if (maxExpirationMs !== 0 && (maxExpirationMs < hourMs || maxExpirationMs > maxMs)) {
    throw new OptionsError("--service-account-max-token-expiration: must be 0, or from 1h to 2^32 seconds");
  }
  const issuers =
    serviceAccounts.issuers.length > 0 ? serviceAccounts.issuers : [vocabulary.serviceAccountIssuer];
  for (const issuer of issuers) checkIssuer(issuer);
  checkKeysUri(serviceAccounts.jwksUri);
  const { signingKeyFile } = serviceAccounts;
  const signingKeys = inherited ?? (await signingKeyFor(options, signingKeyFile, shared));
  const { signing, former } = signingKeys;
  const named = await verifyingKeys(options, serviceAccounts.keyFiles);
  const ownAudiences = apiAudiences.length > 0 ? apiAudiences : issuers;
  return {
    issuers,
    ownAudiences,
    signingKey: signing.key,
    signingKeys: signingKeyFile === undefined ? signingKeys : undefined,
    keys: distinctKeys([signing, ...former].map(toVerificationKey).concat(named)),
    issueLegacy: (facts) => signClaims(legacyClaims(vocabulary, facts), signing.key, signing.id),
    issuer: {
      ownAudiences,
      maxSeconds: Math.floor(maxExpirationMs / 1000),
      extendsLifetime: extendExpiration,
      issue: (facts) => signClaims(boundClaims(vocabulary, issuers[0]!, facts), signing.key, signing.id),
    },
  };
}

/** An issuer is any text; one that looks like a URL must be one (RFC 7519 section 2, StringOrURI). */
function checkIssuer(issuer: string): void {
  if (issuer.includes(":") && !URL.canParse(issuer)) {
    throw new OptionsError(`--service-account-issuer: ${JSON.stringify(issuer)} is not a URL`);
  }
}

function checkKeysUri(uri: string | undefined): void {
  if (uri === undefined || (URL.canParse(uri) && new URL(uri).protocol === "https:")) return;
  throw new OptionsError(`--service-account-jwks-uri: ${JSON.stringify(uri)} is not an https URL`);
}

async function verifyingKeys(options: ServerOptions, files: readonly string[]): Promise<VerificationKey[]> {
  const flag = "--service-account-key-file";
  const keys: VerificationKey[] = [];
  for (const file of files) keys.push(...(await readKeys(flag, file, readPublicKeys)));
  const tlsKey = options.certificateFiles?.key;
  if (files.length > 0 || tlsKey === undefined) return keys;
  try {
    return readPublicKeys(await readOptionFile("--tls-private-key-file", tlsKey));
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error;
    // A TLS key of a type that can't sign tokens is allowed.
    options.log.warn({ file: tlsKey }, `the TLS key verifies no service account tokens: ${error.message}`);
    return [];
  }
}

async function signingKeyFor(
  { port, certificateFolder }: ServerOptions,
  file: string | undefined,
  shared: SharedValues | undefined,
): Promise<SigningKeys> {
  if (file !== undefined) {
    const signing = await readKeys("--service-account-signing-key-file", file, readSigningKey);
    return { signing, former: [] };
  }
  try {
    return await ownSigningKeys(port === false ? undefined : certificateFolder, shared);
  } catch (error) {
    if (error instanceof KeyFault) throw new OptionsError(error.message);
    throw error;
  }
}

async function readKeys<T>(flag: string, file: string, read: (pem: string) => T): Promise<T> {
  const pem = await readOptionFile(flag, file);
  try {
    return read(pem);
  } catch (error) {
    if (error instanceof KeyFault) throw new OptionsError(`${flag} ${file}: ${error.message}`);
    throw error;
  }
}
