import type { VerificationKey } from "../jwt/signature.ts";

/** Path of the document that says who issues tokens. */
export const configurationPath = "/.well-known/openid-configuration";
/** Path of the keys with which others verify the tokens. */
export const keysPath = "/openid/v1/jwks";

/** What others need to verify the tokens of service accounts (OpenID Connect Discovery 1.0), as JSON texts. */
export interface DiscoveryDocuments {
  readonly configuration: string;
  readonly keys: string;
}

/**
 * The two documents, or why there are none: others trust an issuer by its https URL, without query or fragment.
 *
 * @param jwksUri where the keys are fetched, if not below the issuer.
 */
export function discoveryDocuments(
  issuer: string,
  keys: readonly VerificationKey[],
  jwksUri: string | undefined,
): DiscoveryDocuments | { readonly unfit: string } {
  const unfit = unfitness(issuer);
  if (unfit !== undefined) return { unfit: `the issuer ${JSON.stringify(issuer)} ${unfit}` };
  const configuration = {
    issuer,
    jwks_uri: jwksUri ?? `${issuer.replace(/\/$/, "")}${keysPath}`,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithms }) => algorithms[0]!))],
  };
  return { configuration: JSON.stringify(configuration), keys: JSON.stringify({ keys: keys.map(shown) }) };
}

function unfitness(issuer: string): string | undefined {
  if (!URL.canParse(issuer)) return "is not a URL";
  const { protocol, search, hash } = new URL(issuer);
  if (protocol !== "https:") return "is not an https URL";
  return search !== "" || hash !== "" ? "has a query or a fragment" : undefined;
}

function shown({ id, key, algorithms }: VerificationKey): object {
  return { use: "sig", kid: id, alg: algorithms[0], ...key.export({ format: "jwk" }) };
}
