import { encodeJson } from "../../base/json/encode.ts";
import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { ReviewVersion } from "./review-request.ts";

/** The response of a webhook. */
export interface ReviewResponse {
  readonly allowed: boolean;
  /** The reason of a rejection, if the webhook gives one. */
  readonly status: RejectionStatus | undefined;
  /** Operations of a JSON patch; empty if there is none. */
  readonly patch: readonly JsonValue[];
  readonly warnings: readonly string[];
  readonly auditAnnotations: readonly (readonly [string, string])[];
}

/** The fields of a Status that a rejection uses. */
export interface RejectionStatus {
  readonly code: number;
  readonly message: string;
  readonly reason: string;
  readonly details: JsonObject | undefined;
}

/** An invalid response; the message says why. */
export class ReviewFault extends Error {
  override name = "ReviewFault";
}

/** Expected values in a response. */
export interface ExpectedReview {
  readonly version: ReviewVersion;
  readonly apiVersion: string;
  readonly uid: string;
  /** Whether a patch is allowed. */
  readonly mutating: boolean;
}

/** Limits for one response; what exceeds them is ignored. `annotationCharacters` counts keys and values together. */
const responseLimits = { warnings: 100, annotations: 100, annotationCharacters: 64 * 1024 };

/**
 * Reads the response to a review, an AdmissionReview of the same version.
 *
 * @throws {ReviewFault} another version, kind or uid; a field of a wrong type; a patch that isn't allowed or isn't JSON.
 */
export function readReview(bytes: Uint8Array, expected: ExpectedReview): ReviewResponse {
  const review = parse(bytes, "the response");
  if (!isObject(review)) throw new ReviewFault("the response is not an object");
  checkType(review, expected);
  const { response } = review;
  if (!isObject(response)) throw new ReviewFault("webhook response was absent");
  if (expected.version === "v1") checkUid(response, expected.uid);
  const allowed = response["allowed"] ?? false;
  if (typeof allowed !== "boolean") throw new ReviewFault("response.allowed is not a boolean");
  return {
    allowed,
    status: statusOf(response["status"]),
    patch: patchOf(response, expected),
    warnings: stringsOf(response["warnings"], "response.warnings").slice(0, responseLimits.warnings),
    auditAnnotations: annotationsOf(response["auditAnnotations"]),
  };
}

function parse(bytes: Uint8Array, subject: string): JsonValue {
  try {
    return decodeJson(bytes).value;
  } catch (error) {
    if (error instanceof SyntaxFault) throw new ReviewFault(`${subject} is not JSON: ${error.message}`);
    throw error;
  }
}

/** In v1beta1 kind and apiVersion may both be absent. */
function checkType({ kind = "", apiVersion = "" }: JsonObject, expected: ExpectedReview): void {
  const isAbsent = kind === "" && apiVersion === "" && expected.version === "v1beta1";
  if (isAbsent || (kind === "AdmissionReview" && apiVersion === expected.apiVersion)) return;
  const [actual, wanted] = [
    [apiVersion, kind],
    [expected.apiVersion, "AdmissionReview"],
  ].map((names) => encodeJson(names as JsonValue));
  throw new ReviewFault(`expected webhook response of ${wanted}, got ${actual}`);
}

function checkUid({ uid = "" }: JsonObject, expected: string): void {
  if (uid === expected) return;
  throw new ReviewFault(`expected response.uid=${JSON.stringify(expected)}, got ${quoteStart(uid)}`);
}

function quoteStart(value: JsonValue): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : "a value that is not a string";
}

function statusOf(value: JsonValue | undefined): RejectionStatus | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw new ReviewFault("response.status is not an object");
  const { code = 0, message = "", reason = "", details } = value;
  const isValid = typeof code === "number" && typeof message === "string" && typeof reason === "string";
  if (!isValid) throw new ReviewFault("response.status: code, message or reason has a wrong type");
  return { code, message, reason, details: isObject(details) ? details : undefined };
}

function patchOf(response: JsonObject, { version, mutating }: ExpectedReview): readonly JsonValue[] {
  const text = response["patch"] ?? "";
  const type = response["patchType"] ?? undefined;
  if (typeof text !== "string") throw new ReviewFault("response.patch is not a string");
  if (!mutating) {
    if (version === "v1" && (text !== "" || type !== undefined)) {
      throw new ReviewFault("validating webhook may not return response.patch or response.patchType");
    }
    return [];
  }
  if (version === "v1") checkPatchType(text, type);
  if (text === "") return [];
  const patch = parse(Buffer.from(text, "base64"), "response.patch");
  if (!Array.isArray(patch)) throw new ReviewFault("response.patch is not a list of operations");
  return patch;
}

function checkPatchType(patch: string, type: JsonValue | undefined): void {
  if (patch !== "" && type === undefined) {
    throw new ReviewFault("webhook returned response.patch but not response.patchType");
  }
  if (patch === "" && type !== undefined) {
    throw new ReviewFault("webhook returned response.patchType but not response.patch");
  }
  if (type !== undefined && type !== "JSONPatch") {
    throw new ReviewFault(`unsupported patch type ${quoteStart(type)}`);
  }
}

function stringsOf(value: JsonValue | undefined, path: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw new ReviewFault(`${path} is not a list of strings`);
  }
  return value;
}

function annotationsOf(value: JsonValue | undefined): (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) throw new ReviewFault("response.auditAnnotations is not a map");
  const annotations: (readonly [string, string])[] = [];
  let characters = 0;
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string") throw new ReviewFault("response.auditAnnotations is not a map of strings");
    characters += key.length + text.length;
    if (annotations.length === responseLimits.annotations || characters > responseLimits.annotationCharacters)
      break;
    annotations.push([key, text]);
  }
  return annotations;
}
