import { accessLog } from "../../http/metrics/access-log.ts";
import { allObservers, recordRequests } from "../../http/metrics/record-requests.ts";
import { slowRequestLog } from "../../http/metrics/slow-requests.ts";
import { failedAuthenticationLog } from "../../http/metrics/failed-authentications.ts";
import { RequestLog } from "../../http/metrics/request-log.ts";
import { Encodings } from "../../http/encodings/choose.ts";
import { discoveryDocuments } from "../../authentication/service-accounts/discovery-documents.ts";
import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import { HandlerGuard } from "../../http/transport/http-exchange.ts";
import { serveAggregated } from "../../http/connect/aggregated.ts";
import { LoginCodes } from "../../authentication/console/login-codes.ts";
import { ConsoleFiles } from "../../http/documents/console/console-files.ts";
import { ConsolePages } from "../../http/documents/console/console-pages.ts";
import { addDiscoveryPaths } from "../../http/documents/discovery.ts";
import { FairReading, eventLoop, FairTurns } from "../../flow/fair-turns.ts";
import { LargeRequests } from "../../flow/large-requests.ts";
import type { FlowControl } from "../../flow/flow-control.ts";
import { addHealthPaths, type HealthCheck } from "../../http/documents/health.ts";
import { WatchCounts } from "../../http/limits/fair-limiter.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import { addIndicatorsPath, addMetricsPath } from "../../http/documents/metrics-page.ts";
import { HealthIndicators } from "../../http/metrics/health-indicators.ts";
import { AuthenticationMetrics } from "../../http/metrics/authentication-metrics.ts";
import { ImpersonationMetrics } from "../../http/metrics/impersonation-metrics.ts";
import { RequestMetrics } from "../../http/metrics/request-metrics.ts";
import { addOpenIdPaths } from "../../http/documents/openid-documents.ts";
import { addOpenApiPaths, type OpenApiParts } from "../../http/documents/openapi/openapi-paths.ts";
import { subscriptionsPath } from "../../http/request/facts.ts";
import type { HttpService, LoggedRequest } from "../../http/service.ts";
import { serveSubscription } from "../../http/subscriptions/serve-subscription.ts";
import { sortedListsOfProcess } from "../../http/verbs/sort-memory.ts";
import { bufferedListsOfProcess } from "../../http/verbs/buffered-parts.ts";
import type { WelcomeFacts } from "../../http/request/visitor.ts";
import { PathTable, type AddedPaths } from "../../http/request/path-table.ts";
import { OpenStreams } from "../../http/transport/open-streams.ts";
import { applies, rowsIn, since } from "../../base/release-rows.ts";
import type { Release } from "../../base/releases.ts";
import type { AggregatedVersion } from "../../http/documents/aggregated-discovery.ts";
import { rarely } from "../../base/time/clock.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { ComponentStatus } from "../../kinds/core/component-status.ts";
import { aggregationRules } from "../apis/aggregation.ts";
import type { AuditTrail } from "../audit/audit.ts";
import { componentStatuses } from "../health/component-statuses.ts";
import type { ServerAuthentication } from "../authentication/authenticators.ts";
import {
  backendSockets,
  clientConnections,
  defectLog,
  requestBodies,
  responseBacklogs,
} from "./connection-notes.ts";
import { healthChecks, type Lifecycle } from "../health/health-checks.ts";
import { requestLimiter } from "./flow-limits.ts";
import { stackOf } from "../../base/logger.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { StoredNodeNeeds } from "../../authorization/node/stored-node-needs.ts";
import type { StoredRbac } from "../../authorization/rbac/stored-rbac.ts";
import { reviewHandlers } from "../authorization/reviews.ts";
import type { ServiceAccountKeys } from "../authentication/service-account-tokens.ts";
import { branchHandlers } from "../../http/workspaces/branch-handlers.ts";
import { serveTransaction } from "../../http/transactions/serve-transaction.ts";
import { serveUndo } from "../../http/transactions/serve-undo.ts";
import { FaultSwitch } from "../../resources/engine/request-faults.ts";

/** The dependencies of request handling. */
interface ServiceParts extends Pick<HttpService, "apiServices" | "connections" | "tracing" | "workspaces"> {
  readonly metrics: MetricSet;
  readonly flow: FlowControl | undefined;
  readonly authorizer: AuthorizerChain;
  readonly policy: StoredRbac;
  readonly needs: StoredNodeNeeds | undefined;
  readonly life: Lifecycle;
  /** One health check per controller. */
  readonly controllers: readonly HealthCheck[];
  /** Health checks of the key management services of encryption. */
  readonly encryption: readonly HealthCheck[];
  readonly authentication: ServerAuthentication;
  readonly audit: AuditTrail | undefined;
}

const nowMs = () => performance.now();

/** Creates the HTTP service: the pipeline's dependencies, and the paths outside of the resources. */
export function httpService(options: ServerOptions, engine: Engine, parts: ServiceParts): ServedContent {
  const { clock, vocabulary, livezGracePeriodMs, dataFolder } = options;
  const defect = defectLog(options, parts.metrics);
  const { metrics, authentication } = parts;
  const { authenticator, serviceAccounts } = authentication;
  const watches = new WatchCounts();
  const health = healthChecks({ ...parts, store: engine.store, vocabulary, clock, livezGracePeriodMs });
  const on = engine.featureEnabled;
  const console = consolePages(options, engine, parts.authentication);
  const welcome: WelcomeFacts = { vocabulary, hasConsole: console !== undefined, dataFolder };
  const indicators = on("ComponentSLIs") ? new HealthIndicators(vocabulary, options.release) : undefined;
  const { ownAudiences } = serviceAccounts;
  const service = (): HttpService => whole;
  const documents = { welcome, health, indicators, defect };
  const own = objectServices(options, engine, {
    ...parts,
    ...documents,
    authenticator,
    ownAudiences,
    service,
  });
  const { paths } = own;
  if (indicators !== undefined) addIndicatorsPath(paths, clock, indicators, options.otherProcesses);
  addOpenIdDocuments(options, paths, serviceAccounts);
  addMetricsPath(paths, clock, metrics, options.otherProcesses);
  parts.audit?.addPage(paths);
  const whole: HttpService = {
    ...own,
    workspaces: parts.workspaces,
    clock,
    encodings: new Encodings(engine.vocabulary),
    authorizesSelectors: on("AuthorizeWithSelectors"),
    viewRule: options.views ?? vocabulary.behavior.viewRule,
    limits: requestLimiter(options, engine, parts.flow, { paths, watches }),
    turns: new FairTurns(eventLoop, (work) => engine.store.together(work)),
    largeRequests: new LargeRequests(),
    reading: new FairReading(),
    transact: serveTransaction,
    undo: serveUndo,
    branching: branchHandlers(),
    console,
    welcome,
    bodies: requestBodies(options, metrics),
    bufferedLists: bufferedListsOfProcess(options.processes ?? 1),
    sortedLists: sortedListsOfProcess(options.processes ?? 1),
    audit: parts.audit?.auditor,
    compresses: on("APIResponseCompression"),
    ...requestObservers(options),
    tracing: parts.tracing,
    metrics: new RequestMetrics(metrics, nowMs),
    callers: new AuthenticationMetrics(metrics, nowMs),
    impersonations: new ImpersonationMetrics(metrics, nowMs),
    streams: new OpenStreams(),
    watches,
    aggregation: aggregationRules(options, parts.connections),
    connections: parts.connections,
    backends: backendSockets(options, metrics, parts.connections),
    backlog: responseBacklogs(options, metrics),
    clients: clientConnections(options, metrics),
    guard: new HandlerGuard((error, event) => defect(error, { event })),
    faults: new FaultSwitch(),
    log: httpLog(options, defect),
  };
  return { service: whole, documents };
}

/** The service of a server, and the parts of it that its workspaces share. */
export interface ServedContent {
  readonly service: HttpService;
  readonly documents: Pick<ObjectServiceParts, "welcome" | "health" | "indicators" | "defect">;
}

/** What {@link objectServices} needs. */
export interface ObjectServiceParts extends Pick<
  HttpService,
  "authenticator" | "authorizer" | "apiServices" | "welcome"
> {
  readonly policy: StoredRbac;
  readonly needs: StoredNodeNeeds | undefined;
  /** The audiences that tokens have. */
  readonly ownAudiences: readonly string[];
  readonly health: ReturnType<typeof healthChecks>;
  readonly indicators: HealthIndicators | undefined;
  readonly defect: HttpService["log"]["defect"];
  /** Returns the whole service; called from the first request on. */
  readonly service: () => HttpService;
}

/** Creates the part of the service that depends on the objects of an engine: those of the server, or those of a workspace. */
export function objectServices(
  options: ServerOptions,
  engine: Engine,
  parts: ObjectServiceParts,
): Pick<
  HttpService,
  "engine" | "authenticator" | "authorizer" | "apiServices" | "computed" | "reviews" | "paths"
> {
  const { clock, vocabulary, release } = options;
  const { registry, timestamps, store } = engine;
  const { authenticator, authorizer, apiServices, health, indicators, service } = parts;
  const paths = new PathTable<HttpService>();
  const passOn: OpenApiParts["passOn"] = (...request) => serveAggregated(service(), ...request);
  addApiDocuments(paths, engine, parts.defect, { ...parts, clock, passOn });
  addHealthPaths(paths, health, vocabulary.behavior, indicators);
  paths.addWithMethods(subscriptionsPath, ["GET", "POST"], (request, service) =>
    serveSubscription(service, request),
  );
  return {
    engine,
    authenticator,
    authorizer,
    apiServices,
    paths,
    computed: new Map([[ComponentStatus.name, () => componentStatuses(store, clock, release)]]),
    reviews: reviewHandlers({ ...parts, registry, timestamps }),
  };
}

function httpLog({ clock, log }: ServerOptions, defect: HttpService["log"]["defect"]): HttpService["log"] {
  return {
    defect,
    unavailable: rarely(clock, unavailableLogIntervalMs, (cause: unknown, request: LoggedRequest) =>
      log.error({ ...request, error: stackOf(cause) }, "the store can't be used"),
    ),
    unauthenticated: failedAuthenticationLog(log, clock),
    cutOff: (reason, request) => log.warn(request, reason),
  };
}

/** Creates the web console. */
function consolePages(
  { clock, vocabulary: { systemPrefix } }: ServerOptions,
  { store }: Engine,
  { sessions, signIn }: ServerAuthentication,
): ConsolePages | undefined {
  if (sessions === undefined) return undefined;
  return new ConsolePages(
    new ConsoleFiles(),
    new LoginCodes(store, clock),
    sessions,
    `${systemPrefix}masters`,
    signIn,
  );
}

/** Creates the observers of completed requests: the log of slow requests, the access log, and the recorded requests. */
function requestObservers({
  accessLog: logsRequests,
  recordRequests: records,
  log,
  clock,
}: ServerOptions): Pick<HttpService, "observer" | "requests"> {
  const requests = records === true ? new RequestLog() : undefined;
  const observers = [
    slowRequestLog(log, clock, nowMs),
    logsRequests && accessLog(log, nowMs),
    requests && recordRequests(requests, nowMs),
  ];
  return { observer: allObservers(observers), requests };
}

const hasSingularNames = applies(since("1.27"));

/** Returns the versions of the aggregated discovery document in a release. */
function aggregatedVersions(release: Release, on: Engine["featureEnabled"]): readonly AggregatedVersion[] {
  const versions = rowsIn<AggregatedVersion>([since("1.30", "v2")], { release });
  return on("AggregatedDiscoveryRemoveBetaType") ? versions : [...versions, "v2beta1"];
}

/** Adds the discovery and OpenAPI documents of this server and of extension servers. */
function addApiDocuments(
  paths: AddedPaths,
  { registry, featureEnabled: on }: Engine,
  defect: HttpService["log"]["defect"],
  {
    apiServices,
    clock,
    passOn,
    welcome,
  }: Pick<OpenApiParts, "apiServices" | "clock" | "passOn"> & { readonly welcome: WelcomeFacts },
): void {
  const failed: OpenApiParts["failed"] = (error, { name, group, version }) =>
    defect(error, { event: `OpenAPI of ${name}.${group}/${version}` });
  const features = {
    aggregated: on("AggregatedDiscoveryEndpoint") ? aggregatedVersions(registry.release, on) : [],
    storageVersionHash: on("StorageVersionHash"),
    singularNames: hasSingularNames(registry),
  };
  addDiscoveryPaths(paths, registry, apiServices, features, welcome);
  const version3 = on("OpenAPIV3");
  const enums = on("OpenAPIEnums");
  addOpenApiPaths(paths, registry, { apiServices, clock, version3, enums, failed, passOn });
}

/** Minimum interval of log lines about an unusable store, which every request may meet. */
const unavailableLogIntervalMs = 5000;

/**
 * Adds the OpenID discovery documents for verifying service account tokens, if the issuer is an https URL that allows
 * it.
 */
function addOpenIdDocuments(
  { authentication, log, vocabulary }: ServerOptions,
  paths: AddedPaths,
  { issuers, keys }: ServiceAccountKeys,
): void {
  const documents = discoveryDocuments(issuers[0]!, keys, authentication.serviceAccounts.jwksUri);
  if ("error" in documents) log.warn({}, `no OpenID documents are served: ${documents.error}`);
  else addOpenIdPaths(paths, vocabulary, documents);
}
