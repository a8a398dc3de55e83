import { objectAs } from "../../../schema/api-object.ts";
import { groupAnnotation } from "../../../vocabulary/names.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { RecentMap } from "../../../base/collections/recent-map.ts";
import { Pod } from "../../../kinds/core/pod/pod.ts";
import { RemoteFault } from "../../../remote/answer-reader.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../../admission-chain.ts";
import { forbidden } from "../../forbidden.ts";
import type { ImagePolicySettings } from "./configuration.ts";
import {
  imageReview,
  ImageReviewFault,
  readImageReview,
  type ImageDecision,
  type ImageReview,
} from "./image-review.ts";
import { declarationOf } from "../../../schema/kind.ts";

/** Dependencies of the plugin. */
export interface ImagePolicyServices {
  readonly settings: ImagePolicySettings;
  /** Calls the backend, with the attempts of the settings. */
  readonly backend: { post(question: object): Promise<unknown> };
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

interface CachedDecision {
  readonly decision: ImageDecision;
  readonly expiresAtMs: number;
}

/** Limits of the cache: decisions, and characters of their reviews. */
const cacheLimits = { entries: 1024, cost: 8 * 1024 * 1024 };

const ephemeral = "ephemeralcontainers";

/**
 * ImagePolicyWebhook: a backend decides by the images of a pod whether it is created or changed (spec: conventions 2.10, 4.13).
 * Decisions are cached.
 */
export function imagePolicyWebhook({
  settings,
  backend,
  vocabulary,
  clock,
  log,
}: ImagePolicyServices): AdmissionPlugin {
  const cache = new RecentMap<CachedDecision>(cacheLimits);
  const auditPrefix = groupAnnotation(vocabulary.groupSuffix, "", "imagepolicywebhook.image-policy");
  const failedOpenKey = groupAnnotation(vocabulary.groupSuffix, "failed-open", "alpha.image-policy");

  const decide = async (review: ImageReview): Promise<ImageDecision> => {
    const key = JSON.stringify(review.spec);
    const cached = cache.get(key);
    if (cached !== undefined && clock.monotonicNow() < cached.expiresAtMs) return cached.decision;
    const decision = readImageReview(await backend.post(review), review);
    const keepMs = decision.allowed ? settings.allowMs : settings.denyMs;
    if (keepMs > 0) cache.set(key, { decision, expiresAtMs: clock.monotonicNow() + keepMs }, key.length);
    return decision;
  };

  /** Handles a failed call of the backend: admits the pod with an annotation, or rejects it. */
  const withoutDecision = ({ target, object, effects }: AdmissionRequest, error: Error): void => {
    log.warn({ error: error.message }, "ImagePolicyWebhook: the call of the backend failed");
    if (!settings.defaultAllow) throw forbidden(target, error.message);
    effects.annotate(`${auditPrefix}failed-open`, "true");
    object!.metadata.annotations = { ...object!.metadata.annotations, [failedOpenKey]: "true" };
  };

  return {
    name: "ImagePolicyWebhook",
    concerns: (operation, { resource, subresource }) =>
      declarationOf(resource.stored.kind) === Pod &&
      (subresource === "" || subresource === ephemeral) &&
      (operation === "CREATE" || operation === "UPDATE"),
    async validate(request) {
      const { target, object, effects } = request;
      const pod = objectAs<Pod>(object!);
      const onlyEphemeral = target.subresource === ephemeral;
      const review = imageReview(pod, target.namespace, onlyEphemeral, vocabulary);
      let decision: ImageDecision;
      try {
        decision = await decide(review);
      } catch (error) {
        if (error instanceof RemoteFault || error instanceof ImageReviewFault) {
          return withoutDecision(request, error);
        }
        throw error;
      }
      for (const [key, value] of Object.entries(decision.auditAnnotations)) {
        effects.annotate(`${auditPrefix}${key}`, value);
      }
      if (decision.allowed) return;
      throw forbidden(
        target,
        decision.reason === ""
          ? "one or more images rejected by webhook backend"
          : `image policy webhook backend denied one or more images: ${decision.reason}`,
      );
    },
  };
}
