import type { LabelSelectorObject } from "../../base/label-selector.ts";
import { webhookTarget, type WebhookClientConfig, type WebhookTarget } from "../../remote/webhook-target.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Matchable } from "../matching/match-index.ts";
import type { MatchPolicy, MatchRule } from "../matching/rules.ts";
import { compileSelectors, type Selectors } from "../matching/selectors.ts";

/** The versions of AdmissionReview that this server speaks. */
export type ReviewVersion = "v1" | "v1beta1";

/** One webhook of a configuration, ready to be matched and called. */
export interface Webhook extends Matchable {
  /** The same for the same webhook of the same version of its configuration. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  /** How it is called; a text: why it can't be. */
  readonly calling: Calling | string;
  /** Whether a request goes on when the webhook can't be asked. */
  readonly failOpen: boolean;
  /** Whether it may be asked about dry runs. */
  readonly allowsDryRun: boolean;
  /** Whether it is asked again when the object was changed after it. */
  readonly reinvoked: boolean;
}

interface Calling {
  readonly selectors: Selectors;
  readonly target: WebhookTarget;
  readonly version: ReviewVersion;
  readonly timeoutMs: number;
}

/** What of a configuration's webhook counts. */
interface Declared {
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
}

const defaultTimeoutSeconds = 10;

/** The webhooks of a configuration, in their order. */
export function webhooksOf(configuration: ApiObject): Webhook[] {
  const { name: of = "", resourceVersion } = configuration.metadata;
  const webhooks = (configuration["webhooks"] ?? []) as readonly Declared[];
  return webhooks.map((declared, index) => ({
    id: `${of}/${resourceVersion}/${index}`,
    configuration: of,
    name: declared.name,
    rules: declared.rules ?? [],
    matchPolicy: (declared.matchPolicy ?? "Equivalent") as MatchPolicy,
    calling: callingOf(declared),
    failOpen: declared.failurePolicy === "Ignore",
    allowsDryRun: declared.sideEffects === "None" || declared.sideEffects === "NoneOnDryRun",
    reinvoked: declared.reinvocationPolicy === "IfNeeded",
  }));
}

/** What validation refuses may still be stored, from before a rule of it was there. */
function callingOf(declared: Declared): Calling | string {
  const versions = declared.admissionReviewVersions ?? [];
  const version = versions.find((one): one is ReviewVersion => one === "v1" || one === "v1beta1");
  if (version === undefined) return "webhook does not accept known AdmissionReview versions (v1, v1beta1)";
  try {
    return {
      version,
      selectors: compileSelectors(declared),
      target: webhookTarget(declared.clientConfig ?? {}),
      timeoutMs: (declared.timeoutSeconds ?? defaultTimeoutSeconds) * 1000,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
