import { encodeJson } from "../../base/json/encode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { RemoteFault } from "../../remote/answer-reader.ts";
import type { WebhookCall } from "../../remote/webhook-caller.ts";
import { webhookTarget, type WebhookClientConfig, type WebhookTarget } from "../../remote/webhook-target.ts";
import type { ApiObject, Kind, ObjectConverter } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import {
  ConversionFault,
  readConverted,
  reviewText,
  type ConversionQuestion,
  type ConversionReviewVersion,
} from "./conversion-review.ts";

/** What conversion webhooks are asked with. */
export interface ConversionServices {
  readonly caller: { call(target: WebhookTarget, call: WebhookCall): Promise<Uint8Array> };
  readonly newUid: () => string;
  readonly vocabulary: Vocabulary;
  /** 30 s unless given. */
  readonly timeoutMs?: number | undefined;
}

/** The webhook of a definition. */
export interface ConversionWebhook {
  /** Name of the definition, which messages name. */
  readonly definition: string;
  readonly clientConfig: WebhookClientConfig;
  readonly reviewVersions: readonly string[];
}

const defaultTimeoutMs = 30_000;
/**
 * One question has at most so many objects and, unless it is for one object, so many characters of them: too few for more JSON values
 * than an answer may have.
 */
const batchLimits = { objects: 500, characters: 256 * 1024 };

/**
 * Asks a webhook to convert objects (strategy `Webhook`; spec: conventions 9). What goes wrong with it fails the requests that
 * need it, and no others.
 */
export class WebhookConverter implements ObjectConverter {
  private readonly calling:
    { readonly target: WebhookTarget; readonly version: ConversionReviewVersion } | string;

  constructor(
    private readonly webhook: ConversionWebhook,
    private readonly services: ConversionServices,
    readonly stored: () => Kind,
  ) {
    this.calling = callingOf(webhook);
  }

  async convert(objects: readonly ApiObject[], apiVersion: string): Promise<readonly ApiObject[]> {
    const result = [...objects];
    const others = [...objects.keys()].filter((index) => objects[index]!.apiVersion !== apiVersion);
    for (const batch of batchesOf(objects, others)) {
      const converted = await this.ask(
        batch.map((index) => objects[index]!),
        apiVersion,
      );
      for (const [at, index] of batch.entries()) result[index] = converted[at]!;
    }
    return result;
  }

  private async ask(objects: readonly ApiObject[], desiredApiVersion: string): Promise<readonly ApiObject[]> {
    const { calling, services } = this;
    if (typeof calling === "string") throw this.failure(objects, calling);
    const { target, version } = calling;
    const { caller, newUid, vocabulary, timeoutMs = defaultTimeoutMs } = services;
    const apiVersion = `apiextensions.${vocabulary.groupSuffix}/${version}`;
    const question: ConversionQuestion = { version, apiVersion, uid: newUid(), desiredApiVersion, objects };
    try {
      const json = reviewText(question);
      return readConverted(await caller.call(target, { json, timeoutMs, source: "" }), question);
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

/** How the webhook is called; a text: why it can't be. What validation refuses may still be stored. */
function callingOf({ clientConfig, reviewVersions }: ConversionWebhook): WebhookConverter["calling"] {
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

/** The indexes of the objects of each question. */
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
