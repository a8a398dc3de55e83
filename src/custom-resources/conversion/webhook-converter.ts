import { groupVersion } from "../../vocabulary/names.ts";
import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { WebhookCall } from "../../remote/webhook-caller.ts";
import { webhookTarget, type WebhookClientConfig, type WebhookTarget } from "../../remote/webhook-target.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import {
  ConversionFault,
  readConverted,
  reviewText,
  type ConversionRequest,
  type ConversionReviewVersion,
} from "./conversion-review.ts";
import type { ObjectConverter } from "./object-converter.ts";

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
    const { length } = encodeJson(objects[index] as unknown as JsonValue);
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
