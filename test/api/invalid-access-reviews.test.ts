import { describe, expect, test } from "vitest";
import { type Answer } from "../support/api.ts";
import { RBAC, causeFields, ok, refTo, role, roleBinding, user } from "./support.ts";
import { SAR, SSAR, SSRR, LSAR, pods, useReviewServer } from "./reviews-support.ts";

const { server } = useReviewServer();

describe("2.2 invalid access reviews", () => {
  const both = { resourceAttributes: pods, nonResourceAttributes: { path: "/x", verb: "get" } };
  const fails = async (answer: Promise<Answer>, field: string) => {
    const got = await answer;
    expect([got.status, got.body.reason], got.text).toEqual([422, "Invalid"]);
    expect(causeFields(got)).toContain(field);
  };
  test("A-2.2-10 A-2.2-19 a review with both kinds of attributes is invalid", async () => {
    await fails(server.admin.post(SAR, { spec: { user: "a", ...both } }), "spec.nonResourceAttributes");
    await fails(server.admin.post(SSAR, { spec: both }), "spec.nonResourceAttributes");
  });
  test("A-2.2-11 A-2.2-19 a review without attributes is invalid", async () => {
    await fails(server.admin.post(SAR, { spec: { user: "a" } }), "spec.resourceAttributes");
    await fails(server.admin.post(SSAR, { spec: {} }), "spec.resourceAttributes");
    await fails(server.admin.post(LSAR, { spec: { user: "a" } }), "spec.resourceAttributes");
  });
  test("a review without user and groups is invalid", () =>
    fails(server.admin.post(SAR, { spec: { resourceAttributes: pods } }), "spec.user"));
  test("A-2.2-02 a local review of another namespace than the URL's is invalid", async () => {
    const attributes = { ...pods, namespace: "other" };
    await fails(
      server.admin.post(LSAR, { spec: { user: "ann", resourceAttributes: attributes } }),
      "spec.resourceAttributes.namespace",
    );
    expect(
      (
        await server.admin.post(LSAR, {
          metadata: { namespace: "other" },
          spec: { user: "ann", resourceAttributes: pods },
        })
      ).status,
    ).toBe(400);
  });
  test("a local review with a path is invalid", () =>
    fails(
      server.admin.post(LSAR, { spec: { user: "a", nonResourceAttributes: { path: "/", verb: "get" } } }),
      "spec.nonResourceAttributes",
    ));
  test("A-2.2-20 a rules review without a namespace is invalid", () =>
    fails(server.admin.post(SSRR, { spec: {} }), "spec.namespace"));
  test("A-2.2-05 user and groups of a self review are unknown fields", async () => {
    const spec = { user: "bob", groups: ["ops"], resourceAttributes: pods };
    const warned = await ok(server.as("ann").post(SSAR, { spec }));
    expect(warned.warnings.toSorted()).toEqual(['unknown field "spec.groups"', 'unknown field "spec.user"']);
    expect(warned.body.status.allowed).toBe(true);
    expect((await server.as("ann").post(`${SSAR}?fieldValidation=Strict`, { spec })).status).toBe(400);
    expect(
      (
        await server.admin.post(`${SAR}?fieldValidation=Strict`, {
          spec: { user: "a", group: ["x"], resourceAttributes: pods },
        })
      ).status,
    ).toBe(400);
  });
});

describe("2.2 the namespace of a local review", () => {
  test("A-2.2-03 A-2.2-26 is that of the URL when it is empty in the body", async () => {
    const { verb, resource } = pods;
    const { body } = await ok(
      server.admin.post(LSAR, { spec: { user: "ann", resourceAttributes: { verb, resource } } }),
    );
    expect(body.spec.resourceAttributes.namespace).toBe("team");
    expect(body.status.allowed).toBe(true);
    const sar = await ok(
      server.admin.post(SAR, { spec: { user: "ann", resourceAttributes: { verb, resource: "namespaces" } } }),
    );
    expect(sar.body.spec.resourceAttributes).not.toHaveProperty("namespace");
  });

  test("A-1-04 only permission in its namespace is needed to create the review", async () => {
    const spec = { user: "ann", resourceAttributes: pods };
    expect((await server.as("ann").post(LSAR, { spec })).status).toBe(403);
    const rule = {
      verbs: ["create"],
      apiGroups: ["authorization.platform.io"],
      resources: ["localsubjectaccessreviews"],
    };
    await ok(server.admin.post(`${RBAC}/namespaces/team/roles`, role("reviewer", [rule])));
    await ok(
      server.admin.post(
        `${RBAC}/namespaces/team/rolebindings`,
        roleBinding("reviewer", refTo("Role", "reviewer"), [user("ann")]),
      ),
    );
    expect((await server.as("ann").post(LSAR, { spec })).status).toBe(201);
    expect((await server.as("ann").post(LSAR.replace("team", "other"), { spec })).status).toBe(403);
    expect((await server.as("ann").post(SAR, { spec })).status).toBe(403);
  });
});
