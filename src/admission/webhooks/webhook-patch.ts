import { decodeJson } from "../../base/json/decode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { applyJsonPatch } from "../../fields/json-patch.ts";
import { PatchFault } from "../../fields/patch-fault.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { ObjectTooLarge } from "../../resources/objects/stored.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { TypeFault } from "../../schema/decode.ts";
import { unusablePatchCode, WebhookFailure } from "./failures.ts";
import type { ReviewObjects } from "./review-objects.ts";

/**
 * Applies the patch of a webhook to the object of the request.
 *
 * @param resource the version in which the webhook received the object.
 * @param patch the operations of a JSON patch.
 * @returns whether the object has changed.
 * @throws {WebhookFailure} the patch can't be applied; the object is unchanged.
 * @throws {ObjectTooLarge} the patched object is larger than the store accepts.
 */
export async function applyWebhookPatch(
  webhook: string,
  request: AdmissionRequest,
  objects: ReviewObjects,
  resource: Resource,
  patch: readonly JsonValue[],
): Promise<boolean> {
  // The options of a connection are in its URL, which can't be changed any more.
  if (request.object === undefined || request.operation === "CONNECT") {
    const why = "attempted to modify the object, which is not supported for this operation";
    throw new WebhookFailure(webhook, why, unusablePatchCode);
  }
  const { object } = await objects.encode(resource);
  try {
    const patched = applyJsonPatch(decodeJson(Buffer.from(object)).value, [...patch]);
    return await objects.replace(resource, patched);
  } catch (error) {
    if (error instanceof ObjectTooLarge) throw error;
    const isRejected =
      error instanceof PatchFault || error instanceof TypeFault || error instanceof StatusError;
    if (!isRejected) throw error;
    throw new WebhookFailure(webhook, `the patch can't be applied: ${error.message}`, unusablePatchCode);
  }
}
