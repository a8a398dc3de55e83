import { andThen, type MaybePromise } from "../../base/maybe-promise.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { MutatingWebhookConfiguration } from "../../kinds/admissionregistration/mutating-webhook-configuration.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { isExempt } from "../matching/exempt.ts";
import type { Match } from "../matching/match-index.ts";
import { WebhookFailure } from "../webhooks/failures.ts";
import { FollowedWebhooks } from "../webhooks/followed-webhooks.ts";
import { applyWebhookPatch, UnusablePatch } from "../webhooks/mutation.ts";
import { Reinvocation } from "../webhooks/reinvocation.ts";
import { ReviewRequests } from "../webhooks/review-request.ts";
import { SentObjects } from "../webhooks/sent-object.ts";
import type { WebhookServices } from "../webhooks/services.ts";
import { WebhookCalls } from "../webhooks/webhook-calls.ts";
import { webhooksOf, type Webhook } from "../webhooks/webhook.ts";

/** The code by which patches that can't be applied are counted. */
const unusablePatchCode = 500;

/**
 * Asks the mutating webhooks that match a write, one after the other in the order of the names of their configurations; each
 * sees what the ones before have changed (spec: conventions 4.13).
 */
export function mutatingWebhooks(services: WebhookServices): AdmissionPlugin {
  const { facts, registry } = services;
  const configurations = facts.of(MutatingWebhookConfiguration, (configuration) => ({
    name: configuration.metadata.name ?? "",
    webhooks: webhooksOf(configuration),
  }));
  const followed = new FollowedWebhooks(configurations, registry);
  const mutation = new WebhookMutation(services);
  return {
    name: "MutatingAdmissionWebhook",
    concerns: (_, type) => !isExempt(type),
    skips: (request) => !services.isServing() || followed.matchesNone(request),
    mutate(request): MaybePromise<void> {
      return andThen(followed.matching(request), (matches) =>
        matches.length === 0 ? undefined : mutation.askAll(request, matches),
      );
    },
  };
}

class WebhookMutation {
  private readonly objects: SentObjects;
  private readonly calls: WebhookCalls;
  private readonly reinvocations = new WeakMap<AdmissionRequest, Reinvocation>();

  constructor(private readonly services: WebhookServices) {
    this.objects = new SentObjects(services.vocabulary, services.contextOf);
    this.calls = new WebhookCalls(services, "admit");
  }

  async askAll(request: AdmissionRequest, matches: readonly Match<Webhook>[]): Promise<void> {
    const { calls, objects } = this;
    const { vocabulary } = this.services;
    let reinvocation = this.reinvocations.get(request);
    if (reinvocation === undefined) this.reinvocations.set(request, (reinvocation = new Reinvocation()));
    if (request.round === 1) reinvocation.begin(request);
    const reviews = new ReviewRequests(request, objects, vocabulary);
    const deadlineMs = calls.deadlineOf(request);
    for (const [index, match] of matches.entries()) {
      if (request.round === 1 && !reinvocation.isWanted(match.matched)) continue;
      if (!(await calls.selected(match, request))) continue;
      const changed = await this.askOne(match, index, request, reviews, deadlineMs);
      if (changed) {
        reinvocation.changed();
        request.rewritten = true;
      }
      reinvocation.called(match.matched);
      calls.checkTime(deadlineMs);
    }
    reinvocation.end(request);
  }

  /** Asks one webhook and applies its patch; true when that changed the object. */
  private async askOne(
    match: Match<Webhook>,
    index: number,
    request: AdmissionRequest,
    reviews: ReviewRequests,
    deadlineMs: number,
  ): Promise<boolean> {
    const { calls } = this;
    const startMs = performance.now();
    const place = `round_${request.round}_index_${index}`;
    let mutated = false;
    let failure: { readonly error: unknown } | undefined;
    try {
      mutated = await this.change(match, request, reviews, { deadlineMs, place });
    } catch (error) {
      failure = { error };
    }
    calls.observe(match, request, startMs, failure?.error);
    const { configuration, name: webhook, failOpen } = match.matched;
    const { groupSuffix } = this.services.vocabulary;
    const key = `mutation.webhook.admission.${groupSuffix}/${place}`;
    request.report.annotate(key, JSON.stringify({ configuration, webhook, mutated }));
    if (failure === undefined) return mutated;
    const { error } = failure;
    if (!(error instanceof WebhookFailure)) throw error;
    if (!failOpen) throw error.refusal();
    request.report.annotate(`failed-open.${key}`, webhook);
    return false;
  }

  private async change(
    match: Match<Webhook>,
    request: AdmissionRequest,
    reviews: ReviewRequests,
    { deadlineMs, place }: { readonly deadlineMs: number; readonly place: string },
  ): Promise<boolean> {
    const { objects, calls } = this;
    const { matched, resource } = match;
    await objects.prepare(request, resource);
    const sent = objects.encode(request, resource, request.object);
    const { patch } = await calls.ask(match, request, reviews, sent, deadlineMs);
    if (patch.length === 0) return false;
    try {
      const changed = await applyWebhookPatch(objects, request, resource, sent, patch);
      const { configuration, name: webhook } = matched;
      const shown = { configuration, webhook, patch, patchType: "JSONPatch" } as unknown as JsonValue;
      const key = `patch.webhook.admission.${this.services.vocabulary.groupSuffix}/${place}`;
      request.report.annotate(key, encodeJson(shown), "Request");
      return changed;
    } catch (error) {
      if (!(error instanceof UnusablePatch)) throw error;
      throw new WebhookFailure(matched.name, error.message, unusablePatchCode);
    }
  }
}
