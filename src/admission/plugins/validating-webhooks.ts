import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import { ValidatingWebhookConfiguration } from "../../kinds/admissionregistration/validating-webhook-configuration.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { isExempt } from "../matching/exempt.ts";
import type { Match } from "../matching/match-index.ts";
import { WebhookFailure } from "../webhooks/failures.ts";
import { FollowedWebhooks } from "../webhooks/followed-webhooks.ts";
import { ReviewRequests } from "../webhooks/review-request.ts";
import { SentObjects } from "../webhooks/sent-object.ts";
import type { WebhookServices } from "../webhooks/services.ts";
import { selectedOf, WebhookCalls } from "../webhooks/webhook-calls.ts";
import { webhooksOf, type Webhook } from "../webhooks/webhook.ts";

/**
 * Asks the validating webhooks that match a write, all at one time, about the object as it would be stored; the first
 * refusal in the order of their names ends the request (spec: conventions 4.13).
 */
export function validatingWebhooks(services: WebhookServices): AdmissionPlugin {
  const { facts, registry, vocabulary } = services;
  const configurations = facts.of(ValidatingWebhookConfiguration, (configuration) => ({
    name: configuration.metadata.name ?? "",
    webhooks: webhooksOf(configuration),
  }));
  const followed = new FollowedWebhooks(configurations, registry);
  const objects = new SentObjects(vocabulary, services.contextOf);
  const calls = new WebhookCalls(services, "validating");

  const askAll = async (request: AdmissionRequest, matches: readonly Match<Webhook>[]): Promise<void> => {
    const reviews = new ReviewRequests(request, objects, vocabulary);
    const deadlineMs = calls.deadlineOf(request);
    const texts = new Map<Resource, string>();
    for (const { resource } of matches) {
      if (texts.has(resource)) continue;
      await objects.prepare(request, resource);
      texts.set(resource, objects.encode(request, resource, request.object));
    }
    const refusals = await Promise.all(
      matches.map(async (match, index) => {
        const startMs = performance.now();
        let failure: { readonly error: unknown } | undefined;
        try {
          await calls.ask(match, request, reviews, texts.get(match.resource)!, deadlineMs);
        } catch (error) {
          failure = { error };
        }
        calls.observe(match, request, startMs, failure?.error);
        if (!(failure?.error instanceof WebhookFailure)) return failure;
        if (!match.matched.failOpen) return { error: failure.error.refusal() };
        const key = `failed-open.validating.webhook.admission.${vocabulary.groupSuffix}/round_0_index_${index}`;
        request.report.annotate(key, match.matched.name);
        return undefined;
      }),
    );
    const first = refusals.find((refusal) => refusal !== undefined);
    if (first !== undefined) throw first.error;
    calls.checkTime(deadlineMs);
  };

  return {
    name: "ValidatingAdmissionWebhook",
    concerns: (_, type) => !isExempt(type),
    skips: (request) => !services.isServing() || followed.matchesNone(request),
    validate(request): MaybePromise<void> {
      return andThen(followed.matching(request), (matches) => {
        if (matches.length === 0) return undefined;
        return andThen(selectedOf(calls, matches, request), (selected) =>
          selected.length === 0 ? undefined : askAll(request, selected),
        );
      });
    },
  };
}
