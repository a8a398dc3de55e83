import {
  defaultTolerations,
  type TolerationSeconds,
} from "./admission/plugins/default-toleration-seconds.ts";
import { systemClock, type Clock } from "./base/clock.ts";
import type { AuthorizationMode } from "./authorization/authorizer-chain.ts";
import type { BuiltInObjects, ObjectsOf } from "./kinds/typed-objects.ts";
import type { Kind } from "./schema/kind.ts";
import type { Extensions } from "./server/extensions.ts";
import type { Store } from "./storage/store.ts";
import { authenticationWith, type AuthenticationChoices } from "./server/authentication-options.ts";
import { defaultClusterSigning, type ClusterSigningOptions } from "./server/cluster-signing.ts";
import type { FlowOptions } from "./server/flow-options.ts";
import {
  defaultAuditLog,
  defaultAuditWebhook,
  type AuditLogOptions,
  type AuditWebhookOptions,
} from "./server/audit-options.ts";
import { silentLogger, type Logger } from "./base/logger.ts";
import {
  type AggregationOptions,
  type ConnectionOptions,
  type ServerOptions,
  type StorageOptions,
} from "./server/options.ts";
import { checkLibraryOptions, inLibraryTerms } from "./server/library-options.ts";
import type { AuthorizationWebhookChoice } from "./server/options.ts";
import { optionDefaults } from "./server/option-defaults.ts";
import { startServer, type Server } from "./server/server.ts";
import { kubernetes } from "./vocabulary/kubernetes.ts";
import { platform } from "./vocabulary/platform.ts";

export { StatusError, type Cause, type Reason, type StatusDetails } from "./base/status-error.ts";
export type { Clock, Timer } from "./base/clock.ts";
export type {
  Client,
  CollectionReference,
  NewObject,
  ObjectList,
  ObjectReference,
  WatchEvent,
} from "./resources/client.ts";
export type { ApiObject, ObjectMetaValue } from "./schema/kind.ts";
export type { AuditLogOptions, AuditWebhookOptions } from "./server/audit-options.ts";
export { OptionsError } from "./server/options-error.ts";
export type { Logger } from "./base/logger.ts";
export type { AggregationOptions, ConnectionOptions, StorageOptions } from "./server/options.ts";
export type {
  AuthenticationChoices,
  AuthenticationOptions,
  OidcChoice,
  ProxyChoice,
  ServiceAccountOptions,
  TokenWebhookChoice,
} from "./server/authentication-options.ts";
export type { FlowOptions } from "./server/flow-options.ts";
export type { Server } from "./server/server.ts";
export type { AuthorizationMode } from "./authorization/authorizer-chain.ts";
export type { AuthorizationWebhookChoice } from "./server/options.ts";
export { declareGroup } from "./kinds/declare-group.ts";
export {
  definitionOf,
  type DefinitionManifest,
  type DefinitionOptions,
  type DefinitionVersion,
} from "./kinds/definition-of.ts";
export type { BuiltInObjects, ObjectsOf } from "./kinds/typed-objects.ts";
export type { Kind, ObjectFor } from "./schema/kind.ts";
export type { TypedClient } from "./resources/typed-client.ts";
export type { AdmissionPlugin } from "./admission/admission-chain.ts";
export type { AdmissionEffects, AdmissionRequest } from "./resources/engine.ts";
export type { AuthenticationResult, Credentials } from "./authentication/authenticator.ts";
export type { NamedAuthenticator } from "./authentication/guarded-authenticator.ts";
export type { Attributes, Decision, RuleList } from "./authorization/authorizer.ts";
export type { NamedAuthorizer } from "./authorization/guarded-authorizer.ts";
export type { Controller, ControllerContext, RunningController } from "./controllers/controller.ts";
export type { ObjectInformer } from "./resources/informer.ts";
export { WorkQueue } from "./controllers/work-queue.ts";
export type { Extensions } from "./server/extensions.ts";
export type { Store } from "./storage/store.ts";

/**
 * How a server is made; everything has a default fit for tests.
 *
 * @typeParam Kinds the kinds that the program adds.
 */
export interface CreateServerOptions<
  Kinds extends readonly Kind[] = readonly Kind[],
> extends Extensions<Kinds> {
  /** Names of groups, labels and media types; `platform` unless given. */
  readonly vocabulary?: "platform" | "kubernetes";
  /**
   * Where objects are kept: in memory unless given. A store of the program's own, which passes the suite in
   * `plinth/storage-conformance`, stays open when the server stops.
   */
  readonly storage?: StorageOptions | Store;
  /** Port on the loopback address: a free one unless given; false opens no socket. */
  readonly port?: number | false;
  /** Address to listen on; 127.0.0.1 unless given. */
  readonly host?: string;
  /** Client connections that may be open at a time; 20,000 or what the limit of open files leaves unless given. */
  readonly maxConnections?: number;
  /** Authorizers in order, also by the names of `authorizers`; RBAC unless given. */
  readonly authorizationModes?: readonly (AuthorizationMode | (string & Record<never, never>))[];
  /** The service that mode Webhook asks. */
  readonly authorizationWebhook?: AuthorizationWebhookChoice;
  /** File of the policies of mode ABAC, which needs one. */
  readonly authorizationPolicyFile?: string;
  /** Whether requests without credentials are let in as the anonymous user. */
  readonly anonymousAuth?: boolean;
  /** CSV file of static tokens. */
  readonly tokenAuthFile?: string;
  /** How callers are recognized beside certificates and static tokens. */
  readonly authentication?: AuthenticationChoices;
  /** PEM files of the certificate with which the server shows itself, and of its key; it makes its own unless given. */
  readonly certificateFiles?: { readonly cert: string; readonly key: string };
  /** PEM file of authorities whose client certificates are accepted. */
  readonly clientCaFile?: string;
  /** API versions and resources to turn on or off, as for `--runtime-config`. */
  readonly runtimeConfig?: string;
  /** Ranges from which services get their addresses, one a family; 10.0.0.0/24 unless given. */
  readonly serviceClusterIpRanges?: readonly string[];
  /**
   * Address at which others reach the server, for the endpoints of its own Service in the namespace `default`; the one that
   * it listens on, or this machine's, unless given.
   */
  readonly advertiseAddress?: string;
  /** Whether the server shows by a Lease, renewed every ten seconds, that it lives; unless given, it doesn't. */
  readonly identityLease?: boolean;
  /** Node ports that services get; 30000-32767 unless given. */
  readonly serviceNodePortRange?: string;
  /** How long events are kept after they were last seen, in milliseconds; an hour unless given. */
  readonly eventLifeMs?: number;
  /** Whether containers may have all rights on their host (`privileged`); unless given, they may not. */
  readonly allowPrivileged?: boolean;
  /** Controllers that run, as for `--controllers`; `["*"]` unless given. */
  readonly enabledControllers?: readonly string[];
  /** Admission plugins that run beside those that do by default. */
  readonly enabledAdmissionPlugins?: readonly string[];
  /** Admission plugins that don't run, even if they are enabled. */
  readonly disabledAdmissionPlugins?: readonly string[];
  /** Configuration of admission plugins, as for `--admission-control-config-file`. */
  readonly admissionConfigurationFile?: string;
  /** Seconds for which pods that don't say it stay on nodes that aren't ready, or can't be reached; 300 unless given. */
  readonly tolerationSeconds?: Partial<TolerationSeconds>;
  /**
   * Whether servers over one store choose one of them to run the controllers; true unless given. A server in memory is alone
   * anyway.
   */
  readonly leaderElection?: boolean;
  /** With what the built-in signers sign certificate requests; the server's own authority, for a year, unless given. */
  readonly clusterSigning?: Partial<ClusterSigningOptions>;
  /** How connections to pods, services and nodes are made; without `allowLoopback` none goes to this machine. */
  readonly connections?: Partial<ConnectionOptions>;
  /** How extension servers are reached, to which requests for their group versions are passed on (APIService). */
  readonly aggregation?: AggregationOptions;
  /** How many requests are worked on at one time; 600, shared by priority and fairness, unless given. */
  readonly flow?: Partial<FlowOptions>;
  /** Features to turn on or off, as for `--feature-gates`. */
  readonly featureGates?: string;
  /** How long past versions stay readable, in milliseconds; 5 minutes unless given. */
  readonly retentionMs?: number;
  /** What is audited, by a policy in a file, and the log to which it goes; nothing unless given. */
  readonly audit?: {
    readonly policyFile: string;
    readonly log?: Partial<AuditLogOptions> & { readonly path: string };
    /** A service of others to which events are sent. */
    readonly webhook?: Partial<AuditWebhookOptions> & { readonly configFile: string };
  };
  readonly clock?: Clock;
  /** Where the server says what happens; nowhere unless given. */
  readonly log?: Logger;
}

/**
 * Starts a server in this process. It is ready when the promise resolves.
 *
 * @throws {OptionsError} a wrong value or an unknown option, which it names; nothing is left open.
 *
 * @example
 * const server = await createServer();
 * await server.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } });
 * console.log(server.url, server.kubeconfig());
 * await server.close();
 */
export async function createServer<const Kinds extends readonly Kind[] = readonly []>(
  options: CreateServerOptions<Kinds> = {},
): Promise<Server<BuiltInObjects & ObjectsOf<Kinds>>> {
  checkLibraryOptions(options);
  try {
    return (await startServer(serverOptions(options))) as Server<BuiltInObjects & ObjectsOf<Kinds>>;
  } catch (error) {
    throw inLibraryTerms(error);
  }
}

/** The options of {@link Extensions} alone. */
function extensionsOf({
  kinds,
  admissionPlugins,
  authenticators,
  authorizers,
  controllers,
}: Extensions): Extensions {
  return {
    ...(kinds && { kinds }),
    ...(admissionPlugins && { admissionPlugins }),
    ...(authenticators && { authenticators }),
    ...(authorizers && { authorizers }),
    ...(controllers && { controllers }),
  };
}

function serverOptions(options: CreateServerOptions): ServerOptions {
  const { port = 0, host = optionDefaults.host } = options;
  return {
    vocabulary: options.vocabulary === "kubernetes" ? kubernetes : platform,
    storage: options.storage ?? { engine: "memory" },
    retentionMs: options.retentionMs ?? optionDefaults.retentionMs,
    serving:
      port === false
        ? undefined
        : {
            host,
            port,
            extraHosts: [],
            maxConnections: options.maxConnections,
            certificateFiles: options.certificateFiles,
          },
    authorizationModes: options.authorizationModes ?? optionDefaults.authorizationModes,
    authorizationWebhook: options.authorizationWebhook,
    audit: options.audit && {
      policyFile: options.audit.policyFile,
      log: options.audit.log && { ...defaultAuditLog, ...options.audit.log },
      webhook: options.audit.webhook && { ...defaultAuditWebhook, ...options.audit.webhook },
    },
    authorizationPolicyFile: options.authorizationPolicyFile,
    anonymousAuth: options.anonymousAuth,
    clientCaFile: options.clientCaFile,
    clusterSigning: { ...defaultClusterSigning, ...options.clusterSigning },
    tokenAuthFile: options.tokenAuthFile,
    authentication: authenticationWith(options.authentication ?? {}),
    runtimeConfig: options.runtimeConfig ?? optionDefaults.runtimeConfig,
    featureGates: options.featureGates ?? optionDefaults.featureGates,
    eventLifeMs: options.eventLifeMs ?? optionDefaults.eventLifeMs,
    showHiddenMetricsForVersion: optionDefaults.showHiddenMetricsForVersion,
    serviceClusterIpRanges: options.serviceClusterIpRanges ?? optionDefaults.serviceClusterIpRanges,
    serviceNodePortRange: options.serviceNodePortRange ?? optionDefaults.serviceNodePortRange,
    advertiseAddress: options.advertiseAddress,
    identityLease: options.identityLease,
    connections: { ...optionDefaults.connections, ...options.connections },
    aggregation: options.aggregation,
    flow: { ...optionDefaults.flow, ...options.flow },
    allowPrivileged: options.allowPrivileged ?? optionDefaults.allowPrivileged,
    enabledControllers: options.enabledControllers,
    leaderElection: options.leaderElection,
    extensions: extensionsOf(options),
    enabledAdmissionPlugins: options.enabledAdmissionPlugins ?? optionDefaults.enabledAdmissionPlugins,
    disabledAdmissionPlugins: options.disabledAdmissionPlugins ?? optionDefaults.disabledAdmissionPlugins,
    admissionConfigurationFile: options.admissionConfigurationFile,
    tolerationSeconds: { ...defaultTolerations, ...options.tolerationSeconds },
    livezGracePeriodMs: optionDefaults.livezGracePeriodMs,
    shutdownDelayMs: optionDefaults.shutdownDelayMs,
    clock: options.clock ?? systemClock,
    log: options.log ?? silentLogger,
  };
}
