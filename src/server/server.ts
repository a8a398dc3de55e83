import { randomBytes } from "node:crypto";
import { Later } from "../base/later.ts";
import { bootstrapSigner } from "../controllers/bootstrap/signer.ts";
import type { Controller } from "../controllers/controller.ts";
import type { HttpListener } from "../http/transport/listener.ts";
import type { HttpService } from "../http/service.ts";
import { Client } from "../resources/clients/client.ts";
import { Workspace } from "../kinds/tenancy/workspace.ts";
import type { KnownObjects } from "../kinds/typed-objects.ts";
import type { Registry } from "../resources/registry/registry.ts";
import { StoreUnavailableError } from "../storage/store.ts";
import { followApiServices } from "./apis/aggregation.ts";
import { openAuditTrail } from "./audit/audit.ts";
import { connectionRules } from "./listening/connections.ts";
import { serverAuthentication, type ServerAuthentication } from "./authentication/authenticators.ts";
import { authorizers } from "./authorization/authorizers.ts";
import { withCbor } from "./features/cbor.ts";
import { withConfiguredModes } from "./authorization/configuration.ts";
import { storedIndexes } from "./authorization/stored-indexes.ts";
import { startTracing, type ServerTracing } from "./tracing/tracing.ts";
import { TracedStore } from "../storage/traced-store.ts";
import { writeDefaults } from "./controllers/write-defaults.ts";
import { localUrl, publicUrl, publishClusterInfo } from "./listening/cluster-info.ts";
import type { QueueMetrics } from "../http/metrics/queue-metrics.ts";
import type { MetricSet } from "../http/metrics/metric-set.ts";
import { ownControllers, type BuiltInDependencies } from "../controllers/all.ts";
import { ControllerStates } from "./controllers/controller-states.ts";
import { chosenControllers, startControllers } from "./controllers/controllers.ts";
import type { Lifecycle } from "./health/health-checks.ts";
import { openApiEngine } from "./engine/api-engine.ts";
import { flowParts } from "./listening/flow-parts.ts";
import { checkOptions } from "./options/check-options.ts";
import { createMetrics, showServer } from "./health/metrics.ts";
import { httpService } from "./listening/http-service.ts";
import { startListening } from "./listening/listening.ts";
import { kubeconfig, type ClientCredentials } from "./listening/kubeconfig.ts";
import { ServerTools, type ToolParts } from "./library/server-tools.ts";
import { toolParts } from "./library/tool-parts.ts";
import { administratorEntry, loopbackUser } from "./start/own-users.ts";
import { encryptedStore, type StoreEncryption } from "./encryption/store-encryption.ts";
import { keptStore } from "./start/kept-store.ts";
import { openStore, type OpenStore } from "./start/open-store.ts";
import { startWriting } from "./start/start-writes.ts";
import { storedReleases, storeInRelease } from "./start/store-release.ts";
import { checkUnenforcedPolicies } from "./admission/unenforced-policies.ts";
import type { ServerOptions } from "./options/server-options.ts";
import { optionsOfFork } from "./library/forks.ts";
import { type Inherited, Opened } from "./start/opened.ts";
import { prepareObjects } from "./start/prepared-objects.ts";
import { guardedExtensions, type GuardedExtensions } from "./admission/guarded-extensions.ts";
import { registryFor } from "./apis/registry.ts";
import { serviceAccountKeys } from "./authentication/service-account-tokens.ts";
import { workspacesOf } from "./workspaces/workspaces-of-server.ts";
import { showCertificates } from "./certificates/certificate-expiration.ts";
import { servingCertificates, type Serving } from "./certificates/serving.ts";

/**
 * A running server.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export class Server<Objects = KnownObjects> extends ServerTools<Objects> {
  private closing: Promise<void> | undefined;

  /** @internal Created by {@link startServer}. */
  constructor(private readonly parts: Parts) {
    super(parts.tools);
  }

  /** URL of the server for this machine, for example `https://127.0.0.1:6443`; undefined without a socket. */
  override get url(): string | undefined {
    return localUrl(this.parts.listener);
  }

  /** URL of the server for other machines; undefined without a socket, or if it listens on loopback only. */
  get publicUrl(): string | undefined {
    return publicUrl(this.parts.options, this.parts.listener);
  }

  /** Names and addresses for which the current serving certificate is valid; empty without a socket. */
  get certificateHosts(): readonly string[] {
    return this.parts.serving?.hosts ?? [];
  }

  /** PEM of the CA that clients should trust; undefined with an operator's certificate. */
  override get caCertificate(): string | undefined {
    return this.parts.serving?.caCertificate;
  }

  /** Bearer token of the administrator, valid while the server runs. */
  override get adminToken(): string {
    return this.parts.adminToken;
  }

  /** Returns a kubeconfig for the administrator, with the token of this run. */
  kubeconfig(): string {
    return this.kubeconfigFor({ token: this.adminToken });
  }

  /** Returns a kubeconfig for the administrator with a certificate that stays valid after the server stops. */
  durableKubeconfig(): string {
    const issue = this.parts.serving?.issueAdminCertificate;
    return issue === undefined ? this.kubeconfig() : this.kubeconfigFor(issue());
  }

  /**
   * Returns the address of the console; with `lifeMs` one with a code that signs the administrator in once, within this time. Undefined
   * without a console.
   *
   * @internal
   * @throws {StatusError | StoreError} if the code can't be stored.
   */
  async consoleUrl(lifeMs?: number): Promise<string | undefined> {
    const { options, service } = this.parts;
    const { name, uid, groups } = administratorEntry(options, this.adminToken);
    const path = await service.console?.pagePath(
      lifeMs === undefined ? undefined : { user: { name, uid, groups }, lifeMs },
    );
    return path && `${this.url}${path}`;
  }

  private kubeconfigFor(credentials: ClientCredentials): string {
    if (this.url === undefined) throw new Error("this server has no socket");
    return kubeconfig(this.url, this.caCertificate, credentials, "admin");
  }

  /**
   * Logs and counts an exception outside of any request or connection; for handlers of `uncaughtException` and
   * `unhandledRejection`.
   */
  reportDefect(error: unknown, origin: "uncaughtException" | "unhandledRejection"): void {
    this.parts.service.log.defect(error, { process: origin });
  }

  /**
   * Starts another server with the objects that this one has at present. It has the same options, CA, certificates and keys for service
   * account tokens; its administrator has another token, and a server with a socket listens on another port. Afterwards the two are
   * independent: neither sees the writes of the other, and each is closed by itself.
   *
   * @throws {OptionsError} if the objects aren't stored in memory.
   *
   * @example
   * const copy = await server.fork();
   * await copy.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "only-here" } });
   * await copy.close();
   */
  async fork(): Promise<Server<Objects>> {
    const { options, serving, authentication, queues, tools } = this.parts;
    await queues.idle(maxTurnsUntilIdle);
    const { snapshots } = tools;
    const { signingKeys } = authentication.serviceAccounts;
    const { family } = snapshots;
    const inherited = { ...snapshots.forFork(), family, certificates: serving?.own, signingKeys };
    const server: unknown = await startServer(optionsOfFork(options), inherited);
    return server as Server<Objects>;
  }

  /** Stops the server: it becomes unready at once, refuses new requests after the configured delay, and then closes. */
  close(): Promise<void> {
    return (this.closing ??= stop(this.parts));
  }
}

interface Parts {
  readonly options: ServerOptions;
  readonly life: Lifecycle;
  readonly client: Client;
  readonly serving: Serving | undefined;
  readonly listener: HttpListener | undefined;
  readonly service: HttpService;
  readonly adminToken: string;
  readonly opened: Opened;
  readonly tools: ToolParts;
  readonly authentication: ServerAuthentication;
  readonly queues: QueueMetrics;
}

/**
 * Starts a server; it is ready when the promise resolves.
 *
 * @param inherited the state of the server of which the new one is a fork.
 * @throws {OptionsError} if an option can't be used.
 * @throws {StoreError} if the store can't be opened.
 * @internal
 */
export async function startServer(allOptions: ServerOptions, inherited?: Inherited): Promise<Server> {
  await checkOptions(allOptions);
  const options = await withCbor(await withConfiguredModes(allOptions));
  const life: Lifecycle = { synced: false, published: false, bootstrapped: false, stopping: false };
  const extensions = guardedExtensions(options);
  const chosen = chosenControllers(options, extensions.controllers);
  const registry = await registryFor(options, extensions.kinds);
  const opened = new Opened();
  try {
    // Closed last, because the other closings belong to traced requests.
    const tracing = opened.add(await startTracing(options), (one) => one?.close());
    const openedStore = await openStore(options, extensions.store, inherited);
    opened.add(openedStore.store, (one) => one.close());
    const engineStore = {
      ...openedStore,
      store: await keptStore(options, openedStore.store, registry.serves(Workspace)),
    };
    if (engineStore.store !== openedStore.store) opened.add(engineStore.store, (one) => one.close());
    const metrics = createMetrics(options);
    // Encryption writes to the store.
    const releases = await storedReleases(options, engineStore);
    await checkUnenforcedPolicies(options, registry, engineStore.store, releases);
    const encryption = opened.add(await encryptedStore(options, engineStore, metrics), close);
    const { store: untraced, recording } = await storeInRelease(options, encryption.store, releases);
    opened.add(recording, (one) => one?.close());
    const store = tracing === undefined ? untraced : new TracedStore(untraced, tracing.tracer);
    const storage = { ...engineStore, store, shared: encryption.shared, encryption, tracing };
    const pieces = { registry, metrics, ...storage, chosen, extensions, life, opened, inherited };
    const parts = await assemble(options, pieces);
    const server = new Server(parts);
    const { listener } = parts;
    if (listener !== undefined && chosen.includes(bootstrapSigner)) {
      const publish = async () => {
        if (!life.bootstrapped) throw new StoreUnavailableError("its namespace is not written yet");
        await publishClusterInfo(options, parts.client, listener.port, server.caCertificate);
      };
      opened.add(await startWriting(publish, { ...options, subject: "the cluster info" }), close);
    }
    if (storage.memory !== undefined && !storage.hasDefaults) prepareObjects(storage.memory, options);
    parts.tools.snapshots.started();
    return server;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The parts from which a server is assembled. */
interface Pieces extends OpenStore {
  readonly metrics: MetricSet;
  readonly encryption: StoreEncryption;
  readonly tracing: ServerTracing | undefined;
  readonly registry: Registry;
  readonly chosen: readonly Controller<BuiltInDependencies>[];
  readonly extensions: GuardedExtensions;
  readonly life: Lifecycle;
  /** Registers everything to close on stop. */
  readonly opened: Opened;
  readonly inherited: Inherited | undefined;
}

/**
 * Turns of the event loop for which the start of a server in memory waits for the first work of the controllers, such as the service
 * accounts of the namespaces; it takes about ten.
 */
const maxTurnsUntilIdle = 100;

/** Makes the parts in the order in which they need each other. */
async function assemble(options: ServerOptions, pieces: Pieces): Promise<Parts> {
  const { registry, store, metrics, encryption, tracing, chosen, extensions, life, opened } = pieces;
  const served = new Later<ReturnType<typeof httpService>>("the service");
  let listener: HttpListener | undefined;
  const url = () => publicUrl(options, listener) ?? localUrl(listener);
  // Checked before anything is written or led.
  const audit = opened.add(await openAuditTrail(options, metrics), (one) => one?.close());
  const { policy, namespaces, needs } = storedIndexes(options, registry, store, opened);
  const authorizerParts = { policy, needs, extensions: extensions.authorizers };
  const authorization = opened.add(await authorizers(options, authorizerParts), close);
  const { chain: authorizer } = authorization;
  const connections = await connectionRules(options);
  const adminToken = randomBytes(32).toString("base64url");
  const { serving, authentication } = await servingAndAuthentication(options, pieces, adminToken);
  opened.add(authentication, close);
  showCertificates(metrics, options.vocabulary, { serving, connections });
  const { serviceAccounts } = authentication;
  const ofServer = { serving, authorizer, serviceAccounts, service: served.get, url };
  const workspaces = opened.add(await workspacesOf(options, { ...pieces, ...ofServer }), (one) =>
    one?.close(),
  );
  const user = loopbackUser(options);
  const access = { policy, namespaces, authorizer, connections };
  const { engine, client, startClient, admission, repair } = await openApiEngine(options, {
    ...pieces,
    ...access,
    user,
    tokens: serviceAccounts.issuer,
    hooksBeside: workspaces && ((own) => workspaces.hooksBeside(own)),
  });
  showServer(metrics, options, engine, { authentication, authorization, encryption });
  for (const one of [admission, tracing]) one?.show(metrics);
  const { control, flow, queues } = flowParts(options, { ...pieces, engine, client });
  for (const index of [policy, needs, namespaces]) await index?.start();
  await flow.follow();
  const publishTrust = await writeDefaults(options, pieces, { client, startClient, serving, flow });
  const servers = { engine, client, user, connections, metrics, opened };
  const apiServices = await followApiServices(options, servers);
  const states = new ControllerStates();
  const { quotas } = admission;
  const contents = { workspaceContents: workspaces, issueLegacyToken: serviceAccounts.issueLegacy };
  const working = { engine, user, serving, quotas, authorizer, apiServices, queues, states, ...contents };
  opened.add(await startControllers({ chosen, options, ...working }), close);
  life.synced = true;
  repair?.start();
  const services = { authorizer, policy, needs, authentication, connections, apiServices, workspaces };
  const controllers = states.checks([...ownControllers, ...chosen].map(({ name }) => name));
  const checks = { life, controllers, encryption: encryption.checks };
  const observers = { metrics, audit, tracing: tracing?.requests };
  const { service } = served.set(
    httpService(options, engine, { ...services, ...checks, ...observers, flow: control }),
  );
  const listenerParts = { options, registry, client, serving, service, opened, publishTrust };
  listener = await startListening(listenerParts);
  life.published = true;
  if (pieces.memory !== undefined) await queues.idle(maxTurnsUntilIdle);
  const tools = toolParts({ ...pieces, options, service, user, serving, workspaces, url });
  const running = { service, adminToken, authentication, queues, tools };
  return { options, life, client, serving, listener, opened, ...running };
}

function close(opened: { close(): unknown }): unknown {
  return opened.close();
}

/** Creates the serving certificates and the authentication of requests. */
async function servingAndAuthentication(
  options: ServerOptions,
  { registry, store, shared, extensions, inherited }: Pieces,
  adminToken: string,
): Promise<{ serving: Serving | undefined; authentication: ServerAuthentication }> {
  // In parallel, because new files wait for the disk.
  const [serving, serviceAccounts] = await Promise.all([
    servingCertificates(options, shared, inherited?.certificates),
    serviceAccountKeys(options, shared, inherited?.signingKeys),
  ]);
  const authentication = await serverAuthentication(options, {
    ownTokens: [administratorEntry(options, adminToken)],
    extensions: extensions.authenticators,
    store,
    registry,
    authorities: serving?.authorities,
    serviceAccounts,
  });
  return { serving, authentication };
}

async function stop({ options, life, opened }: Parts): Promise<void> {
  life.stopping = true;
  if (options.shutdownDelayMs > 0) {
    await new Promise<void>((resolve) => options.clock.setTimer(resolve, options.shutdownDelayMs));
  }
  await opened.close();
}
