import { decodeJson } from "../../base/json/decode.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/json/value.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../base/names.ts";
import type { ApiObject } from "../../schema/kind.ts";

/** The versions of ConversionReview that this server speaks, by what definitions call them. */
export type ConversionReviewVersion = "v1" | "v1beta1";

/** An answer that can't be used; the message says why. */
export class ConversionFault extends Error {
  override name = "ConversionFault";
}

/** One question to a conversion webhook. */
export interface ConversionQuestion {
  readonly version: ConversionReviewVersion;
  /** `apiVersion` of the review. */
  readonly apiVersion: string;
  readonly uid: string;
  /** The version that is wanted. */
  readonly desiredApiVersion: string;
  readonly objects: readonly ApiObject[];
}

/** The text of a ConversionReview. */
export function reviewText({ apiVersion, uid, desiredApiVersion, objects }: ConversionQuestion): string {
  const request = { uid, desiredAPIVersion: desiredApiVersion, objects };
  return encodeJson({ kind: "ConversionReview", apiVersion, request } as unknown as JsonValue);
}

/**
 * The converted objects of an answer, with the metadata of those that were sent but for labels and annotations.
 *
 * @throws {ConversionFault} the webhook refuses, or answers with something else than the same objects in the wanted version.
 */
export function readConverted(bytes: Uint8Array, question: ConversionQuestion): readonly ApiObject[] {
  const review = parsed(bytes);
  if (!isObject(review)) throw new ConversionFault("the answer is not an object");
  const { response } = review;
  if (!isObject(response)) throw new ConversionFault("the answer has no response");
  if (question.version === "v1") checkIdentity(review, response, question);
  checkResult(response["result"]);
  const converted = response["convertedObjects"] ?? [];
  if (!Array.isArray(converted)) throw new ConversionFault("response.convertedObjects is not a list");
  const { objects } = question;
  if (converted.length !== objects.length) {
    throw new ConversionFault(`webhook returned ${converted.length} objects, expected ${objects.length}`);
  }
  return converted.map((object, index) => {
    try {
      return checkedObject(object, objects[index]!, question.desiredApiVersion);
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

/** The older version of the review never demanded that answers name it. */
function checkIdentity(
  review: JsonObject,
  response: JsonObject,
  { apiVersion, uid }: ConversionQuestion,
): void {
  if (review["kind"] !== "ConversionReview" || review["apiVersion"] !== apiVersion) {
    const found = `${shortened(review["apiVersion"])}, ${shortened(review["kind"])}`;
    throw new ConversionFault(
      `expected webhook response of "${apiVersion}", "ConversionReview", got ${found}`,
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

/** What a webhook says may be long; what is passed on isn't. */
const maxMessageLength = 1000;

function shortened(value: JsonValue | undefined): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : "no text";
}

function checkedObject(object: JsonValue, original: ApiObject, apiVersion: string): ApiObject {
  if (!isObject(object)) throw new ConversionFault("not an object");
  if (object["apiVersion"] !== apiVersion) {
    const found = shortened(object["apiVersion"]);
    throw new ConversionFault(`invalid groupVersion (expected "${apiVersion}", received ${found})`);
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
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata;
  const labels = textsOf(metadata["labels"], "labels", labelValueFaults);
  const annotations = textsOf(metadata["annotations"], "annotations", () => []);
  return {
    ...(object as unknown as ApiObject),
    metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) },
  };
}

function textsOf(
  given: JsonValue | undefined,
  name: string,
  faultsOf: (value: string) => readonly string[],
): Record<string, string> | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isObject(given)) throw new ConversionFault(`metadata.${name} is not a map`);
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== "string") throw new ConversionFault(`metadata.${name} is not a map of texts`);
    const fault = qualifiedNameFaults(key)[0] ?? faultsOf(value)[0];
    if (fault !== undefined) throw new ConversionFault(`metadata.${name}: ${shortened(key)}: ${fault}`);
  }
  return given as Record<string, string>;
}
