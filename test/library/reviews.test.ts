import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, type Server } from "../../src/index.ts";
import { group, namespace, refTo, role, roleBinding } from "../api/support.ts";

let server: Server;
const api = {
  authorization: "authorization.platform.io/v1",
  authentication: "authentication.platform.io/v1",
  insight: "insight.platform.io/v1",
} as const;
const metadata = {};
/** A check about the members of a group. */
const check = (name: string) => ({ subject: { groups: [name], resourceAttributes: attributes } });
const attributes = { verb: "get", resource: "configmaps", namespace: "shop" };

beforeAll(async () => {
  server = await createServer({ port: false, runtimeConfig: "authentication.platform.io/v1alpha1" });
  const { client } = server;
  await client.create(namespace("shop"));
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"] }];
  await client.create(role("reader", rules, { namespace: "shop" }));
  const subjects = [group("readers")];
  await client.create(roleBinding("readers", refTo("Role", "reader"), subjects, { namespace: "shop" }));
});
afterAll(() => server.close());

describe("create of a review in the process", () => {
  test("answers a SubjectAccessReview as over HTTP", async () => {
    const answer = await server.client.create({
      apiVersion: api.authorization,
      kind: "SubjectAccessReview",
      metadata,
      spec: { user: "rita", groups: ["readers"], resourceAttributes: attributes },
    });
    expect(answer).toMatchObject({ kind: "SubjectAccessReview", apiVersion: api.authorization });
    expect(answer.status).toMatchObject({ allowed: true, reason: expect.stringContaining('"reader') });
  });

  test("answers reviews about the user of the client", async () => {
    const rita = server.as("rita", ["readers"]);
    const self = await rita.create({
      apiVersion: "authentication.platform.io/v1alpha1",
      kind: "SelfSubjectReview",
      metadata,
    });
    expect(self.status?.userInfo).toEqual({ username: "rita", groups: ["readers", "system:authenticated"] });
    const access = await rita.create({
      apiVersion: api.authorization,
      kind: "SelfSubjectAccessReview",
      metadata,
      spec: { resourceAttributes: attributes },
    });
    expect(access.status?.allowed).toBe(true);
  });

  test("answers with rules that a caller may change", async () => {
    const review = () =>
      server.as("rita", ["readers"]).create({
        apiVersion: api.authorization,
        kind: "SelfSubjectRulesReview",
        metadata,
        spec: { namespace: "shop" },
      });
    const rule = { verbs: ["get"], apiGroups: [""], resources: ["configmaps"] };
    const { status } = await review();
    expect(status?.resourceRules).toContainEqual(rule);
    for (const { verbs } of status!.resourceRules) verbs.push("delete");
    expect((await review()).status?.resourceRules).toContainEqual(rule);
  });

  test("answers a LocalSubjectAccessReview in its namespace", async () => {
    const answer = await server.client.create({
      apiVersion: api.authorization,
      kind: "LocalSubjectAccessReview",
      metadata: { namespace: "shop" },
      spec: { groups: ["readers"], resourceAttributes: attributes },
    });
    expect(answer.status?.allowed).toBe(true);
  });

  test("answers a TokenReview", async () => {
    const review = (token: string) =>
      server.client.create({
        apiVersion: api.authentication,
        kind: "TokenReview",
        metadata,
        spec: { token },
      });
    expect((await review(server.adminToken)).status).toMatchObject({
      authenticated: true,
      user: { username: "admin" },
    });
    expect((await review("wrong")).status).toEqual({ user: {}, error: "invalid bearer token" });
  });

  test("answers the kinds of the insight group", async () => {
    const explanation = await server.client.create({
      apiVersion: api.insight,
      kind: "AccessExplanation",
      metadata,
      spec: { user: "rita", groups: ["readers"], resourceAttributes: attributes },
    });
    expect(explanation.status?.grants).toHaveLength(1);
    const subjects = await server.client.create({
      apiVersion: api.insight,
      kind: "SubjectAccessList",
      metadata,
      spec: { resourceAttributes: attributes },
    });
    expect(subjects.status?.subjects).toContainEqual(
      expect.objectContaining({ kind: "Group", name: "readers" }),
    );
    const bulk = await server.client.create({
      apiVersion: api.insight,
      kind: "BulkAccessReview",
      metadata,
      spec: { checks: [check("readers"), check("writers")] },
    });
    expect(bulk.status?.results.map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  test("validates the review", async () => {
    const invalid = server.client.create({
      apiVersion: api.authorization,
      kind: "SubjectAccessReview",
      metadata,
      spec: {},
    });
    await expect(invalid).rejects.toMatchObject({ name: "StatusError", reason: "Invalid" });
  });

  test("needs the permission of the user", async () => {
    const review = server.as("rita").create({
      apiVersion: api.authorization,
      kind: "SubjectAccessReview",
      metadata,
      spec: { user: "rita", resourceAttributes: attributes },
    });
    await expect(review).rejects.toThrow(
      'User "rita" cannot create resource "subjectaccessreviews" in API group "authorization.platform.io"',
    );
  });

  test("is the only verb of a review", async () => {
    const reference = { apiVersion: api.authorization, kind: "SubjectAccessReview", name: "a" } as const;
    await expect(server.client.get(reference)).rejects.toMatchObject({
      reason: "MethodNotAllowed",
      message: "SubjectAccessReview can only be created: the server answers and stores none",
    });
  });
});
