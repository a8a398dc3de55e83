// Generated from option-table.ts by `npm run options`; not to be edited.
// What a caller gives; `settings-types.ts` has the complete forms.

/** Where objects are stored. */
export type StorageOptions =
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
      readonly caFile?: string | undefined;
      /** Client certificate of the server for etcd (PEM). */
      readonly certFile?: string | undefined;
      /** Key of `storage.certFile` (PEM). */
      readonly keyFile?: string | undefined;
      /** Prefix of all keys in etcd. (default "/registry") */
      readonly prefix?: string | undefined;
    }
  | {
      /** Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd). */
      readonly engine: "postgres";
      /**
       * URL of a PostgreSQL database, postgres://USER:PASSWORD@HOST:PORT/DATABASE; implies `storage.engine`=postgres.
       * Other users of the machine can see flags: give a password in the environment or in `storage.urlFile`.
       */
      readonly url?: string | undefined;
      /** File with the URL of a PostgreSQL database; implies `storage.engine`=postgres. */
      readonly urlFile?: string | undefined;
      /** Schema of the tables in the database, which the server creates. (default "plinth") */
      readonly schema?: string | undefined;
    };

/** Encryption of stored objects. */
export interface EncryptionOptions {
  /** Configuration with the keys that encrypt stored objects, by resource. */
  readonly configFile: string;
  /** Read `encryption.configFile` again when it changes. (default false) */
  readonly automaticReload?: boolean | undefined;
}

/** Limits on concurrent requests. */
export interface FlowOptions {
  /** Schedule requests by flow schemas and priority levels; otherwise reject requests above the limits. (default true) */
  readonly fair?: boolean | undefined;
  /**
   * Maximum number of concurrent reading requests; 0 for no limit. With priority and fairness, a part of all seats.
   * (default 400)
   */
  readonly maxReading?: number | undefined;
  /**
   * Maximum number of concurrent changing requests; 0 for no limit. With priority and fairness, the other part of all
   * seats. (default 200)
   */
  readonly maxChanging?: number | undefined;
}

/** TLS versions and cipher suites of clients. */
export interface TlsOptions {
  /** Minimum TLS version of clients: VersionTLS10 to VersionTLS13. (default "VersionTLS12") */
  readonly minVersion?: string | undefined;
  /** Allowed cipher suites of TLS 1.2, by their IANA names; those of TLS 1.3 are always allowed. (default []) */
  readonly cipherSuites?: readonly string[] | undefined;
}

/** Tokens of service accounts (spec: conventions 5.5). */
export interface ServiceAccountOptions {
  /**
   * Accepted issuers of service account tokens; the first one issues new tokens. Default: the issuer of the
   * vocabulary. (default [])
   */
  readonly issuers?: readonly string[] | undefined;
  /**
   * Files with RSA or ECDSA keys, public or private (PEM), that verify service account tokens. Default:
   * `certificateFiles.key`. (default [])
   */
  readonly keyFiles?: readonly string[] | undefined;
  /** Private key that signs service account tokens (PEM). Default: the server generates one. */
  readonly signingKeyFile?: string | undefined;
  /** Reject a token from a Secret if the Secret or its service account no longer exists. (default true) */
  readonly lookup?: boolean | undefined;
  /** Longest lifetime of a requested token, at least 1h; 0s for no limit. (default 0) */
  readonly maxExpirationMs?: number | undefined;
  /**
   * Extend the lifetime of tokens injected into pods to a year, and count uses after the requested lifetime. (default
   * true)
   */
  readonly extendExpiration?: boolean | undefined;
  /** Published URL (https) of the keys that verify service account tokens, if it isn't below the issuer. */
  readonly jwksUri?: string | undefined;
}

/** A webhook that authenticates tokens (spec: conventions 5.7). */
export interface TokenWebhookOptions {
  /** Client configuration of a webhook that authenticates the tokens that no other authenticator accepts. */
  readonly configFile: string;
  /** Version of the TokenReviews sent to that webhook: v1 or v1beta1. (default "v1beta1") */
  readonly version?: "v1" | "v1beta1" | undefined;
  /** How long responses of that webhook are cached. (default 120000) */
  readonly cacheMs?: number | undefined;
}

/** An OpenID Connect provider whose ID tokens are accepted (spec: conventions 5.6). */
export interface OidcOptions {
  /** https URL of the OpenID Connect provider whose ID tokens are accepted. */
  readonly issuerUrl: string;
  /** Client ID that must be in the audience of ID tokens; requires `authentication.oidc.issuerUrl`. */
  readonly clientId: string;
  /** Claim with the user name. (default "sub") */
  readonly usernameClaim?: string | undefined;
  /** Prefix of user names; - for none. Default: the issuer and #, but none for the claim email. */
  readonly usernamePrefix?: string | undefined;
  /** Claim with the groups of the user. Default: no groups. */
  readonly groupsClaim?: string | undefined;
  /** Prefix of groups. (default "") */
  readonly groupsPrefix?: string | undefined;
  /** KEY=VALUE claims that an ID token must have. (default []) */
  readonly requiredClaims?: readonly string[] | undefined;
  /** CA certificates of the provider (PEM). Default: those of the operating system. */
  readonly caFile?: string | undefined;
  /** Accepted signing algorithms of ID tokens. (default ["RS256"]) */
  readonly signingAlgorithms?: readonly string[] | undefined;
}

/** An authenticating proxy, which passes the user in request headers (spec: conventions 5.8). */
export interface ProxyOptions {
  /** CA certificates of the proxies that authenticate users and pass them in headers (PEM). */
  readonly caFile: string;
  /** Headers with the user name; the first one with a value counts. Requires `authentication.proxy.caFile`. */
  readonly usernameHeaders: readonly string[];
  /**
   * Headers with the uid of the user; the first one with a value counts. X-Remote-Uid must be among them. Requires
   * the feature gate RemoteRequestHeaderUID (on from release 1.33). (default [])
   */
  readonly uidHeaders?: readonly string[] | undefined;
  /** Headers with the groups of the user. (default []) */
  readonly groupHeaders?: readonly string[] | undefined;
  /** Prefixes of headers with extra attributes of the user. (default []) */
  readonly extraHeaderPrefixes?: readonly string[] | undefined;
  /** Allowed common names of the proxies' certificates. Default: any. (default []) */
  readonly allowedNames?: readonly string[] | undefined;
}

/** Authentication beside client certificates and static tokens. */
export interface AuthenticationOptions {
  /** Configuration with the trusted issuers of tokens and the anonymous requests. Reloaded when it changes. */
  readonly configFile?: string | undefined;
  /** Audiences of tokens for this server, comma separated. Default: the issuers. (default []) */
  readonly apiAudiences?: readonly string[] | undefined;
  /** Tokens of service accounts (spec: conventions 5.5). */
  readonly serviceAccounts?: ServiceAccountOptions | undefined;
  /** Accept bootstrap tokens, which are Secrets in the system namespace. (default false) */
  readonly bootstrapTokens?: boolean | undefined;
  /** A webhook that authenticates tokens (spec: conventions 5.7). */
  readonly tokenWebhook?: TokenWebhookOptions | undefined;
  /** An OpenID Connect provider whose ID tokens are accepted (spec: conventions 5.6). */
  readonly oidc?: OidcOptions | undefined;
  /** An authenticating proxy, which passes the user in request headers (spec: conventions 5.8). */
  readonly proxy?: ProxyOptions | undefined;
}

/** CAs of single signers. */
export interface SignerAuthorityOptions {
  /** CA that signs requests of node agents for serving certificates. */
  readonly serving?:
    | {
        /** CA certificate that signs requests of node agents for serving certificates (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.serving.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests of node agents for client certificates. */
  readonly nodeClient?:
    | {
        /** CA certificate that signs requests of node agents for client certificates (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.nodeClient.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests for client certificates of the API. */
  readonly client?:
    | {
        /** CA certificate that signs requests for client certificates of the API (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.client.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CA that signs requests to the signer legacy-unknown. */
  readonly legacyUnknown?:
    | {
        /** CA certificate that signs requests to the signer legacy-unknown (PEM). */
        readonly cert: string; /** Key of `clusterSigning.signers.legacyUnknown.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
}

/** The CAs of the built-in signers of certificate requests. */
export interface ClusterSigningOptions {
  /** CA that signs certificate requests to the built-in signers; default: the server's own CA. */
  readonly files?:
    | {
        /** CA certificate that signs certificate requests to the built-in signers; default: the server's own CA (PEM). */
        readonly cert: string; /** Key of `clusterSigning.files.cert` (PEM). */
        readonly key: string;
      }
    | undefined;
  /** CAs of single signers. */
  readonly signers?: SignerAuthorityOptions | undefined;
  /** Lifetime of certificates issued by the built-in signers, unless a request asks for less. (default 31536000000) */
  readonly durationMs?: number | undefined;
}

/** The webhook of authorization mode Webhook. */
export interface AuthorizationWebhookOptions {
  /** Client configuration of the webhook of mode Webhook. */
  readonly configFile: string;
  /** Version of the SubjectAccessReviews sent to that webhook: v1 or v1beta1. (default "v1beta1") */
  readonly version?: "v1" | "v1beta1" | undefined;
  /** How long allowing decisions of that webhook are cached. (default 300000) */
  readonly authorizedMs?: number | undefined;
  /** How long denying decisions of that webhook are cached. (default 30000) */
  readonly unauthorizedMs?: number | undefined;
}

/** Limit of the rate of batches. */
export interface AuditThrottleOptions {
  /** Average number of batches per second, if their rate is limited. */
  readonly perSecond: number;
  /** Number of batches sent at once, if their rate is limited. */
  readonly burst: number;
}

/** How events are collected in mode batch. */
export interface AuditBatchOptions {
  /** Capacity of the buffer in mode batch, in events. (default 10000) */
  readonly bufferEvents?: number | undefined;
  /** Maximum size of a batch in mode batch, in events. (default 1) */
  readonly batchEvents?: number | undefined;
  /** Time after which an incomplete batch is sent. (default 0) */
  readonly maxWaitMs?: number | undefined;
  /** Limit of the rate of batches. */
  readonly throttle?: AuditThrottleOptions | false | undefined;
}

/** Limit of the size of events and batches. */
export interface AuditTruncateOptions {
  /**
   * Maximum size of an event in bytes, if sizes are limited: a larger one loses its objects, or is dropped. (default
   * 102400)
   */
  readonly maxEventBytes?: number | undefined;
  /** Maximum size of a batch in bytes, if sizes are limited. (default 10485760) */
  readonly maxBatchBytes?: number | undefined;
}

/** The audit log. */
export interface AuditLogOptions {
  /** File of the audit log; - is standard output. */
  readonly path: string;
  /** Format of the audit log: json or legacy. (default "json") */
  readonly format?: "json" | "legacy" | undefined;
  /** Whether requests wait for the audit log: batch, blocking or blocking-strict. (default "blocking") */
  readonly mode?: "batch" | "blocking" | "blocking-strict" | undefined;
  /** Size in megabytes at which the audit log is rotated; 0 is 100. (default 104857600) */
  readonly maxBytes?: number | undefined;
  /** Number of days after which rotated audit logs are deleted; 0 keeps them. (default 0) */
  readonly maxAgeMs?: number | undefined;
  /** Maximum number of rotated audit logs; 0 is unlimited. (default 0) */
  readonly maxBackups?: number | undefined;
  /** Compress rotated audit logs (gzip). (default false) */
  readonly compress?: boolean | undefined;
  /** Version of the events in the audit log; only the default is supported. */
  readonly version?: string | undefined;
  /** How events are collected in mode batch. */
  readonly batch?: AuditBatchOptions | undefined;
  /** Limit of the size of events and batches. */
  readonly truncate?: AuditTruncateOptions | false | undefined;
}

/** A service that receives audit events. */
export interface AuditWebhookOptions {
  /** Client configuration of a service that receives audit events. */
  readonly configFile: string;
  /** Whether requests wait for that service: batch, blocking or blocking-strict. (default "batch") */
  readonly mode?: "batch" | "blocking" | "blocking-strict" | undefined;
  /** Delay before a failed delivery is retried for the first time. (default 10000) */
  readonly backoffMs?: number | undefined;
  /** Version of the events sent to that service; only the default is supported. */
  readonly version?: string | undefined;
  /** How events are collected in mode batch. */
  readonly batch?: AuditBatchOptions | undefined;
  /** Limit of the size of events and batches. */
  readonly truncate?: AuditTruncateOptions | false | undefined;
}

/** Which requests are recorded, and where. */
export interface AuditOptions {
  /** Audit policy (YAML). Default: no request is recorded. */
  readonly policyFile?: string | undefined;
  /** The audit log. */
  readonly log?: AuditLogOptions | undefined;
  /** A service that receives audit events. */
  readonly webhook?: AuditWebhookOptions | undefined;
}

/** Connections from the server to pods, services and node agents. */
export interface ConnectionOptions {
  /** CA certificates of the node agents (PEM). Default: their certificates aren't verified. */
  readonly nodeAgentCaFile?: string | undefined;
  /** Client certificate of the server for node agents (PEM); requires `connections.nodeAgentKeyFile`. */
  readonly nodeAgentCertFile?: string | undefined;
  /** Key of `connections.nodeAgentCertFile` (PEM). */
  readonly nodeAgentKeyFile?: string | undefined;
  /**
   * Types of a node's addresses, in order of preference, for connections to its agent. (default
   * ["Hostname","InternalDNS","InternalIP","ExternalDNS","ExternalIP"])
   */
  readonly nodeAddressTypes?: readonly string[] | undefined;
  /** Time limit for establishing a connection to a node agent. (default 5000) */
  readonly nodeAgentTimeoutMs?: number | undefined;
  /**
   * Allow connections to pods, services and nodes at loopback addresses: for tests and development only. (default
   * false)
   */
  readonly allowLoopback?: boolean | undefined;
  /**
   * Addresses and ranges to which no connection to a pod, service or node is allowed, beside the built-in ones; comma
   * separated. (default [])
   */
  readonly deniedRanges?: readonly string[] | undefined;
}

/** Forwarding of requests to extension servers (APIService). */
export interface AggregationOptions {
  /**
   * Client certificate of the server for extension servers, see APIService (PEM); requires
   * `aggregation.clientKeyFile`.
   */
  readonly clientCertFile?: string | undefined;
  /** Key of `aggregation.clientCertFile` (PEM). */
  readonly clientKeyFile?: string | undefined;
  /**
   * Connect to extension servers only at the ready endpoints of their service, never at its cluster address. (default
   * false)
   */
  readonly endpointRouting?: boolean | undefined;
  /** Reject redirects from extension servers instead of passing them to the client. (default true) */
  readonly rejectRedirects?: boolean | undefined;
}

/** Default tolerations of pods (plugin DefaultTolerationSeconds). */
export interface TolerationSecondsOptions {
  /** Default for how many seconds a pod tolerates a node that isn't ready (DefaultTolerationSeconds). (default 300) */
  readonly notReady?: number | undefined;
  /** Default for how many seconds a pod tolerates an unreachable node (DefaultTolerationSeconds). (default 300) */
  readonly unreachable?: number | undefined;
}

/** The options of a server that are values; see `serverOptionTable`. */
export interface ValueOptions {
  /** Names of groups, labels and media types: platform or kubernetes. (default "platform") */
  readonly vocabulary?: "platform" | "kubernetes" | undefined;
  /** API release whose kinds, versions, feature gates and defaults the server follows. (default "1.26") */
  readonly release?:
    | "1.26"
    | "1.27"
    | "1.28"
    | "1.29"
    | "1.30"
    | "1.31"
    | "1.32"
    | "1.33"
    | "1.34"
    | "1.35"
    | "1.36"
    | "1.37"
    | undefined;
  /**
   * Start although the store has admission policies that a later release enforced and this release ignores. (default
   * false)
   */
  readonly acceptUnenforcedPolicies?: boolean | undefined;
  /** Where objects are stored. */
  readonly storage?: StorageOptions | undefined;
  /** Encryption of stored objects. */
  readonly encryption?: EncryptionOptions | undefined;
  /** Serve the web console at /console/. The program does so by default. (default false) */
  readonly console?: boolean | undefined;
  /**
   * Write an Event about a new Deployment, StatefulSet, DaemonSet, Job or Pod that nothing will run, because no
   * controllers or nodes use the server. The program does so by default, if all controllers run. (default false)
   */
  readonly workloadHints?: boolean | undefined;
  /**
   * How long past versions can be read and watches can resume. The flag also takes the rules of keptHistory, comma
   * separated: 5m,configmaps=30d:2GiB. (default 300000)
   */
  readonly retentionMs?: number | undefined;
  /**
   * Resources whose history is kept longer: RESOURCE[.GROUP]=DURATION[:SIZE], such as configmaps=30d:2GiB; * for all
   * others but events and leases. Given in `retentionMs`. (default [])
   */
  readonly keptHistory?: readonly string[] | undefined;
  /**
   * Resources whose writes are acknowledged before they are synced, and how soon a sync follows:
   * RESOURCE[.GROUP]=interval:DURATION, comma separated. A power failure can lose their acknowledged writes since the
   * last sync. Embedded store only. (default [])
   */
  readonly durability?: readonly string[] | undefined;
  /** Address to listen on. (default "127.0.0.1") */
  readonly host?: string | undefined;
  /**
   * Address for other machines, in the endpoints of the server's own Service and in its certificate. Default: the
   * address it listens on, or the first of this machine.
   */
  readonly advertiseAddress?: string | undefined;
  /** Port to listen on; 0 chooses a free one. (default 0) */
  readonly port?: number | false | undefined;
  /** Maximum number of open client connections. Default: 20000, or less if the limit of open files requires it. */
  readonly maxConnections?: number | undefined;
  /** Limits on concurrent requests. */
  readonly flow?: FlowOptions | undefined;
  /** The serving certificate. Default: the server creates one. */
  readonly certificateFiles?:
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
  readonly tls?: TlsOptions | undefined;
  /**
   * Further names and addresses in the certificate that the server creates, comma separated. On `host` other than
   * loopback it already has those of this machine. (default [])
   */
  readonly extraHosts?: readonly string[] | undefined;
  /** CA certificates of clients (PEM), beside the server's own CA. */
  readonly clientCaFile?: string | undefined;
  /** Static tokens: CSV with token, user, uid and optionally groups. */
  readonly tokenAuthFile?: string | undefined;
  /** Treat requests without credentials as the anonymous user. Default: true, but false with AlwaysAllow. */
  readonly anonymousAuth?: boolean | undefined;
  /** Authentication beside client certificates and static tokens. */
  readonly authentication?: AuthenticationOptions | undefined;
  /** The CAs of the built-in signers of certificate requests. */
  readonly clusterSigning?: ClusterSigningOptions | undefined;
  /** Configuration with the authorizers in order, also several webhooks. Reloaded when it changes. */
  readonly authorizationConfigFile?: string | undefined;
  /** Authorizers in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny. (default ["RBAC"]) */
  readonly authorizationModes?:
    | readonly (
        "Node" | "RBAC" | "ABAC" | "Webhook" | "AlwaysAllow" | "AlwaysDeny" | (string & Record<never, never>)
      )[]
    | undefined;
  /**
   * Objects of a list or watch with view=mine: those that its user may get, or may list or is granted by name.
   * Default: get; list in the kubernetes vocabulary.
   */
  readonly views?: "get" | "list" | undefined;
  /** The webhook of authorization mode Webhook. */
  readonly authorizationWebhook?: AuthorizationWebhookOptions | undefined;
  /** Policies of mode ABAC: one JSON object per line. */
  readonly authorizationPolicyFile?: string | undefined;
  /** Which requests are recorded, and where. */
  readonly audit?: AuditOptions | undefined;
  /** API versions and resources to enable or disable: KEY, KEY=true or KEY=false, comma separated. (default "") */
  readonly runtimeConfig?: string | undefined;
  /** Features to enable or disable: NAME=true or NAME=false, comma separated; also AllAlpha and AllBeta. (default "") */
  readonly featureGates?: string | undefined;
  /** How long events are kept after they were last seen. (default 3600000) */
  readonly eventLifeMs?: number | undefined;
  /** The previous release: shows deprecated metrics that this release hides. (default "") */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /**
   * Ranges of the cluster addresses of services: one, or one of each IP family, comma separated. (default
   * ["10.0.0.0/24"])
   */
  readonly serviceClusterIpRanges?: readonly string[] | undefined;
  /** Range of the node ports of services, both ends included. (default "30000-32767") */
  readonly serviceNodePortRange?: string | undefined;
  /** Connections from the server to pods, services and node agents. */
  readonly connections?: ConnectionOptions | undefined;
  /** Forwarding of requests to extension servers (APIService). */
  readonly aggregation?: AggregationOptions | undefined;
  /** Allow privileged containers. (default false) */
  readonly allowPrivileged?: boolean | undefined;
  /**
   * Controllers to run: * for all but bootstrapsigner and tokencleaner, NAME to add one, -NAME to leave one out.
   * (default ["*"])
   */
  readonly enabledControllers?: readonly string[] | undefined;
  /** Elect one of the servers that share a store to run the controllers; otherwise each runs its own. (default true) */
  readonly leaderElection?: boolean | undefined;
  /**
   * Publish a Lease, renewed every ten seconds, that shows that the server is alive. The program does so by default.
   * (default false)
   */
  readonly identityLease?: boolean | undefined;
  /** Configuration of admission plugins: an AdmissionConfiguration in YAML or JSON. */
  readonly admissionConfigurationFile?: string | undefined;
  /** Default tolerations of pods (plugin DefaultTolerationSeconds). */
  readonly tolerationSeconds?: TolerationSecondsOptions | undefined;
  /** Admission plugins to run beside the default ones, comma separated. (default []) */
  readonly enabledAdmissionPlugins?: readonly string[] | undefined;
  /** Admission plugins not to run, comma separated. (default []) */
  readonly disabledAdmissionPlugins?: readonly string[] | undefined;
  /** Time during which /livez succeeds although the start isn't finished. (default 0) */
  readonly livezGracePeriodMs?: number | undefined;
  /** Log an entry per request: method, path, user, status, duration, audit ID and trace ID. (default false) */
  readonly accessLog?: boolean | undefined;
  /** Traces of requests: a TracingConfiguration in YAML or JSON. Default: no request is traced. */
  readonly tracingConfigFile?: string | undefined;
  /** Time after a stop signal during which the server still serves, but isn't ready. (default 0) */
  readonly shutdownDelayMs?: number | undefined;
}
