import { apiGroup, groupVersion } from "../../../vocabulary/names.ts";
import { isObject, type JsonValue } from "../../../base/json/value.ts";
import type { Pod } from "../../../kinds/core/pod/pod.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";

/** The request to the backend (spec: conventions 2.10). */
export interface ImageReview {
  readonly apiVersion: string;
  readonly kind: "ImageReview";
  readonly spec: {
    readonly containers: readonly { readonly image?: string }[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly namespace: string;
  };
}

/** The decision of the backend about a pod. */
export interface ImageDecision {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The response of the backend is invalid; the message says why. */
export class ImageReviewFault extends Error {
  override name = "ImageReviewFault";
}

/** `GROUP/VERSION` of the reviews. */
export function imageReviewVersion({ groupSuffix }: Vocabulary): string {
  return groupVersion(groupSuffix, "imagepolicy", "v1alpha1");
}

/**
 * Returns the review of a pod with the images of its containers.
 *
 * @param onlyEphemeral whether the request writes only the ephemeral containers; the review has only these then.
 */
export function imageReview(
  { metadata, spec }: Pod,
  namespace: string,
  onlyEphemeral: boolean,
  vocabulary: Vocabulary,
): ImageReview {
  const containers = onlyEphemeral
    ? (spec?.ephemeralContainers ?? [])
    : [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
  const mark = `.${apiGroup(vocabulary.groupSuffix, "image-policy")}/`;
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.includes(mark));
  return {
    apiVersion: imageReviewVersion(vocabulary),
    kind: "ImageReview",
    spec: {
      containers: containers.map(({ image = "" }) => (image === "" ? {} : { image })),
      ...(annotations.length === 0 ? {} : { annotations: Object.fromEntries(annotations) }),
      namespace,
    },
  };
}

/** Maximum number of recorded annotations of a response. */
const maxAnnotations = 100;

/**
 * Reads the status of a response; its spec is ignored.
 *
 * @throws {ImageReviewFault} the response is invalid.
 */
export function readImageReview(value: unknown, { apiVersion: expected }: ImageReview): ImageDecision {
  const review = value as JsonValue;
  if (!isObject(review)) throw new ImageReviewFault("the response is not an object");
  const { kind = "ImageReview", apiVersion = expected, status = {} } = review;
  if (kind !== "ImageReview" || apiVersion !== expected) {
    throw new ImageReviewFault(`the response is not an ImageReview of ${expected}`);
  }
  if (!isObject(status)) throw new ImageReviewFault("status is not an object");
  const { allowed = false, reason = "", auditAnnotations = {} } = status;
  if (typeof allowed !== "boolean" || typeof reason !== "string" || !isObject(auditAnnotations)) {
    throw new ImageReviewFault("status: allowed, reason or auditAnnotations has a wrong type");
  }
  const texts = Object.entries(auditAnnotations).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return { allowed, reason, auditAnnotations: Object.fromEntries(texts.slice(0, maxAnnotations)) };
}
