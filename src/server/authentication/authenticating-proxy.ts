import { AuthenticatingProxy, type IdentityHeaders } from "../../authentication/authenticating-proxy.ts";
import type { AuthorityPool } from "../../authentication/authority-pool.ts";
import { ClientCertificateVerifier } from "../../authentication/presented-certificate.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClusterTrust } from "../../controllers/cluster-authentication-trust.ts";
import type { ProxySettings } from "../options/types.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { ClientAuthorities } from "../certificates/serving.ts";

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * The headers in which proxies say who somebody is; undefined where no proxy is believed.
 *
 * @throws {OptionsError}
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

/** Believes the headers of the proxies for whom the authorities vouch. */
export function authenticatingProxy(
  headers: IdentityHeaders,
  authorities: AuthorityPool,
  { allowedNames = [] }: ProxySettings,
  clock: Clock,
): AuthenticatingProxy {
  return new AuthenticatingProxy(headers, new ClientCertificateVerifier(authorities, clock), allowedNames);
}

/** What other servers need to authenticate callers as this one does. */
export function clusterTrust(
  { authentication: { proxy } }: ServerOptions,
  { clients, proxies }: ClientAuthorities,
): ClusterTrust {
  return {
    clients: clients.certificates,
    proxies: proxy && proxies && { ...proxy, certificates: proxies.certificates },
  };
}
