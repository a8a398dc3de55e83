import type { ApiObject } from "../schema/kind.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { identityOf } from "./live-objects.ts";

/** How the names of Secrets with bootstrap tokens begin; the token's id follows. */
export const bootstrapSecretPrefix = "bootstrap-token-";

/** A whole token: its id, a dot, its secret part. */
export const bootstrapTokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** What a Secret says of its bootstrap token (spec: conventions 2.7). */
export interface BootstrapToken {
  /** Both parts of the token, empty when missing. */
  readonly id: string;
  readonly secret: string;
  /** When it ends, in milliseconds since 1970: never is Infinity, and 0 where the time can't be read. */
  readonly endsMs: number;
  readonly forAuthentication: boolean;
  readonly forSigning: boolean;
  /** Further groups of its user, comma separated, unchecked. */
  readonly extraGroups: string;
}

/** Reads the token of a Secret; undefined when that is of another type, or being deleted. */
export function bootstrapTokenIn(secret: ApiObject, { domain }: Vocabulary): BootstrapToken | undefined {
  const { type, data = {} } = secret as { type?: string; data?: Record<string, string> };
  if (type !== `bootstrap.${domain}/token` || identityOf(secret).deletedMs !== undefined) return undefined;
  const value = (key: string) =>
    Object.hasOwn(data, key) ? Buffer.from(data[key]!, "base64").toString("utf8") : "";
  return {
    id: value("token-id"),
    secret: value("token-secret"),
    endsMs: endOf(value("expiration")),
    forAuthentication: value("usage-bootstrap-authentication") === "true",
    forSigning: value("usage-bootstrap-signing") === "true",
    extraGroups: value("auth-extra-groups"),
  };
}

/** A token without a time never ends; one whose time can't be read has ended. */
function endOf(expiration: string): number {
  if (expiration === "") return Infinity;
  const ends = rfc3339.test(expiration) ? Date.parse(expiration) : Number.NaN;
  return Number.isNaN(ends) ? 0 : ends;
}
