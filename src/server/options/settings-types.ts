// Generated from option-table.ts by `npm run options`; not to be edited.
// Options with all defaults; `option-types.ts` has what a caller gives.

/** `StorageOptions` with all defaults. */
export type StorageSettings =
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "embedded";
      /** Folder of the embedded store. The program uses one in `--data-dir`. */
      readonly dir: string;
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "memory";
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "etcd";
      /** Addresses of an etcd cluster, comma separated; implies `storage.engine`=etcd3. */
      readonly endpoints: readonly string[];
      /** CA certificates of the etcd cluster (PEM). */
      readonly caFile: string | undefined;
      /** Client certificate of the server for etcd (PEM). */
      readonly certFile: string | undefined;
      /** Key of `storage.certFile` (PEM). */
      readonly keyFile: string | undefined;
      /** Prefix of all keys in etcd. */
      readonly prefix: string;
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "postgres";
      /**
       * URL of a PostgreSQL database, postgres://USER:PASSWORD@HOST:PORT/DATABASE; implies `storage.engine`=postgres.
       * Other users of the machine can see flags: give a password in the environment or in `storage.urlFile`.
       */
      readonly url: string | undefined;
      /** File with the URL of a PostgreSQL database; implies `storage.engine`=postgres. */
      readonly urlFile: string | undefined;
      /** Schema of the tables in the database, which the server creates. */
      readonly schema: string;
    };

/** `EncryptionOptions` with all defaults. */
export interface EncryptionSettings {
  /** Configuration with the keys that encrypt stored objects, by resource. */
  readonly configFile: string;
  /** Read `encryption.configFile` again when it changes. */
  readonly automaticReload: boolean;
}

/** `FlowOptions` with all defaults. */
export interface FlowSettings {
  /** Schedule requests by flow schemas and priority levels; otherwise reject requests above the limits. */
  readonly fair: boolean;
  /** Maximum number of concurrent reading requests; 0 for no limit. With priority and fairness, a part of all seats. */
  readonly maxReading: number;
  /**
   * Maximum number of concurrent changing requests; 0 for no limit. With priority and fairness, the other part of all
   * seats.
   */
  readonly maxChanging: number;
}

/** `TlsOptions` with all defaults. */
export interface TlsSettings {
  /** Minimum TLS version of clients: VersionTLS10 to VersionTLS13. */
  readonly minVersion: string;
  /** Allowed cipher suites of TLS 1.2, by their IANA names; those of TLS 1.3 are always allowed. */
  readonly cipherSuites: readonly string[];
}

/** `ServiceAccountOptions` with all defaults. */
export interface ServiceAccountSettings {
  /**
   * Accepted issuers of service account tokens; the first one issues new tokens. Default: the issuer of the
   * vocabulary.
   */
  readonly issuers: readonly string[];
  /**
   * Files with RSA or ECDSA keys, public or private (PEM), that verify service account tokens. Default:
   * `certificateFiles.key`.
   */
  readonly keyFiles: readonly string[];
  /** Private key that signs service account tokens (PEM). Default: the server generates one. */
  readonly signingKeyFile: string | undefined;
  /** Reject a token from a Secret if the Secret or its service account no longer exists. */
  readonly lookup: boolean;
  /** Longest lifetime of a requested token, at least 1h; 0s for no limit. */
  readonly maxExpirationMs: number;
  /** Extend the lifetime of tokens injected into pods to a year, and count uses after the requested lifetime. */
  readonly extendExpiration: boolean;
  /** Published URL (https) of the keys that verify service account tokens, if it isn't below the issuer. */
  readonly jwksUri: string | undefined;
}

/** `TokenWebhookOptions` with all defaults. */
export interface TokenWebhookSettings {
  /** Client configuration of a webhook that authenticates the tokens that no other authenticator accepts. */
  readonly configFile: string;
  /** Version of the TokenReviews sent to that webhook: v1 or v1beta1. */
  readonly version: "v1" | "v1beta1";
  /** How long responses of that webhook are cached. */
  readonly cacheMs: number;
}

/** `OidcOptions` with all defaults. */
export interface OidcSettings {
  /** https URL of the OpenID Connect provider whose ID tokens are accepted. */
  readonly issuerUrl: string;
  /** Client ID that must be in the audience of ID tokens; requires `authentication.oidc.issuerUrl`. */
  readonly clientId: string;
  /** Claim with the user name. */
  readonly usernameClaim: string;
  /** Prefix of user names; - for none. Default: the issuer and #, but none for the claim email. */
  readonly usernamePrefix: string | undefined;
  /** Claim with the groups of the user. Default: no groups. */
  readonly groupsClaim: string | undefined;
  /** Prefix of groups. */
  readonly groupsPrefix: string;
  /** KEY=VALUE claims that an ID token must have. */
  readonly requiredClaims: readonly string[];
  /** CA certificates of the provider (PEM). Default: those of the operating system. */
  readonly caFile: string | undefined;
  /** Accepted signing algorithms of ID tokens. */
  readonly signingAlgorithms: readonly string[];
}

/** `ProxyOptions` with all defaults. */
export interface ProxySettings {
  /** CA certificates of the proxies that authenticate users and pass them in headers (PEM). */
  readonly caFile: string;
  /** Headers with the user name; the first one with a value counts. Requires `authentication.proxy.caFile`. */
  readonly usernameHeaders: readonly string[];
  /**
   * Headers with the uid of the user; the first one with a value counts. X-Remote-Uid must be among them. Requires
   * the feature gate RemoteRequestHeaderUID (on from release 1.33).
   */
  readonly uidHeaders: readonly string[];
  /** Headers with the groups of the user. */
  readonly groupHeaders: readonly string[];
  /** Prefixes of headers with extra attributes of the user. */
  readonly extraHeaderPrefixes: readonly string[];
  /** Allowed common names of the proxies' certificates. Default: any. */
  readonly allowedNames: readonly string[];
}

/** `AuthenticationOptions` with all defaults. */
export interface AuthenticationSettings {
  /** Configuration with the trusted issuers of tokens and the anonymous requests. Reloaded when it changes. */
  readonly configFile: string | undefined;
  /** Audiences of tokens for this server, comma separated. Default: the issuers. */
  readonly apiAudiences: readonly string[];
  /** Tokens of service accounts (spec: conventions 5.5). */
  readonly serviceAccounts: ServiceAccountSettings;
  /** Accept bootstrap tokens, which are Secrets in the system namespace. */
  readonly bootstrapTokens: boolean;
  /** A webhook that authenticates tokens (spec: conventions 5.7). */
  readonly tokenWebhook: TokenWebhookSettings | undefined;
  /** An OpenID Connect provider whose ID tokens are accepted (spec: conventions 5.6). */
  readonly oidc: OidcSettings | undefined;
  /** An authenticating proxy, which passes the user in request headers (spec: conventions 5.8). */
  readonly proxy: ProxySettings | undefined;
}

/** `SignerAuthorityOptions` with all defaults. */
export interface SignerAuthoritySettings {
  /** CA that signs requests of node agents for serving certificates. */
  readonly serving:
    | {
        /** CA certificate that signs requests of node agents for serving certificates (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.serving.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests of node agents for client certificates. */
  readonly nodeClient:
    | {
        /** CA certificate that signs requests of node agents for client certificates (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.nodeClient.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests for client certificates of the API. */
  readonly client:
    | {
        /** CA certificate that signs requests for client certificates of the API (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.client.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests to the signer legacy-unknown. */
  readonly legacyUnknown:
    | {
        /** CA certificate that signs requests to the signer legacy-unknown (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.legacyUnknown.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
}

/** `ClusterSigningOptions` with all defaults. */
export interface ClusterSigningSettings {
  /** CA that signs certificate requests to the built-in signers; default: the server's own CA. */
  readonly files:
    | {
        /** CA certificate that signs certificate requests to the built-in signers; default: the server's own CA (PEM). */
        readonly cert: string; /** Key of `clusterSigning.files.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CAs of single signers. */
  readonly signers: SignerAuthoritySettings;
  /** Lifetime of certificates issued by the built-in signers, unless a request asks for less. */
  readonly durationMs: number;
}

/** `AuthorizationWebhookOptions` with all defaults. */
export interface AuthorizationWebhookSettings {
  /** Client configuration of the webhook of mode Webhook. */
  readonly configFile: string;
  /** Version of the SubjectAccessReviews sent to that webhook: v1 or v1beta1. */
  readonly version: "v1" | "v1beta1";
  /** How long allowing decisions of that webhook are cached. */
  readonly authorizedMs: number;
  /** How long denying decisions of that webhook are cached. */
  readonly unauthorizedMs: number;
}

/** `AuditThrottleOptions` with all defaults. */
export interface AuditThrottleSettings {
  /** Average number of batches per second, if their rate is limited. */
  readonly perSecond: number;
  /** Number of batches sent at once, if their rate is limited. */
  readonly burst: number;
}

/** `AuditBatchOptions` with all defaults. */
export interface AuditBatchSettings {
  /** Capacity of the buffer in mode batch, in events. */
  readonly bufferEvents: number;
  /** Maximum size of a batch in mode batch, in events. */
  readonly batchEvents: number;
  /** Time after which an incomplete batch is sent. */
  readonly maxWaitMs: number;
  /** Limit of the rate of batches. */
  readonly throttle: AuditThrottleSettings | undefined;
}

/** `AuditTruncateOptions` with all defaults. */
export interface AuditTruncateSettings {
  /** Maximum size of an event in bytes, if sizes are limited: a larger one loses its objects, or is dropped. */
  readonly maxEventBytes: number;
  /** Maximum size of a batch in bytes, if sizes are limited. */
  readonly maxBatchBytes: number;
}

/** `AuditLogOptions` with all defaults. */
export interface AuditLogSettings {
  /** File of the audit log; - is standard output. */
  readonly path: string;
  /** Format of the audit log: json or legacy. */
  readonly format: "json" | "legacy";
  /** Whether requests wait for the audit log: batch, blocking or blocking-strict. */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** Size in megabytes at which the audit log is rotated; 0 is 100. */
  readonly maxBytes: number;
  /** Number of days after which rotated audit logs are deleted; 0 keeps them. */
  readonly maxAgeMs: number;
  /** Maximum number of rotated audit logs; 0 is unlimited. */
  readonly maxBackups: number;
  /** Compress rotated audit logs (gzip). */
  readonly compress: boolean;
  /** Version of the events in the audit log; only the default is supported. */
  readonly version: string | undefined;
  /** How events are collected in mode batch. */
  readonly batch: AuditBatchSettings;
  /** Limit of the size of events and batches. */
  readonly truncate: AuditTruncateSettings | undefined;
}

/** `AuditWebhookOptions` with all defaults. */
export interface AuditWebhookSettings {
  /** Client configuration of a service that receives audit events. */
  readonly configFile: string;
  /** Whether requests wait for that service: batch, blocking or blocking-strict. */
  readonly mode: "batch" | "blocking" | "blocking-strict";
  /** Delay before a failed delivery is retried for the first time. */
  readonly backoffMs: number;
  /** Version of the events sent to that service; only the default is supported. */
  readonly version: string | undefined;
  /** How events are collected in mode batch. */
  readonly batch: AuditBatchSettings;
  /** Limit of the size of events and batches. */
  readonly truncate: AuditTruncateSettings | undefined;
}

/** `AuditOptions` with all defaults. */
export interface AuditSettings {
  /** Audit policy (YAML). Default: no request is recorded. */
  readonly policyFile: string | undefined;
  /** The audit log. */
  readonly log: AuditLogSettings | undefined;
  /** A service that receives audit events. */
  readonly webhook: AuditWebhookSettings | undefined;
}

/** `ConnectionOptions` with all defaults. */
export interface ConnectionSettings {
  /** CA certificates of the node agents (PEM). Default: their certificates aren't verified. */
  readonly nodeAgentCaFile: string | undefined;
  /** Client certificate of the server for node agents (PEM); requires `connections.nodeAgentKeyFile`. */
  readonly nodeAgentCertFile: string | undefined;
  /** Key of `connections.nodeAgentCertFile` (PEM). */
  readonly nodeAgentKeyFile: string | undefined;
  /** Types of a node's addresses, in order of preference, for connections to its agent. */
  readonly nodeAddressTypes: readonly string[];
  /** Time limit for establishing a connection to a node agent. */
  readonly nodeAgentTimeoutMs: number;
  /** Allow connections to pods, services and nodes at loopback addresses: for tests and development only. */
  readonly allowLoopback: boolean;
  /**
   * Addresses and ranges to which no connection to a pod, service or node is allowed, beside the built-in ones; comma
   * separated.
   */
  readonly deniedRanges: readonly string[];
}

/** `AggregationOptions` with all defaults. */
export interface AggregationSettings {
  /**
   * Client certificate of the server for extension servers, see APIService (PEM); requires
   * `aggregation.clientKeyFile`.
   */
  readonly clientCertFile: string | undefined;
  /** Key of `aggregation.clientCertFile` (PEM). */
  readonly clientKeyFile: string | undefined;
  /** Connect to extension servers only at the ready endpoints of their service, never at its cluster address. */
  readonly endpointRouting: boolean;
  /** Reject redirects from extension servers instead of passing them to the client. */
  readonly rejectRedirects: boolean;
}

/** `TolerationSecondsOptions` with all defaults. */
export interface TolerationSecondsSettings {
  /** Default for how many seconds a pod tolerates a node that isn't ready (DefaultTolerationSeconds). */
  readonly notReady: number;
  /** Default for how many seconds a pod tolerates an unreachable node (DefaultTolerationSeconds). */
  readonly unreachable: number;
}

/** `ValueOptions` with all defaults. */
export interface ValueSettings {
  /** Names of groups, labels and media types: platform or kubernetes. */
  readonly vocabulary: "platform" | "kubernetes";
  /** API release whose kinds, versions, feature gates and defaults the server follows. */
  readonly release:
    "1.26" | "1.27" | "1.28" | "1.29" | "1.30" | "1.31" | "1.32" | "1.33" | "1.34" | "1.35" | "1.36" | "1.37";
  /** Start although the store has admission policies that a later release enforced and this release ignores. */
  readonly acceptUnenforcedPolicies: boolean;
  /** Where objects are stored. */
  readonly storage: StorageSettings;
  /** Encryption of stored objects. */
  readonly encryption: EncryptionSettings | undefined;
  /** Serve the web console at /console/. The program does so by default. */
  readonly console: boolean;
  /**
   * Write an Event about a new Deployment, StatefulSet, DaemonSet, Job or Pod that nothing will run, because no
   * controllers or nodes use the server. The program does so by default, if all controllers run.
   */
  readonly workloadHints: boolean;
  /**
   * How long past versions can be read and watches can resume. The flag also takes the rules of keptHistory, comma
   * separated: 5m,configmaps=30d:2GiB.
   */
  readonly retentionMs: number;
  /**
   * Resources whose history is kept longer: RESOURCE[.GROUP]=DURATION[:SIZE], such as configmaps=30d:2GiB; * for all
   * others but events and leases. Given in `retentionMs`.
   */
  readonly keptHistory: readonly string[];
  /**
   * Resources whose writes are acknowledged before they are synced, and how soon a sync follows:
   * RESOURCE[.GROUP]=interval:DURATION, comma separated. A power failure can lose their acknowledged writes since the
   * last sync. Embedded store only.
   */
  readonly durability: readonly string[];
  /** Address to listen on. */
  readonly host: string;
  /**
   * Address for other machines, in the endpoints of the server's own Service and in its certificate. Default: the
   * address it listens on, or the first of this machine.
   */
  readonly advertiseAddress: string | undefined;
  /** Port to listen on; 0 chooses a free one. */
  readonly port: number | false;
  /** Maximum number of open client connections. Default: 20000, or less if the limit of open files requires it. */
  readonly maxConnections: number | undefined;
  /** Limits on concurrent requests. */
  readonly flow: FlowSettings;
  /** The serving certificate. Default: the server creates one. */
  readonly certificateFiles:
    | {
        /**
         * Serving certificate with its chain (PEM); include the root if admin.kubeconfig is to trust it. Default: the
         * server creates one.
         */
        readonly cert: string; /** Key of `certificateFiles.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** TLS versions and cipher suites of clients. */
  readonly tls: TlsSettings;
  /**
   * Further names and addresses in the certificate that the server creates, comma separated. On `host` other than
   * loopback it already has those of this machine.
   */
  readonly extraHosts: readonly string[];
  /** CA certificates of clients (PEM), beside the server's own CA. */
  readonly clientCaFile: string | undefined;
  /** Static tokens: CSV with token, user, uid and optionally groups. */
  readonly tokenAuthFile: string | undefined;
  /** Treat requests without credentials as the anonymous user. Default: true, but false with AlwaysAllow. */
  readonly anonymousAuth: boolean | undefined;
  /** Authentication beside client certificates and static tokens. */
  readonly authentication: AuthenticationSettings;
  /** The CAs of the built-in signers of certificate requests. */
  readonly clusterSigning: ClusterSigningSettings;
  /** Configuration with the authorizers in order, also several webhooks. Reloaded when it changes. */
  readonly authorizationConfigFile: string | undefined;
  /** Authorizers in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny. */
  readonly authorizationModes: readonly (
    "Node" | "RBAC" | "ABAC" | "Webhook" | "AlwaysAllow" | "AlwaysDeny" | (string & Record<never, never>)
  )[];
  /**
   * Objects of a list or watch with view=mine: those that its user may get, or may list or is granted by name.
   * Default: get; list in the kubernetes vocabulary.
   */
  readonly views: "get" | "list" | undefined;
  /** The webhook of authorization mode Webhook. */
  readonly authorizationWebhook: AuthorizationWebhookSettings | undefined;
  /** Policies of mode ABAC: one JSON object per line. */
  readonly authorizationPolicyFile: string | undefined;
  /** Which requests are recorded, and where. */
  readonly audit: AuditSettings;
  /** API versions and resources to enable or disable: KEY, KEY=true or KEY=false, comma separated. */
  readonly runtimeConfig: string;
  /** Features to enable or disable: NAME=true or NAME=false, comma separated; also AllAlpha and AllBeta. */
  readonly featureGates: string;
  /** How long events are kept after they were last seen. */
  readonly eventLifeMs: number;
  /** The previous release: shows deprecated metrics that this release hides. */
  readonly showHiddenMetricsForVersion: string;
  /** Ranges of the cluster addresses of services: one, or one of each IP family, comma separated. */
  readonly serviceClusterIpRanges: readonly string[];
  /** Range of the node ports of services, both ends included. */
  readonly serviceNodePortRange: string;
  /** Connections from the server to pods, services and node agents. */
  readonly connections: ConnectionSettings;
  /** Forwarding of requests to extension servers (APIService). */
  readonly aggregation: AggregationSettings;
  /** Allow privileged containers. */
  readonly allowPrivileged: boolean;
  /** Controllers to run: * for all but bootstrapsigner and tokencleaner, NAME to add one, -NAME to leave one out. */
  readonly enabledControllers: readonly string[];
  /** Elect one of the servers that share a store to run the controllers; otherwise each runs its own. */
  readonly leaderElection: boolean;
  /** Publish a Lease, renewed every ten seconds, that shows that the server is alive. The program does so by default. */
  readonly identityLease: boolean;
  /** Configuration of admission plugins: an AdmissionConfiguration in YAML or JSON. */
  readonly admissionConfigurationFile: string | undefined;
  /** Default tolerations of pods (plugin DefaultTolerationSeconds). */
  readonly tolerationSeconds: TolerationSecondsSettings;
  /** Admission plugins to run beside the default ones, comma separated. */
  readonly enabledAdmissionPlugins: readonly string[];
  /** Admission plugins not to run, comma separated. */
  readonly disabledAdmissionPlugins: readonly string[];
  /** Time during which /livez succeeds although the start isn't finished. */
  readonly livezGracePeriodMs: number;
  /** Log an entry per request: method, path, user, status, duration, audit ID and trace ID. */
  readonly accessLog: boolean;
  /** Traces of requests: a TracingConfiguration in YAML or JSON. Default: no request is traced. */
  readonly tracingConfigFile: string | undefined;
  /** Time after a stop signal during which the server still serves, but isn't ready. */
  readonly shutdownDelayMs: number;
}
