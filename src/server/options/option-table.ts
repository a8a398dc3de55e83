import { defaultRelease, releases } from "../../base/releases.ts";
import { authorizationModes } from "../../authorization/authorizer-chain.ts";
import { authorizationWebhook } from "./authorization-options.ts";
import { audit } from "./audit-options.ts";
import { authentication } from "./authentication-options.ts";
import { aggregation, clusterSigning, connections } from "./connection-options.ts";
import { group, option, type OptionTable } from "./option.ts";
import {
  boolean,
  encryptionConfigurationFile,
  file,
  integer,
  milliseconds,
  millisecondsInDays,
  oneOf,
  secretFile,
  text,
  texts,
  type ValueType,
} from "./value-type.ts";

const minuteMs = 60_000;
const maxInFlight = 1_000_000;

const portNumber = integer(0, 65_535);
const port: ValueType = {
  ...portNumber,
  typescript: "number | false",
  expected: `${portNumber.expected}, or false`,
  expectedText: portNumber.expected,
  accepts: (value) => value === false || portNumber.accepts(value),
};

const modeNames = authorizationModes.map((mode) => JSON.stringify(mode)).join(" | ");

/**
 * Every option of a server that is a value: the arguments of `createServer`, the flags of `plinth serve`, its environment variables and its
 * configuration file are derived from this table, with their types, defaults, messages and documentation.
 * After a change `npm run options` writes the declared types (`option-types.ts`, `settings-types.ts`) and the tables of `docs/flags.md`.
 */
export const serverOptionTable = {
  vocabulary: option(
    oneOf(["platform", "kubernetes"]),
    "vocabulary",
    "Names of groups, labels and media types: platform or kubernetes.",
    { default: "platform" },
  ),
  release: option(
    oneOf(releases),
    "release",
    "API release whose kinds, versions, feature gates and defaults the server follows.",
    { default: defaultRelease },
  ),
  acceptUnenforcedPolicies: option(
    boolean,
    "accept-unenforced-policies",
    "Start although the store has admission policies that a later release enforced and this release ignores.",
    { default: false },
  ),
  storage: {
    by: "engine",
    description: "Where objects are stored.",
    typeName: "StorageOptions",
    choice: option(
      oneOf(["embedded", "memory", "etcd", "postgres"], { etcd: "etcd3" }),
      "storage-backend",
      "Storage engine: embedded, memory, postgres or etcd3 (in a configuration file and in createServer: etcd).",
      { default: "embedded", libraryDefault: "memory", required: true },
    ),
    variants: {
      embedded: {
        dir: option(text, undefined, "Folder of the embedded store. The program uses one in --data-dir.", {
          required: true,
        }),
      },
      memory: {},
      etcd: {
        endpoints: option(
          texts(),
          "etcd-servers",
          "Addresses of an etcd cluster, comma separated; implies --storage-backend=etcd3.",
          { required: true },
        ),
        caFile: option(file, "etcd-cafile", "CA certificates of the etcd cluster (PEM)."),
        certFile: option(file, "etcd-certfile", "Client certificate of the server for etcd (PEM)."),
        keyFile: option(secretFile, "etcd-keyfile", "Key of --etcd-certfile (PEM)."),
        prefix: option(text, "etcd-prefix", "Prefix of all keys in etcd.", { default: "/registry" }),
      },
      postgres: {
        url: option(
          text,
          "postgres-url",
          "URL of a PostgreSQL database, postgres://USER:PASSWORD@HOST:PORT/DATABASE; implies --storage-backend=postgres. Other users of the machine can see flags: give a password in the environment or in --postgres-url-file.",
        ),
        urlFile: option(
          secretFile,
          "postgres-url-file",
          "File with the URL of a PostgreSQL database; implies --storage-backend=postgres.",
        ),
        schema: option(
          text,
          "postgres-schema",
          "Schema of the tables in the database, which the server creates.",
          { default: "plinth" },
        ),
      },
    },
  },
  encryption: group(
    "Encryption of stored objects.",
    {
      configFile: option(
        encryptionConfigurationFile,
        "encryption-provider-config",
        "Configuration with the keys that encrypt stored objects, by resource.",
        { required: true },
      ),
      automaticReload: option(
        boolean,
        "encryption-provider-config-automatic-reload",
        "Read --encryption-provider-config again when it changes.",
        { default: false },
      ),
    },
    { typeName: "EncryptionOptions" },
  ),
  console: option(boolean, "console", "Serve the web console at /console/. The program does so by default.", {
    default: true,
    libraryDefault: false,
  }),
  workloadHints: option(
    boolean,
    "workload-hints",
    "Write an Event about a new Deployment, StatefulSet, DaemonSet, Job or Pod that nothing will run, because no controllers or nodes use the server. The program does so by default, if all controllers run.",
    { default: true, libraryDefault: false },
  ),
  retentionMs: option(
    millisecondsInDays,
    "history-retention",
    "How long past versions can be read and watches can resume. The flag also takes the rules of keptHistory, comma separated: 5m,configmaps=30d:2GiB.",
    { default: 5 * minuteMs, rules: "keptHistory" },
  ),
  keptHistory: option(
    texts(),
    undefined,
    "Resources whose history is kept longer: RESOURCE[.GROUP]=DURATION[:SIZE], such as configmaps=30d:2GiB; * for all others but events and leases. Given in --history-retention.",
    { default: [] },
  ),
  durability: option(
    texts(),
    "durability",
    "Resources whose writes are acknowledged before they are synced, and how soon a sync follows: RESOURCE[.GROUP]=interval:DURATION, comma separated. A power failure can lose their acknowledged writes since the last sync. Embedded store only.",
    { default: [] },
  ),
  host: option(text, "bind-address", "Address to listen on.", { default: "127.0.0.1" }),
  advertiseAddress: option(
    text,
    "advertise-address",
    "Address for other machines, in the endpoints of the server's own Service and in its certificate. Default: the address it listens on, or the first of this machine.",
  ),
  port: option(port, "secure-port", "Port to listen on; 0 chooses a free one.", {
    default: 6443,
    libraryDefault: 0,
  }),
  maxConnections: option(
    integer(1, 10_000_000),
    "max-connections",
    "Maximum number of open client connections. Default: 20000, or less if the limit of open files requires it.",
  ),
  flow: group(
    "Limits on concurrent requests.",
    {
      fair: option(
        boolean,
        "enable-priority-and-fairness",
        "Schedule requests by flow schemas and priority levels; otherwise reject requests above the limits.",
        { default: true },
      ),
      maxReading: option(
        integer(0, maxInFlight),
        "max-requests-inflight",
        "Maximum number of concurrent reading requests; 0 for no limit. With priority and fairness, a part of all seats.",
        { default: 400 },
      ),
      maxChanging: option(
        integer(0, maxInFlight),
        "max-mutating-requests-inflight",
        "Maximum number of concurrent changing requests; 0 for no limit. With priority and fairness, the other part of all seats.",
        { default: 200 },
      ),
    },
    {
      typeName: "FlowOptions",
      check: ({ fair, maxReading, maxChanging }, name) =>
        fair === true && maxReading === 0 && maxChanging === 0
          ? `${name("maxReading")} and ${name("maxChanging")}: with ${name("fair")} one of them must be greater than 0`
          : undefined,
    },
  ),
  certificateFiles: group("The serving certificate. Default: the server creates one.", {
    cert: option(
      file,
      "tls-cert-file",
      "Serving certificate with its chain (PEM); include the root if admin.kubeconfig is to trust it. Default: the server creates one.",
      { required: true },
    ),
    key: option(secretFile, "tls-private-key-file", "Key of --tls-cert-file (PEM).", { required: true }),
  }),
  tls: group(
    "TLS versions and cipher suites of clients.",
    {
      minVersion: option(
        text,
        "tls-min-version",
        "Minimum TLS version of clients: VersionTLS10 to VersionTLS13.",
        { default: "VersionTLS12" },
      ),
      cipherSuites: option(
        texts(),
        "tls-cipher-suites",
        "Allowed cipher suites of TLS 1.2, by their IANA names; those of TLS 1.3 are always allowed.",
        { default: [] },
      ),
    },
    { typeName: "TlsOptions" },
  ),
  extraHosts: option(
    texts(),
    "tls-san",
    "Further names and addresses in the certificate that the server creates, comma separated. On --bind-address other than loopback it already has those of this machine.",
    { default: [] },
  ),
  clientCaFile: option(
    file,
    "client-ca-file",
    "CA certificates of clients (PEM), beside the server's own CA.",
  ),
  tokenAuthFile: option(
    secretFile,
    "token-auth-file",
    "Static tokens: CSV with token, user, uid and optionally groups.",
  ),
  anonymousAuth: option(
    boolean,
    "anonymous-auth",
    "Treat requests without credentials as the anonymous user. Default: true, but false with AlwaysAllow.",
  ),
  authentication,
  clusterSigning,
  authorizationConfigFile: option(
    file,
    "authorization-config",
    "Configuration with the authorizers in order, also several webhooks. Reloaded when it changes.",
    { excludes: ["authorizationModes", "authorizationWebhook"] },
  ),
  authorizationModes: option(
    texts(`${modeNames} | (string & Record<never, never>)`),
    "authorization-mode",
    "Authorizers in order: Node, RBAC, ABAC, Webhook, AlwaysAllow, AlwaysDeny.",
    { default: ["RBAC"] },
  ),
  views: option(
    oneOf(["get", "list"]),
    "views",
    "Objects of a list or watch with view=mine: those that its user may get, or may list or is granted by name. " +
      "Default: get; list in the kubernetes vocabulary.",
  ),
  authorizationWebhook,
  authorizationPolicyFile: option(
    file,
    "authorization-policy-file",
    "Policies of mode ABAC: one JSON object per line.",
  ),
  audit,
  runtimeConfig: option(
    text,
    "runtime-config",
    "API versions and resources to enable or disable: KEY, KEY=true or KEY=false, comma separated.",
    { default: "" },
  ),
  featureGates: option(
    text,
    "feature-gates",
    "Features to enable or disable: NAME=true or NAME=false, comma separated; also AllAlpha and AllBeta.",
    { default: "" },
  ),
  eventLifeMs: option(milliseconds, "event-ttl", "How long events are kept after they were last seen.", {
    default: 60 * minuteMs,
  }),
  showHiddenMetricsForVersion: option(
    text,
    "show-hidden-metrics-for-version",
    "The previous release: shows deprecated metrics that this release hides.",
    { default: "" },
  ),
  serviceClusterIpRanges: option(
    texts(),
    "service-cluster-ip-range",
    "Ranges of the cluster addresses of services: one, or one of each IP family, comma separated.",
    { default: ["10.0.0.0/24"] },
  ),
  serviceNodePortRange: option(
    text,
    "service-node-port-range",
    "Range of the node ports of services, both ends included.",
    { default: "30000-32767" },
  ),
  connections,
  aggregation,
  allowPrivileged: option(boolean, "allow-privileged", "Allow privileged containers.", { default: false }),
  enabledControllers: option(
    texts(),
    "controllers",
    "Controllers to run: * for all but bootstrapsigner and tokencleaner, NAME to add one, -NAME to leave one out.",
    { default: ["*"] },
  ),
  leaderElection: option(
    boolean,
    "leader-elect",
    "Elect one of the servers that share a store to run the controllers; otherwise each runs its own.",
    { default: true },
  ),
  identityLease: option(
    boolean,
    undefined,
    "Publish a Lease, renewed every ten seconds, that shows that the server is alive. The program does so by default.",
    { default: true, libraryDefault: false },
  ),
  admissionConfigurationFile: option(
    file,
    "admission-control-config-file",
    "Configuration of admission plugins: an AdmissionConfiguration in YAML or JSON.",
  ),
  tolerationSeconds: group(
    "Default tolerations of pods (plugin DefaultTolerationSeconds).",
    {
      notReady: option(
        integer(0, Number.MAX_SAFE_INTEGER),
        "default-not-ready-toleration-seconds",
        "Default for how many seconds a pod tolerates a node that isn't ready (DefaultTolerationSeconds).",
        { default: 300 },
      ),
      unreachable: option(
        integer(0, Number.MAX_SAFE_INTEGER),
        "default-unreachable-toleration-seconds",
        "Default for how many seconds a pod tolerates an unreachable node (DefaultTolerationSeconds).",
        { default: 300 },
      ),
    },
    { typeName: "TolerationSecondsOptions" },
  ),
  enabledAdmissionPlugins: option(
    texts(),
    "enable-admission-plugins",
    "Admission plugins to run beside the default ones, comma separated.",
    { default: [] },
  ),
  disabledAdmissionPlugins: option(
    texts(),
    "disable-admission-plugins",
    "Admission plugins not to run, comma separated.",
    { default: [] },
  ),
  livezGracePeriodMs: option(
    milliseconds,
    "livez-grace-period",
    "Time during which /livez succeeds although the start isn't finished.",
    { default: 0 },
  ),
  accessLog: option(
    boolean,
    "access-log",
    "Log an entry per request: method, path, user, status, duration, audit ID and trace ID.",
    { default: false },
  ),
  tracingConfigFile: option(
    file,
    "tracing-config-file",
    "Traces of requests: a TracingConfiguration in YAML or JSON. Default: no request is traced.",
  ),
  shutdownDelayMs: option(
    milliseconds,
    "shutdown-delay-duration",
    "Time after a stop signal during which the server still serves, but isn't ready.",
    { default: 0 },
  ),
} satisfies OptionTable;
