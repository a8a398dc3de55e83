import type { QuotaIndex } from "../../admission/plugins/resource-quota/quota-index.ts";
import type { ApiServices } from "../../aggregation/api-services.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import { builtInControllers, ownControllers, type BuiltInDependencies } from "../../controllers/all.ts";
import type { Controller, RunningController } from "../../controllers/controller.ts";
import { resourceQuotaCharges, resourceQuotas } from "../../controllers/resource-quotas.ts";
import { enabledControllers, UnknownControllerError } from "../../controllers/enabled.ts";
import type { IssueLegacyToken } from "../../controllers/service-account-tokens.ts";
import { fencedStore } from "../../controllers/fenced-store.ts";
import type { QueueMetrics } from "../../http/metrics/queue-metrics.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { Client } from "../../resources/clients/client.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { policyPrograms } from "../webhooks/policy-programs.ts";
import { signingAuthorities } from "../certificates/cluster-signing.ts";
import type { ControllerStates } from "./controller-states.ts";
import { electLeader, isElected } from "./leadership.ts";
import { Opened } from "../start/opened.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { runControllers } from "./running-controllers.ts";
import type { Serving } from "../certificates/serving.ts";

/**
 * Returns the controllers that the options enable. If the quota controller is off, the server that charges a quota
 * writes its status.
 *
 * @throws {OptionsError} if the options name an unknown controller.
 */
export function chosenControllers(
  { enabledControllers: names = ["*"] }: ServerOptions,
  extensions: readonly Controller[],
): readonly Controller<BuiltInDependencies>[] {
  try {
    const chosen = enabledControllers<BuiltInDependencies>(names, [...builtInControllers, ...extensions]);
    return chosen.includes(resourceQuotas) ? chosen : [...chosen, resourceQuotaCharges];
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
  const { quotas, authorizer, apiServices, issueLegacyToken, queues } = rest;
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
    queueObserver: (controller) => queues.observer(controller),
    rootCertificate: () => serving?.caCertificate,
    signing: await signingAuthorities(clusterSigning, () => serving?.signingAuthority),
  };
}
