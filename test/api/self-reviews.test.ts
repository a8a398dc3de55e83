import { describe, expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { TestServer } from "../support/api.ts";
import { RBAC, clusterRole, clusterRoleBinding, ok, refTo, roleBinding, user } from "./support.ts";
import { SSAR, SSRR, SSR, pods, useReviewServer } from "./reviews-support.ts";

const { server, allowed } = useReviewServer();

describe("reviews of the caller", () => {
  test("A-2.2-06 A-5-01 every authenticated user may create them", async () => {
    const bob = server.as("bob");
    expect(await allowed({ resourceAttributes: pods }, SSAR, bob)).toBe(false);
    expect(await allowed({ resourceAttributes: pods }, SSAR, server.as("ann"))).toBe(true);
    expect((await bob.post(SSRR, { spec: { namespace: "team" } })).status).toBe(201);
    expect((await bob.post(SSR, {})).status).toBe(201);
  });

  test("A-2.3-02 A-2.3-03 A-2.3-04 A-2.3-05 SelfSubjectReview returns the caller's user info", async () => {
    const { userInfo } = (await ok(server.as("ann").post(SSR, {}))).body.status;
    expect(userInfo).toEqual({
      username: "ann",
      uid: "u-1",
      groups: ["devs", "ops", "system:authenticated"],
    });
  });

  test("A-2.2-20 A-2.2-39 A-2.2-43 A-2.2-44 A-2.2-45 A-2.2-46 A-2.2-47 A-2.2-48 SelfSubjectRulesReview returns the rules of a namespace", async () => {
    const { status } = (await ok(server.as("ann").post(SSRR, { spec: { namespace: "team" } }))).body;
    expect(status.incomplete).toBe(false);
    expect(status.resourceRules).toContainEqual({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
    expect(status.resourceRules).toContainEqual({
      verbs: ["get"],
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["one"],
    });
    expect(status.resourceRules).toContainEqual({ verbs: ["list"], apiGroups: ["apps"], resources: ["*"] });
    expect(status.nonResourceRules).toContainEqual({
      verbs: ["get"],
      nonResourceURLs: ["/metrics", "/logs/*"],
    });
    const other = (await ok(server.as("ann").post(SSRR, { spec: { namespace: "other" } }))).body.status;
    expect(other.resourceRules).not.toContainEqual({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
    expect(other.resourceRules).toContainEqual({ verbs: ["list"], apiGroups: ["apps"], resources: ["*"] });
  });

  test("A-2.2-49 */foo is a subresource of every type, A-2.2-47 no resourceNames mean all names", async () => {
    await ok(
      server.admin.post(
        `${RBAC}/clusterrolebindings`,
        clusterRoleBinding("bob-scales", refTo("ClusterRole", "grant-scaler"), [user("bob")]),
      ),
    );
    const { status } = (await ok(server.as("bob").post(SSRR, { spec: { namespace: "team" } }))).body;
    expect(status.resourceRules).toContainEqual({
      verbs: ["update"],
      apiGroups: ["*"],
      resources: ["*/scale"],
    });
    for (const name of ["", "any", "*"]) {
      const resourceAttributes = {
        verb: "update",
        group: "apps",
        resource: "deployments",
        subresource: "scale",
        name,
      };
      expect(await allowed({ resourceAttributes }, SSAR, server.as("bob"))).toBe(true);
    }
  });

  test("A-2.2-40 A-2.2-41 both lists are present even when nothing is allowed", async () => {
    const bare = await TestServer.start({ authorizationModes: ["AlwaysAllow"], anonymousAuth: true });
    const { status } = (await ok(bare.as(undefined).post(SSRR, { spec: { namespace: "x" } }))).body;
    expect(Array.isArray(status.resourceRules) && Array.isArray(status.nonResourceRules)).toBe(true);
    expect(status.incomplete).toBeTypeOf("boolean");
    await bare.close();
  });

  test("A-2.2-38 every listed rule is granted", async () => {
    const { status } = (await ok(server.as("ann").post(SSRR, { spec: { namespace: "team" } }))).body;
    const each = effort(4, 1);
    let count = 0;
    for (const rule of status.resourceRules) {
      for (const verb of rule.verbs) {
        for (const name of rule.resources) {
          if (count++ % each !== 0) continue;
          const [resource, subresource] = name.split("/");
          const resourceAttributes = {
            namespace: "team",
            verb,
            group: rule.apiGroups[0],
            resource,
            subresource,
            name: rule.resourceNames?.[0],
          };
          expect(await allowed({ resourceAttributes }, SSAR, server.as("ann")), JSON.stringify(rule)).toBe(
            true,
          );
        }
      }
    }
    for (const rule of status.nonResourceRules) {
      for (const verb of rule.verbs) {
        for (const path of rule.nonResourceURLs)
          expect(await allowed({ nonResourceAttributes: { path, verb } }, SSAR, server.as("ann"))).toBe(true);
      }
    }
  });

  test("A-2.2-42 A-7-01 a binding to a missing role is an evaluationError in addition to the rules", async () => {
    await ok(
      server.admin.post(
        `${RBAC}/namespaces/team/rolebindings`,
        roleBinding("dangling-2", refTo("Role", "gone"), [user("ann")]),
      ),
    );
    const { status } = (await ok(server.as("ann").post(SSRR, { spec: { namespace: "team" } }))).body;
    expect(status.evaluationError).toContain("gone");
    expect(status.resourceRules.length).toBeGreaterThan(0);
    await ok(server.admin.delete(`${RBAC}/namespaces/team/rolebindings/dangling-2`));
  });
});

test("a grant applies to the next request, and so does its removal", async () => {
  const bob = server.as("bob");
  const bindings = `${RBAC}/clusterrolebindings`;
  await ok(
    server.admin.post(
      `${RBAC}/clusterroles`,
      clusterRole("flip", [{ verbs: ["list"], apiGroups: [""], resources: ["secrets"] }]),
    ),
  );
  for (let round = 0; round < 25; round++) {
    expect((await bob.get("/api/v1/secrets")).status).toBe(403);
    await ok(
      server.admin.post(bindings, clusterRoleBinding("flip", refTo("ClusterRole", "flip"), [user("bob")])),
    );
    expect((await bob.get("/api/v1/secrets")).status).toBe(200);
    expect(await allowed({ user: "bob", resourceAttributes: { verb: "list", resource: "secrets" } })).toBe(
      true,
    );
    await ok(server.admin.delete(`${bindings}/flip`));
  }
});
