import { isRecord } from "./paths.ts";

/** Returns the claims of a token, which are not verified; undefined if it has no readable ones. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> | undefined {
  const text = token.split(".")[1] ?? "";
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) =>
      one.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isRecord(claims) ? claims : undefined;
  } catch {
    // Not a JSON Web Token.
    return undefined;
  }
}
