import { rm } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import path from "node:path";
import { pino } from "pino";
import { isSelfMade } from "../base/certificates.ts";
import { systemClock } from "../base/clock.ts";
import { authorizationModes, type AuthorizationMode } from "../authorization/authorizer-chain.ts";
import { features } from "../server/features.ts";
import { OptionsError } from "../server/options-error.ts";
import type { Logger } from "../base/logger.ts";
import type {
  AggregationOptions,
  AuthorizationWebhookChoice,
  ConnectionOptions,
  ServerOptions,
  StorageOptions,
} from "../server/options.ts";
import { idleFeatures } from "../base/idle-features.ts";
import { startServer, type Server } from "../server/server.ts";
import { StoreTimeoutError } from "../storage/store.ts";
import { kubernetes } from "../vocabulary/kubernetes.ts";
import { platform } from "../vocabulary/platform.ts";
import { authenticationOptions } from "./authentication-flags.ts";
import { auditVersion } from "../http/audit/policy-file.ts";
import { acceptedFlags, acceptedHelp, acceptFlags } from "./accepted-flags.ts";
import { auditOptions } from "./audit-flags.ts";
import {
  administratorFile,
  administratorFileBeside,
  leadsToLivingServer,
  writePrivately,
} from "./administrator-file.ts";
import {
  dataFolderError,
  dataFolderFailure,
  identityFolder,
  prepareDataFolder,
  storeFolder,
} from "./data-folder.ts";
import { refuseDamagedStore } from "./check-apart.ts";
import { helpText, type Command } from "./command.ts";
import { FlagReader, parseFlags, UsageError } from "./flag-reader.ts";
import { clusterSigningOptions } from "./cluster-signing-flags.ts";
import { serveFlags } from "./flags.ts";
import { chosenPlugins } from "./admission-flags.ts";
import { warnOfDeprecated } from "./flag-life-cycles.ts";

/** Runs a server until it is told to stop. */
export const serveCommand: Command = {
  help: () =>
    helpText("plinth serve [FLAGS]", "Runs the server until SIGINT or SIGTERM.", serveFlags) +
    featureHelp() +
    acceptedHelp(),
  async run(words) {
    const read = new FlagReader(knownFlags, parseFlags(knownFlags, words));
    const options = serverOptions(read);
    acceptFlags(read, options.log);
    if (read.boolean("flag-deprecation-warnings") === true) warnOfDeprecated(read.given, options.log);
    const dataDir = read.text("data-dir");
    prepareDataFolder(dataDir);
    if ("engine" in options.storage && options.storage.engine === "embedded")
      await refuseDamagedStore(options.storage.dir, dataDir, options.log);
    const chosen = read.optional("write-kubeconfig");
    const usual = chosen ?? administratorFile(dataDir);
    // Looked at before the start, so that what answers is another server.
    const beside = chosen === undefined && (await leadsToLivingServer(usual));
    const server = await start(options, dataDir);
    surviveDefects(server);
    const file = beside ? administratorFileBeside(dataDir, server.url!) : usual;
    await writeAdministrator(file, server, options.log);
    const stop = stopSignal();
    process.stdout.write(
      `plinth serves ${options.vocabulary.name} names at ${server.url}\nadministrator: ${file}\n`,
    );
    await stop;
    options.log.info({}, "stopping");
    await server.close().catch(endAtOnce);
    if (beside) await rm(file, { force: true });
    return 0;
  },
};

/** The feature gates, for the help text. */
function featureHelp(): string {
  const rows = Object.entries(features.gates).map(([name, { stage, on }]) => {
    const idle = idleFeatures.has(name) ? ", no effect here" : "";
    return `  ${name} (${stage}, default ${on}${idle})`;
  });
  return `\nFeature gates:\n${rows.join("\n")}\n`;
}

const knownFlags = [...serveFlags, ...acceptedFlags];

/** The server can't be started as things are on this machine; the message says what to change. */
class StartError extends Error {
  override name = "StartError";
}

async function start(options: ServerOptions, dataDir: string): Promise<Server> {
  try {
    return await startServer(options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const { host, port } = options.serving!;
    const failure = dataFolderFailure(dataDir, error);
    if (failure !== undefined) throw dataFolderError(dataDir, failure);
    if (code === "EADDRINUSE") {
      throw new StartError(
        `port ${port} of ${host} is in use; stop what uses it or choose another --secure-port`,
      );
    }
    if (code === "EADDRNOTAVAIL")
      throw new StartError(`--bind-address ${host}: this machine has no such address`);
    if (code === "EACCES") throw new StartError(`--secure-port ${port}: not allowed to listen on it`);
    throw error;
  }
}

const maxInFlight = 1_000_000;

/** The options that the flags ask for. */
function serverOptions(read: FlagReader): ServerOptions {
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

/** Ends the process while one of its threads waits for another process to write, which an orderly end would wait for. */
function endAtOnce(error: unknown): void {
  if (!(error instanceof StoreTimeoutError)) throw error;
  process.stderr.write(`plinth: ${error.message}\n`);
  process.kill(process.pid, "SIGKILL");
}

/** A full disk keeps nobody from reading, so it doesn't end the server either; the file of before is left as it is. */
async function writeAdministrator(file: string, server: Server, log: Logger): Promise<void> {
  try {
    await writePrivately(file, server.durableKubeconfig());
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!["ENOSPC", "EDQUOT"].includes(code)) {
      await server.close();
      throw new OptionsError(`${file} can't be written (see --write-kubeconfig): ${message}`);
    }
    log.error({ error: message }, `there is no room to write ${file}`);
  }
}

/**
 * From now on an exception that nothing caught doesn't end the process: it serves others who have no part in it. Handlers
 * that a peer's bytes reach are guarded where they are registered, and end that peer's connection (`src/http/transport/guard.ts`).
 */
function surviveDefects(server: Server): void {
  process.on("uncaughtException", (error) => server.reportDefect(error, "uncaughtException"));
  process.on("unhandledRejection", (error) => server.reportDefect(error, "unhandledRejection"));
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
}
