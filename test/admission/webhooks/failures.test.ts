import { describe, expect, it } from "vitest";
import type { Reply } from "../../support/https-service.ts";
import {
  hook,
  patched,
  reviewed,
  TestWebhook,
  type Review,
  type WebhookAnswer,
  useWebhook,
} from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const fixture = useWebhook();

const map = (name: string, data: object = { a: "1" }) => ({ metadata: { name }, data });
const reply = (body: Reply["body"], more: Partial<Reply> = {}): WebhookAnswer => ({
  reply: { body, ...more },
});
const changed = (review: Review, changes: object, response: object = {}) =>
  reply({ ...reviewed(review, { allowed: true, ...response }), ...changes });
const unreachable = { url: "https://127.0.0.1:1/" };

/** Creates a ConfigMap with one webhook configured; returns the status, the message and the stored data. */
async function outcome(kind: "mutating" | "validating", changes: object, client = fixture.webhook.client()) {
  await fixture.configurations[kind]("first", hook(client, changes));
  const answer = await fixture.server.admin.post(MAPS, map("a"));
  await fixture.configurations.clear();
  const stored = (await fixture.server.admin.get(`${MAPS}/a`)).body.data;
  await fixture.server.admin.ask("DELETE", MAPS);
  return { status: answer.status, message: answer.body.message as string | undefined, stored };
}

/** Expects 500 with the failure policy Fail, and 201 with Ignore. */
async function expectPolicy(
  kind: "mutating" | "validating",
  why: string,
  changes: object = {},
  client?: object,
) {
  const refused = await outcome(kind, { failurePolicy: "Fail", ...changes }, client);
  expect(refused).toEqual({ status: 500, message: expect.stringContaining(why), stored: undefined });
  expect(refused.message).toMatch(
    /^Internal error occurred: failed calling webhook "one.test.example.com": /,
  );
  const ignored = await outcome(kind, { failurePolicy: "Ignore", ...changes }, client);
  expect(ignored).toEqual({ status: 201, message: undefined, stored: { a: "1" } });
}

describe.each(["mutating", "validating"] as const)("the failure policy of a %s webhook applies", (kind) => {
  it("when the connection is refused", async () => {
    await expectPolicy(
      kind,
      "failed to call webhook: https://127.0.0.1:1/ can't be reached",
      {},
      unreachable,
    );
  });

  it("C-2.9-16 when it is not set, as Fail", async () => {
    expect(await outcome(kind, {}, unreachable)).toMatchObject({ status: 500, stored: undefined });
  });

  it("C-2.9-15 when the webhook exceeds its timeout", async () => {
    fixture.webhook.answer = () => reply(undefined);
    await expectPolicy(kind, "did not answer within 1000 ms", { timeoutSeconds: 1 });
  });

  it("C-2.9-08 when the certificate of the webhook is not signed by caBundle", async () => {
    const other = await TestWebhook.start();
    const client = {
      ...fixture.webhook.client(),
      caBundle: Buffer.from(other.service.ca).toString("base64"),
    };
    await other.close();
    await expectPolicy(kind, "certificate", {}, client);
    expect(fixture.webhook.calls).toEqual([]);
  });

  it.each<[string, (review: Review) => WebhookAnswer, string]>([
    ["an error status", () => reply({}, { status: 500 }), "answers with status 500"],
    ["a redirect", () => reply({}, { status: 307, headers: { location: "/b" } }), "answers with status 307"],
    ["malformed JSON", () => reply("{"), "is not JSON"],
    ["a JSON value that is not an object", () => reply("[]"), "is not an object"],
    [
      "a review without response",
      (review) => changed(review, { response: undefined }),
      "webhook response was absent",
    ],
    ["another uid", (review) => changed(review, {}, { uid: "other" }), "expected response.uid="],
    [
      "C-4.13-11 another version",
      (review) => changed(review, { apiVersion: "admission.platform.io/v1beta1" }),
      "expected webhook response of",
    ],
    ["another kind", (review) => changed(review, { kind: "Review" }), "expected webhook response of"],
    ["a field of a wrong type", (review) => changed(review, {}, { allowed: "yes" }), "response.allowed"],
    [
      "warnings that are not strings",
      (review) => changed(review, {}, { warnings: [1] }),
      "response.warnings",
    ],
    ["a body above the size limit", () => reply("x".repeat(9 * 1024 * 1024)), "answers more than"],
  ])("when the webhook responds with %s", async (_, answer, why) => {
    fixture.webhook.answer = answer;
    await expectPolicy(kind, why);
  });

  it("C-4.13-11 when the webhook responds in v1 to a review in v1beta1", async () => {
    fixture.webhook.answer = (review) => changed(review, { apiVersion: "admission.platform.io/v1" });
    await expectPolicy(kind, "expected webhook response of", { admissionReviewVersions: ["v1beta1"] });
  });
});

describe("the failure policy applies to a patch", () => {
  it.each<[string, object, string]>([
    ["that is not JSON", { patch: "e30tLQ==", patchType: "JSONPatch" }, "response.patch is not JSON"],
    ["that is not a string", { patch: 7, patchType: "JSONPatch" }, "response.patch is not a string"],
    ["that is not a list", { patch: "e30=", patchType: "JSONPatch" }, "not a list"],
    ["without patchType", { patch: "W10=" }, "but not response.patchType"],
    ["of an unsupported patchType", { patch: "W10=", patchType: "MergePatch" }, "unsupported patch type"],
    ["that is missing while patchType is set", { patchType: "JSONPatch" }, "but not response.patch"],
    ["with an unknown operation", patched({ op: "grow", path: "/data" }), "can't be applied"],
    ["for a missing path", patched({ op: "remove", path: "/data/zzz" }), "can't be applied"],
    ["whose test operation fails", patched({ op: "test", path: "/data/a", value: "no" }), "can't be applied"],
    [
      "that sets a field to a value of another type",
      patched({ op: "replace", path: "/data", value: 7 }),
      "can't be applied",
    ],
  ])("%s", async (_, response, why) => {
    fixture.webhook.answer = () => ({ response: { allowed: true, ...response } });
    await expectPolicy("mutating", why);
  });

  it("that a validating webhook returns", async () => {
    fixture.webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value: "2" }) });
    await expectPolicy("validating", "may not return response.patch");
  });

  it("of a deletion, which has no object", async () => {
    const doomed = async (failurePolicy: string) => {
      await fixture.server.admin.post(MAPS, map("a"));
      await fixture.configurations.mutating("first", hook(fixture.webhook.client(), { failurePolicy }));
      const answer = await fixture.server.admin.delete(`${MAPS}/a`);
      await fixture.configurations.clear();
      return answer;
    };
    fixture.webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value: "2" }) });
    const refused = await doomed("Fail");
    expect([refused.status, refused.body.message]).toEqual([500, expect.stringContaining("not supported")]);
    expect((await fixture.server.admin.get(`${MAPS}/a`)).body.data).toEqual({ a: "1" });
    expect((await doomed("Ignore")).status).toBe(200);
  });
});

describe("request timeout", () => {
  it("ends a webhook call with 504 and stores nothing", async () => {
    fixture.webhook.answer = () => reply(undefined);
    await fixture.configurations.mutating(
      "first",
      hook(fixture.webhook.client(), { timeoutSeconds: 30, failurePolicy: "Ignore" }),
    );
    const answer = await fixture.server.admin.post(`${MAPS}?timeout=300ms`, map("a"));
    expect([answer.status, answer.body.reason]).toEqual([504, "Timeout"]);
    // Nothing is written after the 504 response.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await fixture.server.admin.get(`${MAPS}/a`)).status).toBe(404);
  });
});

describe("a patch that enlarges the object", () => {
  it("returns 413 or 422 when the object exceeds its size limit, and nothing is stored", async () => {
    const value = "x".repeat(4 * 1024 * 1024);
    fixture.webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value }) });
    await fixture.configurations.mutating("first", hook(fixture.webhook.client()));
    const answer = await fixture.server.admin.post(MAPS, map("a"));
    expect([413, 422]).toContain(answer.status);
    expect((await fixture.server.admin.get(`${MAPS}/a`)).status).toBe(404);
  });

  it("returns 500 when repeated copy operations exceed the patch limits", async () => {
    const doubling = Array.from({ length: 60 }, (_, index) => ({
      op: "copy",
      from: index === 0 ? "/data" : `/metadata/annotations/x${index - 1}`,
      path: `/metadata/annotations/x${index}`,
    }));
    const start = { op: "add", path: "/metadata/annotations", value: {} };
    fixture.webhook.answer = () => ({ response: patched(start, ...doubling) });
    await fixture.configurations.mutating("first", hook(fixture.webhook.client()));
    expect((await fixture.server.admin.post(MAPS, map("a", { a: "y".repeat(900_000) }))).status).toBe(500);
  });
});
