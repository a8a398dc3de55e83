import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { AuthenticationResult } from "./authenticator.ts";

/** Returns the user of a request without credentials (spec: conventions 5.9). */
export function anonymous(vocabulary: Vocabulary): AuthenticationResult {
  const { systemPrefix } = vocabulary;
  const groups = [`${systemPrefix}unauthenticated`];
  return {
    user: { name: `${systemPrefix}anonymous`, uid: "", groups, extra: {} },
    method: "anonymous",
    cacheable: true,
  };
}

/** Default of `--anonymous-auth`: false with mode AlwaysAllow, which would allow anonymous users everything. */
export function anonymousByDefault(authorizationModes: readonly string[]): boolean {
  return !authorizationModes.includes("AlwaysAllow");
}
