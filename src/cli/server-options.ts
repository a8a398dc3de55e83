import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import path from "node:path";
import { pino } from "pino";
import { isSelfMade } from "../base/certificates.ts";
import { systemClock } from "../base/clock.ts";
import { authorizationModes, type AuthorizationMode } from "../authorization/authorizer-chain.ts";
import type { Logger } from "../base/logger.ts";
import type {
  AggregationOptions,
  AuthorizationWebhookChoice,
  ConnectionOptions,
  ServerOptions,
  StorageOptions,
} from "../server/options.ts";
import { kubernetes } from "../vocabulary/kubernetes.ts";
import { platform } from "../vocabulary/platform.ts";
import { authenticationOptions } from "./authentication-flags.ts";
import { auditVersion } from "../http/audit/policy-file.ts";
import { auditOptions } from "./audit-flags.ts";
import { identityFolder, storeFolder } from "./data-folder.ts";
import { UsageError, type FlagReader } from "./flag-reader.ts";
import { clusterSigningOptions } from "./cluster-signing-flags.ts";
import { chosenPlugins } from "./admission-flags.ts";

const maxInFlight = 1_000_000;

/**
 * The options of the server that the flags of `plinth serve` ask for.
 *
 * @throws {UsageError} a value that isn't one of its flag, or flags that don't go together.
 */
export function serverOptions(read: FlagReader): ServerOptions {
  const dataDir = read.text("data-dir");
  const host = read.text("bind-address");
  if (isIP(host) === 0) throw new UsageError(`--bind-address: ${JSON.stringify(host)} is not an IP address`);
  const advertiseAddress = read.optional("advertise-address");
  if (advertiseAddress !== undefined && isIP(advertiseAddress) === 0)
    throw new UsageError(`--advertise-address: ${JSON.stringify(advertiseAddress)} is not an IP address`);
  const vocabulary =
    read.choice("vocabulary", ["platform", "kubernetes"]) === "platform" ? platform : kubernetes;
  return {
    vocabulary,
    storage: storageOptions(read, dataDir),
    retentionMs: read.durationMs("history-retention"),
    serving: {
      host,
      port: read.integer("secure-port", 0, 65535),
      extraHosts: read.list("tls-san"),
      certificateFiles: certificateFiles(read),
      certificateFolder: read.optional("cert-dir") ?? identityFolder(dataDir),
      certificateFileName: read.optional("cert-dir") === undefined ? "server" : "apiserver",
      tls: { minVersion: read.text("tls-min-version"), cipherSuites: read.list("tls-cipher-suites") },
      maxConnections: read.optionalInteger("max-connections", 1, 10_000_000),
    },
    authorizationModes: modes(read),
    authorizationWebhook: authorizationWebhook(read),
    authorizationPolicyFile: read.optional("authorization-policy-file"),
    audit: auditOptions(read, auditVersion(vocabulary)),
    anonymousAuth: read.boolean("anonymous-auth"),
    clientCaFile: read.optional("client-ca-file"),
    clusterSigning: clusterSigningOptions(read),
    tokenAuthFile: read.optional("token-auth-file"),
    authentication: authenticationOptions(read),
    runtimeConfig: read.text("runtime-config"),
    featureGates: read.text("feature-gates"),
    eventLifeMs: read.durationMs("event-ttl"),
    showHiddenMetricsForVersion: read.text("show-hidden-metrics-for-version"),
    serviceClusterIpRanges: read.list("service-cluster-ip-range"),
    serviceNodePortRange: read.text("service-node-port-range"),
    advertiseAddress,
    identityLease: true,
    connections: connectionOptions(read),
    aggregation: aggregationOptions(read),
    flow: {
      fair: read.boolean("enable-priority-and-fairness") ?? true,
      maxReading: read.integer("max-requests-inflight", 0, maxInFlight),
      maxChanging: read.integer("max-mutating-requests-inflight", 0, maxInFlight),
    },
    allowPrivileged: read.boolean("allow-privileged") ?? false,
    leaderElection: read.boolean("leader-elect") ?? true,
    enabledControllers: read.list("controllers"),
    ...chosenPlugins(read),
    admissionConfigurationFile: read.optional("admission-control-config-file"),
    tolerationSeconds: {
      notReady: read.integer("default-not-ready-toleration-seconds", 0, Number.MAX_SAFE_INTEGER),
      unreachable: read.integer("default-unreachable-toleration-seconds", 0, Number.MAX_SAFE_INTEGER),
    },
    livezGracePeriodMs: read.durationMs("livez-grace-period"),
    shutdownDelayMs: read.durationMs("shutdown-delay-duration"),
    clock: systemClock,
    log: logger(read),
  };
}

/**
 * The certificate and key that the flags name, or that an operator has put into the folder of certificates under the reference's names;
 * undefined where the server makes them.
 */
function certificateFiles(read: FlagReader): { cert: string; key: string } | undefined {
  const cert = read.optional("tls-cert-file");
  const key = read.optional("tls-private-key-file");
  if (cert !== undefined && key !== undefined) return { cert, key };
  if (cert !== undefined || key !== undefined)
    throw new UsageError("--tls-cert-file and --tls-private-key-file are given together or not at all");
  const folder = read.optional("cert-dir");
  if (folder === undefined) return undefined;
  const files = { cert: path.join(folder, "apiserver.crt"), key: path.join(folder, "apiserver.key") };
  if (existsSync(files.cert)) return isSelfMade(readIfPossible(files.cert)) ? undefined : files;
  return existsSync(files.key) ? files : undefined;
}

/** The text of a file; empty where it can't be read, which its reader reports. */
function readIfPossible(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function connectionOptions(read: FlagReader): ConnectionOptions {
  return {
    allowLoopback: read.boolean("allow-loopback-connections") ?? false,
    deniedRanges: read.list("proxy-denied-cidrs"),
    nodeAgentCaFile: read.optional("kubelet-certificate-authority"),
    nodeAgentCertFile: read.optional("kubelet-client-certificate"),
    nodeAgentKeyFile: read.optional("kubelet-client-key"),
    nodeAddressTypes: read.list("kubelet-preferred-address-types"),
    nodeAgentTimeoutMs: read.durationMs("kubelet-timeout"),
  };
}

function aggregationOptions(read: FlagReader): AggregationOptions {
  return {
    clientCertFile: read.optional("proxy-client-cert-file"),
    clientKeyFile: read.optional("proxy-client-key-file"),
    endpointRouting: read.boolean("enable-aggregator-routing") ?? false,
    rejectRedirects: read.boolean("aggregator-reject-forwarding-redirect") ?? true,
  };
}

function storageOptions(read: FlagReader, dataDir: string): StorageOptions {
  const endpoints = read.list("etcd-servers");
  const backend =
    endpoints.length > 0 ? "etcd3" : read.choice("storage-backend", ["embedded", "memory", "etcd3"]);
  if (backend === "memory") return { engine: "memory" };
  if (backend === "embedded") return { engine: "embedded", dir: storeFolder(dataDir) };
  if (endpoints.length === 0) throw new UsageError("--storage-backend=etcd3 needs --etcd-servers");
  return {
    engine: "etcd",
    endpoints,
    caFile: read.optional("etcd-cafile"),
    certFile: read.optional("etcd-certfile"),
    keyFile: read.optional("etcd-keyfile"),
    prefix: read.text("etcd-prefix"),
  };
}

function modes(read: FlagReader): AuthorizationMode[] {
  const names = read.list("authorization-mode");
  if (names.length === 0) throw new UsageError("--authorization-mode needs at least one mode");
  return names.map((name) => {
    const mode = authorizationModes.find((one) => one === name);
    if (mode === undefined) {
      throw new UsageError(
        `--authorization-mode: ${JSON.stringify(name)} is not one of ${authorizationModes.join(", ")}`,
      );
    }
    return mode;
  });
}

function authorizationWebhook(read: FlagReader): AuthorizationWebhookChoice | undefined {
  const version = read.choice("authorization-webhook-version", ["v1", "v1beta1"]);
  const authorizedMs = read.durationMs("authorization-webhook-cache-authorized-ttl");
  const unauthorizedMs = read.durationMs("authorization-webhook-cache-unauthorized-ttl");
  const configFile = read.optional("authorization-webhook-config-file");
  return configFile === undefined ? undefined : { configFile, version, authorizedMs, unauthorizedMs };
}

function logger(read: FlagReader): Logger {
  const level = read.choice("log-level", ["debug", "info", "warn", "error", "silent"]);
  return pino({ level }, pino.destination({ fd: 2, sync: true }));
}
