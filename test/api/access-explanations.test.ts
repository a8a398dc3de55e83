import { describe, expect, it } from "vitest";
import { ok, podReader, refTo, role, roleBinding, until, user } from "./support.ts";
import { SAR, team, pods, useInsightServer } from "./insight-support.ts";

const { server, explain } = useInsightServer();

describe("AccessExplanation", () => {
  it("names the binding, role, subject and rule that grant the access", async () => {
    const status = await explain({ user: "x", groups: ["devs"], resourceAttributes: pods });
    expect(status).toMatchObject({
      allowed: true,
      decidedBy: "RBAC",
      authorizers: [
        { name: "privileged group", opinion: "NoOpinion" },
        { name: "RBAC", opinion: "Allow" },
      ],
      grants: [
        {
          binding: { kind: "RoleBinding", namespace: "team", name: "readers" },
          role: { kind: "Role", namespace: "team", name: "readers" },
          subject: { kind: "Group", name: "devs" },
          rule: { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
          ruleIndex: 0,
        },
      ],
    });
    expect(status.nearMisses).toBeUndefined();
  });

  it("decides like a SubjectAccessReview, whose status gives no reason for a denial", async () => {
    const spec = { user: "bob", resourceAttributes: pods };
    expect((await ok(server.admin.post(SAR, { spec }))).body.status).toEqual({ allowed: false });
    expect(await explain(spec)).toMatchObject({ allowed: false });
  });

  it.each<[string, object, object]>([
    ["a verb", { ...pods, verb: "delete" }, { part: "verb", wanted: "delete", given: ["get"] }],
    ["the group", { ...pods, group: "apps" }, { part: "apiGroup", wanted: "apps", given: [""] }],
    [
      "the resource",
      { ...pods, resource: "secrets" },
      { part: "resource", wanted: "secrets", given: ["pods"] },
    ],
    [
      "a part of it",
      { ...pods, subresource: "log" },
      { part: "resource", wanted: "pods/log", given: ["pods"] },
    ],
    [
      "the namespace",
      { ...pods, namespace: "other" },
      { part: "namespace", wanted: "other", given: ["team"] },
    ],
    ["every namespace", { ...pods, namespace: "" }, { part: "namespace", wanted: "", given: ["team"] }],
  ])("near misses name what differs: %s", async (_what, resourceAttributes, lacking) => {
    const { allowed, nearMisses } = await explain({ user: "x", groups: ["devs"], resourceAttributes });
    expect(allowed).toBe(false);
    expect(nearMisses).toHaveLength(1);
    expect(nearMisses[0].missing).toEqual([{ ...lacking, message: expect.stringContaining(";") }]);
  });

  it("reports a missing role and an invalid subject as faults", async () => {
    const status = await explain({ user: "ann", resourceAttributes: pods });
    expect(status.allowed).toBe(true);
    expect(status.faults).toMatchObject([
      {
        binding: { name: "odd" },
        fault: "Invalid",
        message: expect.stringContaining("only a ServiceAccount has one"),
      },
      {
        binding: { namespace: "team", name: "gone" },
        role: { kind: "Role", name: "gone" },
        fault: "RoleNotFound",
      },
    ]);
    expect(status.evaluationError).toContain('"gone" not found');
  });

  it("names the source role of an aggregated rule", async () => {
    const subjects = [user("vic")];
    await ok(
      server.admin.post(`${team}/rolebindings`, roleBinding("vic", refTo("ClusterRole", "admin"), subjects)),
    );
    // The controller aggregates the rules asynchronously.
    const status = await until(
      () => explain({ user: "vic", resourceAttributes: pods }),
      ({ allowed }) => allowed,
    );
    const [first] = status.grants;
    expect(first.role).toEqual({ kind: "ClusterRole", name: "admin" });
    // admin aggregates edit, and edit aggregates view, which has the rule for reading pods.
    expect(first.aggregatedFrom).toEqual(["system:aggregate-to-view"]);
  });

  it("names the authorizer that decided when it isn't RBAC", async () => {
    const status = await explain({ user: "root", groups: ["system:masters"], resourceAttributes: pods });
    expect(status).toMatchObject({ allowed: true, decidedBy: "privileged group" });
    expect(status.authorizers).toHaveLength(1);
    expect(status.authorizers[0].reason).toContain("system:masters");
    expect(status.grants).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ["another group's resource", { ...pods, resource: "deployments" }, 'it is in "apps"'],
    ["a short name", { ...pods, resource: "po" }, 'is "pods" in the API group "" meant?'],
    ["an unknown subresource", { ...pods, subresource: "logs" }, 'has no subresource "logs"'],
    ["no namespaces", { ...pods, resource: "nodes" }, "has no namespaces"],
    ["groups of the user", pods, 'as the group "system:authenticated"'],
    ["groups of an account", pods, '"system:serviceaccounts:team"'],
  ])("notes name what is easily overlooked: %s", async (what, resourceAttributes, text) => {
    const name = what.endsWith("account") ? "system:serviceaccount:team:other" : "bob";
    expect((await explain({ user: name, resourceAttributes })).notes.join("\n")).toContain(text);
  });

  it("limits the lists in its status and counts the omitted entries", async () => {
    const rules = Array.from({ length: 40 }, (_, i) => ({ ...podReader, resourceNames: [`pod-${i}`] }));
    await ok(server.admin.post(`${team}/roles`, role("many", rules)));
    const subjects = [user("multi")];
    for (let i = 0; i < 18; i++)
      await ok(
        server.admin.post(`${team}/rolebindings`, roleBinding(`many-${i}`, refTo("Role", "many"), subjects)),
      );
    const near = await explain({ user: "multi", resourceAttributes: { ...pods, name: "none" } });
    expect([near.nearMisses.length, near.nearMissesLeftOut]).toEqual([10, 8]);
    const granted = await explain({ user: "multi", resourceAttributes: { ...pods, name: "pod-7" } });
    expect([granted.grants.length, granted.moreGrants, granted.grants[0].ruleIndex]).toEqual([16, true, 7]);
  });
});
