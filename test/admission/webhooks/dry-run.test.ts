import { PolicyPrograms } from "../../../src/admission/policies/environment.ts";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../../src/base/logger.ts";
import { systemClock } from "../../../src/base/time/clock.ts";
import { ReviewRequests } from "../../../src/admission/webhooks/review-request.ts";
import { ReviewObjects } from "../../../src/admission/webhooks/review-objects.ts";
import type { WebhookServices } from "../../../src/admission/webhooks/services.ts";
import { WebhookCalls } from "../../../src/admission/webhooks/webhook-calls.ts";
import { webhooksOf } from "../../../src/admission/webhooks/webhook.ts";
import { ConfigMap } from "../../../src/kinds/core/config-map.ts";
import { WebhookCaller } from "../../../src/remote/webhook-caller.ts";
import type { AdmissionRequest } from "../../../src/resources/engine/engine.ts";
import { Registry } from "../../../src/resources/registry/registry.ts";
import { WriteEffects } from "../../../src/resources/writes/write.ts";
import type { ApiObject } from "../../../src/schema/kind.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { hook } from "./support.ts";

const registry = new Registry([ConfigMap], platform, () => true);
const resource = registry.require(ConfigMap);
const unreachable = { url: "https://127.0.0.1:1/" };

/** Runs a dry run with one webhook; returns the error. The validation rejects such `sideEffects`, but older objects can have them. */
async function dryRun(changes: object): Promise<unknown> {
  const configuration = { metadata: { name: "c" }, webhooks: [hook(unreachable, changes)] };
  const [matched] = webhooksOf(
    configuration as unknown as ApiObject,
    new PolicyPrograms({ release: "1.26", checkSelectors: false }),
  );
  const user = { name: "ana", uid: "", groups: [], extra: {} };
  const target = { resource, namespace: "default", name: "a", subresource: "" };
  const options = { user, dryRun: true, fieldManager: "" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const request: AdmissionRequest = {
    operation: "CREATE",
    target,
    requestResource: resource,
    options,
    user,
    dryRun: true,
    object,
    live: undefined,
    reinvocation: false,
    effects: new WriteEffects(),
  };
  const caller = new WebhookCaller(systemClock, () => Promise.reject(new Error("no services")));
  const services = {
    vocabulary: platform,
    clock: systemClock,
    log: silentLogger,
    caller,
    newUid: () => "uid",
  } as unknown as WebhookServices;
  const objects = new ReviewObjects(request, platform, {} as never);
  const reviews = new ReviewRequests(request, objects, platform);
  const calls = new WebhookCalls(services, "validating");
  try {
    return await calls.call({ matched: matched!, resource }, request, reviews, Date.now() + 1000);
  } catch (error) {
    return error;
  } finally {
    await caller.close();
  }
}

describe("a dry run that matches a webhook", () => {
  it.each(["Some", "Unknown", undefined])(
    "returns BadRequest without a webhook call when sideEffects is %s",
    async (sideEffects) => {
      expect(await dryRun({ sideEffects })).toMatchObject({
        reason: "BadRequest",
        message: 'admission webhook "one.test.example.com" does not support dry run',
      });
    },
  );

  it.each(["None", "NoneOnDryRun"])("calls the webhook when sideEffects is %s", async (sideEffects) => {
    expect(await dryRun({ sideEffects })).toMatchObject({ name: "WebhookFailure" });
  });
});
