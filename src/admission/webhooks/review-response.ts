import { encodeJson } from "../../base/json/encode.ts";
import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import type { ReviewVersion } from "./webhook.ts";

/** What a webhook answered. */
export interface ReviewAnswer {
  readonly allowed: boolean;
  /** Why not, as it says; undefined where it says nothing. */
  readonly status: RefusalStatus | undefined;
  /** Operations of a JSON patch; empty for none. */
  readonly patch: readonly JsonValue[];
  readonly warnings: readonly string[];
  readonly auditAnnotations: readonly (readonly [string, string])[];
}

/** The parts of a Status that count in a refusal. */
export interface RefusalStatus {
  readonly code: number;
  readonly message: string;
  readonly reason: string;
  readonly details: JsonObject | undefined;
}

/** An answer that can't be used; the message says why. */
export class ReviewFault extends Error {
  override name = "ReviewFault";
}

/** What is expected of an answer. */
export interface Expected {
  readonly version: ReviewVersion;
  readonly apiVersion: string;
  readonly uid: string;
  /** Whether it may have a patch. */
  readonly mutating: boolean;
}

/** So many warnings and annotations of one answer count, and so many characters of all its annotations. */
const most = { warnings: 100, annotations: 100, annotationCharacters: 64 * 1024 };

/**
 * Reads the answer to a review, an AdmissionReview of the same version.
 *
 * @throws {ReviewFault} another version, kind or uid; a wrong type; a patch where there may be none, or one that isn't JSON.
 */
export function readReview(bytes: Uint8Array, expected: Expected): ReviewAnswer {
  const review = parsed(bytes, "the answer");
  if (!isObject(review)) throw new ReviewFault("the answer is not an object");
  checkType(review, expected);
  const { response } = review;
  if (!isObject(response)) throw new ReviewFault("webhook response was absent");
  if (expected.version === "v1") checkUid(response, expected.uid);
  const allowed = response["allowed"] ?? false;
  if (typeof allowed !== "boolean") throw new ReviewFault("response.allowed is neither true nor false");
  return {
    allowed,
    status: statusOf(response["status"]),
    patch: patchOf(response, expected),
    warnings: texts(response["warnings"], "response.warnings").slice(0, most.warnings),
    auditAnnotations: annotationsOf(response["auditAnnotations"]),
  };
}

function parsed(bytes: Uint8Array, what: string): JsonValue {
  try {
    return decodeJson(bytes).value;
  } catch (error) {
    if (error instanceof SyntaxFault) throw new ReviewFault(`${what} is not JSON: ${error.message}`);
    throw error;
  }
}

/** The older version never demanded that the answer names its version; one that names another is refused all the same. */
function checkType({ kind = "", apiVersion = "" }: JsonObject, expected: Expected): void {
  const silent = kind === "" && apiVersion === "" && expected.version === "v1beta1";
  if (silent || (kind === "AdmissionReview" && apiVersion === expected.apiVersion)) return;
  const [found, wanted] = [
    [apiVersion, kind],
    [expected.apiVersion, "AdmissionReview"],
  ].map((one) => encodeJson(one as JsonValue));
  throw new ReviewFault(`expected webhook response of ${wanted}, got ${found}`);
}

function checkUid({ uid = "" }: JsonObject, expected: string): void {
  if (uid === expected) return;
  throw new ReviewFault(`expected response.uid=${JSON.stringify(expected)}, got ${shortened(uid)}`);
}

function shortened(value: JsonValue): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : "no text";
}

function statusOf(value: JsonValue | undefined): RefusalStatus | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw new ReviewFault("response.status is not an object");
  const { code = 0, message = "", reason = "", details } = value;
  const right = typeof code === "number" && typeof message === "string" && typeof reason === "string";
  if (!right) throw new ReviewFault("response.status: code, message or reason is of a wrong type");
  return { code, message, reason, details: isObject(details) ? details : undefined };
}

function patchOf(response: JsonObject, { version, mutating }: Expected): readonly JsonValue[] {
  const text = response["patch"] ?? "";
  const type = response["patchType"] ?? undefined;
  if (typeof text !== "string") throw new ReviewFault("response.patch is not a text");
  if (!mutating) {
    if (version === "v1" && (text !== "" || type !== undefined)) {
      throw new ReviewFault("validating webhook may not return response.patch or response.patchType");
    }
    return [];
  }
  if (version === "v1") checkPatchType(text, type);
  if (text === "") return [];
  const patch = parsed(Buffer.from(text, "base64"), "response.patch");
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
    throw new ReviewFault(`unsupported patch type ${shortened(type)}`);
  }
}

function texts(value: JsonValue | undefined, place: string): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string")) {
    throw new ReviewFault(`${place} is not a list of texts`);
  }
  return value;
}

function annotationsOf(value: JsonValue | undefined): (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (!isObject(value)) throw new ReviewFault("response.auditAnnotations is not a map");
  const found: (readonly [string, string])[] = [];
  let characters = 0;
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string") throw new ReviewFault("response.auditAnnotations is not a map of texts");
    characters += key.length + text.length;
    if (found.length === most.annotations || characters > most.annotationCharacters) break;
    found.push([key, text]);
  }
  return found;
}
