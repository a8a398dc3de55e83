import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { AdmissionChain, type AdmissionPlugin } from "../admission/chain.ts";
import { namespaceLifecycle } from "../admission/plugins/namespace-lifecycle.ts";
import type { UserInfo } from "../base/user-info.ts";
import { authorizationChain, type AuthorizerChain } from "../authorization/chain.ts";
import { builtInControllers } from "../controllers/all.ts";
import type { Controller, RunningController } from "../controllers/controller.ts";
import { addDiscoveryPaths } from "../http/discovery.ts";
import { addHealthPaths } from "../http/health.ts";
import { addOpenApiPaths } from "../http/openapi/openapi-paths.ts";
import { listen, type HttpListener } from "../http/listener.ts";
import { handle } from "../http/pipeline.ts";
import { PathTable, type HttpService } from "../http/service.ts";
import { builtInKinds } from "../kinds/all.ts";
import { SelfSubjectReview } from "../kinds/authentication/self-subject-review.ts";
import { Namespace } from "../kinds/core/namespace.ts";
import { Client } from "../resources/client.ts";
import type { Engine } from "../resources/engine.ts";
import { Informer } from "../resources/informer.ts";
import { Registry, type Resource } from "../resources/registry.ts";
import { RuntimeConfig, RuntimeConfigError } from "../resources/runtime-config.ts";
import { groupName } from "../schema/kind.ts";
import type { Store } from "../storage/store.ts";
import { authenticators } from "./authenticators.ts";
import { ensureSystemNamespaces, reconcileDefaultPolicy } from "./bootstrap.ts";
import { escalationCheck } from "./escalation-check.ts";
import { healthChecks, type Lifecycle } from "./health-checks.ts";
import { kubeconfig, type ClientCredentials } from "./kubeconfig.ts";
import { openStore } from "./open-store.ts";
import { OptionsError, type ServerOptions } from "./options.ts";
import { StoredRbac } from "./rbac.ts";
import { reviewHandlers } from "./reviews.ts";
import { servingCertificates, type Serving } from "./serving.ts";

/** How long requests under way may go on after the server was told to stop. */
const drainMs = 5000;

/** A server that runs. */
export class Server {
  private closing: Promise<void> | undefined;

  /** @internal Made by {@link startServer}. */
  constructor(private readonly parts: Parts) {}

  /** Where it is reached, for example `https://127.0.0.1:6443`; undefined without a socket. */
  get url(): string | undefined {
    const { listener } = this.parts;
    if (listener === undefined) return undefined;
    const host = listener.host.includes(":") ? `[${listener.host}]` : listener.host;
    return `https://${host}:${listener.port}`;
  }

  /** The API without a socket, as the administrator. */
  get client(): Client {
    return this.parts.client;
  }

  /** PEM of the authority that clients are to trust; undefined with an operator's own certificate. */
  get caCertificate(): string | undefined {
    return this.parts.serving?.caCertificate;
  }

  /** A bearer token of the administrator, good while the server runs. */
  get adminToken(): string {
    return this.parts.adminToken;
  }

  /** The text of a client configuration for the administrator. */
  kubeconfig(): string {
    return this.kubeconfigFor({ token: this.adminToken });
  }

  /** The text of a client configuration for the administrator with a certificate that outlives the server's run. */
  durableKubeconfig(): string {
    const issue = this.parts.serving?.issueAdminCertificate;
    return issue === undefined ? this.kubeconfig() : this.kubeconfigFor(issue());
  }

  private kubeconfigFor(credentials: ClientCredentials): string {
    if (this.url === undefined) throw new Error("this server has no socket");
    return kubeconfig(this.url, this.caCertificate, credentials, "admin");
  }

  /** Stops: not ready at once, then (after the delay that was configured) no new requests, then nothing. */
  close(): Promise<void> {
    return (this.closing ??= stop(this.parts));
  }
}

interface Parts {
  readonly options: ServerOptions;
  readonly life: Lifecycle;
  readonly store: Store;
  readonly policy: StoredRbac;
  readonly client: Client;
  readonly informers: Map<Resource, Informer>;
  readonly controllers: readonly RunningController[];
  readonly serving: Serving | undefined;
  readonly listener: HttpListener | undefined;
  readonly service: HttpService;
  readonly adminToken: string;
}

/**
 * Puts a server together and starts it. It is ready when the promise resolves.
 *
 * @throws {OptionsError} an option can't be used.
 * @throws {StoreError} the store can't be opened.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const registry = registryFor(options);
  const store = await openStore(options);
  try {
    return new Server(await assemble(options, registry, store));
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function assemble(options: ServerOptions, registry: Registry, store: Store): Promise<Parts> {
  const { vocabulary, clock, log } = options;
  const life: Lifecycle = { synced: false, bootstrapped: false, stopping: false };
  const policy = new StoredRbac(store, vocabulary, (error) => log.error({ error }, "following roles failed"));
  const authorizer = authorizationChain(options.authorizationModes, policy, vocabulary);
  const engine: Engine = {
    store,
    registry,
    vocabulary,
    clock,
    randomInt: (below) => randomInt(below),
    newUid: randomUUID,
    admit: new AdmissionChain(admissionPlugins(options, registry, store, policy, authorizer)),
  };
  const client = new Client(engine, loopbackUser(options));
  const serving = await servingCertificates(options);
  const adminToken = randomBytes(32).toString("base64url");
  await policy.start();
  life.synced = true;
  await ensureSystemNamespaces(client, vocabulary);
  await reconcileDefaultPolicy(client, vocabulary, {
    selfSubjectReviews: registry.serves(SelfSubjectReview),
  });
  life.bootstrapped = true;
  const informers = new Map<Resource, Informer>();
  const controllers = await startControllers(builtInControllers, {
    options,
    registry,
    store,
    client,
    informers,
  });
  const service = httpService(options, engine, {
    authorizer,
    life,
    authenticator: await authenticators(options, [adminEntry(options, adminToken)]),
  });
  const listener =
    serving === undefined ? undefined : await listen(serving.listen, (exchange) => handle(service, exchange));
  return {
    options,
    life,
    store,
    policy,
    client,
    informers,
    controllers,
    serving,
    listener,
    service,
    adminToken,
  };
}

function registryFor({ vocabulary, runtimeConfig }: ServerOptions): Registry {
  const known = new Map<string, Set<string>>();
  for (const kind of builtInKinds) {
    const group = groupName(kind.group, vocabulary);
    const version = group === "" ? kind.version : `${group}/${kind.version}`;
    known.set(version, (known.get(version) ?? new Set()).add(kind.resource));
  }
  try {
    const config = RuntimeConfig.parse(runtimeConfig, known);
    return new Registry(builtInKinds, vocabulary, (group, kind) => config.serves(group, kind));
  } catch (error) {
    if (error instanceof RuntimeConfigError) throw new OptionsError(`--runtime-config: ${error.message}`);
    throw error;
  }
}

/** The server itself, for what it does without being asked. */
function loopbackUser({ vocabulary: { systemPrefix } }: ServerOptions): UserInfo {
  return { name: `${systemPrefix}apiserver`, uid: "", groups: [`${systemPrefix}masters`], extra: {} };
}

function adminEntry({ vocabulary: { systemPrefix } }: ServerOptions, token: string) {
  return { token, name: "admin", uid: "", groups: [`${systemPrefix}masters`] };
}

function admissionPlugins(
  options: ServerOptions,
  registry: Registry,
  store: Store,
  policy: StoredRbac,
  authorizer: AuthorizerChain,
): AdmissionPlugin[] {
  const { vocabulary, enabledAdmissionPlugins, disabledAdmissionPlugins } = options;
  const plugins = [namespaceLifecycle(store, registry.require(Namespace), vocabulary)];
  for (const name of [...enabledAdmissionPlugins, ...disabledAdmissionPlugins]) {
    if (!plugins.some((plugin) => plugin.name === name)) {
      throw new OptionsError(`there is no admission plugin ${JSON.stringify(name)}`);
    }
  }
  const enabled = plugins.filter((plugin) => !disabledAdmissionPlugins.includes(plugin.name));
  return [...enabled, escalationCheck(policy, authorizer, vocabulary)];
}

interface ControllerSetup {
  readonly options: ServerOptions;
  readonly registry: Registry;
  readonly store: Store;
  readonly client: Client;
  readonly informers: Map<Resource, Informer>;
}

async function startControllers(
  controllers: readonly Controller[],
  { options, registry, store, client, informers }: ControllerSetup,
): Promise<RunningController[]> {
  const { clock, log } = options;
  const started: Promise<void>[] = [];
  const informer = (resource: Resource) => {
    let found = informers.get(resource);
    if (found === undefined) {
      found = new Informer(store, resource, (error) =>
        log.error({ error, resource: resource.name }, "following failed"),
      );
      informers.set(resource, found);
      started.push(found.start());
    }
    return found;
  };
  const failed = (controller: string, key: string, error: unknown) => {
    log.warn({ controller, key, error: String(error) }, "a controller's work failed and will be tried again");
  };
  const running = controllers.map((one) => one.start({ client, registry, clock, informer, failed }));
  await Promise.all(started);
  return running;
}

function httpService(
  options: ServerOptions,
  engine: Engine,
  parts: Pick<HttpService, "authenticator"> & { authorizer: AuthorizerChain; life: Lifecycle },
): HttpService {
  const { clock, log } = options;
  const paths = new PathTable();
  const health = healthChecks(engine.store, parts.life, clock, options.livezGracePeriodMs);
  addDiscoveryPaths(paths, engine.registry);
  addOpenApiPaths(paths, engine.registry);
  addHealthPaths(paths, health);
  return {
    engine,
    clock,
    authenticator: parts.authenticator,
    authorizer: parts.authorizer,
    reviews: reviewHandlers(parts.authorizer, parts.authorizer),
    paths,
    features: { watchList: options.watchList },
    streams: new Set(),
    log: {
      defect: (error, request) =>
        log.error({ ...request, error: stackOf(error) }, "a defect: please report it"),
      cutOff: (reason, request) => log.warn(request, reason),
    },
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function stop(parts: Parts): Promise<void> {
  const { options, life, store, policy, informers, controllers, listener, service } = parts;
  life.stopping = true;
  if (options.shutdownDelayMs > 0) {
    await new Promise<void>((resolve) => options.clock.setTimer(resolve, options.shutdownDelayMs));
  }
  const stopped = listener?.close(drainMs);
  for (const stream of service.streams) stream.close();
  await stopped;
  await Promise.all(controllers.map((controller) => controller.close()));
  for (const informer of informers.values()) informer.close();
  policy.close();
  await store.close();
}
