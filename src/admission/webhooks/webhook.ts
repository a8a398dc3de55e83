import type { LabelSelectorObject } from "../../base/selectors/label-selector.ts";
import { webhookTarget, type WebhookClientConfig, type WebhookTarget } from "../../remote/webhook-target.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Matchable } from "../matching/match-index.ts";
import type { MatchPolicy, MatchRule } from "../matching/rules.ts";
import type { ReviewVersion } from "./review-request.ts";
import type { PolicyPrograms } from "../policies/environment.ts";
import type { NamedExpression } from "../policies/policy-expression.ts";
import { compileSelectors, type Selectors } from "../matching/selectors.ts";

/** One webhook of a configuration, compiled for matching and calls. */
export interface Webhook extends Matchable {
  /** Identifies the webhook in one version of its configuration. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  /** A string is the reason why the webhook can't be called. */
  readonly callSettings: CallSettings | string;
  /** The webhook is called only if all of them hold. */
  readonly matchConditions: readonly NamedExpression[];
  /** Whether requests continue if the call fails (failure policy `Ignore`). */
  readonly failOpen: boolean;
  /** Whether the webhook may be called for dry runs. */
  readonly allowsDryRun: boolean;
  /** Whether the webhook is called again if the object changes after its call (reinvocation policy `IfNeeded`). */
  readonly reinvoked: boolean;
}

/** How a webhook is called. */
export interface CallSettings {
  readonly selectors: Selectors;
  readonly target: WebhookTarget;
  readonly version: ReviewVersion;
  readonly timeoutMs: number;
}

/** The fields of a webhook in a configuration that this server reads. */
interface WebhookSpec {
  readonly name: string;
  readonly clientConfig?: WebhookClientConfig;
  readonly rules?: readonly MatchRule[];
  readonly failurePolicy?: string;
  readonly matchPolicy?: string;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
  readonly admissionReviewVersions?: readonly string[];
  readonly reinvocationPolicy?: string;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

const defaultTimeoutSeconds = 10;

/** The webhooks of a configuration, in their order. */
export function webhooksOf(configuration: ApiObject, programs: PolicyPrograms): Webhook[] {
  const { name: configurationName = "", resourceVersion } = configuration.metadata;
  const webhooks = (configuration["webhooks"] ?? []) as readonly WebhookSpec[];
  return webhooks.map((spec, index) => ({
    id: `${configurationName}/${resourceVersion}/${index}`,
    configuration: configurationName,
    name: spec.name,
    rules: spec.rules ?? [],
    matchPolicy: (spec.matchPolicy ?? "Equivalent") as MatchPolicy,
    callSettings: callSettingsOf(spec),
    matchConditions: programs.conditions(spec.matchConditions ?? [], false),
    failOpen: spec.failurePolicy === "Ignore",
    allowsDryRun: spec.sideEffects === "None" || spec.sideEffects === "NoneOnDryRun",
    reinvoked: spec.reinvocationPolicy === "IfNeeded",
  }));
}

/** Stored configurations may be invalid: an earlier release may have accepted them. */
function callSettingsOf(spec: WebhookSpec): CallSettings | string {
  const versions = spec.admissionReviewVersions ?? [];
  const version = versions.find((value): value is ReviewVersion => value === "v1" || value === "v1beta1");
  if (version === undefined) return "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
  try {
    return {
      version,
      selectors: compileSelectors(spec),
      target: webhookTarget(spec.clientConfig ?? {}),
      timeoutMs: (spec.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
