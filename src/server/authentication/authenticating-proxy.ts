import { AuthenticatingProxy, type IdentityHeaders } from "../../authentication/authenticating-proxy.ts";
import type { AuthorityPool } from "../../authentication/authority-pool.ts";
import { ClientCertificateVerifier } from "../../authentication/presented-certificate.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClusterTrust } from "../../controllers/cluster-authentication-trust.ts";
import type { ProxySettings } from "../options/settings-types.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { ClientAuthorities } from "../certificates/serving.ts";

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Returns the request headers from which the user of an authenticating proxy is read; undefined if no proxy is
 * trusted.
 *
 * @throws {OptionsError} if a header name is not valid.
 */
export function identityHeaders({ authentication: { proxy } }: ServerOptions): IdentityHeaders | undefined {
  if (proxy === undefined) return undefined;
  const { usernameHeaders, groupHeaders = [], extraHeaderPrefixes = [] } = proxy;
  if (usernameHeaders.length === 0) {
    throw new OptionsError("--requestheader-username-headers: at least one header is needed");
  }
  return {
    username: named("--requestheader-username-headers", usernameHeaders),
    groups: named("--requestheader-group-headers", groupHeaders),
    extraPrefixes: named("--requestheader-extra-headers-prefix", extraHeaderPrefixes),
  };
}

function named(flag: string, names: readonly string[]): string[] {
  const wrong = names.find((name) => !headerName.test(name));
  if (wrong !== undefined) throw new OptionsError(`${flag}: ${JSON.stringify(wrong)} is not a header's name`);
  return names.map((name) => name.toLowerCase());
}

/** Creates the authenticator that accepts identity headers from proxies whose certificate is signed by a trusted CA. */
export function authenticatingProxy(
  headers: IdentityHeaders,
  authorities: AuthorityPool,
  { allowedNames = [] }: ProxySettings,
  clock: Clock,
): AuthenticatingProxy {
  return new AuthenticatingProxy(headers, new ClientCertificateVerifier(authorities, clock), allowedNames);
}

/**
 * Returns the CA certificates and header names with which extension servers authenticate callers as this server does.
 */
export function clusterTrust(
  { authentication: { proxy } }: ServerOptions,
  { clients, proxies }: ClientAuthorities,
): ClusterTrust {
  return {
    clients: clients.certificates,
    proxies: proxy && proxies && { ...proxy, certificates: proxies.certificates },
  };
}
