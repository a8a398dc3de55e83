import { decodeJson } from "../../base/json/decode.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../base/names.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** Supported versions of ConversionReview, as in `conversionReviewVersions`. */
export type ConversionReviewVersion = "v1" | "v1beta1";

/** An invalid response of a conversion webhook, or its refusal. */
export class ConversionFault extends Error {
  override name = "ConversionFault";
}

/** One request to a conversion webhook. */
export interface ConversionRequest {
  readonly version: ConversionReviewVersion;
  /** `apiVersion` of the review. */
  readonly apiVersion: string;
  readonly uid: string;
  /** The `apiVersion` to convert to. */
  readonly desiredApiVersion: string;
  readonly objects: readonly ApiObject[];
}

/** The ConversionReview of a request in JSON. */
export function reviewText({ apiVersion, uid, desiredApiVersion, objects }: ConversionRequest): string {
  const review = { uid, desiredAPIVersion: desiredApiVersion, objects };
  return encodeJson({ kind: "ConversionReview", apiVersion, request: review } as unknown as JsonValue);
}

/**
 * Reads the converted objects of a response. Of their metadata only labels and annotations are used; the rest is that of the request.
 *
 * @throws {ConversionFault} the webhook reports a failure, or its response isn't the same objects in the desired version.
 */
export function readConverted(bytes: Uint8Array, request: ConversionRequest): readonly ApiObject[] {
  const review = parsed(bytes);
  if (!isObject(review)) throw new ConversionFault("the answer is not an object");
  const { response } = review;
  if (!isObject(response)) throw new ConversionFault("the answer has no response");
  if (request.version === "v1") checkIdentity(review, response, request);
  checkResult(response["result"]);
  const converted = response["convertedObjects"] ?? [];
  if (!Array.isArray(converted)) throw new ConversionFault("response.convertedObjects is not a list");
  const { objects } = request;
  if (converted.length !== objects.length) {
    throw new ConversionFault(`webhook returned ${converted.length} objects, expected ${objects.length}`);
  }
  return converted.map((object, index) => {
    try {
      return checkedObject(object, objects[index]!, request.desiredApiVersion);
    } catch (error) {
      if (!(error instanceof ConversionFault)) throw error;
      throw new ConversionFault(
        `webhook returned invalid converted object at index ${index}: ${error.message}`,
      );
    }
  });
}

function parsed(bytes: Uint8Array): JsonValue {
  try {
    return decodeJson(bytes).value;
  } catch (error) {
    if (error instanceof SyntaxFault) throw new ConversionFault(`the answer is not JSON: ${error.message}`);
    throw error;
  }
}

/** Checks type and uid of a v1 response; v1beta1 doesn't require them. */
function checkIdentity(
  review: JsonObject,
  response: JsonObject,
  { apiVersion, uid }: ConversionRequest,
): void {
  if (review["kind"] !== "ConversionReview" || review["apiVersion"] !== apiVersion) {
    const received = `${shortened(review["apiVersion"])}, ${shortened(review["kind"])}`;
    throw new ConversionFault(
      `expected webhook response of "${apiVersion}", "ConversionReview", got ${received}`,
    );
  }
  if (response["uid"] !== uid) {
    throw new ConversionFault(`expected response.uid="${uid}", got ${shortened(response["uid"])}`);
  }
}

function checkResult(result: JsonValue | undefined): void {
  const { status, message } = isObject(result) ? result : {};
  if (status === "Success") return;
  const why = typeof message === "string" ? message.slice(0, maxMessageLength) : "";
  throw new ConversionFault(why === "" ? "the webhook refuses without a message" : why);
}

/** Maximum length of a webhook's message in the error, in characters. */
const maxMessageLength = 1000;

function shortened(value: JsonValue | undefined): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : "no text";
}

function checkedObject(object: JsonValue, original: ApiObject, apiVersion: string): ApiObject {
  if (!isObject(object)) throw new ConversionFault("not an object");
  if (object["apiVersion"] !== apiVersion) {
    const received = shortened(object["apiVersion"]);
    throw new ConversionFault(`invalid groupVersion (expected "${apiVersion}", received ${received})`);
  }
  if (object["kind"] !== original.kind) {
    throw new ConversionFault(`must have the same kind: "${original.kind}" != ${shortened(object["kind"])}`);
  }
  const { metadata } = object;
  if (!isObject(metadata)) throw new ConversionFault("missing metadata in converted object");
  for (const name of ["name", "namespace", "uid"] as const) {
    const [before, after] = [original.metadata[name] ?? "", metadata[name] ?? ""];
    if (before !== after) {
      throw new ConversionFault(`must have the same ${name}: "${before}" != ${shortened(after)}`);
    }
  }
  const { labels: _labels, annotations: _annotations, ...rest } = original.metadata;
  const labels = textsOf(metadata["labels"], "labels", labelValueFaults);
  const annotations = textsOf(metadata["annotations"], "annotations", () => []);
  return {
    ...(object as unknown as ApiObject),
    metadata: { ...rest, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

function textsOf(
  value: JsonValue | undefined,
  name: string,
  faultsOf: (value: string) => readonly string[],
): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw new ConversionFault(`metadata.${name} is not a map`);
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== "string") throw new ConversionFault(`metadata.${name} is not a map of texts`);
    const fault = qualifiedNameFaults(key)[0] ?? faultsOf(text)[0];
    if (fault !== undefined) throw new ConversionFault(`metadata.${name}: ${shortened(key)}: ${fault}`);
  }
  return value as Record<string, string>;
}
