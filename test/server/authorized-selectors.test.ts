import { afterEach, expect, test } from "vitest";
import type { ResourceAttributes } from "../../src/authorization/authorizer.ts";
import { createServer, type CreateServerOptions } from "../../src/index.ts";
import { TestServer } from "../support/api.ts";
import { ok } from "../api/support.ts";
import { faultsIn } from "./device-support.ts";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Allows lists and watches of pods that are limited to node n1. */
const nodePods = {
  name: "node-pods",
  authorize(attributes: { readonly kind: string }) {
    const { resource, selectors } = attributes as ResourceAttributes;
    const limited = selectors?.fieldSelector.some(
      ({ key, operator, values }) => key === "spec.nodeName" && operator === "In" && values[0] === "n1",
    );
    const allowed = attributes.kind === "resource" && resource === "pods" && limited === true;
    return {
      verdict: allowed ? ("allow" as const) : ("noOpinion" as const),
      reason: "",
      evaluationError: "",
    };
  },
};

async function start(options: CreateServerOptions): Promise<TestServer> {
  const users = [{ name: "joe" }];
  const server = await TestServer.start({ controllers: [], authorizers: [nodePods], users, ...options });
  servers.push(server);
  return server;
}

test.each([
  ["1.26", {}, 403],
  ["1.31", {}, 403],
  ["1.31", { featureGates: "AuthorizeWithSelectors=true" }, 200],
  ["1.32", {}, 200],
  ["1.32", { featureGates: "AuthorizeWithSelectors=false" }, 403],
  ["1.37", {}, 200],
] as const)(
  "authorizers see selectors by release and gate: %s %j answers %i",
  async (release, options, status) => {
    const server = await start({ release, ...options });
    const joe = server.as("joe");
    const limited = "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1";
    expect((await joe.get(limited)).status).toBe(status);
    expect((await joe.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn2")).status).toBe(403);
    expect((await joe.get("/api/v1/pods")).status).toBe(403);
  },
);

test("clients of the library are authorized with their selectors", async () => {
  await using server = await createServer({
    port: false,
    release: "1.37",
    enabledControllers: [],
    authorizers: [nodePods],
  });
  const joe = server.as("joe");
  const pods = { apiVersion: "v1", kind: "Pod", namespace: "default" } as const;
  const onNode = { ...pods, fieldSelector: "spec.nodeName=n1" };
  const { items, resourceVersion } = await joe.list(onNode);
  expect(items).toEqual([]);
  await expect(joe.list(pods)).rejects.toMatchObject({ reason: "Forbidden" });
  const ended = await new Promise<Error>((resolve) => {
    joe.watch({ ...pods, resourceVersion }, () => undefined, resolve);
  });
  expect(ended).toMatchObject({ reason: "Forbidden" });
});

test("each watch of a subscription is authorized with its selectors, for the list too", async () => {
  const server = await start({ release: "1.37" });
  const watch = (fieldSelector: string) => ({ group: "", version: "v1", resource: "pods", fieldSelector });
  const subscribe = (fieldSelector: string) =>
    server.as("joe").post("/subscriptions?timeoutSeconds=1", { watches: [watch(fieldSelector)] });
  expect((await subscribe("spec.nodeName=n1")).status).toBe(200);
  expect((await subscribe("spec.nodeName=n2")).status).toBe(403);
});

const reviews = "/apis/authorization.platform.io/v1/subjectaccessreviews";
const review = (attributes: object) => ({
  spec: { user: "joe", resourceAttributes: { verb: "list", resource: "pods", ...attributes } },
});

test("an access review decides with the selectors of its attributes", async () => {
  const { admin } = await start({ release: "1.37" });
  const statusOf = async (attributes: object) =>
    (await ok(admin.post(reviews, review(attributes)))).body["status"];
  const onNode = (values: string[], operator = "In") => ({
    fieldSelector: { requirements: [{ key: "spec.nodeName", operator, values }] },
  });
  expect(await statusOf(onNode(["n1"]))).toEqual({ allowed: true });
  expect(await statusOf(onNode(["n1"], "NotIn"))).toEqual({ allowed: false });
  expect(await statusOf({ fieldSelector: { rawSelector: "spec.nodeName=n1" } })).toEqual({ allowed: true });
  expect(await statusOf({ fieldSelector: { rawSelector: "nonsense" } })).toEqual({
    allowed: false,
    evaluationError: "spec.resourceAttributes.fieldSelector ignored due to parse error",
  });
  expect(await statusOf({ ...onNode(["n1"]), labelSelector: { rawSelector: "(" } })).toEqual({
    allowed: true,
    evaluationError: "spec.resourceAttributes.labelSelector ignored due to parse error",
  });
});

test.each<[string, object, string[]]>([
  ["neither form", { fieldSelector: {} }, ["fieldSelector.requirements Required"]],
  [
    "both forms",
    { labelSelector: { rawSelector: "a", requirements: [{ key: "a", operator: "Exists" }] } },
    ["labelSelector.rawSelector Invalid"],
  ],
  [
    "a requirement without key and values",
    { fieldSelector: { requirements: [{ key: "", operator: "In" }] } },
    ["fieldSelector.requirements[0].key Required", "fieldSelector.requirements[0].values Required"],
  ],
  [
    "values of Exists",
    { labelSelector: { requirements: [{ key: "a", operator: "Exists", values: ["x"] }] } },
    ["labelSelector.requirements[0].values Forbidden"],
  ],
  [
    "a label that is none",
    { labelSelector: { requirements: [{ key: "a b", operator: "In", values: ["-"] }] } },
    ["labelSelector.requirements[0].key Invalid", "labelSelector.requirements[0].values[0] Invalid"],
  ],
  ["an operator of a newer client", { labelSelector: { requirements: [{ key: "a", operator: "New" }] } }, []],
])("an access review with a selector that has %s", async (_, attributes, expected) => {
  const { admin } = await start({ release: "1.37" });
  const { status, body } = await admin.post(reviews, review(attributes));
  expect(status).toBe(expected.length === 0 ? 201 : 422);
  const faults = expected.length === 0 ? [] : faultsIn(body);
  expect(new Set(faults)).toEqual(new Set(expected.map((one) => `spec.resourceAttributes.${one}`)));
});
