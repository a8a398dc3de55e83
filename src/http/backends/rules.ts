import type { Agent } from "node:https";
import type { TargetRules } from "./addresses.ts";

/** TLS settings of a connection to a backend. */
export interface BackendTls {
  /** CA certificates for the backend's certificate (PEM); without them it isn't verified. */
  readonly ca?: string | undefined;
  /** Client certificate of the server (PEM). */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Whether the certificate is verified with the CA certificates of the machine; overrides the default of `ca`. */
  readonly verify?: boolean | undefined;
  /** Name that the certificate must have, if it isn't the host. */
  readonly serverName?: string | undefined;
}

/** Rules of connections to pods, services and nodes. */
export interface ConnectionRules {
  /** Maximum number of open connections. */
  readonly maxSockets: number;
  /** Allowed target addresses. */
  readonly targets: TargetRules;
  /** Returns true for a header (in lower case) with which a proxy names the user; such headers are not forwarded. */
  readonly isIdentityHeader: (name: string) => boolean;
  readonly nodeAgents: {
    readonly tls: BackendTls;
    /** Types of node addresses, in order of preference. */
    readonly addressTypes: readonly string[];
    /** Time limit of connecting to a node agent. */
    readonly timeoutMs: number;
  };
}

/** Types of node addresses, in the order in which they are tried. */
export const nodeAddressTypes: readonly string[] = [
  "Hostname",
  "InternalDNS",
  "InternalIP",
  "ExternalDNS",
  "ExternalIP",
];

/** Time limit of connecting to other backends. */
export const connectTimeoutMs = 30_000;

/** Target of a forwarded request. */
export interface Destination {
  readonly scheme: "http" | "https";
  /** Address or host name. */
  readonly host: string;
  readonly port: number;
  readonly tls: BackendTls;
  readonly timeoutMs: number;
  /**
   * Pool of connections, for requests without a body that may be sent twice. Without it each request has its own new
   * connection.
   */
  readonly agent?: Agent | undefined;
  /** Time limit of the response on a pooled connection; undefined for none. */
  readonly answerTimeoutMs?: number | undefined;
}

/** Formats host and port: `10.1.2.3:80`, `[fd00::1]:443`. */
export function hostAndPort({ host, port }: Pick<Destination, "host" | "port">): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
