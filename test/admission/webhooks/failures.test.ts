import { describe, expect, it } from "vitest";
import type { Reply } from "../../support/https-service.ts";
import { hook, patched, reviewed, TestWebhook, type Asked, type Said, useWebhook } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const world = useWebhook();

const map = (name: string, data: object = { a: "1" }) => ({ metadata: { name }, data });
const reply = (body: Reply["body"], more: Partial<Reply> = {}): Said => ({ reply: { body, ...more } });
const changed = (review: Asked, changes: object, response: object = {}) =>
  reply({ ...reviewed(review, { allowed: true, ...response }), ...changes });
const nobody = { url: "https://127.0.0.1:1/" };

/** What follows for a create with a webhook that fails. */
async function outcome(kind: "mutating" | "validating", changes: object, client = world.webhook.client()) {
  await world.configurations[kind]("first", hook(client, changes));
  const answer = await world.server.admin.post(MAPS, map("a"));
  await world.configurations.clear();
  const stored = (await world.server.admin.get(`${MAPS}/a`)).body.data;
  await world.server.admin.ask("DELETE", MAPS);
  return { status: answer.status, message: answer.body.message as string | undefined, stored };
}

/** Expects that a failure of the webhook is what the failure policy decides about. */
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

describe.each(["mutating", "validating"] as const)("the failure policy of a %s webhook decides", (kind) => {
  it("when the connection is refused", async () => {
    await expectPolicy(kind, "failed to call webhook: https://127.0.0.1:1/ can't be reached", {}, nobody);
  });

  it("C-2.9-16 and defaults to Fail", async () => {
    expect(await outcome(kind, {}, nobody)).toMatchObject({ status: 500, stored: undefined });
  });

  it("C-2.9-15 when the webhook exceeds its timeout", async () => {
    world.webhook.answer = () => reply(undefined);
    await expectPolicy(kind, "did not answer within 1000 ms", { timeoutSeconds: 1 });
  });

  it("C-2.9-08 when its certificate isn't signed by the bundle", async () => {
    const other = await TestWebhook.start();
    const client = { ...world.webhook.client(), caBundle: Buffer.from(other.service.ca).toString("base64") };
    await other.close();
    await expectPolicy(kind, "certificate", {}, client);
    expect(world.webhook.asked).toEqual([]);
  });

  it.each<[string, (review: Asked) => Said, string]>([
    ["an error status", () => reply({}, { status: 500 }), "answers with status 500"],
    [
      "a redirection",
      () => reply({}, { status: 307, headers: { location: "/b" } }),
      "answers with status 307",
    ],
    ["no JSON", () => reply("{"), "is not JSON"],
    ["no object", () => reply("[]"), "is not an object"],
    ["no response", (review) => changed(review, { response: undefined }), "webhook response was absent"],
    ["another uid", (review) => changed(review, {}, { uid: "other" }), "expected response.uid="],
    [
      "C-4.13-11 another version",
      (review) => changed(review, { apiVersion: "admission.platform.io/v1beta1" }),
      "expected webhook response of",
    ],
    ["another kind", (review) => changed(review, { kind: "Review" }), "expected webhook response of"],
    ["a wrong type", (review) => changed(review, {}, { allowed: "yes" }), "response.allowed"],
    ["warnings that are none", (review) => changed(review, {}, { warnings: [1] }), "response.warnings"],
    ["too much", () => reply("x".repeat(9 * 1024 * 1024)), "answers more than"],
  ])("when it answers with %s", async (_, answer, why) => {
    world.webhook.answer = answer;
    await expectPolicy(kind, why);
  });

  it("C-4.13-11 when it answers in v1 to a review in v1beta1", async () => {
    world.webhook.answer = (review) => changed(review, { apiVersion: "admission.platform.io/v1" });
    await expectPolicy(kind, "expected webhook response of", { admissionReviewVersions: ["v1beta1"] });
  });
});

describe("the failure policy decides about a patch", () => {
  it.each<[string, object, string]>([
    ["that is no JSON", { patch: "e30tLQ==", patchType: "JSONPatch" }, "response.patch is not JSON"],
    ["that is no text", { patch: 7, patchType: "JSONPatch" }, "response.patch is not a string"],
    ["that is no list", { patch: "e30=", patchType: "JSONPatch" }, "not a list"],
    ["without its type", { patch: "W10=" }, "but not response.patchType"],
    ["of another type", { patch: "W10=", patchType: "MergePatch" }, "unsupported patch type"],
    ["that is only a type", { patchType: "JSONPatch" }, "but not response.patch"],
    ["with an unknown operation", patched({ op: "grow", path: "/data" }), "can't be applied"],
    ["for a path that isn't there", patched({ op: "remove", path: "/data/zzz" }), "can't be applied"],
    ["whose test fails", patched({ op: "test", path: "/data/a", value: "no" }), "can't be applied"],
    [
      "that makes a field of another type",
      patched({ op: "replace", path: "/data", value: 7 }),
      "can't be applied",
    ],
  ])("%s", async (_, response, why) => {
    world.webhook.answer = () => ({ response: { allowed: true, ...response } });
    await expectPolicy("mutating", why);
  });

  it("when a validating webhook returns one", async () => {
    world.webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value: "2" }) });
    await expectPolicy("validating", "may not return response.patch");
  });

  it("when a webhook patches a deletion, which has no object", async () => {
    const doomed = async (failurePolicy: string) => {
      await world.server.admin.post(MAPS, map("a"));
      await world.configurations.mutating("first", hook(world.webhook.client(), { failurePolicy }));
      const answer = await world.server.admin.delete(`${MAPS}/a`);
      await world.configurations.clear();
      return answer;
    };
    world.webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value: "2" }) });
    const refused = await doomed("Fail");
    expect([refused.status, refused.body.message]).toEqual([500, expect.stringContaining("not supported")]);
    expect((await world.server.admin.get(`${MAPS}/a`)).body.data).toEqual({ a: "1" });
    expect((await doomed("Ignore")).status).toBe(200);
  });
});

describe("the timeout of the request", () => {
  it("limits the total time of all its webhooks and stores nothing after 504", async () => {
    world.webhook.answer = () => reply(undefined);
    await world.configurations.mutating(
      "first",
      hook(world.webhook.client(), { timeoutSeconds: 30, failurePolicy: "Ignore" }),
    );
    const answer = await world.server.admin.post(`${MAPS}?timeout=300ms`, map("a"));
    expect([answer.status, answer.body.reason]).toEqual([504, "Timeout"]);
    // Nothing is written afterwards for a client that was told of the timeout.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await world.server.admin.get(`${MAPS}/a`)).status).toBe(404);
  });
});

describe("a patch that grows the object", () => {
  it("is rejected when the object exceeds its size limit, and nothing is stored", async () => {
    const value = "x".repeat(4 * 1024 * 1024);
    world.webhook.answer = () => ({ response: patched({ op: "add", path: "/data/b", value }) });
    await world.configurations.mutating("first", hook(world.webhook.client()));
    const answer = await world.server.admin.post(MAPS, map("a"));
    expect([413, 422]).toContain(answer.status);
    expect((await world.server.admin.get(`${MAPS}/a`)).status).toBe(404);
  });

  it("is rejected with 500 when repeated copy operations exceed the patch limits", async () => {
    const doubling = Array.from({ length: 60 }, (_, index) => ({
      op: "copy",
      from: index === 0 ? "/data" : `/metadata/annotations/x${index - 1}`,
      path: `/metadata/annotations/x${index}`,
    }));
    const start = { op: "add", path: "/metadata/annotations", value: {} };
    world.webhook.answer = () => ({ response: patched(start, ...doubling) });
    await world.configurations.mutating("first", hook(world.webhook.client()));
    expect((await world.server.admin.post(MAPS, map("a", { a: "y".repeat(900_000) }))).status).toBe(500);
  });
});
