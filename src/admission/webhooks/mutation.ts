import { decodeJson } from "../../base/json/decode.ts";
import type { JsonValue } from "../../base/json/value.ts";
import { StatusError } from "../../base/status-error.ts";
import { applyJsonPatch } from "../../fields/json-patch.ts";
import { PatchFault } from "../../fields/patch-fault.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { TypeFault } from "../../schema/decode.ts";
import type { SentObjects } from "./sent-object.ts";

/** A patch that can't be applied; the message says why. */
export class UnusablePatch extends Error {
  override name = "UnusablePatch";
}

/**
 * Applies the patch of a webhook to what it was sent, and makes the request's object what comes out.
 *
 * @param sent the text that the webhook was sent, in the version `resource`.
 * @returns whether the object is another one now.
 * @throws {UnusablePatch} nothing was changed.
 */
export async function applyWebhookPatch(
  objects: SentObjects,
  request: AdmissionRequest,
  resource: Resource,
  sent: string,
  patch: readonly JsonValue[],
): Promise<boolean> {
  // What a connection is asked with stands in its URL, which can't be changed any more.
  if (request.object === undefined || request.operation === "CONNECT") {
    throw new UnusablePatch("attempted to modify the object, which is not supported for this operation");
  }
  try {
    const patched = applyJsonPatch(decodeJson(Buffer.from(sent)).value, [...patch]);
    return await objects.taken(request, resource, patched);
  } catch (error) {
    const foreseen =
      error instanceof PatchFault || error instanceof TypeFault || error instanceof StatusError;
    if (!foreseen) throw error;
    throw new UnusablePatch(`the patch can't be applied: ${error.message}`);
  }
}
