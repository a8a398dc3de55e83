import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import type { AuthenticationResult } from "./authenticator.ts";

/** Who makes a request that brings no credentials (spec: conventions 5.9). */
export function anonymous(vocabulary: Vocabulary): AuthenticationResult {
  const { systemPrefix } = vocabulary;
  const groups = [`${systemPrefix}unauthenticated`];
  return {
    user: { name: `${systemPrefix}anonymous`, uid: "", groups, extra: {} },
    method: "anonymous",
    cacheable: true,
  };
}

/** Whether anonymous requests are allowed unless configured: not when every request would be authorized. */
export function anonymousByDefault(authorizationModes: readonly string[]): boolean {
  return !authorizationModes.includes("AlwaysAllow");
}
