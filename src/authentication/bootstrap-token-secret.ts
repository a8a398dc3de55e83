import { labelKey } from "../vocabulary/names.ts";
import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { identityOf } from "./live-objects.ts";

/** Name prefix of Secrets with bootstrap tokens, followed by the token id. */
export const bootstrapSecretPrefix = "bootstrap-token-";

/** Format of a bootstrap token: `<id>.<secret>`. */
export const bootstrapTokenPattern = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** The bootstrap token in a Secret (spec: conventions 2.7). */
export interface BootstrapToken {
  /** Id and secret part of the token; empty if missing. */
  readonly id: string;
  readonly secret: string;
  /** Expiration in milliseconds since 1970; Infinity without one, 0 if it is malformed. */
  readonly expiresAtMs: number;
  readonly forAuthentication: boolean;
  readonly forSigning: boolean;
  /** Extra groups of the user, comma-separated, not validated. */
  readonly extraGroups: string;
}

/** Parses the token of a Secret; undefined if the Secret has another type or is being deleted. */
export function parseBootstrapToken(secret: ApiObject, { domain }: Vocabulary): BootstrapToken | undefined {
  const { type, data = {} } = secret as { type?: string; data?: Record<string, string> };
  if (type !== labelKey(domain, "token", "bootstrap") || identityOf(secret).deletionTimeMs !== undefined)
    return undefined;
  const value = (key: string) =>
    Object.hasOwn(data, key) ? Buffer.from(data[key]!, "base64").toString("utf8") : "";
  return {
    id: value("token-id"),
    secret: value("token-secret"),
    expiresAtMs: parseExpiration(value("expiration")),
    forAuthentication: value("usage-bootstrap-authentication") === "true",
    forSigning: value("usage-bootstrap-signing") === "true",
    extraGroups: value("auth-extra-groups"),
  };
}

/** Returns the expiration time. A malformed time counts as expired. */
function parseExpiration(expiration: string): number {
  if (expiration === "") return Infinity;
  const expiresAtMs = rfc3339.test(expiration) ? Date.parse(expiration) : Number.NaN;
  return Number.isNaN(expiresAtMs) ? 0 : expiresAtMs;
}
