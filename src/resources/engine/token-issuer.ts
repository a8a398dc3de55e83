/** An object that a token of a service account is about. */
export interface TokenSubject {
  readonly name: string;
  readonly uid: string;
}

/** What a token of a service account says. */
export interface TokenFacts {
  readonly namespace: string;
  readonly account: TokenSubject;
  /** The object with which the token ends, if it is bound to one. */
  readonly boundTo: { readonly kind: "Pod" | "Secret"; readonly object: TokenSubject } | undefined;
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** From when on the use of the token is noted as that of an old one, in seconds since 1970. */
  readonly warnAfter: number | undefined;
}

/** Makes tokens of service accounts (spec: conventions 5.5). */
export interface TokenIssuer {
  /** Audiences of a token whose request names none: this server. */
  readonly ownAudiences: readonly string[];
  /** The longest time that a token may hold, in seconds; 0 for no limit. */
  readonly maxSeconds: number;
  /** Whether tokens that programs of pods get by themselves hold longer than was asked for. */
  readonly extendsLifetime: boolean;
  /** Signs a token. */
  issue(facts: TokenFacts): Promise<string>;
}
