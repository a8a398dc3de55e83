import type { VerificationKey } from "../jwt/signature.ts";

/** Path of the OpenID discovery document. */
export const configurationPath = "/.well-known/openid-configuration";
/** Path of the JSON Web Key Set. */
export const keysPath = "/openid/v1/jwks";

/** The documents with which clients verify service account tokens (OpenID Connect Discovery 1.0), as JSON. */
export interface DiscoveryDocuments {
  readonly configuration: string;
  readonly keys: string;
}

/**
 * Returns the two documents, or why they can't be served: OpenID requires an https URL without query and fragment as issuer.
 *
 * @param jwksUri URL of the keys; undefined: below the issuer.
 */
export function discoveryDocuments(
  issuer: string,
  keys: readonly VerificationKey[],
  jwksUri: string | undefined,
): DiscoveryDocuments | { readonly error: string } {
  const error = issuerError(issuer);
  if (error !== undefined) return { error: `the issuer ${JSON.stringify(issuer)} ${error}` };
  const configuration = {
    issuer,
    jwks_uri: jwksUri ?? `${issuer.replace(/\/$/, "")}${keysPath}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithms }) => algorithms[0]!))],
  };
  return { configuration: JSON.stringify(configuration), keys: JSON.stringify({ keys: keys.map(toJwk) }) };
}

function issuerError(issuer: string): string | undefined {
  if (!URL.canParse(issuer)) return "is not a URL";
  const { protocol, search, hash } = new URL(issuer);
  if (protocol !== "https:") return "is not an https URL";
  return search !== "" || hash !== "" ? "has a query or a fragment" : undefined;
}

const webKeys = new WeakMap<VerificationKey, object>();

/** Returns the JSON web key of a key (RFC 7517). */
function toJwk(verification: VerificationKey): object {
  let result = webKeys.get(verification);
  if (result === undefined) {
    const { id, key, algorithms } = verification;
    result = { use: "sig", kid: id, alg: algorithms[0], ...key.export({ format: "jwk" }) };
    webKeys.set(verification, result);
  }
  return result;
}
