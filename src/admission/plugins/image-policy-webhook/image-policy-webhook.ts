import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import { RecentMap } from "../../../base/recent-map.ts";
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

/** What the plugin works with. */
export interface ImagePolicyServices {
  readonly settings: ImagePolicySettings;
  /** Asks the backend, with the attempts that the settings say. */
  readonly backend: { post(question: object): Promise<unknown> };
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Pick<Logger, "warn">;
}

interface Kept {
  readonly decision: ImageDecision;
  readonly untilMs: number;
}

/** So many decisions are kept, and so many characters of the reviews that they answer. */
const cacheLimits = { entries: 1024, cost: 8 * 1024 * 1024 };

const ephemeral = "ephemeralcontainers";

/**
 * ImagePolicyWebhook: a backend decides, by the images of its containers, whether a pod is created or changed (spec:
 * conventions 2.10, 4.13). What it decided is kept for a while.
 */
export function imagePolicyWebhook({
  settings,
  backend,
  vocabulary,
  clock,
  log,
}: ImagePolicyServices): AdmissionPlugin {
  const known = new RecentMap<Kept>(cacheLimits);
  const auditPrefix = `imagepolicywebhook.image-policy.${vocabulary.groupSuffix}/`;
  const failedOpenKey = `alpha.image-policy.${vocabulary.groupSuffix}/failed-open`;

  const decide = async (review: ImageReview): Promise<ImageDecision> => {
    const key = JSON.stringify(review.spec);
    const kept = known.get(key);
    if (kept !== undefined && clock.monotonicNow() < kept.untilMs) return kept.decision;
    const decision = readImageReview(await backend.post(review), review);
    const keepMs = decision.allowed ? settings.allowMs : settings.denyMs;
    if (keepMs > 0) known.set(key, { decision, untilMs: clock.monotonicNow() + keepMs }, key.length);
    return decision;
  };

  /** The backend can't be asked: lets the pod pass, and says so in it, or rejects it. */
  const withoutDecision = ({ target, object, effects }: AdmissionRequest, error: Error): void => {
    log.warn({ error: error.message }, "the backend of the plugin ImagePolicyWebhook can't be asked");
    if (!settings.defaultAllow) throw forbidden(target, error.message);
    effects.annotate(`${auditPrefix}failed-open`, "true");
    object!.metadata.annotations = { ...object!.metadata.annotations, [failedOpenKey]: "true" };
  };

  return {
    name: "ImagePolicyWebhook",
    concerns: (operation, { resource, subresource }) =>
      resource.stored.kind === Pod &&
      (subresource === "" || subresource === ephemeral) &&
      (operation === "CREATE" || operation === "UPDATE"),
    async validate(request) {
      const { target, object, effects } = request;
      const pod = object as unknown as Pod;
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
