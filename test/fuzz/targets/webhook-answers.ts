import { readReview, ReviewFault } from "../../../src/admission/webhooks/review-response.ts";
import {
  imageReviewVersion,
  ImageReviewFault,
  readImageReview,
} from "../../../src/admission/plugins/image-policy-webhook/image-review.ts";
import { decodeJson } from "../../../src/base/json/decode.ts";
import { SyntaxFault } from "../../../src/base/json/syntax-fault.ts";
import {
  ConversionFault,
  readConverted,
} from "../../../src/custom-resources/conversion/webhook-converter.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { attempt, type Target, jsonTokens } from "../target.ts";

const apiVersion = "admission.platform.io/v1";
const reviewOf = (response: object, version = apiVersion, kind = "AdmissionReview") =>
  JSON.stringify({ apiVersion: version, kind, response });
const object = {
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "a", uid: "u", labels: { a: "b" } },
};
const converted = { ...object, apiVersion: "example.com/v2" };
const image = {
  apiVersion: imageReviewVersion(platform),
  kind: "ImageReview",
  spec: { containers: [], namespace: "n" },
} as const;

/** Answers of admission, conversion and image webhooks. */
export const webhookAnswerTarget: Target = {
  name: "webhook-answer",
  files: [
    "src/admission/plugins/image-policy-webhook/image-review.ts",
    "src/admission/webhooks/review-response.ts",
    "src/custom-resources/conversion/webhook-converter.ts",
  ],
  seeds: [
    reviewOf({
      uid: "u",
      allowed: true,
      patchType: "JSONPatch",
      patch: Buffer.from('[{"op":"remove","path":"/a"}]').toString("base64"),
    }),
    reviewOf({
      uid: "u",
      allowed: false,
      status: { code: 403, message: "m", reason: "Forbidden", details: { kind: "x" } },
      warnings: ["w"],
      auditAnnotations: { a: "b" },
    }),
    reviewOf(
      { uid: "u", result: { status: "Success" }, convertedObjects: [converted] },
      "c/v1",
      "ConversionReview",
    ),
    JSON.stringify({
      apiVersion: image.apiVersion,
      kind: "ImageReview",
      status: { allowed: true, reason: "r", auditAnnotations: { a: "b" } },
    }),
  ],
  dictionary: [...jsonTokens, '"uid":"u"', '"allowed":true', '"patch":', '"details":', "true", "0"],
  run(bytes) {
    for (const version of ["v1", "v1beta1"] as const) {
      attempt(
        () => readReview(bytes, { version, apiVersion, uid: "u", mutating: version === "v1" }),
        ReviewFault,
      );
    }
    const request = {
      version: "v1",
      apiVersion: "c/v1",
      uid: "u",
      desiredApiVersion: "example.com/v2",
      objects: [object],
    } as const;
    const objects = attempt(() => readConverted(bytes, request), ConversionFault);
    if (objects !== undefined && objects[0]!.metadata["uid"] !== "u")
      throw new Error("the converted object has another uid");
    const value = attempt(() => decodeJson(bytes).value, SyntaxFault);
    attempt(() => readImageReview(value, image), ImageReviewFault);
  },
};
