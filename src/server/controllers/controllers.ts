import type { QuotaIndex } from "../../admission/plugins/resource-quota/quota-index.ts";
import type { ApiServices } from "../../aggregation/api-services.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { builtInControllers, ownControllers, type BuiltInDependencies } from "../../controllers/all.ts";
import type { Controller, RunningController, ControllerContext } from "../../controllers/controller.ts";
import { resourceQuotaCharges, resourceQuotas } from "../../controllers/resource-quotas.ts";
import { enabledControllers, UnknownControllerError } from "../../controllers/enabled.ts";
import type { WorkspaceContents } from "../../controllers/workspaces.ts";
import type { IssueLegacyToken } from "../../controllers/service-account-tokens.ts";
import { workloadHints } from "../../controllers/workload-hints/workload-hints.ts";
import { fencedStore } from "../../controllers/fenced-store.ts";
import type { QueueMetrics } from "../../http/metrics/queue-metrics.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { Client } from "../../resources/clients/client.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { policyPrograms } from "../webhooks/admission-parts.ts";
import { signingAuthorities } from "../certificates/cluster-signing.ts";
import type { ControllerStates } from "./controller-states.ts";
import { Opened } from "../start/opened.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Serving } from "../certificates/serving.ts";
import { ExtensionError } from "../../base/extension.ts";
import { stackOf } from "../../base/logger.ts";
import { Informer } from "../../resources/followers/informer.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { EventRecorder } from "../../controllers/event-recorder.ts";
import { controllersLease, LeaderElection } from "../../controllers/leader-election.ts";
import { isStore } from "../../storage/guarded-store.ts";

/**
 * Returns the controllers that the options enable. If the quota controller is off, the server that charges a quota
 * writes its status.
 *
 * @throws {OptionsError} if the options name an unknown controller.
 */
export function chosenControllers(
  { enabledControllers: names = ["*"], workloadHints: givesHints }: ServerOptions,
  extensions: readonly Controller[],
): readonly Controller<BuiltInDependencies>[] {
  try {
    const chosen = enabledControllers<BuiltInDependencies>(names, [...builtInControllers, ...extensions]);
    return [
      ...chosen,
      ...(chosen.includes(resourceQuotas) ? [] : [resourceQuotaCharges]),
      // Without `*` the server is one for other controllers, which the user knows.
      ...(givesHints && names.includes("*") ? [workloadHints] : []),
    ];
  } catch (error) {
    if (error instanceof UnknownControllerError) throw new OptionsError(`--controllers: ${error.message}`);
    throw error;
  }
}

interface ControllerSetup {
  readonly chosen: readonly Controller<BuiltInDependencies>[];
  readonly options: ServerOptions;
  readonly engine: Engine;
  /** The identity with which controllers write. */
  readonly user: UserInfo;
  /** Undefined if the server has no socket. */
  readonly serving: Serving | undefined;
  readonly quotas: QuotaIndex;
  readonly authorizer: Authorizer;
  readonly apiServices: ApiServices;
  readonly issueLegacyToken: IssueLegacyToken;
  readonly workspaceContents?: WorkspaceContents | undefined;
  readonly queues: QueueMetrics;
  /** Receives the states of the controllers. */
  readonly states: ControllerStates;
}

/**
 * Starts the enabled controllers. Controllers that must run once per store run on the leader. When the promise
 * resolves they have started, unless another server is the leader.
 *
 * @throws {OptionsError} if a signing CA can't be used, or a controller of the embedding program can't be started.
 */
export async function startControllers(setup: ControllerSetup): Promise<RunningController> {
  const controllers = await startEnabled(setup);
  return {
    synced: async () => controllers.synced?.(),
    async close() {
      const closed = controllers.close();
      // Controllers wait for the calls that they have begun.
      await setup.apiServices.endCalls();
      await closed;
    },
  };
}

async function startEnabled(setup: ControllerSetup): Promise<RunningController> {
  const { chosen, options, engine, user, states } = setup;
  const parts = await partsOf(setup);
  const all = [...ownControllers, ...chosen];
  if (!isElected(options)) return runControllers(all, parts, options, states);
  const everywhere = all.filter(({ onEveryServer = false }) => onEveryServer);
  const led = all.filter(({ onEveryServer = false }) => !onEveryServer);
  const opened = new Opened();
  const close = (one: RunningController) => one.close();
  try {
    opened.add(await runControllers(everywhere, parts, options, states), close);
    const lead = (holds: () => boolean) => {
      const store = fencedStore(engine.store, holds);
      const client = new Client({ ...engine, store }, user);
      return runControllers(led, { ...parts, store, client }, options, states);
    };
    const otherLeads = () => led.forEach(({ name }) => states.ended(name));
    if (led.length > 0) opened.add(await electLeader(options, parts.client, lead, otherLeads), close);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

async function partsOf({
  options,
  engine,
  user,
  serving,
  ...rest
}: ControllerSetup): Promise<Omit<BuiltInDependencies, "informer" | "failed">> {
  const { clock, log, eventLifeMs, clusterSigning } = options;
  const { registry, store } = engine;
  const { quotas, authorizer, apiServices, issueLegacyToken, workspaceContents, queues } = rest;
  return {
    client: new Client(engine, user),
    registry,
    store,
    clock,
    log,
    eventLifeMs,
    quotas,
    policyPrograms: policyPrograms(options),
    vocabulary: options.vocabulary,
    featureEnabled: engine.featureEnabled,
    authorizer,
    apiServices,
    issueLegacyToken,
    workspaceContents,
    queueObserver: (controller) => queues.observer(controller),
    rootCertificate: () => serving?.caCertificate,
    signing: await signingAuthorities(clusterSigning, () => serving?.signingAuthority),
  };
}

/** The members of the context that {@link runControllers} adds to the dependencies. */
type Added = Pick<ControllerContext, "informer" | "failed">;

/** The smallest dependencies with which controllers are started. */
type Parts = Omit<ControllerContext, keyof Added>;

/**
 * Starts controllers. When the promise resolves, their informers have loaded all stored objects.
 *
 * @param parts the dependencies of all these controllers, without informers and the report of failures.
 * @throws {OptionsError} a controller of the embedding program can't be started.
 */
export async function runControllers<P extends Parts>(
  controllers: readonly Controller<P & Added>[],
  parts: P,
  { log }: Pick<ServerOptions, "log">,
  states?: ControllerStates,
): Promise<RunningController> {
  const { store, clock } = parts;
  const informers = new Map<Resource, Informer>();
  const started: Promise<void>[] = [];
  const informer = (resource: Resource) => {
    let found = informers.get(resource);
    if (found === undefined) {
      found = new Informer(store, resource, clock, (error) =>
        log.error({ error: stackOf(error), resource: resource.name }, "following failed"),
      );
      informers.set(resource, found);
      started.push(found.start());
    }
    return found;
  };
  const failed = (controller: string, key: string, error: unknown) => {
    log.warn({ controller, key, error: String(error) }, "a controller's work failed and will be tried again");
  };
  const running: RunningController[] = [];
  const fails = new Map<string, () => boolean>();
  const close = async () => {
    for (const { name } of controllers) states?.ended(name);
    await Promise.all(running.map((one) => one.close()));
    for (const one of informers.values()) one.close();
  };
  try {
    for (const one of controllers) {
      states?.begins(one.name);
      const used = new Set<Informer>();
      const own = (resource: Resource) => {
        const found = informer(resource);
        used.add(found);
        return found;
      };
      const begun = one.start({ ...parts, failed, informer: own });
      running.push(begun);
      fails.set(one.name, () => begun.failing?.() === true || [...used].some(({ failing }) => failing));
    }
    await Promise.all(started);
    for (const [name, failing] of fails) states?.runs(name, failing);
    const synced = async () => {
      await Promise.all([...informers.values()].map((one) => one.sync()));
      await Promise.all(running.map((one) => one.synced?.()));
    };
    return { close, synced };
  } catch (error) {
    await close();
    for (const { name } of controllers) states?.begins(name);
    if (error instanceof ExtensionError)
      throw new OptionsError(`controllers: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Whether other servers may share the store, so that a leader must be elected for the controllers. */
function isElected({ storage, leaderElection = true }: ServerOptions): boolean {
  return leaderElection && (isStore(storage) || storage.engine !== "memory");
}

/**
 * Takes part in the election of the server that runs the controllers. A server without others starts at once.
 *
 * @param lead starts the controllers; they may write only while `holds` returns true.
 * @param otherLeads called when another server is the leader.
 * @throws what `lead` throws if this server starts at once.
 */
async function electLeader(
  { vocabulary, clock, log }: ServerOptions,
  client: Client,
  lead: (holds: () => boolean) => Promise<RunningController>,
  otherLeads: () => void,
): Promise<RunningController> {
  const pidNamespace = pidNamespaceId();
  const identity = `${hostname()}_${pidNamespace}_${process.pid}_${randomUUID()}`;
  const lease = controllersLease(vocabulary);
  const events = new EventRecorder(client, clock, vocabulary.components.apiServer, (error) =>
    log.warn({ error: stackOf(error) }, "an event about the lease of the controllers could not be written"),
  );
  const election = new LeaderElection(client, vocabulary, clock, {
    identity,
    hasEnded: (holder) => hasEnded(holder, pidNamespace),
    lead,
    otherLeads,
    failed: (error) =>
      log.warn(
        { error: stackOf(error) },
        "the lease of the controllers can't be acquired or renewed; retrying",
      ),
    changed(leads) {
      log.info(
        { identity },
        leads
          ? "controllers started; this process is the leader"
          : "controllers stopped; this process is not the leader",
      );
      const what = leads ? "became leader" : "stopped leading";
      events.record(lease, "Normal", "LeaderElection", `${identity} ${what}`);
    },
  });
  await election.start();
  return {
    async close() {
      await election.close();
      await events.close();
    },
  };
}

/** Returns an identifier of the PID namespace: equal for processes of one machine that see the same process ids. */
function pidNamespaceId(): string {
  const read = (what: () => string): string => {
    try {
      return what();
    } catch {
      // Only Linux has these files; elsewhere the host name is used alone.
      return "";
    }
  };
  const boot = read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const namespace = read(() => readlinkSync("/proc/self/ns/pid"));
  return createHash("sha256").update(`${hostname()} ${boot} ${namespace}`).digest("hex").slice(0, 16);
}

/** Whether the lease holder was a process of this machine that has ended. */
function hasEnded(identity: string, pidNamespace: string): boolean {
  const [holderPidNamespace, pid = ""] = identity.split("_").slice(-3);
  if (holderPidNamespace !== pidNamespace || !/^\d+$/.test(pid)) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
