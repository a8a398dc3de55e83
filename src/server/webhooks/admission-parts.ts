import type { AdmissionFacts } from "../../admission/followed-objects.ts";
import type { ProvisionNamespace } from "../../admission/plugins/namespace-existence.ts";
import type { DeferredPolicyObserver } from "../../admission/policies/policy-observer.ts";
import type { PodSecurityCounters } from "../../admission/plugins/pod-security/counters.ts";
import type { QuotaIndex } from "../../admission/plugins/resource-quota/quota-index.ts";
import type { DeferredWebhookObserver } from "../../admission/webhooks/observer.ts";
import type { Authorizer } from "../../authorization/authorizer.ts";
import type { StoredRbac } from "../../authorization/rbac/stored-rbac.ts";
import type { ManifestCounters } from "../../base/reload-counters.ts";
import type { Tracer } from "../../base/tracing/tracer.ts";
import type { ResolveService } from "../../remote/webhook-caller.ts";
import type { NamespacePhases } from "../../resources/followers/namespace-phases.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { PolicyPrograms } from "../../admission/policies/environment.ts";
import { featureGates } from "../features/enabled-features.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** The dependencies of the webhook plugins. */
export interface WebhookParts {
  readonly resolve: ResolveService;
  readonly observer: DeferredWebhookObserver;
  readonly isServing: () => boolean;
  /** Whether writes have no effects outside of the store. */
  readonly isIsolated: boolean;
  /** Undefined if requests aren't traced. */
  readonly tracer: Tracer | undefined;
  /** Registers something to close when the server stops. */
  readonly closeLater: (closable: { close(): Promise<void> }) => void;
}

/** The dependencies of the admission plugins. */
export interface AdmissionParts {
  readonly registry: Registry;
  readonly namespaces: NamespacePhases;
  readonly policy: StoredRbac;
  readonly authorizer: Authorizer;
  readonly store: Store;
  readonly facts: AdmissionFacts;
  readonly provision: ProvisionNamespace;
  readonly podSecurityCounters: PodSecurityCounters;
  readonly policyObserver: DeferredPolicyObserver;
  readonly quotas: QuotaIndex;
  readonly webhooks: WebhookParts;
  /** Counters of the plugins that read objects from files; each adds its own. */
  readonly manifests: ManifestCounters[];
}

/** Returns the expressions of policies and webhooks for the release and the gates of a server. */
export function policyPrograms(options: ServerOptions): PolicyPrograms {
  const checkSelectors = featureGates(options).enabled("AuthorizeWithSelectors");
  return new PolicyPrograms({ release: options.release, checkSelectors });
}
