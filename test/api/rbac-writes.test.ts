import { describe, expect, test } from "vitest";
import {
  RBAC,
  account,
  causeFields,
  clusterRole,
  clusterRoleBinding,
  ok,
  podReader,
  rbacGroup,
  refTo,
  role,
  roleBinding,
  roleKinds,
  user,
  type PolicyRule,
} from "./support.ts";
import { inA, useRbacServer } from "./rbac-support.ts";

const { server, can } = useRbacServer();

describe("invalid roles and bindings", () => {
  const invalid = async (path: string, object: object, field: string) => {
    const answer = await server.admin.post(path, object);
    expect([answer.status, answer.body.reason], answer.text).toEqual([422, "Invalid"]);
    expect(causeFields(answer)).toContain(field);
  };
  test.each<[string, PolicyRule, string]>([
    ["A-2.4-04 a rule without verbs", { apiGroups: [""], resources: ["pods"] }, "rules[0].verbs"],
    [
      "A-2.4-08 resources and paths together",
      { ...podReader, nonResourceURLs: ["/x"] },
      "rules[0].nonResourceURLs",
    ],
    [
      "A-2.4-06 * within a segment",
      { verbs: ["get"], nonResourceURLs: ["/x*"] },
      "rules[0].nonResourceURLs[0]",
    ],
    [
      "A-2.4-06 * as a middle segment",
      { verbs: ["get"], nonResourceURLs: ["/*/x"] },
      "rules[0].nonResourceURLs[0]",
    ],
    ["a rule about nothing", { verbs: ["get"] }, "rules[0].resources"],
  ])("%s is 422", (_what, rule, field) => invalid(`${RBAC}/clusterroles`, clusterRole("bad", [rule]), field));

  test("nonResourceURLs in a Role are invalid", () =>
    invalid(
      `${inA}/roles`,
      role("bad", [{ verbs: ["get"], nonResourceURLs: ["/x"] }]),
      "rules[0].nonResourceURLs",
    ));

  test.each<[string, object, object, string]>([
    ["A-2.4-17 a subject without kind", refTo("Role", "x"), { name: "ann" }, "subjects[0].kind"],
    ["A-2.4-19 a subject without name", refTo("Role", "x"), { kind: "User" }, "subjects[0].name"],
    [
      "A-2.4-17 a subject of an unknown kind",
      refTo("Role", "x"),
      { kind: "Robot", name: "r" },
      "subjects[0].kind",
    ],
    [
      "A-2.4-21 a User of another group",
      refTo("Role", "x"),
      { kind: "User", name: "r", apiGroup: "apps" },
      "subjects[0].apiGroup",
    ],
    [
      "A-2.4-20 a ServiceAccount of a group",
      refTo("Role", "x"),
      { ...account("a", "r"), apiGroup: rbacGroup },
      "subjects[0].apiGroup",
    ],
    [
      "A-2.4-23 a roleRef of another group",
      { ...refTo("Role", "x"), apiGroup: "apps" },
      user("r"),
      "roleRef.apiGroup",
    ],
    ["A-2.4-23 a roleRef of another kind", { ...refTo("Role", "x"), kind: "Pod" }, user("r"), "roleRef.kind"],
  ])("%s is 422", (_what, roleRef, subject, field) =>
    invalid(`${inA}/rolebindings`, roleBinding("bad", roleRef, [subject]), field),
  );

  test("A-2.4-25 a ClusterRoleBinding to a Role is invalid", () =>
    invalid(
      `${RBAC}/clusterrolebindings`,
      clusterRoleBinding("bad", refTo("Role", "x"), [user("r")]),
      "roleRef.kind",
    ));
});

describe("defaults and warnings of role bindings", () => {
  test("A-2.4-20 A-2.4-21 the apiGroup of a subject gets a default by its kind", async () => {
    const subjects = [
      { kind: "User", name: "u" },
      { kind: "Group", name: "g" },
      { kind: "ServiceAccount", name: "s", namespace: "a" },
    ];
    const { body } = await ok(
      server.admin.post(`${inA}/rolebindings`, roleBinding("defaults", refTo("Role", "x"), subjects)),
    );
    expect(body.subjects.map((one: { apiGroup?: string }) => one.apiGroup)).toEqual([
      rbacGroup,
      rbacGroup,
      undefined,
    ]);
  });

  test("A-2.4-22 a namespace on a User is accepted with a warning, matches no user, and is an evaluationError", async () => {
    const answer = await ok(
      server.admin.post(
        `${inA}/rolebindings`,
        roleBinding("stray", refTo("Role", "maps"), [{ ...user("hal"), namespace: "a" }]),
      ),
    );
    expect(answer.warnings).toHaveLength(1);
    const status = await can({
      user: "hal",
      resourceAttributes: { verb: "get", resource: "configmaps", namespace: "a" },
    });
    expect(status.allowed).toBe(false);
    expect(status.evaluationError).toContain("stray");
  });

  test.each([
    ["A-2.4-26", "clusterrolebindings"],
    ["A-2.4-31", "rolebindings"],
  ])("%s a roleRef in %s to a missing role is accepted and reported", async (_id, type) => {
    const cluster = type === "clusterrolebindings";
    const make = cluster ? clusterRoleBinding : roleBinding;
    await ok(
      server.admin.post(
        `${cluster ? RBAC : inA}/${type}`,
        make("dangling", refTo("ClusterRole", "never-made"), [user("ida")]),
      ),
    );
    const status = await can({
      user: "ida",
      resourceAttributes: { verb: "get", resource: "configmaps", namespace: "a" },
    });
    expect(status.allowed).toBe(false);
    expect(status.evaluationError).toContain("never-made");
  });
});

test.each(roleKinds)(
  "A-4.2-17 every operation on a $kind with wrong credentials is 401",
  async ({ list, make }) => {
    const stranger = server.as("not-a-token");
    const answers = [
      await stranger.get(`${list}/x`),
      await stranger.get(list),
      await stranger.post(list, make("x")),
      await stranger.put(`${list}/x`, make("x")),
      await stranger.patch(`${list}/x`, {}),
      await stranger.delete(`${list}/x`),
      await stranger.delete(list),
    ];
    for (const { status, body, headers } of answers) {
      expect([status, body.reason, body.code]).toEqual([401, "Unauthorized", 401]);
      expect(headers["www-authenticate"]).toBe('Bearer realm="api"');
    }
  },
);
