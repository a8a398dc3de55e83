/**
 * The token of an `Authorization: Bearer <token>` header (spec: conventions 5.3); undefined when the header is absent,
 * names another scheme, or holds no token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const found = pattern.exec(authorization);
  return found === null ? undefined : found[1];
}

/** The scheme's case doesn't matter; what follows the token after a space is not part of it. */
const pattern = /^\s*bearer ([^ ]+)/i;
