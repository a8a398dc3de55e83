/**
 * Returns the token of an `Authorization: Bearer <token>` header (spec: conventions 5.3); undefined if the header is absent, has
 * another scheme or no token.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const match = pattern.exec(authorization);
  return match === null ? undefined : match[1];
}

/** The scheme is case-insensitive. Text after the token, separated by a space, is ignored. */
const pattern = /^\s*bearer ([^ ]+)/i;
