import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import type { NamedAuthorizer } from "../../authorization/guarded-authorizer.ts";
import type { BuiltInDependencies } from "../../controllers/all.ts";
import type { Controller, RunningController } from "../../controllers/controller.ts";
import { FlowConfiguration } from "../../controllers/flow/flow-configuration.ts";
import { QueueMetrics } from "../../http/metrics/queue-metrics.ts";
import type { HttpService } from "../../http/service.ts";
import { OpenStreams } from "../../http/transport/open-streams.ts";
import { Client } from "../../resources/clients/client.ts";
import type { WorkspaceBase } from "../../kinds/tenancy/workspace.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { PageCache } from "../../resources/pages/page-cache.ts";
import type { PageCacheMemory } from "../../resources/pages/page-cache-memory.ts";
import { noSelectorIndex } from "../../resources/selector-index/no-selector-index.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { GuardedExtensions } from "../admission/guarded-extensions.ts";
import { followApiServices } from "../apis/aggregation.ts";
import { serverAuthentication } from "../authentication/authenticators.ts";
import type { ServiceAccountKeys } from "../authentication/service-account-tokens.ts";
import { authorizers } from "../authorization/authorizers.ts";
import { storedIndexes } from "../authorization/stored-indexes.ts";
import { startControllers } from "../controllers/controllers.ts";
import { ControllerStates } from "../controllers/controller-states.ts";
import { ensureDefaultObjects } from "../controllers/default-objects.ts";
import { openApiEngine } from "../engine/api-engine.ts";
import { createMetrics } from "../health/metrics.ts";
import type { Lifecycle } from "../health/health-checks.ts";
import { objectServices, type ObjectServiceParts, type ServedContent } from "../listening/http-service.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { loopbackUser } from "../start/own-users.ts";
import { Opened } from "../start/opened.ts";
import type { Serving } from "../certificates/serving.ts";

/** What all workspaces of a server share. */
export interface SharedParts {
  /** Those of {@link workspaceOptions}. */
  readonly options: ServerOptions;
  /** The built-in resource types of workspaces. */
  readonly registry: Registry;
  /** Memory of their cached pages. */
  readonly pages: PageCacheMemory;
  readonly extensions: GuardedExtensions;
  readonly chosen: readonly Controller<BuiltInDependencies>[];
  readonly serving: Serving | undefined;
  /** The service of the server, whose limits, budgets and observers are those of its workspaces. */
  readonly served: () => ServedContent;
}

/** What a workspace differs in. */
export interface WorkspaceParts {
  /** Name of the workspace; empty for the default objects. */
  readonly name: string;
  readonly store: Store;
  /** The states over which the store is. */
  readonly bases: readonly WorkspaceBase[];
  /** Authorizers that are asked before those of the options. */
  readonly authorizers: readonly NamedAuthorizer[];
  readonly serviceAccounts: ServiceAccountKeys;
  /** Whether what happens in it has no effects elsewhere; see the field `isolated` of its kind. */
  readonly isIsolated: boolean;
}

/** The parts of a {@link WorkspaceServer}. */
interface OpenParts {
  readonly name: string;
  readonly bases: readonly WorkspaceBase[];
  readonly service: HttpService;
  readonly client: Client;
  readonly authorizer: AuthorizerChain;
  readonly queues: QueueMetrics;
  readonly startControllers: () => Promise<RunningController>;
  readonly ensureDefaults: () => Promise<void>;
  readonly opened: Opened;
}

/** A workspace that is in use: the engine over its objects, and everything that depends on them. */
export class WorkspaceServer {
  private controllers: Promise<RunningController> | undefined;
  private closed = false;

  constructor(private readonly parts: OpenParts) {}

  get name(): string {
    return this.parts.name;
  }

  /** Serves its requests. */
  get service(): HttpService {
    return this.parts.service;
  }

  /** Whether it shows a workspace with these bases. */
  isOver(bases: readonly WorkspaceBase[]): boolean {
    return this.parts.bases === bases || JSON.stringify(this.parts.bases) === JSON.stringify(bases);
  }

  /** Client whose requests aren't authorized. */
  get client(): Client {
    return this.parts.client;
  }

  get authorizer(): AuthorizerChain {
    return this.parts.authorizer;
  }

  /** Whether it has work: open streams, or keys in the queues of its controllers. */
  get isBusy(): boolean {
    return this.service.streams.size > 0 || this.parts.queues.hasWork;
  }

  /** Whether its controllers run in this process. */
  get leads(): boolean {
    return this.controllers !== undefined;
  }

  /** Resolves to whether its controllers have received every write and have no work; also if they run elsewhere. */
  async areControllersIdle(): Promise<boolean> {
    await (await this.controllers)?.synced?.();
    return !this.parts.queues.hasWork;
  }

  /** Starts the controllers, unless they run or the workspace is closed. */
  async lead(): Promise<void> {
    if (this.closed) return;
    const starting = (this.controllers ??= this.parts.startControllers());
    try {
      await starting;
    } catch (error) {
      // The next write tries again.
      if (this.controllers === starting) this.controllers = undefined;
      throw error;
    }
  }

  /** Ends the controllers. */
  async follow(): Promise<void> {
    const { controllers } = this;
    this.controllers = undefined;
    await controllers?.then(
      (running) => running.close(),
      // Who started them reports the failure.
      () => undefined,
    );
  }

  /** Writes the default objects, and waits until the controllers have reacted to them. */
  async writeDefaults(): Promise<void> {
    await this.parts.ensureDefaults();
    await this.parts.queues.idle(Number.POSITIVE_INFINITY);
  }

  /** Ends its streams and controllers, and releases its memory. */
  async close(): Promise<void> {
    this.closed = true;
    this.service.streams.drain();
    await this.follow();
    await this.parts.opened.close();
  }
}

/**
 * Opens the server of a workspace.
 *
 * @throws {StoreError} the store can't be read.
 */
export async function openWorkspace(shared: SharedParts, parts: WorkspaceParts): Promise<WorkspaceServer> {
  const opened = new Opened();
  try {
    return new WorkspaceServer(await partsOf(shared, parts, opened));
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** A workspace is open when the server is ready. */
const ready: Lifecycle = { synced: true, published: true, bootstrapped: true, stopping: false };

async function partsOf(shared: SharedParts, parts: WorkspaceParts, opened: Opened): Promise<OpenParts> {
  const { options, extensions, serving } = shared;
  const { name, store, bases, serviceAccounts, isIsolated } = parts;
  opened.add(store, close);
  const registry = shared.registry.withoutCustom();
  const metrics = createMetrics(options);
  const { policy, namespaces } = storedIndexes(options, registry, store, opened);
  const named = { policy, needs: undefined, extensions: parts.authorizers };
  const { chain: authorizer } = opened.add(await authorizers(options, named), close);
  const { connections } = shared.served().service;
  const user = loopbackUser(options);
  const methods = { ownTokens: [], extensions: [], authorities: undefined, serviceAccounts };
  const authentication = await serverAuthentication(options, { ...methods, store, registry });
  opened.add(authentication, close);
  const access = { policy, namespaces, authorizer, connections };
  const own = { user, tracing: undefined, configuresWebhooks: false, isIsolated, life: ready };
  const pieces = { registry, store, extensions, opened };
  const { engine, client, startClient, admission, repair } = await openApiEngine(options, {
    ...pieces,
    ...access,
    ...own,
    tokens: serviceAccounts.issuer,
    pages: new PageCache(store, shared.pages),
    selectors: noSelectorIndex,
  });
  for (const index of [policy, namespaces]) await index.start();
  const servers = { engine, client, user, connections, metrics, opened, isIsolated };
  const apiServices = await followApiServices(options, servers);
  repair?.start();
  const service = workspaceService(shared, engine, { ...authentication, authorizer, apiServices, policy });
  const queues = new QueueMetrics(metrics, options.clock);
  const { quotas } = admission;
  const { issueLegacy: issueLegacyToken } = serviceAccounts;
  const { chosen } = shared;
  const working = { chosen, options, engine, user, serving, quotas, authorizer, apiServices };
  const startAll = () =>
    startControllers({ ...working, issueLegacyToken, queues, states: new ControllerStates() });
  const ensureDefaults = () => writeDefaults(options, registry, store, startClient);
  return {
    name,
    bases,
    service,
    client,
    authorizer,
    queues,
    opened,
    startControllers: startAll,
    ensureDefaults,
  };
}

async function writeDefaults(
  options: ServerOptions,
  registry: Registry,
  store: Store,
  client: Client,
): Promise<void> {
  const flow = new FlowConfiguration({ ...options, registry, store, client, control: undefined });
  const writers = { flow, publishTrust: () => Promise.resolve(), hasDefaults: false };
  await ensureDefaultObjects(options, registry, client, writers);
  await flow.close();
}

function close(opened: { close(): unknown }): unknown {
  return opened.close();
}

/** The service of a workspace is that of the server, except for what depends on the objects. */
function workspaceService(
  { options, served }: SharedParts,
  engine: Engine,
  parts: Pick<ObjectServiceParts, "authenticator" | "authorizer" | "apiServices" | "policy"> & {
    readonly serviceAccounts: ServiceAccountKeys;
  },
): HttpService {
  const { ownAudiences } = parts.serviceAccounts;
  const { service: server, documents } = served();
  const service: HttpService = {
    ...server,
    ...objectServices(options, engine, {
      ...parts,
      ...documents,
      needs: undefined,
      ownAudiences,
      service: () => service,
    }),
    streams: new OpenStreams(),
    console: undefined,
    workspaces: undefined,
  };
  return service;
}
