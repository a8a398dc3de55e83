import { AuthenticatingProxy, type IdentityHeaders } from "../../authentication/authenticating-proxy.ts";
import type { AuthorityPool } from "../../authentication/authority-pool.ts";
import { ClientCertificateVerifier } from "../../authentication/presented-certificate.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { ClusterTrust } from "../../controllers/cluster-authentication-trust.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ProxySettings } from "../options/settings-types.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { ClientAuthorities } from "../certificates/serving.ts";

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Returns the request headers from which the user of an authenticating proxy is read; undefined if no proxy is
 * trusted.
 *
 * @throws {OptionsError} if a header name is not valid, or the feature gate of uids is off.
 */
export function identityHeaders(options: ServerOptions): IdentityHeaders | undefined {
  const { proxy } = options.authentication;
  if (proxy === undefined) return undefined;
  const { usernameHeaders, uidHeaders, groupHeaders = [], extraHeaderPrefixes = [] } = proxy;
  checkUidHeaders(options, uidHeaders);
  if (usernameHeaders.length === 0) {
    throw new OptionsError("--requestheader-username-headers: at least one header is needed");
  }
  return {
    username: named("--requestheader-username-headers", usernameHeaders),
    uids: named(uidFlag, uidHeaders),
    groups: named("--requestheader-group-headers", groupHeaders),
    extraPrefixes: named("--requestheader-extra-headers-prefix", extraHeaderPrefixes),
  };
}

const uidFlag = "--requestheader-uid-headers";
/** The header with which servers pass the uid to extension servers. */
const standardUidHeader = "x-remote-uid";

function checkUidHeaders(options: ServerOptions, headers: readonly string[]): void {
  if (headers.length === 0) return;
  if (!featureGates(options).enabled("RemoteRequestHeaderUID"))
    throw new OptionsError(
      `${uidFlag}: ${headers.join(", ")} needs the feature gate RemoteRequestHeaderUID, which is on from release 1.33`,
    );
  if (!headers.some((name) => name.toLowerCase() === standardUidHeader))
    throw new OptionsError(
      `${uidFlag}: must have X-Remote-Uid, which extension servers get; got ${headers.join(", ")}`,
    );
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
