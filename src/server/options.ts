import type { TolerationSeconds } from "../admission/plugins/default-toleration-seconds.ts";
import type { ServingFileName } from "../base/certificates.ts";
import type { Logger } from "../base/logger.ts";
import type { Clock } from "../base/clock.ts";
import { nodeAddressTypes } from "../http/backends/rules.ts";
import type { FlowOptions } from "./flow-options.ts";
import type { AuthenticationOptions } from "./authentication-options.ts";
import type { ClusterSigningOptions } from "./cluster-signing.ts";
import type { AuditOptions } from "./audit-options.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { Store } from "../storage/store.ts";
import type { Extensions } from "./extensions.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** Which engine keeps the objects. */
export type StorageOptions =
  | { readonly engine: "memory" }
  | { readonly engine: "embedded"; readonly dir: string }
  | {
      readonly engine: "etcd";
      readonly endpoints: readonly string[];
      readonly caFile?: string | undefined;
      readonly certFile?: string | undefined;
      readonly keyFile?: string | undefined;
      readonly prefix: string;
    };

/** Where and how the server is reached. */
export interface ServingOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** Further names and addresses under which clients reach it; they go into a self-made certificate. */
  readonly extraHosts: readonly string[];
  /** A certificate and key of the operator's own; else the server makes some. */
  readonly certificateFiles?: { readonly cert: string; readonly key: string } | undefined;
  /** Folder in which self-made certificates are kept; without it they live in memory. */
  readonly certificateFolder?: string | undefined;
  /** How the serving certificate's files in the folder are called; `server` by default. */
  readonly certificateFileName?: ServingFileName | undefined;
  /** Unless given, TLS 1.2 and above with the suites of the platform. */
  readonly tls?: TlsOptions | undefined;
  /** Client connections that may be open at a time; unless given, as many as the process's limit of open files leaves. */
  readonly maxConnections?: number | undefined;
}

/** A service of others that is asked who may do what (mode Webhook). */
export interface AuthorizationWebhookChoice {
  /** Client configuration that names the service. */
  readonly configFile: string;
  /** Of the SubjectAccessReviews that it is asked with. */
  readonly version: "v1" | "v1beta1";
  /** How long it is remembered that somebody may, and that somebody may not, in milliseconds. */
  readonly authorizedMs: number;
  readonly unauthorizedMs: number;
}

/** How the server connects to pods, services and the agents of nodes. */
export interface ConnectionOptions {
  /** Lets such connections go to this machine itself; for tests and development on one machine. */
  readonly allowLoopback: boolean;
  /** Addresses and ranges to which no such connection goes, beside those that are always refused. */
  readonly deniedRanges?: readonly string[];
  /** File of the authorities of the node agents' certificates (PEM); without it they aren't verified. */
  readonly nodeAgentCaFile: string | undefined;
  /** What the server shows itself with to node agents (PEM); both or neither. */
  readonly nodeAgentCertFile: string | undefined;
  readonly nodeAgentKeyFile: string | undefined;
  /** Types of a node's addresses, the best liked first. */
  readonly nodeAddressTypes: readonly string[];
  /** A connection to a node agent must stand by then. */
  readonly nodeAgentTimeoutMs: number;
}

/** Connections as they are made unless options say otherwise. */
export const defaultConnections: ConnectionOptions = {
  allowLoopback: false,
  nodeAgentCaFile: undefined,
  nodeAgentCertFile: undefined,
  nodeAgentKeyFile: undefined,
  nodeAddressTypes,
  nodeAgentTimeoutMs: 5000,
};

/** How requests for group versions that others serve are passed on (APIServices). */
export interface AggregationOptions {
  /** With what the server shows itself to extension servers (PEM); both or neither. */
  readonly clientCertFile?: string | undefined;
  readonly clientKeyFile?: string | undefined;
  /** Connections go to a service's ready endpoints only; else to its cluster address where it has no such endpoints. */
  readonly endpointRouting?: boolean | undefined;
  /** Whether redirects of extension servers are refused; true unless given. */
  readonly rejectRedirects?: boolean | undefined;
}

/** Everything about a server that can be chosen. */
export interface ServerOptions {
  readonly vocabulary: Vocabulary;
  /** The options of an engine, or a store of the embedding program, which stays open when the server stops. */
  readonly storage: StorageOptions | Store;
  /** How long history is kept, in milliseconds. */
  readonly retentionMs: number;
  /** Undefined: no socket is opened; the server is used through its client. */
  readonly serving: ServingOptions | undefined;
  /** Unless given, nothing is audited. */
  readonly audit?: AuditOptions | undefined;
  /** Modes, and names of authorizers among the extensions. */
  readonly authorizationModes: readonly string[];
  /** Given where Webhook is among the modes. */
  readonly authorizationWebhook?: AuthorizationWebhookChoice | undefined;
  /** File of the policies of mode ABAC, which needs one. */
  readonly authorizationPolicyFile?: string | undefined;
  /** Undefined: as the modes suggest (spec: conventions 5.9). */
  readonly anonymousAuth: boolean | undefined;
  /** File of certificate authorities whose clients are known (PEM). */
  readonly clientCaFile: string | undefined;
  readonly tokenAuthFile: string | undefined;
  /** {@link defaultClusterSigning} unless given. */
  readonly clusterSigning?: ClusterSigningOptions | undefined;
  /** {@link defaultAuthentication} unless given. */
  readonly authentication?: AuthenticationOptions | undefined;
  /** Text of `--runtime-config`. */
  readonly runtimeConfig: string;
  /** Ranges of addresses from which services get theirs, one a family. */
  readonly serviceClusterIpRanges: readonly string[];
  /** Ports of the nodes that services get: `30000-32767`. */
  readonly serviceNodePortRange: string;
  /** Address at which others reach the server, for the endpoints of its own Service; see `presence.ts`. */
  readonly advertiseAddress?: string | undefined;
  /** Whether the server shows by a lease that it lives, which is a write every ten seconds; false unless given. */
  readonly identityLease?: boolean | undefined;
  /** Release whose metrics are shown though this one hides them; empty: none. */
  readonly showHiddenMetricsForVersion: string;
  /** How long events are kept after they were last seen, in milliseconds. */
  readonly eventLifeMs: number;
  /** Text of `--feature-gates`. */
  readonly featureGates: string;
  /** {@link defaultConnections} unless given. */
  readonly connections?: ConnectionOptions | undefined;
  /** How extension servers are reached. */
  readonly aggregation?: AggregationOptions | undefined;
  /** {@link defaultFlow} unless given. */
  readonly flow?: FlowOptions | undefined;
  /** Whether pods, and templates of pods, may have containers with all rights on their host. */
  readonly allowPrivileged: boolean;
  /** Text of `--controllers`; `["*"]` unless given. */
  readonly enabledControllers?: readonly string[] | undefined;
  /** Whether servers over one store choose one that runs the controllers; true unless given. One in memory is alone. */
  readonly leaderElection?: boolean | undefined;
  readonly enabledAdmissionPlugins: readonly string[];
  readonly disabledAdmissionPlugins: readonly string[];
  /** For how long pods stay on nodes that aren't ready, or can't be reached (DefaultTolerationSeconds). */
  readonly tolerationSeconds: TolerationSeconds;
  /** Configuration of admission plugins. */
  readonly admissionConfigurationFile?: string | undefined;
  /** `/livez` doesn't fail for checks of the start before this time has passed. */
  readonly livezGracePeriodMs: number;
  /** How long the server goes on serving, not ready, before it stops. */
  readonly shutdownDelayMs: number;
  /** What the embedding program adds. */
  readonly extensions?: Extensions | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}
