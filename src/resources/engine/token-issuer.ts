/** An object that a service account token names. */
export interface TokenSubject {
  readonly name: string;
  readonly uid: string;
}

/** The claims of a service account token. */
export interface TokenFacts {
  readonly namespace: string;
  readonly account: TokenSubject;
  /** The bound object, with whose deletion the token becomes invalid. */
  readonly boundTo: { readonly kind: "Pod" | "Secret" | "Node"; readonly object: TokenSubject } | undefined;
  /** The node of a bound pod, from release 1.30 on; the uid is empty if there is no such Node. */
  readonly node?: TokenSubject | undefined;
  /** Unique identifier of the token (claim `jti`), from release 1.30 on. */
  readonly id?: string | undefined;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Time from which the use of the token is recorded as stale, in seconds since 1970. */
  readonly warnAfter: number | undefined;
}

/** Issues service account tokens (spec: conventions 5.5). */
export interface TokenIssuer {
  /** Audiences of this server, the default of a token request. */
  readonly ownAudiences: readonly string[];
  /** Maximum lifetime of a token in seconds; 0 for no limit. */
  readonly maxSeconds: number;
  /** Whether tokens that node agents request for pods are valid longer than requested. */
  readonly extendsLifetime: boolean;
  /** Signs a token. */
  issue(facts: TokenFacts): Promise<string>;
}

/** Returns the credential identifier of a token with this identifier, for audit annotations and for the extra fields of its user. */
export function credentialId(tokenId: string): string {
  return `JTI=${tokenId}`;
}
