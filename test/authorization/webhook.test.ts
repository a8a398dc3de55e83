import { expect, test } from "vitest";
import { SelectorTexts } from "../../src/authorization/request-selectors.ts";
import { AuthorizationWebhook } from "../../src/authorization/webhook.ts";
import { ManualClock } from "../api/support.ts";
import { ask, askPath, user } from "./support.ts";

/** Returns the review that the webhook sends for a request. */
async function reviewOf(attributes: ReturnType<typeof ask> | ReturnType<typeof askPath>, version = "v1") {
  const apiVersion = `authorization.platform.io/${version}`;
  let sent: unknown;
  const webhook = new AuthorizationWebhook({
    async ask(review) {
      sent = review;
      return { apiVersion, kind: "SubjectAccessReview", status: { allowed: true } };
    },
    apiVersion,
    authorizedMs: 0,
    unauthorizedMs: 0,
    clock: new ManualClock(),
    failed: (error) => {
      throw error;
    },
  });
  expect((await webhook.authorize(attributes)).verdict).toBe("allow");
  return sent;
}

test("the review has the user's name, groups, uid and extra, and omits empty ones", async () => {
  const devi = { name: "devi", uid: "u1", groups: ["a", "b"], extra: { scope: ["x", "y"] } };
  expect(await reviewOf(ask(devi, "get", { namespace: "shop", name: "web" }))).toEqual({
    apiVersion: "authorization.platform.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: "devi",
      uid: "u1",
      groups: ["a", "b"],
      extra: { scope: ["x", "y"] },
      resourceAttributes: { verb: "get", version: "v1", resource: "pods", namespace: "shop", name: "web" },
    },
  });
  expect(await reviewOf(ask(user("devi"), "list"))).toEqual({
    apiVersion: "authorization.platform.io/v1",
    kind: "SubjectAccessReview",
    spec: { user: "devi", resourceAttributes: { verb: "list", version: "v1", resource: "pods" } },
  });
});

test("the review of a path has path and verb", async () => {
  expect(await reviewOf(askPath(user("devi"), "get", "/metrics"))).toMatchObject({
    spec: { user: "devi", nonResourceAttributes: { path: "/metrics", verb: "get" } },
  });
});

test("the review has the requirements of the selectors, and no empty selector", async () => {
  const labels = new SelectorTexts("", "b,a in (x,y)");
  expect(await reviewOf(ask(user("devi"), "list", { selectors: labels }))).toMatchObject({
    spec: {
      resourceAttributes: {
        verb: "list",
        version: "v1",
        resource: "pods",
        labelSelector: {
          requirements: [
            { key: "a", operator: "In", values: ["x", "y"] },
            { key: "b", operator: "Exists" },
          ],
        },
      },
    },
  });
  const invalid = new SelectorTexts("spec.nodeName=n1", "(");
  const { spec } = (await reviewOf(ask(user("devi"), "list", { selectors: invalid }))) as {
    spec: { resourceAttributes: object };
  };
  expect(spec.resourceAttributes).toEqual({
    verb: "list",
    version: "v1",
    resource: "pods",
    fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["n1"] }] },
  });
});

test("in v1beta1 the groups are in the field group", async () => {
  const { spec } = (await reviewOf(ask(user("devi", "a"), "get"), "v1beta1")) as { spec: object };
  expect(spec).toMatchObject({ group: ["a"] });
  expect(spec).not.toHaveProperty("groups");
});
