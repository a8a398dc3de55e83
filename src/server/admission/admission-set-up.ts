import { AdmissionChain, type AdmissionPlugin } from "../../admission/admission-chain.ts";
import { AdmissionFacts } from "../../admission/followed-objects.ts";
import { PodSecurityCounters } from "../../admission/plugins/pod-security/counters.ts";
import { QuotaIndex } from "../../admission/plugins/resource-quota/quota-index.ts";
import { DeferredPolicyObserver } from "../../admission/policies/policy-observer.ts";
import { showPolicies } from "../../http/metrics/policy-metrics.ts";
import { showManifests } from "../../http/metrics/manifest-metrics.ts";
import { DeferredWebhookObserver } from "../../admission/webhooks/observer.ts";
import { randomValues } from "../../base/random.ts";
import { stackOf } from "../../base/logger.ts";
import type { UserInfo } from "../../base/user-info.ts";
import { createIfAbsent, namespaceNamed } from "../../controllers/bootstrap/default-objects.ts";
import type { ConnectionRules } from "../../http/backends/rules.ts";
import { admissionObserver } from "../../http/metrics/admission-metrics.ts";
import type { MetricSet } from "../../http/metrics/metric-set.ts";
import { showPodSecurity } from "../../http/metrics/pod-security-metrics.ts";
import { showWebhooks } from "../../http/metrics/webhook-metrics.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Engine } from "../../resources/engine/engine.ts";
import { admissionPlugins } from "./admission.ts";
import type { AdmissionParts } from "../webhooks/admission-parts.ts";
import type { Lifecycle } from "../health/health-checks.ts";
import type { ServerTracing } from "../tracing/tracing.ts";
import type { Opened } from "../start/opened.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { serviceResolver } from "../webhooks/webhook-services.ts";

/** The parts of the server that admission depends on. */
export interface AdmissionPieces extends Pick<
  AdmissionParts,
  "registry" | "store" | "namespaces" | "policy" | "authorizer"
> {
  readonly extensions: { readonly admissionPlugins: readonly AdmissionPlugin[] };
  readonly connections: ConnectionRules;
  readonly life: Lifecycle;
  readonly tracing: ServerTracing | undefined;
  readonly opened: Opened;
  /** Returns the engine, which is created after admission; called from the first request on. */
  readonly engine: () => Engine;
  readonly client: () => Client;
}

/** The admission of a server. */
export interface AdmissionSetUp {
  readonly chain: AdmissionChain;
  readonly quotas: QuotaIndex;
  /** Registers the metrics of admission. */
  readonly show: (metrics: MetricSet) => void;
}

/**
 * Creates the admission chain with the plugins that the options enable.
 *
 * @param user the identity with which the server looks up services.
 * @throws {OptionsError} if the options of a plugin can't be used.
 */
export async function setUpAdmission(
  options: ServerOptions,
  user: UserInfo,
  pieces: AdmissionPieces,
): Promise<AdmissionSetUp> {
  const { registry, store, namespaces, policy, authorizer, opened, life } = pieces;
  const close = (one: { close(): unknown }) => one.close();
  const failed = (error: unknown) =>
    options.log.warn({ error: stackOf(error) }, "objects that admission reads can't be loaded; retrying");
  const sources = { store, clock: options.clock, failed };
  const facts = opened.add(new AdmissionFacts(sources, options.vocabulary), close);
  const quotas = opened.add(new QuotaIndex(sources, registry), close);
  const podSecurityCounters = new PodSecurityCounters(registry.release);
  const webhookObserver = new DeferredWebhookObserver();
  const policyObserver = new DeferredPolicyObserver();
  const parts: AdmissionParts = {
    registry,
    store,
    namespaces,
    policy,
    authorizer,
    facts,
    quotas,
    provision: (name) => createIfAbsent(pieces.client(), namespaceNamed(name)),
    podSecurityCounters,
    policyObserver,
    manifests: [],
    webhooks: {
      resolve: serviceResolver(pieces.engine, user, pieces.connections, randomValues(options).randomInt),
      observer: webhookObserver,
      isServing: () => life.synced,
      tracer: pieces.tracing?.tracer,
      closeLater: (closable) => void opened.add(closable, close),
    },
  };
  const chain = new AdmissionChain(
    await admissionPlugins(options, parts, pieces.extensions.admissionPlugins),
  );
  if (pieces.tracing !== undefined) chain.traceWith(pieces.tracing.tracer);
  return {
    chain,
    quotas,
    show(metrics) {
      chain.measure(admissionObserver(metrics));
      showPodSecurity(metrics, podSecurityCounters);
      showWebhooks(metrics, webhookObserver);
      showPolicies(metrics, policyObserver);
      if (parts.manifests.length > 0) showManifests(metrics, parts.manifests);
    },
  };
}
