import { randomValues } from "../../base/random.ts";
import { ApiServices } from "../../aggregation/api-services.ts";
import type { ProxyCertificate, RemoteConnections } from "../../aggregation/remote-api-service.ts";
import type { ServiceObjects } from "../../aggregation/availability.ts";
import { Supervision } from "../../aggregation/supervision.ts";
import { rarely } from "../../base/time/clock.ts";
import { FileWatch } from "../../base/files/file-watch.ts";
import { stackOf } from "../../base/logger.ts";
import { StatusError } from "../../base/status-error.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { guardedLookup } from "../../http/backends/addresses.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import { Objects } from "../../http/connect/objects.ts";
import { serviceDestination } from "../../http/connect/services.ts";
import { lostApiService, showApiServices } from "../../http/metrics/aggregation-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import type { AggregationRules } from "../../http/service.ts";
import { APIService } from "../../kinds/apiregistration/api-service.ts";
import type { RemoteAddress } from "../../remote/remote-client.ts";
import type { ResolveService } from "../../remote/webhook-caller.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { showExpiration } from "../certificates/certificate-expiration.ts";
import { clientCertificate } from "../certificates/client-certificate.ts";
import type { Opened } from "../start/opened.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { AggregationSettings } from "../options/settings-types.ts";
import { outageLogIntervalMs } from "../webhooks/remote-services.ts";
import { serviceResolver } from "../webhooks/webhook-services.ts";

/** The share of the backend connections that one extension server may use. */
const maxShare = 1 / 4;
const minRequests = 8;

/** Returns the rules for proxying requests to extension servers. */
export function aggregationRules(
  { aggregation }: ServerOptions,
  { maxSockets }: ConnectionRules,
): AggregationRules {
  return {
    refusesRedirects: aggregation.rejectRedirects,
    maxRequests: Math.max(minRequests, Math.floor(maxSockets * maxShare)),
  };
}

/** The parts of the server that the aggregation layer depends on. */
interface AggregationPieces {
  readonly engine: Engine;
  readonly client: Client;
  /** The identity with which the server looks up services. */
  readonly user: UserInfo;
  readonly connections: ConnectionRules;
  readonly metrics: MetricSet;
  readonly opened: Opened;
  /** Whether no extension server is called. */
  readonly isIsolated?: boolean | undefined;
}

/**
 * Starts to watch the APIServices and to check whether the extension servers are reachable. Does neither if the
 * server doesn't serve APIServices.
 *
 * @throws {OptionsError} if the client certificate for extension servers can't be used.
 */
export async function followApiServices(
  options: ServerOptions,
  pieces: AggregationPieces,
): Promise<ApiServices> {
  const { vocabulary, clock, log } = options;
  const { engine, opened, metrics, isIsolated = false } = pieces;
  const { store, registry } = engine;
  const failed = rarely(clock, outageLogIntervalMs, (error: unknown) =>
    log.warn({ error: stackOf(error) }, "API services can't be watched or checked; retrying"),
  );
  const certificate = await proxyCertificate(options, opened);
  showExpiration(metrics, vocabulary, "proxy-client", () => certificate()?.cert);
  const connections: RemoteConnections = { clock, resolve: resolverFor(options, pieces), certificate };
  const sources = { ...connections, store, vocabulary, isIsolated, failed };
  const services = opened.add(new ApiServices(sources), (one) => one.close());
  if (!registry.serves(APIService)) return services;
  await services.start();
  const supervision = new Supervision(services, {
    store,
    clock,
    vocabulary,
    failed,
    objects: objectsOf(pieces),
    lost: (name, { reason }) => lostApiService(metrics, name, reason),
    noted: (name, message) => log.warn({ apiService: name }, message),
  });
  opened.add(supervision, (one) => one.close());
  showApiServices(metrics, services);
  return services;
}

function objectsOf({ client }: AggregationPieces): ServiceObjects {
  const named = (kind: string, namespace: string, name: string) => ({
    apiVersion: "v1",
    kind,
    namespace,
    name,
  });
  return {
    service: (namespace, name) => client.find(named("Service", namespace, name)),
    endpoints: (namespace, name) => client.find(named("Endpoints", namespace, name)),
  };
}

/** Returns the function that finds the address of an extension server's Service. */
function resolverFor(
  options: ServerOptions,
  { engine, user, connections }: AggregationPieces,
): ResolveService {
  const { endpointRouting } = options.aggregation;
  const { randomInt } = randomValues(options);
  const resolveByEndpoints = serviceResolver(() => engine, user, connections, randomInt);
  return async (service) => {
    const objects = new Objects(engine, service.namespace, user);
    const { spec } = await objects.service(service.name);
    if (spec?.type === "ExternalName")
      return externalAddress(spec.externalName ?? "", service.port, connections);
    if (!endpointRouting) return resolveByEndpoints(service);
    const { host, port } = await serviceDestination(
      objects,
      `${service.name}:${service.port}`,
      connections,
      randomInt,
    );
    return { host, port };
  };
}

/**
 * Resolves the name of an ExternalName Service; rejects with ServiceUnavailable if connections to its address are not
 * allowed.
 */
function externalAddress(name: string, port: number, { targets }: ConnectionRules): Promise<RemoteAddress> {
  return new Promise((resolve, reject) => {
    guardedLookup(targets)(name, { all: false }, (error, address) => {
      if (error === null) resolve({ host: String(address), port });
      else reject(new StatusError("ServiceUnavailable", `${name} can't be looked up: ${error.message}`));
    });
  });
}

/**
 * Returns a function that gives the current client certificate for extension servers; reads its files again when they
 * change.
 *
 * @throws {OptionsError} if the files can't be used.
 */
async function proxyCertificate(
  { aggregation, clock, log }: ServerOptions,
  opened: Opened,
): Promise<() => ProxyCertificate | undefined> {
  let current = await readCertificate(aggregation);
  if (current === undefined) return () => undefined;
  const files = [aggregation.clientCertFile!, aggregation.clientKeyFile!];
  const changed = async () => {
    current = await readCertificate(aggregation);
    log.info({ files }, "the certificate for extension servers was read again");
  };
  const failed = (error: unknown) =>
    log.error({ error: stackOf(error) }, "the changed certificate can't be used; keeping the previous one");
  const watch = opened.add(new FileWatch(() => files, clock, changed, failed), (one) => one.close());
  await watch.start();
  return () => current;
}

const certificateFlags = ["--proxy-client-cert-file", "--proxy-client-key-file"] as const;

function readCertificate({
  clientCertFile,
  clientKeyFile,
}: AggregationSettings): Promise<ProxyCertificate | undefined> {
  return clientCertificate(certificateFlags, clientCertFile, clientKeyFile);
}
