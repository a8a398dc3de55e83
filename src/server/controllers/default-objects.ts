import { Timestamps } from "../../base/time/timestamps.ts";
import { stackOf } from "../../base/logger.ts";
import {
  ensureDefaultCpuRequest,
  ensurePriorityClasses,
  ensureSystemNamespaces,
  reconcileDefaultPolicy,
} from "../../controllers/bootstrap/default-objects.ts";
import { ensureDefaultServiceCIDR } from "../../controllers/bootstrap/default-service-cidr.ts";
import { publishClusterTrust } from "../../controllers/cluster-authentication-trust.ts";
import type { FlowConfiguration } from "../../controllers/flow/flow-configuration.ts";
import {
  SelfSubjectReview,
  SelfSubjectReviewV1,
  SelfSubjectReviewV1beta1,
} from "../../kinds/authentication/self-subject-review.ts";
import { networking } from "../../kinds/groups.ts";
import { LimitRange } from "../../kinds/core/limit-range.ts";
import { PriorityClass } from "../../kinds/scheduling/priority-class.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { clusterTrust } from "../authentication/authenticating-proxy.ts";
import { changeDeclarations } from "../authorization/role-options.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Serving } from "../certificates/serving.ts";
import { isStoreBusy } from "../start/start-writes.ts";

/** Dependencies of the default objects, besides the client. */
interface Writers {
  readonly flow: FlowConfiguration;
  /** Publishes the authorities of clients. */
  readonly publishTrust: () => Promise<void>;
  /** Whether the store has the other default objects already, from another server of the process. */
  readonly hasDefaults: boolean;
}

/** The resource type of ServiceCIDR, without its module, which the reference release doesn't load. */
const serviceRanges = { group: networking, version: "v1", resource: "servicecidrs" };

/**
 * Creates or updates the default objects of this release; may be called again after a failure. All writes start at
 * once, so the store can sync them together; only objects in a namespace wait for the namespace.
 *
 * @throws after all writes have ended: the first failure that has another cause than a busy store, otherwise the first
 * failure.
 */
export async function ensureDefaultObjects(
  options: ServerOptions,
  registry: Registry,
  client: Client,
  { flow, publishTrust, hasDefaults }: Writers,
): Promise<void> {
  const { vocabulary } = options;
  const range = registry.serves(serviceRanges) ? defaultRange(options, client) : undefined;
  if (hasDefaults) {
    await Promise.all([flow.ensureDefaults(client, true), range]);
    return publishTrust().catch(logTrustFailure(options));
  }
  const hasLimits = vocabulary.behavior.defaultCpuRequest && registry.serves(LimitRange);
  const limits = hasLimits ? ensureDefaultCpuRequest(client) : Promise.resolve();
  const namespaces = ensureSystemNamespaces(client, vocabulary, limits);
  const selfSubjectReviews = [SelfSubjectReview, SelfSubjectReviewV1beta1, SelfSubjectReviewV1].some((kind) =>
    registry.serves(kind),
  );
  const results = await Promise.allSettled([
    changeDeclarations(options).then((change) =>
      reconcileDefaultPolicy(client, vocabulary, { selfSubjectReviews, namespaces, change }),
    ),
    registry.serves(PriorityClass) ? ensurePriorityClasses(client, vocabulary) : undefined,
    namespaces.then(() => publishTrust().catch(unlessBusy(logTrustFailure(options)))),
    flow.ensureDefaults(client),
    range,
  ]);
  const failures = results.flatMap((result) =>
    result.status === "rejected" ? [result.reason as unknown] : [],
  );
  if (failures.length > 0) throw failures.find((one) => !isStoreBusy(one)) ?? failures[0];
}

function defaultRange(
  { vocabulary, serviceClusterIpRanges, clock }: ServerOptions,
  client: Client,
): Promise<void> {
  return ensureDefaultServiceCIDR(client, vocabulary, serviceClusterIpRanges, () =>
    new Timestamps(clock).now(),
  );
}

/** Returns a handler that rethrows errors of a busy store ({@link isStoreBusy}) and passes others to `handle`. */
function unlessBusy(handle: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    if (isStoreBusy(error)) throw error;
    handle(error);
  };
}

/** Publishes the CA certificates for client certificates; does nothing if the server has no socket. */
export async function publishTrustOf(
  options: ServerOptions,
  client: Client,
  serving: Serving | undefined,
): Promise<void> {
  if (serving === undefined) return;
  await publishClusterTrust(options, client, clusterTrust(options, serving.authorities));
}

/** Logs a failure to publish the CA certificates; the server starts anyway. */
export function logTrustFailure({ log }: ServerOptions): (error: unknown) => void {
  return (error) => log.error({ error: stackOf(error) }, "the authorities of clients could not be published");
}
