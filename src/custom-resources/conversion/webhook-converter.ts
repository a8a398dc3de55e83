import { jsonOf, type JsonValue, isObject, type JsonObject } from "../../base/json/value.ts";
import { objectAs } from "../../schema/api-object.ts";
import { groupVersion } from "../../vocabulary/names.ts";
import { encodeJson } from "../../base/json/encode.ts";
import { StatusError } from "../../base/status-error.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { WebhookCall } from "../../remote/webhook-caller.ts";
import { webhookTarget, type WebhookClientConfig, type WebhookTarget } from "../../remote/webhook-target.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { ObjectConverter } from "./object-converter.ts";
import { decodeJson } from "../../base/json/decode.ts";
import { SyntaxFault } from "../../base/json/syntax-fault.ts";
import { labelValueFaults, qualifiedNameFaults } from "../../base/names.ts";

/** Dependencies of conversion webhooks. */
export interface ConversionServices {
  readonly caller: { call(target: WebhookTarget, call: WebhookCall): Promise<Uint8Array> };
  readonly newUid: () => string;
  readonly vocabulary: Vocabulary;
  /** Limit of one call in milliseconds; 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

/** The conversion webhook of a definition. */
export interface ConversionWebhook {
  /** Name of the definition, for error messages. */
  readonly definition: string;
  readonly clientConfig: WebhookClientConfig;
  readonly reviewVersions: readonly string[];
}

const defaultTimeoutMs = 30_000;
/**
 * Maximum number of objects and characters in one call; a single object may have more characters. The limits keep the response below the limit of
 * JSON values.
 */
const batchLimits = { objects: 500, characters: 256 * 1024 };

/** Converts objects by calling a webhook (strategy `Webhook`; spec: conventions 9). A failure fails only the requests that need it. */
export class WebhookConverter implements ObjectConverter {
  readonly keepsLabels = false;
  private readonly endpoint:
    { readonly target: WebhookTarget; readonly version: ConversionReviewVersion } | string;

  constructor(
    private readonly webhook: ConversionWebhook,
    private readonly services: ConversionServices,
  ) {
    this.endpoint = endpointOf(webhook);
  }

  async convert(objects: readonly ApiObject[], apiVersion: string): Promise<readonly ApiObject[]> {
    const result = [...objects];
    const others = [...objects.keys()].filter((index) => objects[index]!.apiVersion !== apiVersion);
    for (const batch of batchesOf(objects, others)) {
      const converted = await this.call(
        batch.map((index) => objects[index]!),
        apiVersion,
      );
      for (const [at, index] of batch.entries()) result[index] = converted[at]!;
    }
    return result;
  }

  private async call(
    objects: readonly ApiObject[],
    desiredApiVersion: string,
  ): Promise<readonly ApiObject[]> {
    const { endpoint, services } = this;
    if (typeof endpoint === "string") throw this.failure(objects, endpoint);
    const { target, version } = endpoint;
    const { caller, newUid, vocabulary, timeoutMs = defaultTimeoutMs } = services;
    const apiVersion = groupVersion(vocabulary.groupSuffix, "apiextensions", version);
    const request: ConversionRequest = { version, apiVersion, uid: newUid(), desiredApiVersion, objects };
    try {
      const json = reviewText(request);
      return readConverted(await caller.call(target, { json, timeoutMs, source: "" }), request);
    } catch (error) {
      if (!(error instanceof RemoteFault || error instanceof ConversionFault)) throw error;
      throw this.failure(objects, error.message);
    }
  }

  private failure([first]: readonly ApiObject[], why: string): StatusError {
    return new StatusError(
      "InternalError",
      `conversion webhook for ${first!.apiVersion}, Kind=${first!.kind} failed: ${why} ` +
        `(CustomResourceDefinition ${this.webhook.definition})`,
    );
  }
}

/** The target and review version of calls; or why the webhook can't be called, as stored definitions may not pass today's validation. */
function endpointOf({ clientConfig, reviewVersions }: ConversionWebhook): WebhookConverter["endpoint"] {
  const version = reviewVersions.find(
    (one): one is ConversionReviewVersion => one === "v1" || one === "v1beta1",
  );
  if (version === undefined)
    return "the webhook does not accept known ConversionReview versions (v1, v1beta1)";
  try {
    return { version, target: webhookTarget(clientConfig) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message;
  }
}

/** Divides objects into the batches of the calls. */
function* batchesOf(objects: readonly ApiObject[], indexes: readonly number[]): Generator<readonly number[]> {
  let batch: number[] = [];
  let characters = 0;
  for (const index of indexes) {
    const { length } = encodeJson(jsonOf(objects[index]!));
    const isFull = batch.length === batchLimits.objects || characters + length > batchLimits.characters;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(index);
    characters += length;
  }
  if (batch.length > 0) yield batch;
}

/** Supported versions of ConversionReview, as in `conversionReviewVersions`. */
type ConversionReviewVersion = "v1" | "v1beta1";

/** An invalid response of a conversion webhook, or its refusal. */
export class ConversionFault extends Error {
  override name = "ConversionFault";
}

/** One request to a conversion webhook. */
interface ConversionRequest {
  readonly version: ConversionReviewVersion;
  /** `apiVersion` of the review. */
  readonly apiVersion: string;
  readonly uid: string;
  /** The `apiVersion` to convert to. */
  readonly desiredApiVersion: string;
  readonly objects: readonly ApiObject[];
}

/** The ConversionReview of a request in JSON. */
function reviewText({ apiVersion, uid, desiredApiVersion, objects }: ConversionRequest): string {
  const review = { uid, desiredAPIVersion: desiredApiVersion, objects };
  return encodeJson(jsonOf({ kind: "ConversionReview", apiVersion, request: review }));
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
    ...objectAs<ApiObject>(object),
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
