import type { Agent } from "node:https";
import type { TargetRules } from "./addresses.ts";

/** TLS by which a backend is known, and the server to it. */
export interface BackendTls {
  /** Authorities of the backend's certificate (PEM); without them it isn't verified. */
  readonly ca?: string | undefined;
  /** What the server shows itself with (PEM). */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Whether the certificate is verified, where that is otherwise than by `ca`: then by the authorities that the machine trusts. */
  readonly verify?: boolean | undefined;
  /** Whom the certificate must be for, if not for the host. */
  readonly serverName?: string | undefined;
}

/** How connections to pods, services and nodes are made. */
export interface ConnectionRules {
  /** How many of them may be open at a time. */
  readonly maxSockets: number;
  /** To which addresses they may go. */
  readonly targets: TargetRules;
  /** Whether a proxy says in this header (in lower case) who the caller is; such are not forwarded. */
  readonly isIdentityHeader: (name: string) => boolean;
  readonly nodeAgents: {
    readonly tls: BackendTls;
    /** Types of a node's addresses, the best liked first. */
    readonly addressTypes: readonly string[];
    /** A connection to a node agent must stand by then. */
    readonly timeoutMs: number;
  };
}

/** The types of addresses that a node can have, in the order in which they are tried. */
export const nodeAddressTypes: readonly string[] = [
  "Hostname",
  "InternalDNS",
  "InternalIP",
  "ExternalDNS",
  "ExternalIP",
];

/** A connection to anything but a node agent must stand by then. */
export const connectTimeoutMs = 30_000;

/** Where a request is forwarded to. */
export interface Destination {
  readonly scheme: "http" | "https";
  /** Address or name. */
  readonly host: string;
  readonly port: number;
  readonly tls: BackendTls;
  readonly timeoutMs: number;
  /**
   * Connections that stand, for requests without a body that may be sent twice; unless given, a request has a connection of its
   * own, which nobody had before.
   */
  readonly agent?: Agent | undefined;
  /** On a connection that stands an answer must begin by then; undefined: it may take its time. */
  readonly answerTimeoutMs?: number | undefined;
}

/** A destination as people write it: `10.1.2.3:80`, `[fd00::1]:443`. */
export function hostAndPort({ host, port }: Pick<Destination, "host" | "port">): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
