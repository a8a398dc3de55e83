import type { KnownObjects, ObjectsOf } from "./kinds/typed-objects.ts";
import type { Kind } from "./schema/kind.ts";
import {
  inLibraryTerms,
  serverOptionsOf,
  type CreateServerOptions,
} from "./server/options/library-options.ts";
import { checkAddress } from "./server/start/address-check.ts";
import { startServer, type Server } from "./server/server.ts";

export {
  explore,
  type ExploreOptions,
  type ExploreReport,
  type FaultRandom,
} from "./server/explore/explore.ts";
export type {
  ControllerStart,
  ControllerUser,
  Exploration,
  ExplorationSettleOptions,
} from "./server/explore/exploration.ts";
export { ExploreError } from "./server/explore/explore-error.ts";
export { ConnectionLostError } from "./resources/engine/request-faults.ts";
export type { SettleOptions } from "./server/faults/activity.ts";
export type { FaultEffect, FaultMatch, FaultRule } from "./server/faults/fault-rule.ts";
export type { FaultHandle, Faults } from "./server/faults/faults.ts";
export type { FiredFault } from "./server/faults/fired-fault.ts";
export { validate, type ValidateOptions, type ValidationInput } from "./server/validation/validate.ts";
export type {
  Finding,
  ValidatedObject,
  ValidationLocation,
  ValidationProblem,
  ValidationReport,
  ValidationRule,
  ValidationSource,
} from "./server/validation/problem.ts";
export {
  manifestMatchers,
  type AcceptanceMatchers,
  type MatcherFunctions,
  type MatcherResult,
} from "./server/validation/matchers.ts";
export type { PodSecurityLevel } from "./server/validation/session.ts";
export type { ReferenceMode } from "./server/validation/validator.ts";
export { StatusError, type Cause, type Reason, type StatusDetails } from "./base/status-error.ts";
export type { Clock, Timer } from "./base/time/clock.ts";
export { manualClock, type ManualClock } from "./base/time/manual-clock.ts";
export type {
  Client,
  CollectionReference,
  NewObject,
  ObjectList,
  ObjectReference,
  WatchEvent,
} from "./resources/clients/client.ts";
export type { ApiObject, ObjectMetaValue } from "./schema/kind.ts";
export { OptionsError } from "./server/options/options-error.ts";
export type { Logger } from "./base/logger.ts";
export type { CreateServerOptions } from "./server/options/library-options.ts";
export type {
  AggregationOptions,
  AuditLogOptions,
  AuditOptions,
  AuditWebhookOptions,
  AuthenticationOptions,
  AuthorizationWebhookOptions,
  ClusterSigningOptions,
  ConnectionOptions,
  FlowOptions,
  OidcOptions,
  ProxyOptions,
  ServiceAccountOptions,
  StorageOptions,
  TlsOptions,
  TokenWebhookOptions,
} from "./server/options/option-types.ts";
export { createTestCertificate, type TestCertificate } from "./server/library/test-certificate.ts";
export type { Server } from "./server/server.ts";
export type { PreviewOptions, PreviewResult } from "./server/library/preview-result.ts";
export type { Snapshot } from "./server/library/snapshots.ts";
export type { TestWorkspace, WorkspaceSource } from "./server/library/test-workspace.ts";
export type { AuthorizationMode } from "./authorization/authorizer-chain.ts";
export { declareGroup } from "./kinds/declare-group.ts";
export {
  definitionOf,
  type DefinitionManifest,
  type DefinitionOptions,
  type DefinitionVersion,
} from "./kinds/definition-of.ts";
// All, because declarations of programs can add only to a module that is exported as a whole.
export type * from "./kinds/typed-objects.ts";
export type { Kind, ObjectFor } from "./schema/kind.ts";
export type { RecordedRequest, RequestFilter, RequestLog } from "./http/metrics/request-log.ts";
export type {
  AccessAnswer,
  AccessOptions,
  ApplyOptions,
  ChangeSet,
  HistoryOptions,
  KubeconfigOptions,
  ServerClient,
  TransactionClient,
  TransactionOptions,
  UndoOptions,
  UndoResult,
  WaitOptions,
  WorkspaceClient,
} from "./server/library/server-client.ts";
export type {
  WorkspaceDiffOptions,
  WorkspaceDiffResult,
  WorkspaceMergeOptions,
  WorkspaceMergeResult,
  WorkspaceRebaseOptions,
} from "./server/library/workspace-results.ts";
export type { VersionOf } from "./resources/clients/object-history.ts";
export type { TypedClient } from "./resources/clients/typed-client.ts";
export type { AdmissionPlugin } from "./admission/admission-chain.ts";
export type { AdmissionEffects, AdmissionRequest } from "./resources/engine/engine.ts";
export type { AuthenticationResult, Credentials } from "./authentication/authenticator.ts";
export type { NamedAuthenticator } from "./authentication/guarded-authenticator.ts";
export type { Attributes, Decision, RuleList } from "./authorization/authorizer.ts";
export type { NamedAuthorizer } from "./authorization/guarded-authorizer.ts";
export type { Controller, ControllerContext, RunningController } from "./controllers/controller.ts";
export type { ObjectInformer } from "./resources/followers/informer.ts";
export { WorkQueue } from "./controllers/work-queue.ts";
export type { Extensions } from "./server/options/extensions.ts";
export type { Store } from "./storage/store.ts";

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
): Promise<Server<KnownObjects & ObjectsOf<Kinds>>> {
  try {
    const complete = serverOptionsOf(options);
    if (complete.port !== false && complete.port !== 0) await checkAddress(complete.host, complete.port);
    const server: unknown = await startServer(complete);
    // The client finds kinds by name when it runs; only its static type names them.
    return server as Server<KnownObjects & ObjectsOf<Kinds>>;
  } catch (error) {
    throw inLibraryTerms(error);
  }
}
