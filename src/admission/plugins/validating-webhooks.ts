import { groupAnnotation } from "../../vocabulary/names.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { ValidatingWebhookConfiguration } from "../../kinds/admissionregistration/validating-webhook-configuration.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { isExempt, isReview } from "../matching/exempt.ts";
import type { StaticObjects } from "../manifests/static-objects.ts";
import type { Match } from "../matching/match-index.ts";
import {
  FollowedWebhooks,
  configurationOf,
  type FollowedConfiguration,
} from "../webhooks/followed-webhooks.ts";
import { ReviewObjects } from "../webhooks/review-objects.ts";
import { ReviewRequests } from "../webhooks/review-request.ts";
import type { WebhookServices } from "../webhooks/services.ts";
import { WebhookCalls } from "../webhooks/webhook-calls.ts";
import type { Webhook } from "../webhooks/webhook.ts";

/**
 * ValidatingAdmissionWebhook: calls the validating webhooks that match a write in parallel, with the object as it would be stored; the
 * first rejection in the order of their names ends the request (spec: conventions 4.13).
 */
export function validatingWebhooks(
  services: WebhookServices,
  files?: StaticObjects<readonly FollowedConfiguration[]>,
): AdmissionPlugin {
  const { facts, registry } = services;
  const configurations = facts.of(ValidatingWebhookConfiguration, (one) =>
    configurationOf(one, services.programs),
  );
  const followed = new FollowedWebhooks(configurations, registry, files);
  const calls = new WebhookCalls(services, "validating");
  return {
    name: "ValidatingAdmissionWebhook",
    concerns: (_, type) =>
      (files !== undefined || !isExempt(type)) && !(services.excludesReviews && isReview(type)),
    skips: (request) => !services.isServing() || followed.matchesNone(request),
    validate(request): MaybePromise<void> {
      return andThen(followed.matching(request), (matches) => {
        if (matches.length === 0) return undefined;
        const objects = new ReviewObjects(request, services.vocabulary, services.contextOf(request));
        return andThen(selectedMatches(calls, matches, request, objects), (selected) =>
          selected.length === 0 ? undefined : callAll(services, calls, selected, request, objects),
        );
      });
    },
  };
}

/** The matches that their selectors and conditions select, in order; a promise only if one of them has to wait. */
function selectedMatches(
  calls: WebhookCalls,
  matches: readonly Match<Webhook>[],
  request: AdmissionRequest,
  objects: ReviewObjects,
): MaybePromise<readonly Match<Webhook>[]> {
  const decisions = matches.map((match) => calls.isSelected(match, request, objects));
  const select = (selected: readonly boolean[]) => matches.filter((_, index) => selected[index]);
  return decisions.some((decision) => decision instanceof Promise)
    ? Promise.all(decisions).then(select)
    : select(decisions as boolean[]);
}

async function callAll(
  services: WebhookServices,
  calls: WebhookCalls,
  matches: readonly Match<Webhook>[],
  request: AdmissionRequest,
  objects: ReviewObjects,
): Promise<void> {
  const { vocabulary } = services;
  const reviews = new ReviewRequests(request, objects, vocabulary);
  const deadlineMs = calls.deadlineOf(request);
  // A failed conversion is a failure of the request, not of a webhook; so it happens before the calls are counted.
  for (const { resource } of matches) await objects.encode(resource);
  const results = await Promise.allSettled(
    matches.map((match, index) => {
      const auditKey = groupAnnotation(
        vocabulary.groupSuffix,
        `round_0_index_${index}`,
        "validating.webhook.admission",
      );
      return calls.attempt(match, request, auditKey, () => calls.call(match, request, reviews, deadlineMs));
    }),
  );
  const rejection = results.find((result) => result.status === "rejected");
  if (rejection !== undefined) throw rejection.reason;
  calls.checkDeadline(deadlineMs);
}
