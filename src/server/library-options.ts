import { storeMethods } from "../storage/guarded-store.ts";
import { auditFormats, auditModes } from "./audit-options.ts";
import {
  checkShape,
  group,
  integer,
  methods,
  milliseconds,
  namesByFlag,
  needed,
  oneOf,
  rate,
  either,
  text,
  texts,
  truth,
  variants,
  type OptionShape,
  type OptionShapes,
} from "./option-shape.ts";
import { signerRoles } from "../controllers/certificates/built-in-signers.ts";
import { signingFlagPrefixes } from "./cluster-signing.ts";
import { extensionShapes, store } from "./extension-shapes.ts";
import { OptionsError } from "./options-error.ts";

const most = 2 ** 31 - 1;
const versions = ["v1", "v1beta1"];

/** How events are gathered, and how large they may be, of an audit's backend. */
const gathering = (backend: string): OptionShapes => ({
  mode: oneOf(auditModes, `${backend}-mode`),
  batch: group({
    bufferEvents: needed(integer(1, most, `${backend}-batch-buffer-size`)),
    batchEvents: needed(integer(1, most, `${backend}-batch-max-size`)),
    maxWaitMs: needed(milliseconds(`${backend}-batch-max-wait`)),
    throttle: group({
      perSecond: needed(rate(`${backend}-batch-throttle-qps`)),
      burst: needed(integer(1, most, `${backend}-batch-throttle-burst`)),
    }),
  }),
  truncate: group({
    maxEventBytes: needed(integer(1, most, `${backend}-truncate-max-event-size`)),
    maxBatchBytes: needed(integer(1, most, `${backend}-truncate-max-batch-size`)),
  }),
});

const audit = group({
  policyFile: needed(text("audit-policy-file")),
  log: group({
    path: needed(text("audit-log-path")),
    format: oneOf(auditFormats, "audit-log-format"),
    maxBytes: integer(1, Number.MAX_SAFE_INTEGER, "audit-log-maxsize"),
    maxAgeMs: milliseconds("audit-log-maxage"),
    maxBackups: integer(0, most, "audit-log-maxbackup"),
    compress: truth("audit-log-compress"),
    ...gathering("audit-log"),
  }),
  webhook: group({
    configFile: needed(text("audit-webhook-config-file")),
    backoffMs: milliseconds("audit-webhook-initial-backoff"),
    ...gathering("audit-webhook"),
  }),
});

const authentication = group({
  apiAudiences: texts("api-audiences"),
  serviceAccounts: group({
    issuers: texts("service-account-issuer"),
    keyFiles: texts("service-account-key-file"),
    signingKeyFile: text("service-account-signing-key-file"),
    lookup: truth("service-account-lookup"),
    maxExpirationMs: milliseconds("service-account-max-token-expiration"),
    extendExpiration: truth("service-account-extend-token-expiration"),
    jwksUri: text("service-account-jwks-uri"),
  }),
  bootstrapTokens: truth("enable-bootstrap-token-auth"),
  tokenWebhook: group({
    configFile: needed(text("authentication-token-webhook-config-file")),
    version: needed(oneOf(versions, "authentication-token-webhook-version")),
    cacheMs: needed(milliseconds("authentication-token-webhook-cache-ttl")),
  }),
  oidc: group({
    issuerUrl: needed(text("oidc-issuer-url")),
    clientId: needed(text("oidc-client-id")),
    usernameClaim: text("oidc-username-claim"),
    usernamePrefix: text("oidc-username-prefix"),
    groupsClaim: text("oidc-groups-claim"),
    groupsPrefix: text("oidc-groups-prefix"),
    requiredClaims: texts("oidc-required-claim"),
    caFile: text("oidc-ca-file"),
    signingAlgorithms: texts("oidc-signing-algs"),
  }),
  proxy: group({
    caFile: needed(text("requestheader-client-ca-file")),
    usernameHeaders: needed(texts("requestheader-username-headers")),
    groupHeaders: texts("requestheader-group-headers"),
    extraHeaderPrefixes: texts("requestheader-extra-headers-prefix"),
    allowedNames: texts("requestheader-allowed-names"),
  }),
});

/** The files of an authority that signs certificate requests. */
function authorityFiles(prefix: string): OptionShape {
  return group({ cert: needed(text(`${prefix}-cert-file`)), key: needed(text(`${prefix}-key-file`)) });
}

const port: OptionShape = {
  takes: "an integer from 0 to 65535, or false",
  accepts: (value) => value === false || integer(0, 65535).accepts(value),
  flag: "secure-port",
};

/** Whether somebody meant to give a store, perhaps one that lacks a method. */
function isStoreLike(value: Readonly<Record<string, unknown>>): boolean {
  return storeMethods.some((method) => typeof value[method] === "function");
}

/** What each option of `createServer` takes. */
export const libraryOptions = {
  vocabulary: oneOf(["platform", "kubernetes"], "vocabulary"),
  storage: either(
    variants(
      "engine",
      {
        memory: {},
        embedded: { dir: needed(text("data-dir")) },
        etcd: {
          endpoints: needed(texts("etcd-servers")),
          caFile: text("etcd-cafile"),
          certFile: text("etcd-certfile"),
          keyFile: text("etcd-keyfile"),
          prefix: needed(text("etcd-prefix")),
        },
      },
      "storage-backend",
    ),
    store,
    isStoreLike,
  ),
  port,
  host: text("bind-address"),
  maxConnections: integer(1, most, "max-connections"),
  authorizationModes: texts("authorization-mode"),
  authorizationWebhook: group({
    configFile: needed(text("authorization-webhook-config-file")),
    version: needed(oneOf(versions, "authorization-webhook-version")),
    authorizedMs: needed(milliseconds("authorization-webhook-cache-authorized-ttl")),
    unauthorizedMs: needed(milliseconds("authorization-webhook-cache-unauthorized-ttl")),
  }),
  authorizationPolicyFile: text("authorization-policy-file"),
  anonymousAuth: truth("anonymous-auth"),
  tokenAuthFile: text("token-auth-file"),
  authentication,
  clusterSigning: group({
    durationMs: milliseconds("cluster-signing-duration"),
    files: authorityFiles("cluster-signing"),
    signers: group(
      Object.fromEntries(signerRoles.map((role) => [role, authorityFiles(signingFlagPrefixes[role])])),
    ),
  }),
  certificateFiles: group({
    cert: needed(text("tls-cert-file")),
    key: needed(text("tls-private-key-file")),
  }),
  clientCaFile: text("client-ca-file"),
  runtimeConfig: text("runtime-config"),
  serviceClusterIpRanges: texts("service-cluster-ip-range"),
  advertiseAddress: text("advertise-address"),
  identityLease: truth(),
  serviceNodePortRange: text("service-node-port-range"),
  eventLifeMs: milliseconds("event-ttl"),
  allowPrivileged: truth("allow-privileged"),
  enabledControllers: texts("controllers"),
  leaderElection: truth("leader-elect"),
  ...extensionShapes,
  enabledAdmissionPlugins: texts("enable-admission-plugins"),
  disabledAdmissionPlugins: texts("disable-admission-plugins"),
  admissionConfigurationFile: text("admission-control-config-file"),
  tolerationSeconds: group({
    notReady: integer(0, Number.MAX_SAFE_INTEGER, "default-not-ready-toleration-seconds"),
    unreachable: integer(0, Number.MAX_SAFE_INTEGER, "default-unreachable-toleration-seconds"),
  }),
  connections: group({
    allowLoopback: truth("allow-loopback-connections"),
    deniedRanges: texts("proxy-denied-cidrs"),
    nodeAgentCaFile: text("kubelet-certificate-authority"),
    nodeAgentCertFile: text("kubelet-client-certificate"),
    nodeAgentKeyFile: text("kubelet-client-key"),
    nodeAddressTypes: texts("kubelet-preferred-address-types"),
    nodeAgentTimeoutMs: milliseconds("kubelet-timeout"),
  }),
  aggregation: group({
    clientCertFile: text("proxy-client-cert-file"),
    clientKeyFile: text("proxy-client-key-file"),
    endpointRouting: truth("enable-aggregator-routing"),
    rejectRedirects: truth("aggregator-reject-forwarding-redirect"),
  }),
  flow: group({
    fair: truth("enable-priority-and-fairness"),
    maxReading: integer(0, most, "max-requests-inflight"),
    maxChanging: integer(0, most, "max-mutating-requests-inflight"),
  }),
  featureGates: text("feature-gates"),
  retentionMs: milliseconds("history-retention"),
  audit,
  clock: methods("now", "monotonicNow", "setTimer"),
  log: methods("info", "warn", "error"),
} satisfies OptionShapes;

/** @throws {OptionsError} a wrong value or an unknown option, which it names. */
export function checkLibraryOptions(options: unknown): void {
  checkShape(options, group(libraryOptions), "options");
}

const optionOf = namesByFlag(libraryOptions);

/** An error about options with the flags that it names as the library calls them. Other errors are left as they are. */
export function inLibraryTerms(error: unknown): unknown {
  if (!(error instanceof OptionsError)) return error;
  const message = error.message.replaceAll(/--[a-z0-9-]+/g, (flag) => optionOf.get(flag) ?? flag);
  return new OptionsError(message, { cause: error });
}
