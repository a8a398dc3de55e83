import type { KeyObject } from "node:crypto";
import type { IssueLegacyToken } from "../../controllers/service-account-tokens.ts";
import { legacyClaims } from "../../authentication/service-accounts/legacy-claims.ts";
import type { Claims } from "../../authentication/jwt/claims.ts";
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
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The part of {@link ServiceAccountKeys} that depends on the issuer. */
interface IssuingParts {
  /** Signs a token without expiration, which is stored in a Secret. */
  readonly issueLegacy: IssueLegacyToken;
  readonly issuers: readonly string[];
  /** Issuer of tokens without expiration. */
  readonly legacyIssuer: string;
  readonly ownAudiences: readonly string[];
  readonly issuer: TokenIssuer;
}

/** The keys and functions for issuing and verifying service account tokens. */
export interface ServiceAccountKeys extends IssuingParts {
  readonly keys: readonly VerificationKey[];
  /** The private key that signs tokens. */
  readonly signingKey: KeyObject;
  readonly signingKeyId: string;
  /** Longest life of a token, in seconds; 0 if it is unlimited. */
  readonly maxSeconds: number;
  readonly extendsLifetime: boolean;
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
  const keys: Omit<ServiceAccountKeys, keyof IssuingParts> = {
    signingKey: signing.key,
    signingKeyId: signing.id,
    signingKeys: signingKeyFile === undefined ? signingKeys : undefined,
    keys: distinctKeys([signing, ...former].map(toVerificationKey).concat(named)),
    maxSeconds: Math.floor(maxExpirationMs / 1000),
    extendsLifetime: extendExpiration,
  };
  const ownAudiences = apiAudiences.length > 0 ? apiAudiences : issuers;
  return withIssuers(vocabulary, keys, issuers, vocabulary.legacyTokenIssuer, ownAudiences);
}

/** Returns the issuer of the service account tokens of a workspace, which have no meaning outside of it. */
function workspaceIssuer(issuer: string, workspaceUid: string): string {
  return `${issuer.replace(/\/$/, "")}/clusters/${workspaceUid}`;
}

/** Returns the uid of the workspace whose tokens have an issuer; undefined for other issuers. */
export function workspaceIn(
  issuer: string,
  { issuers, legacyIssuer }: Pick<ServiceAccountKeys, "issuers" | "legacyIssuer">,
): string | undefined {
  const uid = issuer.slice(issuer.lastIndexOf("/") + 1);
  const own = [issuers[0]!, legacyIssuer].map((one) => workspaceIssuer(one, uid));
  return own.includes(issuer) ? uid : undefined;
}

/** Returns the keys of a server for the tokens of one of its workspaces: they have another issuer and audience. */
export function workspaceKeys(
  { vocabulary }: Pick<ServerOptions, "vocabulary">,
  server: ServiceAccountKeys,
  uid: string,
): ServiceAccountKeys {
  const issuers = [workspaceIssuer(server.issuers[0]!, uid)];
  return withIssuers(vocabulary, server, issuers, workspaceIssuer(server.legacyIssuer, uid), issuers);
}

function withIssuers(
  vocabulary: Vocabulary,
  keys: Omit<ServiceAccountKeys, keyof IssuingParts>,
  issuers: readonly string[],
  legacyIssuer: string,
  ownAudiences: readonly string[],
): ServiceAccountKeys {
  const { signingKey, signingKeyId, maxSeconds, extendsLifetime } = keys;
  const sign = (claims: Claims) => signClaims(claims, signingKey, signingKeyId);
  return {
    ...keys,
    issuers,
    legacyIssuer,
    ownAudiences,
    issueLegacy: (facts) => sign(legacyClaims(vocabulary, legacyIssuer, facts)),
    issuer: {
      ownAudiences,
      maxSeconds,
      extendsLifetime,
      issue: (facts) => sign(boundClaims(vocabulary, issuers[0]!, facts)),
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
