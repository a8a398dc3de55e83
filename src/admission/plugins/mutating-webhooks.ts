import { jsonOf } from "../../base/json/value.ts";
import { groupAnnotation } from "../../vocabulary/names.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { MutatingWebhookConfiguration } from "../../kinds/admissionregistration/mutating-webhook-configuration.ts";
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
import { Reinvocation } from "../webhooks/reinvocation.ts";
import { ReviewObjects } from "../webhooks/review-objects.ts";
import { ReviewRequests } from "../webhooks/review-request.ts";
import type { WebhookServices } from "../webhooks/services.ts";
import { WebhookCalls } from "../webhooks/webhook-calls.ts";
import { applyWebhookPatch } from "../webhooks/webhook-patch.ts";
import type { Webhook } from "../webhooks/webhook.ts";

/**
 * MutatingAdmissionWebhook: calls the mutating webhooks that match a write one after the other, sorted by the names of their
 * configurations; each receives the object with the changes of those before it (spec: conventions 4.13).
 */
export function mutatingWebhooks(
  services: WebhookServices,
  files?: StaticObjects<readonly FollowedConfiguration[]>,
): AdmissionPlugin {
  const { facts, registry } = services;
  const configurations = facts.of(MutatingWebhookConfiguration, (one) =>
    configurationOf(one, services.programs),
  );
  const followed = new FollowedWebhooks(configurations, registry, files);
  const calls = new WebhookCalls(services, "admit");
  return {
    name: "MutatingAdmissionWebhook",
    concerns: (_, type) =>
      (files !== undefined || !isExempt(type)) && !(services.excludesReviews && isReview(type)),
    skips: (request) => !services.isServing() || followed.matchesNone(request),
    mutate(request): MaybePromise<void> {
      return andThen(followed.matching(request), (matches) =>
        matches.length === 0 ? undefined : new Mutation(services, calls, request).run(matches),
      );
    },
  };
}

/** The calls of mutating webhooks for one request, in one round. */
class Mutation {
  private readonly objects: ReviewObjects;
  private readonly reviews: ReviewRequests;
  private readonly deadlineMs: number;

  constructor(
    private readonly services: WebhookServices,
    private readonly calls: WebhookCalls,
    private readonly request: AdmissionRequest,
  ) {
    const { vocabulary, contextOf } = services;
    this.objects = new ReviewObjects(request, vocabulary, contextOf(request));
    this.reviews = new ReviewRequests(request, this.objects, vocabulary);
    this.deadlineMs = calls.deadlineOf(request);
  }

  async run(matches: readonly Match<Webhook>[]): Promise<void> {
    const { calls, request, deadlineMs } = this;
    const reinvocation = request.effects.state(Reinvocation);
    if (request.reinvocation) reinvocation.begin(request);
    for (const [index, match] of matches.entries()) {
      if (request.reinvocation && !reinvocation.isNeeded(match.matched)) continue;
      if (!(await calls.isSelected(match, request, this.objects))) continue;
      if (await this.runOne(match, `round_${request.reinvocation ? 1 : 0}_index_${index}`)) {
        reinvocation.objectChanged();
        request.effects.requestReinvocation();
      }
      reinvocation.called(match.matched);
      calls.checkDeadline(deadlineMs);
    }
    reinvocation.end(request);
  }

  /**
   * Calls one webhook, applies its patch and records both in audit annotations.
   *
   * @param position the round and the index of the webhook, as audit annotations name them.
   * @returns whether the object has changed.
   */
  private async runOne(match: Match<Webhook>, position: string): Promise<boolean> {
    const { calls, request, services } = this;
    const { configuration, name: webhook } = match.matched;
    const key = groupAnnotation(services.vocabulary.groupSuffix, position, "mutation.webhook.admission");
    let mutated = false;
    try {
      mutated = (await calls.attempt(match, request, key, () => this.callAndPatch(match, position))) ?? false;
      return mutated;
    } finally {
      request.effects.annotate(key, JSON.stringify({ configuration, webhook, mutated }));
    }
  }

  private async callAndPatch(match: Match<Webhook>, position: string): Promise<boolean> {
    const { calls, objects, request, reviews, services } = this;
    const { matched, resource } = match;
    const { configuration, name: webhook } = matched;
    const { patch } = await calls.call(match, request, reviews, this.deadlineMs);
    if (patch.length === 0) return false;
    const changed = await applyWebhookPatch(webhook, request, objects, resource, patch);
    const annotation = jsonOf({ configuration, webhook, patch, patchType: "JSONPatch" });
    const key = groupAnnotation(services.vocabulary.groupSuffix, position, "patch.webhook.admission");
    request.effects.annotate(key, encodeJson(annotation), "Request");
    return changed;
  }
}
