import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { AUTHZ, ok } from "./support.ts";

/** Fields of review responses other than the decision, compatible with the reference. */

const own = "/apis/authentication.platform.io/v1/tokenreviews";
const attributes = { verb: "get", resource: "nodes" };
const subject = { user: "ann", resourceAttributes: attributes };
const local = `${AUTHZ}/namespaces/default/localsubjectaccessreviews`;

const server = useServer({ users: [{ name: "ann" }] });

describe("metadata of an access review must be empty", () => {
  test.each([
    ["subjectaccessreviews", `${AUTHZ}/subjectaccessreviews`, subject, { name: "x" }],
    [
      "selfsubjectaccessreviews",
      `${AUTHZ}/selfsubjectaccessreviews`,
      { resourceAttributes: attributes },
      { labels: { a: "b" } },
    ],
    ["localsubjectaccessreviews", local, subject, { annotations: { a: "b" } }],
  ])("%s with metadata is 422", async (_name, path, spec, metadata) => {
    const { status, body } = await server.admin.post(path, { spec, metadata });
    expect(status).toBe(422);
    expect(body.message).toContain("must be empty");
    // No kind and no name: the review is not stored.
    expect(body.details).toEqual({
      group: "authorization.platform.io",
      causes: [{ field: "metadata", message: expect.any(String) as string, reason: "FieldValueInvalid" }],
    });
  });

  test("the namespace of a local review and managedFields are accepted", async () => {
    const managedFields = [{ manager: "a", operation: "Update", apiVersion: "v1" }];
    await ok(server.admin.post(local, { spec: subject, metadata: { namespace: "default", managedFields } }));
    expect(
      (await server.admin.post(`${AUTHZ}/subjectaccessreviews`, { spec: subject, metadata: {} })).status,
    ).toBe(201);
  });
});

test("a status in the request is dropped, but owned by the client's field manager", async () => {
  const sent = { spec: subject, status: { allowed: true } };
  const { body } = await ok(server.admin.post(`${AUTHZ}/subjectaccessreviews`, sent));
  expect(body.status.allowed).toBe(false);
  expect(body.metadata.managedFields[0].fieldsV1["f:status"]).toEqual({ "f:allowed": {} });
});

test("a SelfSubjectRulesReview returns each rule once, without the spec and metadata of the request", async () => {
  const { body } = await ok(
    server.admin.post(`${AUTHZ}/selfsubjectrulesreviews`, { spec: { namespace: "default" } }),
  );
  expect([body.metadata, body.spec]).toEqual([{ creationTimestamp: null }, {}]);
  const texts = [...body.status.resourceRules, ...body.status.nonResourceRules].map((rule: object) =>
    JSON.stringify(rule),
  );
  expect(texts.length).toBeGreaterThan(0);
  expect(new Set(texts).size).toBe(texts.length);
});

test.each([
  ["that nobody knows", { token: "nobody" }],
  ["for other audiences", { token: "ann", audiences: ["elsewhere"] }],
])("a TokenReview of a token %s has an error and an empty user, and nothing else", async (_which, spec) => {
  const { body } = await ok(server.admin.post(own, { spec }));
  expect(body.status).toEqual({ error: "invalid bearer token", user: {} });
});

test("the managedFields of a token request have only the requested fields", async () => {
  const path = "/api/v1/namespaces/default/serviceaccounts/robot";
  await ok(server.admin.post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "robot" } }));
  const { body } = await ok(server.admin.post(`${path}/token`, { spec: { audiences: ["a"] } }));
  expect(body.metadata.managedFields).toEqual([
    expect.objectContaining({
      operation: "Update",
      subresource: "token",
      fieldsV1: { "f:spec": { "f:audiences": {}, "f:expirationSeconds": {} } },
    }),
  ]);
});

test("an empty Impersonate-User header is ignored", async () => {
  const headers = { "impersonate-user": "" };
  const { status } = await server.admin.ask("GET", "/api/v1/namespaces", { headers });
  expect(status).toBe(200);
});
